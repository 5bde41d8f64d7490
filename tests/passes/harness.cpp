#include "harness.h"

#include "fldsl/runtime.h"
#include "src/package/compile_kernel.h"
#include "src/package/library.h"
#include "src/support/error.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <random>
#include <unistd.h>

extern "C" {
float fldsl_exp(float);
float fldsl_exp2(float);
float fldsl_log(float);
float fldsl_tanh(float);
float fldsl_sigmoid(float);
float fldsl_sin(float);
float fldsl_pow(float, float);
float fldsl_sqrt(float);
float fldsl_rsqrt(float);
}

namespace harness {

using namespace fldsl;

namespace {

size_t size_of(const std::vector<int> &extents) {
    size_t n = 1;
    for (const int e : extents) {
        n *= static_cast<size_t>(e);
    }
    return n;
}

/// Bytes of an array in its own type, and back.
class Memory {
  public:
    explicit Memory(const Array &a) : type(a.type), extents(a.extents.begin(), a.extents.end()) {
        bytes.resize(std::max<size_t>(a.values.size() * type.bytes(), 64));
        const tile::HostTensor t = tensor();
        for (size_t i = 0; i < a.values.size(); i++) {
            const_cast<tile::HostTensor &>(t).write(static_cast<int64_t>(i), a.values[i]);
        }
    }
    tile::HostTensor tensor() {
        return {bytes.data(), type, extents, tile::dense_strides(extents)};
    }
    Array array() {
        Array a;
        a.type = type;
        a.extents.assign(extents.begin(), extents.end());
        a.values.resize(size_of(a.extents));
        const tile::HostTensor t = tensor();
        for (size_t i = 0; i < a.values.size(); i++) {
            a.values[i] = t.read(static_cast<int64_t>(i));
        }
        return a;
    }

    Halide::Type type;
    std::vector<int64_t> extents;
    std::vector<uint8_t> bytes;
};

Halide::Type output_type(const std::string &output, const algorithm::RegionGraph &graph) {
    for (const auto &o : graph.outputs) {
        if (o.name == output) {
            return o.type;
        }
    }
    FLDSL_INTERNAL_CHECK(false) << "no output " << output;
    return {};
}

}  // namespace

Array zeros(std::vector<int> extents, Halide::Type type) {
    Array a;
    a.type = type;
    a.values.assign(size_of(extents), 0);
    a.extents = std::move(extents);
    return a;
}

Array random_array(std::vector<int> extents, unsigned seed, Halide::Type type) {
    Array a = zeros(std::move(extents), type);
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    for (double &v : a.values) {
        v = tile::round_to(type, normal(generator));
    }
    return a;
}

std::map<std::string, Array> oracle(const Call &call) {
    const Halide::Target target = Halide::get_host_target().with_feature(Halide::Target::StrictFloat);
    algorithm::BuiltGenerator built = algorithm::build_generator(call.generator, call.parameters, target);
    internal::ScheduleTable::instance().take(built.schedule_key);
    std::vector<Halide::Buffer<>> keep;
    for (const auto &input : call.inputs) {
        const Array &a = input.second;
        Halide::Buffer<> buffer(a.type, a.extents);
        for (size_t i = 0; i < a.values.size(); i++) {
            if (a.type == Halide::Float(32)) {
                static_cast<float *>(buffer.data())[i] = static_cast<float>(a.values[i]);
            } else {
                static_cast<int32_t *>(buffer.data())[i] = static_cast<int32_t>(a.values[i]);
            }
        }
        keep.push_back(buffer);
        built.generator->input_parameter(input.first).at(0).set_buffer(buffer);
    }
    for (const auto &scalar : call.scalars) {
        Halide::Parameter p = built.generator->input_parameter(scalar.first).at(0);
        if (p.type().is_float()) {
            p.set_scalar<float>(static_cast<float>(scalar.second));
        } else {
            p.set_scalar<int32_t>(static_cast<int32_t>(scalar.second));
        }
    }
    std::vector<Halide::Internal::Function> outputs;
    std::vector<Halide::Buffer<>> results;
    std::vector<std::string> names;
    for (const auto &info : built.generator->arginfos()) {
        if (info.dir == Halide::Internal::ArgInfoDirection::Output) {
            outputs.push_back(built.generator->output_func(info.name).at(0).function());
            results.emplace_back(outputs.back().output_types()[0], call.outputs.at(info.name));
            names.push_back(info.name);
        }
    }
    for (auto &entry : Halide::Internal::build_environment(outputs)) {
        if (!entry.second.updates().empty()) {
            Halide::Func(entry.second).compute_root();
        }
    }
    built.pipeline.set_jit_externs({{"fldsl_exp", Halide::JITExtern(fldsl_exp)},
                                    {"fldsl_exp2", Halide::JITExtern(fldsl_exp2)},
                                    {"fldsl_log", Halide::JITExtern(fldsl_log)},
                                    {"fldsl_tanh", Halide::JITExtern(fldsl_tanh)},
                                    {"fldsl_sigmoid", Halide::JITExtern(fldsl_sigmoid)},
                                    {"fldsl_sin", Halide::JITExtern(fldsl_sin)},
                                    {"fldsl_sqrt", Halide::JITExtern(fldsl_sqrt)},
                                    {"fldsl_rsqrt", Halide::JITExtern(fldsl_rsqrt)},
                                    {"fldsl_pow", Halide::JITExtern(fldsl_pow)}});
    built.pipeline.realize(Halide::Realization(results), target);
    std::map<std::string, Array> arrays;
    for (size_t o = 0; o < names.size(); o++) {
        Array a = zeros(call.outputs.at(names[o]));
        for (size_t i = 0; i < a.values.size(); i++) {
            a.values[i] = static_cast<const float *>(results[o].data())[i];
        }
        arrays[names[o]] = std::move(a);
    }
    return arrays;
}

passes::CompiledKernel compile(const std::string &generator, const Parameters &parameters) {
    return passes::run_passes(algorithm::build_generator(generator, parameters, Halide::get_host_target()), generator);
}

std::map<std::string, Array> interpreted(const Call &call, tile::Precision precision, tile::Classes classes) {
    const passes::CompiledKernel kernel = compile(call.generator, call.parameters);
    std::map<std::string, Memory> memory;
    for (const auto &input : call.inputs) {
        memory.emplace(input.first, Memory(input.second));
    }
    for (const auto &output : call.outputs) {
        memory.emplace(output.first, Memory(zeros(output.second, output_type(output.first, kernel.graph))));
    }
    std::map<std::string, tile::HostTensor> tensors;
    for (auto &m : memory) {
        tensors[m.first] = m.second.tensor();
    }
    tile::interpret(kernel.kernel, tensors, call.scalars, precision, classes);
    std::map<std::string, Array> results;
    for (const auto &output : call.outputs) {
        results[output.first] = memory.at(output.first).array();
    }
    return results;
}

namespace {

const fldsl_library *library_for(const Call &call, package::KernelSpec *spec) {
    static int number = 0;
    static std::map<std::string, std::pair<const fldsl_library *, package::KernelSpec>> built;
    std::string key = call.generator;
    for (const auto &p : call.parameters) {
        key += " " + p.first + "=" + p.second;
    }
    auto it = built.find(key);
    if (it == built.end()) {
        package::LibraryOptions options;
        const std::string folder = std::filesystem::temp_directory_path() / ("fldsl_test_" + std::to_string(getpid()));
        options.name = "case" + std::to_string(number++);
        options.directory = folder;
        options.targets = {"host"};
        options.runtime = FLDSL_RUNTIME_LIBRARY;
        options.include = FLDSL_SOURCE_ROOT;
        options.progress = false;
        const package::KernelSpec made =
            package::compile_kernel(call.generator, call.parameters, Halide::get_host_target(), call.generator);
        package::build_library({made}, options);
        void *handle = dlopen((folder + "/lib" + options.name + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
        FLDSL_INTERNAL_CHECK(handle) << dlerror();
        const auto info = reinterpret_cast<const fldsl_library *(*)()>(dlsym(handle, "fldsl_library_info"));
        it = built.emplace(key, std::make_pair(info(), made)).first;
        std::filesystem::remove_all(folder);
    }
    *spec = it->second.second;
    return it->second.first;
}

}  // namespace

std::map<std::string, Array> compiled(const Call &call, int threads, int64_t missing) {
    package::KernelSpec spec;
    const fldsl_library *library = library_for(call, &spec);
    std::map<std::string, Memory> memory;
    for (const auto &input : call.inputs) {
        memory.emplace(input.first, Memory(input.second));
    }
    std::vector<fldsl_value> values;
    std::vector<std::vector<int64_t>> shapes;
    std::vector<fldsl_tensor> tensors;
    const auto arguments = package::call_arguments(spec.kernel);
    shapes.reserve(arguments.size());
    tensors.reserve(arguments.size());
    for (const package::CallArgument &a : arguments) {
        fldsl_value v;
        v.i = 0;
        if (!a.tensor) {
            a.type().is_float() ? v.f = call.scalars.at(a.name()) : v.i = static_cast<int64_t>(call.scalars.at(a.name()));
            values.push_back(v);
            continue;
        }
        if (a.tensor->use == tile::TensorUse::Output) {
            Array filler = zeros(call.outputs.at(a.name()), a.type());
            for (double &x : filler.values) {
                x = 77;
            }
            memory.emplace(a.name(), Memory(filler));
        }
        Memory &m = memory.at(a.name());
        shapes.emplace_back(m.extents.rbegin(), m.extents.rend());
        fldsl_tensor t;
        std::memset(&t, 0, sizeof(t));
        t.data = m.bytes.data();
        t.device.device_type = 1;
        t.ndim = static_cast<int32_t>(shapes.back().size());
        t.dtype.code = m.type.is_bfloat() ? 4 : m.type.is_float() ? 2 : 0;
        t.dtype.bits = static_cast<uint8_t>(m.type.bits());
        t.dtype.lanes = 1;
        t.shape = shapes.back().data();
        tensors.push_back(t);
        v.tensor = &tensors.back();
        values.push_back(v);
    }
    fldsl_error error;
    std::memset(&error, 0, sizeof(error));
    fldsl_call c;
    std::memset(&c, 0, sizeof(c));
    c.abi_version = FLDSL_ABI_VERSION;
    c.threads = threads;
    c.error = &error;
    const int32_t n = static_cast<int32_t>(values.size());
    c.workspace_bytes = library->kernels[0].workspace(values.data(), n, &error);
    FLDSL_USER_CHECK(c.workspace_bytes >= 0) << error.message;
    c.workspace = c.workspace_bytes > 0 ? std::aligned_alloc(64, static_cast<size_t>(c.workspace_bytes + 63) / 64 * 64) : nullptr;
    c.workspace_bytes -= missing;
    const int status = library->kernels[0].run(&c, values.data(), n);
    std::free(c.workspace);
    FLDSL_USER_CHECK(status == 0) << error.message;
    std::map<std::string, Array> results;
    for (const auto &output : call.outputs) {
        results[output.first] = memory.at(output.first).array();
    }
    return results;
}

double difference(const Array &a, const Array &b) {
    FLDSL_INTERNAL_CHECK(a.values.size() == b.values.size()) << "arrays of different sizes";
    double worst = 0;
    for (size_t i = 0; i < a.values.size(); i++) {
        const double x = a.values[i], y = b.values[i];
        const bool same = x == y || (std::isnan(x) && std::isnan(y));
        const double d = same ? 0 : std::abs(x - y) / (1 + std::abs(y));
        worst = std::isnan(d) || std::isinf(d) ? INFINITY : std::max(worst, d);
    }
    return worst;
}

double difference(const std::map<std::string, Array> &a, const std::map<std::string, Array> &b) {
    double worst = 0;
    for (const auto &entry : a) {
        worst = std::max(worst, difference(entry.second, b.at(entry.first)));
    }
    return worst;
}

}  // namespace harness
