"""`fldsl::attention` as a torch custom operator, so that torch.compile(fullgraph=True) keeps it as one node."""

from __future__ import annotations

from typing import Any

import torch


def is_compiling() -> bool:
    return torch.compiler.is_compiling()


@torch.library.custom_op("fldsl::attention", mutates_args=())
def _attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool,
    alignment: str,
    window: list[int],
    softcap: float,
    alibi_slopes: torch.Tensor | None,
    prefix: int,
    lengths: torch.Tensor | None,
    documents: torch.Tensor | None,
    scale: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """As fldsl.ops.attention; absent numbers are negative, an absent window is empty, NaN is the default scale."""
    from . import attention as front

    request = front.check(
        q,
        k,
        v,
        causal=causal,
        alignment=alignment,
        window=None if not window else window[0] if len(window) == 1 else tuple(window),
        softcap=None if softcap < 0 else softcap,
        alibi_slopes=alibi_slopes,
        prefix=None if prefix < 0 else prefix,
        lengths=lengths,
        documents=documents,
        scale=None if scale != scale else scale,
    )
    return front._run(request)


@_attention.register_fake
def _(q, k, v, causal, alignment, window, softcap, alibi_slopes, prefix, lengths, documents, scale):  # noqa: ANN001, ANN202
    shape = (q.shape[0], q.shape[1], q.shape[2])
    return q.new_empty((*shape, v.shape[3])), q.new_empty(shape, dtype=torch.float32)


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool,
    alignment: str,
    window: Any,
    softcap: float | None,
    alibi_slopes: torch.Tensor | None,
    prefix: int | None,
    lengths: torch.Tensor | None,
    documents: torch.Tensor | None,
    scale: float | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The operator with the options of fldsl.ops.attention."""
    sides = [] if window is None else list(window) if isinstance(window, (tuple, list)) else [window]
    return _attention(
        q,
        k,
        v,
        causal,
        alignment,
        sides,
        -1.0 if softcap is None else float(softcap),
        alibi_slopes,
        -1 if prefix is None else prefix,
        lengths,
        documents,
        float("nan") if scale is None else float(scale),
    )
