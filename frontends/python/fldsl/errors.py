"""What can go wrong in a call, as exceptions."""

from __future__ import annotations

from collections.abc import Sequence


class Error(Exception):
    """Base of every exception of this package."""


class ArgumentError(Error, ValueError):
    """An argument does not fit. The text says what is wrong, with which value, and what is allowed.

    kernel     name of the kernel or function that refused
    argument   name of the tensor or scalar, or ""
    dimension  outermost first, or None
    """

    def __init__(self, message: str, *, kernel: str = "", argument: str = "", dimension: int | None = None):
        super().__init__(message)
        self.kernel = kernel
        self.argument = argument
        self.dimension = dimension


class WorkspaceError(Error, MemoryError):
    """The workspace of a call is missing, too small, or could not be allocated."""


class TargetError(Error, RuntimeError):
    """This machine can run none of the targets that a kernel was built for."""


class LibraryError(Error, OSError):
    """A library was not found or cannot be loaded."""


class NoKernelError(Error, LookupError):
    """No loaded kernel does what was asked; `reasons` has one line a candidate."""

    def __init__(self, message: str, reasons: Sequence[str] = ()):
        super().__init__("\n  ".join([message, *reasons]))
        self.reasons = list(reasons)


def from_failure(kernel: str, failure: tuple) -> Error:
    """The exception for a core's (status, argument, dimension, message); codes are those of fldsl/runtime.h."""
    status, argument, dimension, message = failure
    text = message if message.startswith(kernel) else f"{kernel}: {message}"
    if status == 1:
        return ArgumentError(text, kernel=kernel, argument=argument, dimension=None if dimension < 0 else dimension)
    if status == 2:
        return WorkspaceError(text)
    if status == 3:
        return TargetError(text)
    if status == 4:
        return Error(f"{text} (out of memory or threads)")
    return Error(f"{text} (code {status}: a fault of fldsl, please report it)")
