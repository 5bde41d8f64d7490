"""fldsl attention in transformers models against their eager attention; what it cannot do is refused, never dropped."""

from __future__ import annotations

import pytest
import torch

transformers = pytest.importorskip("transformers")

import fldsl  # noqa: E402
from fldsl.integrations import transformers as integration  # noqa: E402

integration.register()


def pair(config_class, model_class, **options):
    """The same random model with eager and with fldsl attention."""
    models = []
    for implementation in ("eager", "fldsl"):
        torch.manual_seed(0)
        models.append(model_class._from_config(config_class(**options), attn_implementation=implementation).eval())
    models[1].load_state_dict(models[0].state_dict())
    return models


def test_decoder_with_grouped_heads_and_padding():
    eager, ours = pair(
        transformers.LlamaConfig,
        transformers.LlamaModel,
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=50,
    )
    ids = torch.randint(0, 50, (2, 9))
    mask = torch.ones(2, 9, dtype=torch.long)
    mask[1, 6:] = 0
    with torch.no_grad():
        a, b = (m(ids, attention_mask=mask).last_hidden_state for m in (eager, ours))
    torch.testing.assert_close(a[0], b[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(a[1, :6], b[1, :6], atol=1e-5, rtol=1e-5)


def test_left_padding_is_refused():
    _, ours = pair(
        transformers.BertConfig,
        transformers.BertModel,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        vocab_size=50,
    )
    mask = torch.ones(1, 6, dtype=torch.long)
    mask[0, :2] = 0
    with torch.no_grad(), pytest.raises(fldsl.ArgumentError, match="padding on the right"):
        ours(torch.zeros(1, 6, dtype=torch.long), attention_mask=mask)


def test_what_a_model_adds_is_refused_by_name():
    query = torch.randn(1, 2, 5, 8)
    module = torch.nn.Module()
    for name in ("position_bias", "s_aux", "sliding_window"):
        with pytest.raises(fldsl.ArgumentError, match=f"the model passes {name}"):
            integration.attention_forward(module, query, query, query, None, **{name: torch.zeros(1)})
    with pytest.raises(fldsl.ArgumentError, match="dropout is 0.1"):
        integration.attention_forward(module, query, query, query, None, dropout=0.1)
    capped, _ = integration.attention_forward(module, query, query, query, None, softcap=2.0)
    torch.testing.assert_close(capped, fldsl.ops.attention(query, query, query, softcap=2.0).transpose(1, 2))
