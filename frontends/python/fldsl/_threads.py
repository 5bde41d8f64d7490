"""How many threads a call uses, and whose.

A program that computes with torch has OpenMP's threads spinning between its operations; a second pool on the same cores
would wait for them. So when torch is loaded, calls run on OpenMP's threads (`GOMP_parallel` of the library that torch
loaded), with torch's thread count. Without torch, and in a child after fork, libraries use threads of their own.
"""

from __future__ import annotations

import ctypes
import os
import sys

_RTLD_NOLOAD = getattr(os, "RTLD_NOLOAD", 4)
_parallel: int | None = None
_forked = False


def _after_fork() -> None:
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_after_fork)


def default_threads() -> int:
    """torch's thread count where torch is loaded; 0 (all that the process may use) otherwise."""
    torch = sys.modules.get("torch")
    return torch.get_num_threads() if torch is not None else 0


def parallel_address() -> int:
    """Address of a function of the form of GOMP_parallel, or 0."""
    global _parallel
    if _forked or "torch" not in sys.modules or os.environ.get("FLDSL_THREADS") == "own":
        return 0
    if _parallel is None:
        try:
            library = ctypes.CDLL("libgomp.so.1", mode=_RTLD_NOLOAD | os.RTLD_NOW)
            _parallel = ctypes.cast(library.GOMP_parallel, ctypes.c_void_p).value or 0
        except (OSError, AttributeError):
            _parallel = 0
    return _parallel
