#include "src/package/manifest.h"

#include "fldsl/runtime.h"
#include "src/package/json.h"
#include "src/support/expr_text.h"
#include "src/tile/tile_text.h"

#include <cstdint>
#include <cstdio>

namespace fldsl::package {

namespace {

/// FNV-1a, to tell one graph from another.
std::string hash_of(const std::string &text) {
    uint64_t h = 14695981039346656037ull;
    for (const char c : text) {
        h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    }
    char buffer[32];
    std::snprintf(buffer, sizeof(buffer), "%016llx", static_cast<unsigned long long>(h));
    return buffer;
}

std::string strings(const std::vector<std::string> &list) {
    std::vector<std::string> quoted;
    for (const std::string &s : list) {
        quoted.push_back(json_string(s));
    }
    return json_array(quoted);
}

std::string arguments_json(const KernelSpec &spec) {
    std::vector<std::string> arguments;
    for (const CallArgument &a : call_arguments(spec.kernel)) {
        JsonObject o;
        o.add("name", json_string(a.name())).add("kind", json_string(a.tensor ? "tensor" : "scalar"));
        o.add("type", json_string(type_name(a.type())));
        if (a.tensor) {
            const bool output = a.tensor->use == tile::TensorUse::Output;
            o.add("rank", a.tensor->rank).add("use", json_string(output ? "output" : "input"));
            auto it = spec.dimensions.find(a.name());
            o.add("dims", strings(it == spec.dimensions.end() ? std::vector<std::string>() : it->second));
        }
        arguments.push_back(o.text());
    }
    return json_array(arguments);
}

std::string conditions_json(const KernelSpec &spec) {
    std::vector<std::string> conditions;
    for (const Condition &c : spec.conditions) {
        int rank = 0;
        for (const CallArgument &a : call_arguments(spec.kernel)) {
            if (a.tensor && a.name() == c.tensor) {
                rank = a.tensor->rank;
            }
        }
        JsonObject o;
        o.add("argument", json_string(c.tensor)).add("dimension", c.dimension < 0 ? -1 : rank - 1 - c.dimension);
        o.add("holds", json_string(expr_to_text(c.holds))).add("allowed", json_string(c.allowed));
        conditions.push_back(o.text());
    }
    return json_array(conditions);
}

std::string workspace_text(const KernelSpec &spec) {
    std::string text;
    for (const tile::Tensor *t : workspaces(spec.kernel)) {
        std::string term = std::to_string(t->type.bytes());
        for (const Halide::Expr &e : t->extents) {
            term += " * (" + expr_to_text(e) + ")";
        }
        text += (text.empty() ? "" : " + ") + ("align64(" + term + ")");
    }
    return text.empty() ? "0" : text;
}

std::string kernel_json(const KernelSpec &spec) {
    JsonObject features, capacity, o;
    for (const auto &f : spec.features) {
        features.add(f.first, json_string(f.second));
    }
    for (const auto &c : spec.capacity) {
        capacity.add(c.first, c.second);
    }
    o.add("name", json_string(spec.kernel.name)).add("generator", json_string(spec.generator));
    o.add("features", features.text()).add("arguments", arguments_json(spec)).add("conditions", conditions_json(spec));
    o.add("capacity", capacity.text()).add("workspace", json_string(workspace_text(spec)));
    o.add("devices", json_array({json_string("cpu")})).add("stages", static_cast<int64_t>(spec.kernel.stages.size()));
    o.add("schedule", json_string(spec.schedule)).add("graph_hash", json_string(hash_of(spec.graph)));
    o.add("graph", json_string(spec.graph)).add("online", json_string(spec.online)).add("storage", json_string(spec.storage));
    o.add("tile", json_string(tile::to_text(spec.kernel)));
    return o.text();
}

}  // namespace

std::string manifest_json(const std::string &library, const std::vector<KernelSpec> &kernels, const std::vector<TargetInfo> &targets) {
    std::vector<std::string> target_names, kernel_list;
    for (const TargetInfo &t : targets) {
        target_names.push_back(t.name);
    }
    for (const KernelSpec &k : kernels) {
        kernel_list.push_back(kernel_json(k));
    }
    JsonObject tools, o;
    tools.add("halide", json_string(std::to_string(HALIDE_VERSION_MAJOR) + "." + std::to_string(HALIDE_VERSION_MINOR) + "." +
                                    std::to_string(HALIDE_VERSION_PATCH)));
    tools.add("compiler", json_string(__VERSION__));
    o.add("fldsl", json_string("0.1.0")).add("abi", FLDSL_ABI_VERSION).add("library", json_string(library));
    o.add("targets", strings(target_names)).add("tools", tools.text()).add("kernels", json_array(kernel_list, ",\n"));
    return o.text() + "\n";
}

}  // namespace fldsl::package
