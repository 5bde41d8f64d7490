"""Attention in float64 with dense masks: what the kernels are compared with. NumPy only."""

from __future__ import annotations

from typing import Any

import numpy as np


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    alignment: str = "bottom_right",
    window: Any = None,
    softcap: float | None = None,
    alibi_slopes: Any = None,
    prefix: int | None = None,
    lengths: Any = None,
    documents: Any = None,
    scale: float | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """o [B, Hq, Sq, Dv] and lse [B, Hq, Sq] in float64; options as those of fldsl.ops.attention."""
    q, k, v = (np.asarray(t, np.float64) for t in (q, k, v))
    batch, heads, queries, size = q.shape
    keys, group = k.shape[2], heads // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    s = np.einsum("bhid,bhjd->bhij", q, k) * (size**-0.5 if scale is None else scale)
    i = np.arange(queries)[:, None] + (keys - queries if alignment == "bottom_right" else 0)
    j = np.arange(keys)[None, :]
    if softcap is not None:
        s = softcap * np.tanh(s / softcap)
    if alibi_slopes is not None:
        s = s + np.asarray(alibi_slopes, np.float64)[None, :, None, None] * (j - i)

    kept = np.ones((queries, keys), bool)
    if window is not None:
        left, right = window if isinstance(window, (tuple, list)) else (window, 0)
        kept &= (j >= i - left) & (j <= i + right)
    if causal:
        kept &= j <= i
    if prefix is not None:
        kept |= j < prefix
    if documents is not None:
        ids = np.asarray(documents)
        kept &= ids[:, None] == ids[None, :]
    kept = np.broadcast_to(kept, (batch, 1, queries, keys))
    if lengths is not None:
        kept = kept & (j[None, None] < np.asarray(lengths)[:, None, None, None])

    s = np.where(kept, s, -np.inf)
    largest = np.max(s, axis=-1, initial=-np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(kept, np.exp(s - np.where(np.isneginf(largest), 0, largest)[..., None]), 0)
        total = p.sum(-1)
        lse = np.where(total == 0, -np.inf, largest + np.log(total))
        o = np.where((total == 0)[..., None], 0, np.einsum("bhij,bhje->bhie", p, v) / total[..., None])
    return o, lse
