#include "src/package/library.h"

#include "src/lower_halide/cpu.h"
#include "src/package/entry_text.h"
#include "src/package/manifest.h"
#include "src/runtime/cpu_features.h"
#include "src/runtime/descriptor.h"
#include "src/support/error.h"
#include "src/tile/tile_text.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace fldsl::package {

namespace fs = std::filesystem;
using Halide::Target;

namespace {

Target target_of(const std::string &text) {
    Target t = text == "host" ? Halide::get_host_target() : Target();
    if (text != "host") {
        FLDSL_USER_CHECK(Target::validate_target_string(text)) << "target " << text << " is none that Halide knows";
        t = Target(text);
    }
    FLDSL_USER_CHECK(t.arch == Target::X86 && t.bits == 64 && !t.has_gpu_feature())
        << "target " << text << ": CPU kernels are built for 64-bit x86";
    for (const Target::Feature f : {Target::NoRuntime, Target::NoAsserts, Target::NoBoundsQuery}) {
        t.set_feature(f);
    }
    return t;
}

uint32_t required_features(const Target &t) {
    using namespace fldsl_runtime;
    const bool wide = t.has_feature(Target::AVX512_Skylake) || t.has_feature(Target::AVX512_Cannonlake) ||
                      t.has_feature(Target::AVX512_Zen4) || t.has_feature(Target::AVX512_SapphireRapids);
    return (t.has_feature(Target::SSE41) ? Sse41 : 0u) | (t.has_feature(Target::AVX) ? uint32_t{Avx} : 0u) |
           (t.has_feature(Target::AVX2) ? uint32_t{Avx2} : 0u) | (t.has_feature(Target::FMA) ? uint32_t{Fma} : 0u) |
           (t.has_feature(Target::F16C) ? uint32_t{F16c} : 0u) | (wide ? uint32_t{Avx512Skylake} : 0u);
}

void write_file(const fs::path &path, const std::string &text) {
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    FLDSL_USER_CHECK(out.good()) << "cannot write " << path.string() << ": " << std::strerror(errno);
}

/// Runs a program without a shell; UserError with its command line when it fails.
void run(const std::vector<std::string> &command) {
    std::vector<char *> argv;
    std::string text;
    for (const std::string &word : command) {
        argv.push_back(const_cast<char *>(word.c_str()));
        text += (text.empty() ? "" : " ") + word;
    }
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        execvp(argv[0], argv.data());
        std::perror(argv[0]);
        _exit(127);
    }
    int status = 0;
    FLDSL_USER_CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "this command failed: " << text;
}

/// What the entry text and the runtime's tables can hold.
void check_interface(const KernelSpec &spec) {
    static const std::set<std::string> taken{
        "call", "values", "auto", "bool", "break", "case", "catch", "char", "class", "const", "continue", "default", "delete", "do",
        "double", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int",
        "long", "mutable", "namespace", "new", "operator", "private", "protected", "public", "register", "restrict", "return",
        "short", "signed", "sizeof", "static", "struct", "switch", "template", "this", "throw", "true", "try", "typedef", "typename",
        "union", "unsigned", "using", "virtual", "void", "volatile", "while"};
    const std::string &name = spec.kernel.name;
    const std::vector<CallArgument> arguments = call_arguments(spec.kernel);
    const size_t count = arguments.size() + workspaces(spec.kernel).size();
    FLDSL_USER_CHECK(count <= fldsl_runtime::max_arguments)
        << "kernel " << name << " has " << count << " arguments and workspaces; allowed: " << fldsl_runtime::max_arguments;
    for (const CallArgument &a : arguments) {
        FLDSL_USER_CHECK(!taken.count(a.name()))
            << "kernel " << name << ": argument " << a.name() << " has a name that its C function cannot give it; rename it";
        FLDSL_USER_CHECK(!a.tensor || a.tensor->rank <= fldsl_runtime::max_rank)
            << "kernel " << name << ": " << a.name() << " has " << a.tensor->rank << " dimensions; allowed: " << fldsl_runtime::max_rank;
    }
}

class Builder {
  public:
    Builder(const std::vector<KernelSpec> &kernels, const LibraryOptions &options)
        : kernels_(kernels), options_(options), directory_(options.directory), parts_(directory_ / (options.name + ".d")) {
        for (const std::string &t : options.targets) {
            targets_.push_back(target_of(t));
            infos_.push_back({t, required_features(targets_.back())});
        }
        FLDSL_USER_CHECK(!targets_.empty()) << "library " << options.name << " names no target";
        for (const KernelSpec &k : kernels) {
            check_interface(k);
        }
    }

    void build() {
        fs::create_directories(parts_);
        compile_kernels();
        const std::string manifest = manifest_json(options_.name, kernels_, infos_);
        write_file(directory_ / (options_.name + ".json"), manifest);
        write_file(directory_ / (options_.name + ".h"), header_text(options_.name, kernels_));
        write_file(parts_ / "entry.cpp", entry_text(options_.name, kernels_, infos_, read_scratch(), manifest));
        link();
    }

  private:
    std::string object_of(size_t kernel, size_t stage, size_t target) const {
        return (parts_ / (stage_symbol(kernels_[kernel], stage, target) + ".o")).string();
    }

    /// Worker processes, each with its share of the kernels: LLVM is not shared, a crash names its kernel.
    void compile_kernels() {
        const int jobs = std::max(1, options_.jobs);
        std::vector<pid_t> workers;
        for (int w = 0; w < jobs; w++) {
            const pid_t child = fork();
            FLDSL_USER_CHECK(child >= 0) << "cannot start a worker: " << std::strerror(errno);
            if (child == 0) {
                _exit(worker(w, jobs));
            }
            workers.push_back(child);
        }
        bool failed = false;
        for (const pid_t child : workers) {
            int status = 0;
            waitpid(child, &status, 0);
            failed |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
        }
        FLDSL_USER_CHECK(!failed) << "library " << options_.name << ": a kernel did not compile; the message is above";
    }

    int worker(int first, int step) const {
        for (size_t k = first; k < kernels_.size(); k += step) {
            try {
                compile_kernel_objects(k);
            } catch (const std::exception &e) {
                std::cerr << kernels_[k].kernel.name << ": " << e.what() << std::endl;
                return 1;
            } catch (const Halide::Error &e) {
                std::cerr << kernels_[k].kernel.name << ": " << e.what() << std::endl;
                return 1;
            }
            if (options_.progress) {
                std::cerr << "[" + std::to_string(k + 1) + "/" + std::to_string(kernels_.size()) + "] " + kernels_[k].kernel.name + "\n";
            }
        }
        return 0;
    }

    void compile_kernel_objects(size_t k) const {
        const KernelSpec &spec = kernels_[k];
        std::string scratch;
        for (size_t s = 0; s < spec.kernel.stages.size(); s++) {
            for (size_t t = 0; t < targets_.size(); t++) {
                lower_halide::CpuStage stage = lower_halide::lower_cpu(spec.kernel.stages[s], stage_symbol(spec, s, t), targets_[t]);
                stage.module.compile({{Halide::OutputFileType::object, object_of(k, s, t)}});
                scratch += std::to_string(stage.scratch_bytes) + " ";
            }
        }
        write_file(parts_ / (spec.kernel.name + ".scratch"), scratch);
        write_file(parts_ / (spec.kernel.name + ".tile"), tile::to_text(spec.kernel));
        write_file(parts_ / (spec.kernel.name + ".graph"), spec.graph + "\n" + spec.online);
    }

    ScratchBytes read_scratch() const {
        ScratchBytes all;
        for (const KernelSpec &spec : kernels_) {
            std::ifstream in(parts_ / (spec.kernel.name + ".scratch"));
            std::vector<std::vector<int64_t>> stages;
            for (size_t s = 0; s < spec.kernel.stages.size(); s++) {
                stages.emplace_back(targets_.size());
                for (int64_t &bytes : stages.back()) {
                    in >> bytes;
                }
            }
            all.push_back(std::move(stages));
        }
        return all;
    }

    /// The compiler's words: CXX may be "ccache g++".
    std::vector<std::string> compiler() const {
        std::istringstream in(options_.compiler);
        return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
    }

    void link() const {
        const std::string entry = (parts_ / "entry.o").string(), whole = (parts_ / "whole.o").string();
        std::vector<std::string> compile = compiler();
        compile.insert(compile.end(), {"-std=c++17", "-O1", "-fPIC", "-fno-exceptions", "-fno-rtti", "-fno-asynchronous-unwind-tables",
                                       "-I" + options_.include, "-I" + options_.include + "/include", "-c",
                                       (parts_ / "entry.cpp").string(), "-o", entry});
        run(compile);
        std::vector<std::string> objects{entry};
        std::string exported = "{\n  global:\n    fldsl_library_info;\n", kept;
        for (size_t k = 0; k < kernels_.size(); k++) {
            exported += "    fldsl_" + kernels_[k].kernel.name + ";\n";
            kept += "fldsl_" + kernels_[k].kernel.name + "\n";
            for (size_t s = 0; s < kernels_[k].kernel.stages.size(); s++) {
                for (size_t t = 0; t < targets_.size(); t++) {
                    objects.push_back(object_of(k, s, t));
                }
            }
        }
        write_file(parts_ / "exports.map", exported + "  local: *;\n};\n");
        write_file(parts_ / "exports.txt", kept);

        const std::string so = (directory_ / ("lib" + options_.name + ".so")).string();
        // nodelete: threads of the pool, the fork handler and the scratch of callers' threads outlive a dlclose.
        std::vector<std::string> shared = compiler();
        shared.insert(shared.end(), {"-shared", "-o", so, "-Wl,-soname,lib" + options_.name + ".so",
                                     "-Wl,--version-script=" + (parts_ / "exports.map").string(), "-Wl,--no-undefined",
                                     "-Wl,--gc-sections", "-Wl,--as-needed", "-Wl,-z,nodelete"});
        shared.insert(shared.end(), objects.begin(), objects.end());
        shared.insert(shared.end(), {options_.runtime, "-lm", "-lpthread"});
        run(shared);

        // The archive holds one object in which all but the kernels is local, so that several libraries link into one program.
        std::vector<std::string> relocatable = compiler();
        relocatable.insert(relocatable.end(), {"-r", "-nostdlib", "-o", whole});
        relocatable.insert(relocatable.end(), objects.begin(), objects.end());
        relocatable.insert(relocatable.end(), {"-Wl,--whole-archive", options_.runtime, "-Wl,--no-whole-archive"});
        run(relocatable);
        run({"objcopy", "--keep-global-symbols=" + (parts_ / "exports.txt").string(), whole});
        const std::string archive = (directory_ / ("lib" + options_.name + ".a")).string();
        fs::remove(archive);
        run({"ar", "rcs", archive, whole});
    }

    const std::vector<KernelSpec> &kernels_;
    const LibraryOptions &options_;
    fs::path directory_, parts_;
    std::vector<Target> targets_;
    std::vector<TargetInfo> infos_;
};

}  // namespace

void build_library(const std::vector<KernelSpec> &kernels, const LibraryOptions &options) {
    Builder(kernels, options).build();
}

}  // namespace fldsl::package
