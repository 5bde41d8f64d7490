"""The core that opens libraries: the compiled one, or the same in ctypes when it is missing or FLDSL_CORE=ctypes."""

from __future__ import annotations

import os
from typing import Any


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
