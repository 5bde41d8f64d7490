"""What is installed and what this machine can run, for people and for bug reports."""

from __future__ import annotations

import os
import platform
import sys
from typing import Any

from . import library as _library
from ._core_choice import name as _core_name

VERSION = "0.1.0"


def _cpu() -> dict[str, Any]:
    model, flags = "", ""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                key, _, value = line.partition(":")
                if key.strip() == "model name" and not model:
                    model = value.strip()
                if key.strip() == "flags" and not flags:
                    flags = value
    except OSError:
        pass
    wanted = ("sse4_1", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512_bf16", "amx_bf16")
    have = flags.split()
    return {"model": model, "usable": len(os.sched_getaffinity(0)), "features": [f for f in wanted if f in have]}


def info() -> dict[str, Any]:
    """Versions, CPU, search path, and for each library found its targets and kernels."""
    libraries = []
    for folder in _library.search_path():
        if not folder.is_dir():
            continue
        for path in sorted(folder.glob("libfldsl_*.so")):
            opened = _library.load(path)
            libraries.append(
                {
                    "path": str(path),
                    "library": opened.manifest.library,
                    "targets": list(opened.manifest.targets),
                    "tools": opened.manifest.tools,
                    "kernels": len(opened.kernels),
                }
            )
    return {
        "fldsl": VERSION,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "core": _core_name,
        "torch": getattr(sys.modules.get("torch"), "__version__", None),
        "cpu": _cpu(),
        "search_path": [str(p) for p in _library.search_path()],
        "libraries": libraries,
    }
