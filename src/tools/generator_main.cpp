// The main of a generator executable: Halide's flags for one generator, and whole libraries.
//
//   tool --library NAME --kernels FILE -o DIR --runtime libfldsl_runtime.a --include DIR [--jobs N] target=a,b
//   tool --print graph|canonical|online|schedule|storage|tile|conditions -g GENERATOR [parameter=value ...]
//   tool -g GENERATOR -o DIR -e ... target=...           as Halide's own generator main does it
#include "src/package/compile_kernel.h"
#include "src/package/kernel_list.h"
#include "src/package/library.h"
#include "src/passes/pipeline.h"
#include "src/support/error.h"
#include "src/support/expr_text.h"
#include "src/tile/tile_text.h"

#include <cstdlib>
#include <fstream>
#include <iostream>

using namespace fldsl;

namespace {

struct Arguments {
    std::map<std::string, std::string> flags;
    std::map<std::string, std::string> parameters;
};

Arguments parse(int argc, char **argv) {
    Arguments a;
    for (int i = 1; i < argc; i++) {
        const std::string word = argv[i];
        if (word[0] == '-') {
            FLDSL_USER_CHECK(i + 1 < argc) << word << " wants a value";
            a.flags[word] = argv[++i];
            continue;
        }
        const size_t equals = word.find('=');
        FLDSL_USER_CHECK(equals != std::string::npos) << word << " is neither a flag nor name=value";
        a.parameters[word.substr(0, equals)] = word.substr(equals + 1);
    }
    return a;
}

std::string take(std::map<std::string, std::string> &values, const std::string &name, const std::string &fallback) {
    auto it = values.find(name);
    if (it == values.end()) {
        return fallback;
    }
    const std::string value = it->second;
    values.erase(it);
    return value;
}

std::string required(std::map<std::string, std::string> &values, const std::string &name) {
    const std::string value = take(values, name, "");
    FLDSL_USER_CHECK(!value.empty()) << name << " is missing";
    return value;
}

std::vector<std::string> split(const std::string &text, char separator) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);) {
        parts.push_back(part);
    }
    return parts;
}

int make_library(Arguments a) {
    package::LibraryOptions options;
    options.name = required(a.flags, "--library");
    options.directory = required(a.flags, "-o");
    options.runtime = required(a.flags, "--runtime");
    options.include = required(a.flags, "--include");
    options.jobs = std::atoi(take(a.flags, "--jobs", "2").c_str());
    options.compiler = std::getenv("CXX") ? std::getenv("CXX") : "c++";
    options.targets = split(take(a.parameters, "target", "host"), ',');
    const std::string path = required(a.flags, "--kernels");
    FLDSL_USER_CHECK(a.flags.empty()) << a.flags.begin()->first << " is no flag of --library";
    std::ifstream in(path);
    FLDSL_USER_CHECK(in.good()) << "cannot read the kernel list " << path;
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());

    std::vector<package::KernelSpec> kernels;
    const Halide::Target target(options.targets.front());
    for (const package::KernelEntry &e : package::parse_kernel_list(text, path)) {
        try {
            kernels.push_back(package::compile_kernel(e.generator, e.parameters, target, e.name));
        } catch (const UserError &error) {
            throw UserError("kernel " + e.name + ": " + error.what());
        }
        kernels.back().features = e.features;
    }
    package::build_library(kernels, options);
    return 0;
}

int print(Arguments a) {
    const std::string what = required(a.flags, "--print"), generator = required(a.flags, "-g");
    const std::string name = take(a.flags, "-f", generator);
    FLDSL_USER_CHECK(a.flags.empty()) << a.flags.begin()->first << " is no flag of --print";
    const Halide::Target target(take(a.parameters, "target", "host"));
    const algorithm::BuiltGenerator built = algorithm::build_generator(generator, a.parameters, target);
    const passes::CompiledKernel k = passes::run_passes(built, name);
    if (what == "graph") {
        std::cout << algorithm::to_text(k.graph);
    } else if (what == "canonical") {
        std::cout << algorithm::canonical_text(k.graph);
    } else if (what == "online") {
        std::cout << k.online;
    } else if (what == "schedule") {
        std::cout << k.schedule.text << "\n";
    } else if (what == "storage") {
        std::cout << k.storage;
    } else if (what == "tile") {
        std::cout << tile::to_text(k.kernel);
    } else if (what == "conditions") {
        for (const tile::Condition &c : k.conditions) {
            std::cout << c.tensor << " " << c.dimension << ": " << expr_to_text(c.holds) << "   allowed: " << c.allowed << "\n";
        }
    } else {
        FLDSL_USER_CHECK(false) << "--print " << what << ": there are graph, canonical, online, schedule, storage, tile, conditions";
    }
    return 0;
}

bool has_flag(int argc, char **argv, const std::string &flag) {
    for (int i = 1; i < argc; i++) {
        if (flag == argv[i]) {
            return true;
        }
    }
    return false;
}

}  // namespace

int main(int argc, char **argv) {
    try {
        if (has_flag(argc, argv, "--library")) {
            return make_library(parse(argc, argv));
        }
        if (has_flag(argc, argv, "--print")) {
            return print(parse(argc, argv));
        }
        return Halide::Internal::generate_filter_main(argc, argv);
    } catch (const Halide::Error &e) {
        std::cerr << "error: " << e.what() << "\n";
    } catch (const std::exception &e) {
        std::cerr << "error: " << e.what() << "\n";
    }
    return 1;
}
