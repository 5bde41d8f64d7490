"""The classes of `fldsl._core` in plain Python: used when the compiled core is missing or `FLDSL_CORE=ctypes`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

ABI_VERSION = 1
ERROR_ARGUMENT = 1
MAX_RANK = 8

# name: (DLPack type code, bits)
ELEMENT_TYPES = {
    "float64": (2, 64),
    "float32": (2, 32),
    "float16": (2, 16),
    "bfloat16": (4, 16),
    "bool": (6, 8),
    **{f"int{bits}": (0, bits) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (1, bits) for bits in (8, 16, 32, 64)},
}


class _Device(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Error(ctypes.Structure):
    _fields_ = [
        ("status", ctypes.c_int32),
        ("kernel", ctypes.c_char * 64),
        ("argument", ctypes.c_char * 64),
        ("dimension", ctypes.c_int32),
        ("message", ctypes.c_char * 512),
    ]


class _Call(ctypes.Structure):
    _fields_ = [
        ("abi_version", ctypes.c_uint32),
        ("threads", ctypes.c_int32),
        ("stream", ctypes.c_void_p),
        ("workspace", ctypes.c_void_p),
        ("workspace_bytes", ctypes.c_int64),
        ("error", ctypes.POINTER(_Error)),
        ("parallel", ctypes.c_void_p),
    ]


class _Value(ctypes.Union):
    _fields_ = [("tensor", ctypes.POINTER(_Tensor)), ("i", ctypes.c_int64), ("f", ctypes.c_double)]


_Run = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Call), ctypes.POINTER(_Value), ctypes.c_int32)
_Workspace = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.POINTER(_Value), ctypes.c_int32, ctypes.POINTER(_Error))


class _Kernel(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("argument_count", ctypes.c_int32), ("run", _Run), ("workspace", _Workspace)]


class _Library(ctypes.Structure):
    _fields_ = [
        ("abi_version", ctypes.c_uint32),
        ("kernel_count", ctypes.c_int32),
        ("kernels", ctypes.POINTER(_Kernel)),
        ("manifest", ctypes.c_char_p),
    ]


class _Refusal(Exception):
    """A refused argument, before the library is called."""

    def __init__(self, argument: str, message: str):
        super().__init__(message)
        self.result = (ERROR_ARGUMENT, argument, -1, f"{argument} {message}".strip())


class Library:
    """An open library."""

    def __init__(self, path: str):
        try:
            self._handle = ctypes.CDLL(path)
        except OSError as error:
            raise RuntimeError(str(error)) from None
        try:
            info = self._handle.fldsl_library_info
        except AttributeError:
            raise RuntimeError(f"{path} is not an fldsl library: it has no fldsl_library_info") from None
        info.restype = ctypes.POINTER(_Library)
        self.library = info().contents
        if self.library.abi_version != ABI_VERSION:
            raise RuntimeError(
                f"{path} has version {self.library.abi_version} of the C interface; this package reads version "
                f"{ABI_VERSION}"
            )
        self.manifest = (self.library.manifest or b"{}").decode()
        self.kernel_names = [self.library.kernels[i].name.decode() for i in range(self.library.kernel_count)]


class Kernel:
    """A kernel with the kinds of its arguments: 't' input, 'o' output tensor, 'i' integer, 'f' floating scalar."""

    def __init__(self, library: Library, index: int, kinds: str, names: Sequence[str], needs_workspace: bool):
        self._library = library
        self._kernel = library.library.kernels[index]
        self._kinds, self._names, self._needs_workspace = kinds, list(names), needs_workspace
        if len(kinds) != self._kernel.argument_count:
            raise RuntimeError(
                f"the manifest lists {len(kinds)} arguments of {library.kernel_names[index]}, the library has "
                f"{self._kernel.argument_count}"
            )

    def call(self, arguments: tuple, threads: int, parallel: int) -> tuple | None:
        """None, or (status, argument, dimension, message). `parallel`: address of a fldsl_parallel function, or 0."""
        try:
            values, _alive = self._prepare(arguments)
        except _Refusal as refusal:
            return refusal.result
        error = _Error(dimension=-1)
        workspace, size = None, 0
        if self._needs_workspace and self._kernel.workspace:
            size = self._kernel.workspace(values, len(values), ctypes.byref(error))
            if size < 0:
                return _failure(error.status or ERROR_ARGUMENT, error)
            buffer = np.empty(size + 64, np.uint8)
            workspace = (buffer.ctypes.data + 63) // 64 * 64
        call = _Call(ABI_VERSION, threads, None, workspace, size, ctypes.pointer(error), parallel or None)
        status = self._kernel.run(ctypes.byref(call), values, len(values))
        return _failure(status, error) if status else None

    def workspace(self, arguments: tuple) -> int | tuple:
        """Bytes of workspace for these arguments, or (status, argument, dimension, message)."""
        try:
            values, _alive = self._prepare(arguments)
        except _Refusal as refusal:
            return refusal.result
        if not self._kernel.workspace:
            return 0
        error = _Error(dimension=-1)
        size = self._kernel.workspace(values, len(values), ctypes.byref(error))
        return _failure(error.status or ERROR_ARGUMENT, error) if size < 0 else size

    def _prepare(self, arguments: tuple) -> tuple[Any, list]:
        if len(arguments) != len(self._kinds):
            raise _Refusal("", "wrong number of arguments")
        values = (_Value * len(self._kinds))()
        alive: list = []
        for value, argument, kind, name in zip(values, arguments, self._kinds, self._names):
            if kind in "if":
                _set_scalar(value, argument, kind, name)
            else:
                tensor = _read_tensor(argument, kind == "o", name)
                alive.append(tensor)
                value.tensor = ctypes.pointer(tensor)
        return values, alive


def _failure(status: int, error: _Error) -> tuple:
    text = [field.decode(errors="replace") for field in (error.argument, error.message)]
    return status, text[0], error.dimension, text[1]


def _set_scalar(value: _Value, argument: Any, kind: str, name: str) -> None:
    try:
        if kind == "f":
            value.f = float(argument)
        else:
            integer = argument.__index__()
            if not -(2**63) <= integer < 2**63:
                raise OverflowError
            value.i = integer
    except (TypeError, ValueError, AttributeError, OverflowError):
        allowed = "a number" if kind == "f" else "an integer of at most 64 bits"
        raise _Refusal(name, f"is {argument!r}; allowed: {allowed}") from None


def _make_tensor(data: int, type_name: str, shape: Sequence[int], strides: Sequence[int], name: str) -> _Tensor:
    if len(shape) > MAX_RANK:
        raise _Refusal(name, f"has rank {len(shape)}; allowed: at most {MAX_RANK}")
    if type_name not in ELEMENT_TYPES:
        raise _Refusal(name, f"has the element type {type_name}, which no kernel takes")
    code, bits = ELEMENT_TYPES[type_name]
    integers = ctypes.c_int64 * len(shape)
    return _Tensor(data, _Device(1, 0), len(shape), _DataType(code, bits, 1), integers(*shape), integers(*strides), 0)


def _read_tensor(argument: Any, writes: bool, name: str) -> _Tensor:
    if isinstance(argument, np.ndarray):
        return _read_numpy(argument, writes, name)
    if hasattr(argument, "data_ptr") and hasattr(argument, "is_cpu"):
        if not argument.is_cpu:
            raise _Refusal(name, f"is on {argument.device}; allowed: cpu")
        if argument.is_neg():
            raise _Refusal(name, "is a lazily negated view; allowed: a materialised tensor (tensor.resolve_neg())")
        type_name = str(argument.dtype).removeprefix("torch.")
        return _make_tensor(argument.data_ptr(), type_name, argument.shape, argument.stride(), name)
    if hasattr(argument, "__dlpack__"):
        array = np.from_dlpack(argument)
        tensor = _read_numpy(array, False, name)
        tensor.owner = array
        return tensor
    raise _Refusal(
        name,
        f"is a {type(argument).__name__}; allowed: a NumPy array, a torch tensor or an object with __dlpack__",
    )


def _read_numpy(array: np.ndarray, writes: bool, name: str) -> _Tensor:
    if not array.dtype.isnative:
        raise _Refusal(name, "is big-endian; allowed: native byte order")
    if writes and not array.flags.writeable:
        raise _Refusal(name, "is read-only; allowed: an array that can be written")
    size = array.itemsize
    for stride in array.strides:
        if stride % size:
            raise _Refusal(name, f"has a stride of {stride} bytes; allowed: whole elements of {size} bytes")
    strides = [stride // size for stride in array.strides]
    return _make_tensor(array.ctypes.data, array.dtype.name, array.shape, strides, name)
