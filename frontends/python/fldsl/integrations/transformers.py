"""fldsl attention in transformers models: attn_implementation="fldsl".

    from fldsl.integrations import transformers as fldsl_transformers
    fldsl_transformers.register()
    model = AutoModel.from_pretrained(path, attn_implementation="fldsl")

Masks stay small: where the model's attention mask is padding on the right, key counts [B] go to the kernel instead of a
[B, 1, S, S] mask; causal masks are an option of the kernel. Masks of any other form are refused with what was found.
"""

from __future__ import annotations

from typing import Any

import torch

from ..attention import attention
from ..errors import ArgumentError

NAME = "fldsl"


def _check_mask_function(mask_function: Any) -> None:
    from transformers import masking_utils

    known = (masking_utils.causal_mask_function, getattr(masking_utils, "bidirectional_mask_function", None), None)
    if mask_function not in known:
        name = getattr(mask_function, "__qualname__", repr(mask_function))
        raise ArgumentError(
            f"attention mask: the model masks by {name}; allowed: causal or bidirectional "
            "attention with padding on the right",
            argument="mask_function",
        )


def key_lengths(
    batch_size: int,
    q_length: int | torch.Tensor | None = None,
    kv_length: int | None = None,
    q_offset: int = 0,
    kv_offset: int = 0,
    mask_function: Any = None,
    attention_mask: torch.Tensor | None = None,
    **kwargs: Any,
) -> torch.Tensor | None:
    """What AttentionMaskInterface asks for: key counts [B] int32 from a padding mask [B, S], or None without one.

    Only causal and bidirectional models: whether a layer is causal reaches `attention_forward` by itself.
    """
    _check_mask_function(mask_function)
    if q_length is not None and kv_length is not None and int(q_offset) + int(q_length) != kv_length + kv_offset:
        raise ArgumentError(
            f"attention mask: queries end at {int(q_offset) + int(q_length)}, keys at {kv_length + kv_offset}; "
            "allowed: the last query aligned with the last key (no static cache)",
            argument="attention_mask",
        )
    if attention_mask is None or bool(attention_mask.all()):
        return None
    mask = attention_mask.bool()
    counts = mask.sum(-1)
    positions = torch.arange(mask.shape[-1], device=mask.device)
    if not torch.equal(mask, positions[None, :] < counts[:, None]):
        raise ArgumentError(
            "attention mask: keys are masked other than at the end of a sequence; allowed: padding on the right "
            "(tokenizer.padding_side = 'right')",
            argument="attention_mask",
        )
    return counts.to(torch.int32)


def attention_forward(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    is_causal: bool | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """What AttentionInterface calls: query [B, Hq, Sq, D], key and value [B, Hkv, Sk, D] -> [B, Sq, Hq, D]."""
    for name in ("position_bias", "s_aux", "sliding_window", "block_table", "head_mask"):
        if kwargs.get(name) is not None:
            raise ArgumentError(
                f"attention: the model passes {name}, which this integration does not do; "
                "use another attn_implementation",
                argument=name,
            )
    if dropout:
        raise ArgumentError(f"attention dropout is {dropout}; allowed: 0 (call model.eval())", argument="dropout")
    if attention_mask is not None and attention_mask.dim() != 1:
        raise ArgumentError(
            f"attention_mask has {attention_mask.dim()} dimensions; allowed: 1, key counts as "
            "key_lengths makes them",
            argument="attention_mask",
        )
    if is_causal is None:
        is_causal = getattr(module, "is_causal", False)
    output = attention(
        query,
        key,
        value,
        causal=bool(is_causal) and query.shape[2] > 1,
        lengths=attention_mask,
        scale=scaling,
        softcap=kwargs.get("softcap"),
    )
    return output.transpose(1, 2).contiguous(), None


def register(name: str = NAME) -> None:
    """Makes `name` an attn_implementation of transformers."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface

    AttentionInterface.register(name, attention_forward)
    AttentionMaskInterface.register(name, key_lengths)
