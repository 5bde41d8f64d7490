// fldsl._core: opens kernel libraries and calls their kernels by index through the C interface of fldsl/runtime.h.
//
// It knows no kernel and no framework: NumPy arrays are read through pybind11, torch tensors through their Python methods
// (so no torch headers and one wheel for every torch), anything else through DLPack. Nothing is copied.
// Failures of a call come back as a tuple (status, argument, dimension, message); fldsl.errors makes exceptions of them.

#include "fldsl/runtime.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace py = pybind11;

namespace {

constexpr int max_rank = 8;

/// A refused argument, before the library is called.
struct Refusal {
    std::string argument;
    std::string message;
};

struct ElementType {
    uint8_t code, bits;
};

/// One tensor of a call: the view that the library reads, with the storage and the owner behind it.
struct TensorView {
    fldsl_tensor tensor{};
    int64_t shape[max_rank];
    int64_t strides[max_rank];
    py::object owner;   // a DLPack capsule, kept alive for the call
};

/// "float32", "bfloat16", "int64" ... as DLPack code and bits; false when it is none of these.
bool parse_element_type(const std::string &name, ElementType &type) {
    static const std::unordered_map<std::string, ElementType> table = {
        {"float64", {2, 64}}, {"float32", {2, 32}}, {"float16", {2, 16}}, {"bfloat16", {4, 16}}, {"bool", {6, 8}},
        {"int8", {0, 8}},     {"int16", {0, 16}},   {"int32", {0, 32}},   {"int64", {0, 64}},    {"uint8", {1, 8}},
        {"uint16", {1, 16}},  {"uint32", {1, 32}},  {"uint64", {1, 64}},
    };
    auto found = table.find(name);
    if (found == table.end()) return false;
    type = found->second;
    return true;
}

void set_type(TensorView &view, ElementType type) {
    view.tensor.dtype.code = type.code;
    view.tensor.dtype.bits = type.bits;
    view.tensor.dtype.lanes = 1;
}

void set_rank(TensorView &view, const std::string &name, py::ssize_t rank) {
    if (rank > max_rank) {
        throw Refusal{name, "has rank " + std::to_string(rank) + "; allowed: at most " + std::to_string(max_rank)};
    }
    view.tensor.ndim = static_cast<int32_t>(rank);
    view.tensor.shape = view.shape;
    view.tensor.strides = view.strides;
    view.tensor.device = {1, 0};
}

void read_numpy(const py::array &array, bool writes, const std::string &name, TensorView &view) {
    set_rank(view, name, array.ndim());
    py::dtype dtype = array.dtype();
    ElementType type{};
    const auto bits = static_cast<uint8_t>(array.itemsize() * 8);
    switch (dtype.kind()) {
        case 'f': type = {2, bits}; break;
        case 'i': type = {0, bits}; break;
        case 'u': type = {1, bits}; break;
        case 'b': type = {6, bits}; break;
        default: {
            std::string text = py::str(dtype.attr("name"));
            if (!parse_element_type(text, type)) throw Refusal{name, "has the element type " + text + ", which no kernel takes"};
        }
    }
    if (dtype.byteorder() == '>') throw Refusal{name, "is big-endian; allowed: native byte order"};
    set_type(view, type);
    const int64_t size = array.itemsize();
    for (int d = 0; d < view.tensor.ndim; d++) {
        view.shape[d] = array.shape(d);
        const int64_t bytes = array.strides(d);
        if (bytes % size != 0) {
            throw Refusal{name, "has a stride of " + std::to_string(bytes) + " bytes; allowed: whole elements of " +
                                    std::to_string(size) + " bytes"};
        }
        view.strides[d] = bytes / size;
    }
    if (writes && !array.writeable()) throw Refusal{name, "is read-only; allowed: an array that can be written"};
    view.tensor.data = const_cast<void *>(array.data());
}

/// Names of attributes as interned strings, made once.
struct Names {
    PyObject *data_ptr = PyUnicode_InternFromString("data_ptr");
    PyObject *shape = PyUnicode_InternFromString("shape");
    PyObject *stride = PyUnicode_InternFromString("stride");
    PyObject *dtype = PyUnicode_InternFromString("dtype");
    PyObject *is_cpu = PyUnicode_InternFromString("is_cpu");
    PyObject *is_neg = PyUnicode_InternFromString("is_neg");
};

const Names &names() {
    static const Names *value = new Names;   // lives as long as the interpreter
    return *value;
}

py::object get(PyObject *object, PyObject *name) {
    PyObject *result = PyObject_GetAttr(object, name);
    if (!result) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(result);
}

py::object invoke(PyObject *object, PyObject *name) {
    PyObject *result = PyObject_CallMethodNoArgs(object, name);
    if (!result) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(result);
}

void read_integers(const py::object &tuple, int64_t *out, int count) {
    for (int d = 0; d < count; d++) out[d] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple.ptr(), d));
    if (PyErr_Occurred()) throw py::error_already_set();
}

ElementType torch_element_type(const py::object &dtype, const std::string &name) {
    static auto *known = new std::unordered_map<PyObject *, ElementType>;   // torch dtypes are immortal singletons
    auto found = known->find(dtype.ptr());
    if (found != known->end()) return found->second;
    std::string text = py::str(dtype);
    ElementType type{};
    if (text.rfind("torch.", 0) == 0) text = text.substr(6);
    if (!parse_element_type(text, type)) throw Refusal{name, "has the element type " + text + ", which no kernel takes"};
    dtype.inc_ref();
    known->emplace(dtype.ptr(), type);
    return type;
}

void read_torch(PyObject *tensor, const std::string &name, TensorView &view) {
    if (get(tensor, names().is_cpu).ptr() != Py_True) {
        throw Refusal{name, "is on " + std::string(py::str(py::handle(tensor).attr("device"))) + "; allowed: cpu"};
    }
    if (invoke(tensor, names().is_neg).ptr() == Py_True) {
        throw Refusal{name, "is a lazily negated view; allowed: a materialised tensor (tensor.resolve_neg())"};
    }
    py::object shape = get(tensor, names().shape);
    set_rank(view, name, PyTuple_GET_SIZE(shape.ptr()));
    read_integers(shape, view.shape, view.tensor.ndim);
    read_integers(invoke(tensor, names().stride), view.strides, view.tensor.ndim);
    set_type(view, torch_element_type(get(tensor, names().dtype), name));
    view.tensor.data = PyLong_AsVoidPtr(invoke(tensor, names().data_ptr).ptr());
}

/// An unversioned DLManagedTensor starts with the DLTensor, which has the layout of fldsl_tensor.
void read_dlpack(py::handle object, const std::string &name, TensorView &view) {
    view.owner = object.attr("__dlpack__")();
    auto *managed = static_cast<const fldsl_tensor *>(PyCapsule_GetPointer(view.owner.ptr(), "dltensor"));
    if (!managed) throw py::error_already_set();
    view.tensor = *managed;
    if (managed->device.device_type != 1) throw Refusal{name, "is not in the memory of the CPU; allowed: cpu"};
}

void read_tensor(py::handle object, bool writes, const std::string &name, TensorView &view) {
    if (py::isinstance<py::array>(object)) {
        read_numpy(py::reinterpret_borrow<py::array>(object), writes, name, view);
    } else if (PyObject_HasAttr(object.ptr(), names().data_ptr) && PyObject_HasAttr(object.ptr(), names().is_cpu)) {
        read_torch(object.ptr(), name, view);
    } else if (py::hasattr(object, "__dlpack__")) {
        read_dlpack(object, name, view);
    } else {
        throw Refusal{name, "is a " + std::string(Py_TYPE(object.ptr())->tp_name) +
                                "; allowed: a NumPy array, a torch tensor or an object with __dlpack__"};
    }
}

/// An open library. It is never closed: kernels and the library's threads may outlive this object.
class Library {
   public:
    explicit Library(const std::string &path) {
        void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle) throw std::runtime_error(dlerror());
        auto info = reinterpret_cast<const fldsl_library *(*)()>(dlsym(handle, "fldsl_library_info"));
        if (!info) throw std::runtime_error(path + " is not an fldsl library: it has no fldsl_library_info");
        library_ = info();
        if (!library_ || library_->abi_version != FLDSL_ABI_VERSION) {
            throw std::runtime_error(path + " has version " + std::to_string(library_ ? library_->abi_version : 0) +
                                     " of the C interface; this package reads version " +
                                     std::to_string(FLDSL_ABI_VERSION));
        }
    }
    std::string manifest() const { return library_->manifest ? library_->manifest : "{}"; }
    std::vector<std::string> kernel_names() const {
        std::vector<std::string> result;
        for (int i = 0; i < library_->kernel_count; i++) result.emplace_back(library_->kernels[i].name);
        return result;
    }
    const fldsl_kernel *kernel(int index) const {
        if (index < 0 || index >= library_->kernel_count) throw py::index_error("no such kernel");
        return &library_->kernels[index];
    }

   private:
    const fldsl_library *library_;
};

/// A kernel with the kinds of its arguments: 't' input tensor, 'o' output tensor, 'i' integer scalar, 'f' floating scalar.
class Kernel {
   public:
    Kernel(const Library &library, int index, std::string kinds, std::vector<std::string> argument_names, bool workspace)
        : kernel_(library.kernel(index)), kinds_(std::move(kinds)), names_(std::move(argument_names)),
          needs_workspace_(workspace) {
        if (kinds_.size() != names_.size() || static_cast<int>(kinds_.size()) != kernel_->argument_count) {
            throw std::runtime_error(std::string("the manifest lists ") + std::to_string(kinds_.size()) +
                                     " arguments of " + kernel_->name + ", the library has " +
                                     std::to_string(kernel_->argument_count));
        }
    }

    /// None, or (status, argument, dimension, message). `parallel`: address of a fldsl_parallel function, or 0.
    py::object call(const py::tuple &arguments, int threads, uintptr_t parallel) const {
        try {
            Prepared prepared(*this, arguments);
            fldsl_error error{};
            error.dimension = -1;
            Memory workspace(nullptr, std::free);
            int64_t bytes = 0;
            if (needs_workspace_ && kernel_->workspace) {
                bytes = kernel_->workspace(prepared.values.data(), kernel_->argument_count, &error);
                if (bytes < 0) return failure(error.status ? error.status : FLDSL_ERROR_ARGUMENT, error);
                if (bytes > 0) {
                    workspace.reset(std::aligned_alloc(64, (static_cast<size_t>(bytes) + 63) / 64 * 64));
                    if (!workspace) {
                        return py::make_tuple(static_cast<int>(FLDSL_ERROR_WORKSPACE), "", -1,
                                              "no memory for a workspace of " + std::to_string(bytes) + " bytes");
                    }
                }
            }
            fldsl_call call{FLDSL_ABI_VERSION, threads, nullptr, workspace.get(), bytes, &error,
                            reinterpret_cast<fldsl_parallel>(parallel)};
            int status;
            {
                py::gil_scoped_release release;
                status = kernel_->run(&call, prepared.values.data(), kernel_->argument_count);
            }
            return status == FLDSL_OK ? py::none() : failure(status, error);
        } catch (const Refusal &refusal) {
            return refused(refusal);
        }
    }

    /// Bytes of workspace for these arguments, or (status, argument, dimension, message).
    py::object workspace(const py::tuple &arguments) const {
        try {
            Prepared prepared(*this, arguments);
            if (!kernel_->workspace) return py::int_(0);
            fldsl_error error{};
            error.dimension = -1;
            int64_t bytes = kernel_->workspace(prepared.values.data(), kernel_->argument_count, &error);
            if (bytes < 0) return failure(error.status ? error.status : FLDSL_ERROR_ARGUMENT, error);
            return py::int_(bytes);
        } catch (const Refusal &refusal) {
            return refused(refusal);
        }
    }

   private:
    using Memory = std::unique_ptr<void, void (*)(void *)>;

    /// The arguments as the library reads them.
    struct Prepared {
        std::vector<TensorView> views;
        std::vector<fldsl_value> values;

        Prepared(const Kernel &kernel, const py::tuple &arguments)
            : views(kernel.kinds_.size()), values(kernel.kinds_.size()) {
            if (arguments.size() != values.size()) throw Refusal{"", "wrong number of arguments"};
            for (size_t i = 0; i < values.size(); i++) {
                PyObject *argument = PyTuple_GET_ITEM(arguments.ptr(), static_cast<py::ssize_t>(i));
                const std::string &name = kernel.names_[i];
                switch (kernel.kinds_[i]) {
                    case 'i':
                        values[i].i = PyLong_AsLongLong(argument);
                        refuse_if_raised(argument, name, "an integer of at most 64 bits");
                        break;
                    case 'f':
                        values[i].f = PyFloat_AsDouble(argument);
                        refuse_if_raised(argument, name, "a number");
                        break;
                    default:
                        read_tensor(argument, kernel.kinds_[i] == 'o', name, views[i]);
                        values[i].tensor = &views[i].tensor;
                }
            }
        }

        static void refuse_if_raised(PyObject *argument, const std::string &name, const char *allowed) {
            if (!PyErr_Occurred()) return;
            PyErr_Clear();
            throw Refusal{name, "is " + std::string(py::repr(argument)) + "; allowed: " + allowed};
        }
    };

    py::object failure(int status, const fldsl_error &error) const {
        return py::make_tuple(status, text(error.argument), error.dimension, text(error.message));
    }
    py::object refused(const Refusal &refusal) const {
        return py::make_tuple(static_cast<int>(FLDSL_ERROR_ARGUMENT), refusal.argument, -1,
                              refusal.argument + (refusal.argument.empty() ? "" : " ") + refusal.message);
    }
    template <size_t size> static py::str text(const char (&chars)[size]) {
        return py::reinterpret_steal<py::str>(
            PyUnicode_DecodeUTF8(chars, static_cast<py::ssize_t>(strnlen(chars, size)), "replace"));
    }

    const fldsl_kernel *kernel_;
    std::string kinds_;
    std::vector<std::string> names_;
    bool needs_workspace_;
};

}  // namespace

PYBIND11_MODULE(_core, module) {
    module.doc() = "Opens fldsl libraries and calls their kernels; use the fldsl package rather than this.";
    py::class_<Library>(module, "Library")
        .def(py::init<const std::string &>(), py::arg("path"))
        .def_property_readonly("manifest", &Library::manifest)
        .def_property_readonly("kernel_names", &Library::kernel_names);
    py::class_<Kernel>(module, "Kernel")
        .def(py::init<const Library &, int, std::string, std::vector<std::string>, bool>(), py::arg("library"),
             py::arg("index"), py::arg("kinds"), py::arg("names"), py::arg("needs_workspace"), py::keep_alive<1, 2>())
        .def("call", &Kernel::call, py::arg("arguments"), py::arg("threads"), py::arg("parallel"))
        .def("workspace", &Kernel::workspace, py::arg("arguments"));
}
