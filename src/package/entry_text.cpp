#include "src/package/entry_text.h"

#include "src/package/formula.h"
#include "src/support/error.h"
#include "src/support/expr_text.h"

#include <algorithm>
#include <sstream>

namespace fldsl::package {

using Halide::Type;

namespace {

std::string quoted(const std::string &s) {
    std::string out = "\"";
    for (const char c : s) {
        if (c == '\n') {
            out += "\\n\"\n\"";
        } else {
            out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
        }
    }
    return out + "\"";
}

int type_code(Type t) {
    return t.is_bool() ? 6 : t.is_bfloat() ? 4 : t.is_float() ? 2 : t.is_uint() ? 1 : 0;
}

int type_bits(Type t) {
    return t.is_bool() ? 8 : t.bits();
}

std::string c_type(Type t) {
    if (t.is_float()) {
        return t.bits() == 64 ? "double" : "float";
    }
    return t.is_bool() ? "int32_t" : (t.is_uint() ? "uint" : "int") + std::to_string(t.bits()) + "_t";
}

int index_of(const std::vector<CallArgument> &arguments, const std::string &name) {
    for (size_t i = 0; i < arguments.size(); i++) {
        if (arguments[i].name() == name) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

std::string parameters(const KernelSpec &spec) {
    std::string list = "const fldsl_call *call";
    for (const CallArgument &a : call_arguments(spec.kernel)) {
        list += a.tensor ? ", const fldsl_tensor *" + a.name() : ", " + c_type(a.type()) + " " + a.name();
    }
    return list;
}

class Entry {
  public:
    Entry(const KernelSpec &spec, const std::vector<TargetInfo> &targets, const std::vector<std::vector<int64_t>> &scratch)
        : spec_(spec), targets_(targets), scratch_(scratch), arguments_(call_arguments(spec.kernel)), formula_(spec.kernel) {
    }

    std::string text() {
        out_ << "// ---- " << spec_.kernel.name << "\n\nnamespace " << spec_.kernel.name << "_tables {\n\n";
        arguments();
        conditions();
        workspace_tables();
        stages();
        const auto table = [](size_t n, const char *name) { return n ? std::string(name) : std::string("nullptr"); };
        out_ << "const Kernel kernel = {" << quoted(spec_.kernel.name) << ", arguments, " << arguments_.size() << ", "
             << table(spec_.conditions.size(), "conditions") << ", " << spec_.conditions.size() << ",\n    "
             << table(workspaces(spec_.kernel).size(), "workspaces") << ", " << workspaces(spec_.kernel).size() << ", stages, "
             << spec_.kernel.stages.size() << ", target_features, target_names, " << targets_.size() << "};\n\n"
             << "int run(const fldsl_call *call, const fldsl_value *values, int32_t count) {\n"
             << "    return fldsl_runtime_call(&kernel, call, values, count);\n}\n"
             << "int64_t workspace(const fldsl_value *values, int32_t count, fldsl_error *error) {\n"
             << "    return fldsl_runtime_workspace(&kernel, values, count, error);\n}\n\n"
             << "}  // namespace " << spec_.kernel.name << "_tables\n\n";
        functions();
        return out_.str();
    }

  private:
    void arguments() {
        out_ << "const Argument arguments[] = {\n";
        for (const CallArgument &a : arguments_) {
            const bool output = a.tensor && a.tensor->use == tile::TensorUse::Output;
            out_ << "    {" << quoted(a.name()) << ", " << (a.tensor ? "true" : "false") << ", " << (output ? "true" : "false") << ", "
                 << type_code(a.type()) << ", " << type_bits(a.type()) << ", " << quoted(type_name(a.type())) << ", "
                 << (a.tensor ? a.tensor->rank : 0) << "},\n";
        }
        out_ << "};\n\n";
    }

    std::string formula(const Halide::Expr &e) {
        return "[](const int64_t *x, const double *f) -> int64_t { (void)x; (void)f; return " + formula_(e) + "; }";
    }

    void conditions() {
        if (spec_.conditions.empty()) {
            return;
        }
        out_ << "const Condition conditions[] = {\n";
        for (const Condition &c : spec_.conditions) {
            const int argument = index_of(arguments_, c.tensor);
            const int rank = argument >= 0 && arguments_[argument].tensor ? arguments_[argument].tensor->rank : 0;
            out_ << "    // " << expr_to_text(c.holds) << "\n    {" << argument << ", " << (c.dimension < 0 ? -1 : rank - 1 - c.dimension)
                 << ",\n     " << formula(c.holds) << ",\n     " << (c.given.defined() ? formula(c.given) : "nullptr") << ",\n     "
                 << (c.wanted.defined() ? formula(c.wanted) : "nullptr") << ",\n     " << quoted(c.allowed) << "},\n";
        }
        out_ << "};\n\n";
    }

    void workspace_tables() {
        const auto list = workspaces(spec_.kernel);
        for (size_t w = 0; w < list.size(); w++) {
            out_ << "const Formula workspace_extents_" << w << "[] = {\n";
            for (const Halide::Expr &e : list[w]->extents) {
                out_ << "    " << formula(e) << ",\n";
            }
            out_ << "};\n";
        }
        if (!list.empty()) {
            out_ << "const Workspace workspaces[] = {\n";
            for (size_t w = 0; w < list.size(); w++) {
                out_ << "    {" << list[w]->rank << ", workspace_extents_" << w << ", " << list[w]->type.bytes() << "},  // "
                     << list[w]->name << "\n";
            }
            out_ << "};\n\n";
        }
    }

    void stages() {
        for (size_t s = 0; s < spec_.kernel.stages.size(); s++) {
            out_ << "const StageVariant variants_" << s << "[] = {\n";
            for (size_t t = 0; t < targets_.size(); t++) {
                out_ << "    {" << stage_symbol(spec_, s, t) << ", " << scratch_[s][t] << "},\n";
            }
            out_ << "};\n";
        }
        out_ << "const Stage stages[] = {\n";
        for (size_t s = 0; s < spec_.kernel.stages.size(); s++) {
            const tile::Program &p = spec_.kernel.stages[s];
            Halide::Expr blocks = Halide::Internal::make_const(Halide::Int(64), 1);
            for (const std::string &g : p.grid) {
                for (const tile::Axis &a : p.axes) {
                    if (a.name == g) {
                        blocks = blocks * ((Halide::cast<int64_t>(a.extent) + (a.tile - 1)) / a.tile);
                    }
                }
            }
            out_ << "    {" << formula(blocks) << ", variants_" << s << "},\n";
        }
        out_ << "};\n\n";
    }

    void functions() {
        const std::string tables = spec_.kernel.name + "_tables::";
        out_ << "FLDSL_API " << signature(spec_) << " {\n    fldsl_value values[" << arguments_.size() << "];\n";
        for (size_t i = 0; i < arguments_.size(); i++) {
            const CallArgument &a = arguments_[i];
            out_ << "    values[" << i << "]." << (a.tensor ? "tensor" : a.type().is_float() ? "f" : "i") << " = " << a.name() << ";\n";
        }
        out_ << "    return fldsl_runtime_call(&" << tables << "kernel, call, values, " << arguments_.size() << ");\n}\n\n";
    }

    const KernelSpec &spec_;
    const std::vector<TargetInfo> &targets_;
    const std::vector<std::vector<int64_t>> &scratch_;
    std::vector<CallArgument> arguments_;
    FormulaText formula_;
    std::ostringstream out_;
};

/// What indexes a tensor's dimensions, "[b, h, i, d]".
std::string shape_text(const KernelSpec &spec, const std::string &tensor) {
    std::string text;
    auto it = spec.dimensions.find(tensor);
    if (it != spec.dimensions.end()) {
        for (const std::string &d : it->second) {
            text += (text.empty() ? "" : ", ") + d;
        }
    }
    return "[" + text + "]";
}

}  // namespace

std::string stage_symbol(const KernelSpec &spec, size_t stage, size_t target) {
    return spec.kernel.name + "_stage" + std::to_string(stage) + "_target" + std::to_string(target);
}

std::string signature(const KernelSpec &spec) {
    return "int fldsl_" + spec.kernel.name + "(" + parameters(spec) + ")";
}

std::string entry_text(const std::string &library, const std::vector<KernelSpec> &kernels, const std::vector<TargetInfo> &targets,
                       const ScratchBytes &scratch, const std::string &manifest) {
    std::ostringstream out;
    out << "// Entry points of the kernel library " << library << ", made by fldsl.\n"
        << "#include \"src/runtime/descriptor.h\"\n\n"
        << "#define FLDSL_API extern \"C\" __attribute__((visibility(\"default\")))\n\n"
        << "using namespace fldsl_runtime;\n\nextern \"C\" {\n";
    for (const KernelSpec &k : kernels) {
        for (size_t s = 0; s < k.kernel.stages.size(); s++) {
            for (size_t t = 0; t < targets.size(); t++) {
                out << "int " << stage_symbol(k, s, t)
                    << "(const void *const *, const int64_t *, const double *, int32_t, int32_t, void *);\n";
            }
        }
    }
    out << "}\n\nnamespace {\n\n"
        << "// Halide's integer division: rounds down for a positive divisor, 0 for divisor 0.\n"
        << "[[maybe_unused]] int64_t floor_div(int64_t a, int64_t b) {\n"
        << "    if (b == 0) {\n        return 0;\n    }\n"
        << "    const int64_t q = a / b, r = a % b;\n    return r < 0 ? (b > 0 ? q - 1 : q + 1) : q;\n}\n"
        << "[[maybe_unused]] int64_t floor_mod(int64_t a, int64_t b) {\n"
        << "    if (b == 0) {\n        return 0;\n    }\n"
        << "    const int64_t r = a % b;\n    return r < 0 ? r + (b > 0 ? b : -b) : r;\n}\n"
        << "[[maybe_unused]] int64_t least(int64_t a, int64_t b) {\n    return a < b ? a : b;\n}\n"
        << "[[maybe_unused]] int64_t greatest(int64_t a, int64_t b) {\n    return a > b ? a : b;\n}\n\n"
        << "const uint32_t target_features[] = {";
    for (const TargetInfo &t : targets) {
        out << t.features << "u, ";
    }
    out << "};\nconst char *const target_names[] = {\n";
    for (const TargetInfo &t : targets) {
        out << "    " << quoted(t.name) << ",\n";
    }
    out << "};\n\n}  // namespace\n\n";
    for (size_t k = 0; k < kernels.size(); k++) {
        out << Entry(kernels[k], targets, scratch[k]).text();
    }
    out << "namespace {\n\nconst char manifest[] =\n" << quoted(manifest) << ";\n\nconst fldsl_kernel kernels[] = {\n";
    for (const KernelSpec &k : kernels) {
        const std::string tables = k.kernel.name + "_tables::";
        out << "    {" << quoted(k.kernel.name) << ", " << call_arguments(k.kernel).size() << ", " << tables << "run, " << tables
            << "workspace},\n";
    }
    out << "};\nconst fldsl_library library = {FLDSL_ABI_VERSION, " << kernels.size() << ", kernels, manifest};\n\n}  // namespace\n\n"
        << "FLDSL_API const fldsl_library *fldsl_library_info(void) {\n    return &library;\n}\n";
    return out.str();
}

std::string header_text(const std::string &library, const std::vector<KernelSpec> &kernels) {
    std::string guard = "FLDSL_LIBRARY_" + library + "_H";
    std::transform(guard.begin(), guard.end(), guard.begin(), [](unsigned char c) { return std::toupper(c); });
    std::ostringstream out;
    out << "/* Kernels of the library " << library << ", made by fldsl. Shapes are outermost first. A call returns 0, or a status of\n"
        << " * fldsl/runtime.h with a text in call->error. Workspace bytes of a kernel: fldsl_kernel::workspace of its entry in\n"
        << " * fldsl_library_info(); kernels without a note on workspace need none. */\n#ifndef "
        << guard << "\n#define " << guard << "\n\n#include \"fldsl/runtime.h\"\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
    for (const KernelSpec &k : kernels) {
        out << "\n/* " << k.kernel.name << "\n";
        for (const CallArgument &a : call_arguments(k.kernel)) {
            out << " *   " << a.name() << ": " << type_name(a.type());
            if (a.tensor) {
                out << " " << shape_text(k, a.name()) << (a.tensor->use == tile::TensorUse::Output ? ", written" : "");
            }
            out << "\n";
        }
        for (const auto &c : k.capacity) {
            out << " *   extent of " << c.first << ": at most " << c.second << "\n";
        }
        if (!workspaces(k.kernel).empty()) {
            out << " *   needs workspace\n";
        }
        out << " */\n" << signature(k) << ";\n";
    }
    out << "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
    return out.str();
}

}  // namespace fldsl::package
