"""The core that opens libraries: the compiled one, or the same in ctypes when it is missing or FLDSL_CORE=ctypes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import fldsl

# In the project's tree the compiled core lies in the build folder.
_built = Path(__file__).resolve().parents[3] / "build" / "frontends" / "python" / "core"
if os.environ.get("FLDSL_BUILD"):
    _built = Path(os.environ["FLDSL_BUILD"]) / "frontends" / "python" / "core"
if _built.is_dir():
    fldsl.__path__.append(str(_built))


def _choose() -> tuple[str, Any]:
    if os.environ.get("FLDSL_CORE", "") != "ctypes":
        try:
            from . import _core

            return "compiled", _core
        except ImportError:
            pass
    from . import _ctypes_core

    return "ctypes", _ctypes_core


name, core = _choose()
