"""fldsl: attention kernels compiled ahead of time, called from Python.

import fldsl
attention = fldsl.load("attention")          # a kernel library, by name or path
o, lse = attention.causal_f32_d64(q, k, v, scale=0.125, shift=0)
o = fldsl.ops.attention(q, k, v, causal=True)  # picks the kernel
"""

from __future__ import annotations

from . import ops
from .errors import ArgumentError, Error, LibraryError, NoKernelError, TargetError, WorkspaceError
from .information import VERSION as __version__
from .information import info
from .library import Kernel, Library, load, loaded, search_path

__all__ = [
    "ArgumentError",
    "Error",
    "Kernel",
    "Library",
    "LibraryError",
    "NoKernelError",
    "TargetError",
    "WorkspaceError",
    "__version__",
    "info",
    "load",
    "loaded",
    "ops",
    "search_path",
]
