"""Front doors that pick a kernel from the loaded libraries."""

from __future__ import annotations

from .attention import attention, explain

__all__ = ["attention", "explain"]
