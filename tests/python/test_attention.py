"""fldsl.ops.attention against the float64 reference."""

from __future__ import annotations

import fldsl
import numpy as np
import pytest
import torch
from fldsl import reference
from hypothesis import given, settings
from hypothesis import strategies as st

# float32: sums of order 1 over up to a thousand terms; narrow types: two roundings of the output.
TOLERANCE = {torch.float32: 3e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def tensors(batch, heads, key_heads, queries, keys, dim, value_dim, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = (batch, heads, queries, dim), (batch, key_heads, keys, dim), (batch, key_heads, keys, value_dim)
    return [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]


def check(q, k, v, tolerance=None, **options):
    o, lse = fldsl.ops.attention(q, k, v, return_lse=True, **options)
    assert o.dtype == q.dtype and o.shape == (*q.shape[:3], v.shape[3])
    assert lse.dtype == torch.float32 and lse.shape == q.shape[:3]
    wanted, wanted_lse = reference.attention(q.double().numpy(), k.double().numpy(), v.double().numpy(), **options)
    limit = tolerance or TOLERANCE[q.dtype]
    np.testing.assert_allclose(o.double().numpy(), wanted, atol=limit, rtol=limit)
    np.testing.assert_array_equal(np.isneginf(lse.numpy()), np.isneginf(wanted_lse))
    finite = np.isfinite(wanted_lse)
    np.testing.assert_allclose(lse.numpy()[finite], wanted_lse[finite], atol=1e-5, rtol=1e-5)


@st.composite
def problems(draw):
    heads = draw(st.integers(1, 4))
    queries = draw(st.integers(1, 70))
    documents = draw(st.booleans())
    keys = queries if documents else draw(st.integers(0, 130))
    batch = draw(st.integers(1, 3))
    ratio = draw(st.integers(1, 3))
    options = {
        "causal": draw(st.booleans()),
        "alignment": draw(st.sampled_from(["bottom_right", "top_left"])),
        "window": draw(st.none() | st.integers(0, 40) | st.tuples(st.integers(0, 40), st.integers(0, 40))),
        "softcap": draw(st.none() | st.floats(0.5, 30)),
        "prefix": draw(st.none() | st.integers(0, 140)),
        "scale": draw(st.none() | st.floats(0.01, 1)),
    }
    if draw(st.booleans()):
        options["lengths"] = draw(st.lists(st.integers(0, keys), min_size=batch, max_size=batch))
    if draw(st.booleans()):
        options["alibi_slopes"] = draw(
            st.lists(st.floats(0, 0.5, width=32), min_size=heads * ratio, max_size=heads * ratio)
        )
    if documents:
        ids = draw(st.lists(st.integers(0, 3), min_size=keys, max_size=keys))
        options["documents"] = sorted(ids) if draw(st.booleans()) else ids
    shape = (batch, heads * ratio, heads, queries, keys, draw(st.integers(1, 40)), draw(st.integers(1, 40)))
    return shape, options, draw(st.integers(0, 99))


@settings(max_examples=120, deadline=None)
@given(problems())
def test_options_combine(problem):
    shape, options, seed = problem
    check(*tensors(*shape, seed=seed), tolerance=3e-5 if "alibi_slopes" in options else None, **options)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("size", [1, 7, 137, 1000, 1025])
@pytest.mark.parametrize("options", [{}, {"causal": True}, {"window": 256}], ids=["full", "causal", "window"])
def test_lengths(dtype, size, options):
    check(*tensors(1, 2, 1, size, size, 64, 64, dtype), **options)


@pytest.mark.parametrize("dim", [*range(16, 257, 24), 31, 80, 256])
def test_head_dims(dim):
    check(*tensors(1, 2, 2, 50, 60, dim, 64 if dim <= 64 else 128), causal=True)
    check(*tensors(1, 2, 2, 50, 60, 40, dim))


@pytest.mark.parametrize("heads,key_heads", [(1, 1), (6, 2), (12, 4), (28, 4), (8, 1), (7, 7)])
def test_head_ratios(heads, key_heads):
    check(*tensors(2, heads, key_heads, 33, 47, 32, 32), causal=True)


def test_alignment_tables():
    """Causal with different lengths: (2, 5) and (5, 2) in both alignments keep what the tables say."""
    for queries, keys in ((2, 5), (5, 2)):
        q, k, v = tensors(1, 1, 1, queries, keys, 8, keys)
        v = torch.eye(keys)[None, None]  # the output is the weights
        for alignment, shift in (("bottom_right", keys - queries), ("top_left", 0)):
            weights = fldsl.ops.attention(q, k, v, causal=True, alignment=alignment)[0, 0]
            kept = torch.arange(keys)[None, :] <= torch.arange(queries)[:, None] + shift
            assert torch.equal(weights > 0, kept)


def test_window_keeps_one_more_than_its_size():
    q, k, _ = tensors(1, 1, 1, 30, 30, 8, 8)
    weights = fldsl.ops.attention(q, k, torch.eye(30)[None, None], window=4)[0, 0]
    assert (weights > 0).sum(1).tolist() == [min(i + 1, 5) for i in range(30)]


def test_rows_without_keys_are_zero():
    q, k, v = tensors(2, 2, 2, 20, 30, 16, 16)
    o, lse = fldsl.ops.attention(q, k, v, lengths=[0, 30], return_lse=True)
    assert torch.equal(o[0], torch.zeros_like(o[0])) and torch.isneginf(lse[0]).all()
    assert torch.isfinite(lse[1]).all()
    o, lse = fldsl.ops.attention(*tensors(1, 2, 1, 5, 0, 16, 16), return_lse=True)
    assert torch.equal(o, torch.zeros_like(o)) and torch.isneginf(lse).all()


@pytest.mark.parametrize("shape", [(0, 2, 2, 5, 5, 8, 8), (1, 2, 2, 0, 5, 8, 8), (2, 0, 0, 5, 5, 8, 8)])
def test_empty_tensors(shape):
    if shape[1] == 0:
        with pytest.raises(fldsl.ArgumentError, match="multiple of k dimension 1"):
            fldsl.ops.attention(*tensors(*shape))
        return
    assert fldsl.ops.attention(*tensors(*shape)).numel() == 0


def test_what_is_masked_never_reaches_a_result():
    """NaN and inf in keys and values behind the lengths change nothing."""
    q, k, v = tensors(2, 2, 2, 40, 50, 16, 16)
    lengths = torch.tensor([17, 33])
    clean = fldsl.ops.attention(q, k, v, lengths=lengths)
    for b in range(2):
        k[b, :, lengths[b] :] = float("nan")
        v[b, :, lengths[b] :] = float("inf")
    k[0, :, 20:] = float("inf")
    dirty = fldsl.ops.attention(q, k, v, lengths=lengths)
    assert torch.equal(clean, dirty)


def test_nan_in_a_kept_score_reaches_its_row_only():
    q, k, v = tensors(1, 1, 1, 60, 60, 16, 16)
    q[0, 0, 13, 3] = float("nan")
    o, lse = fldsl.ops.attention(q, k, v, causal=True, return_lse=True)
    rows = torch.isnan(o[0, 0]).any(1)
    assert rows[13] and rows.sum() == 1 and torch.isnan(lse[0, 0, 13])
    k[0, 0, 30, 0] = float("inf")
    q[0, 0, 13] = 1.0
    q[..., 0] = q[..., 0].abs()
    o = fldsl.ops.attention(q, k, v, causal=True)
    assert torch.isfinite(o[0, 0, :30]).all() and torch.isnan(o[0, 0, 30:]).all()


def test_large_scores_stay_finite():
    """Scores of some thousands: float32 holds them to 3e-4, and the weights follow."""
    q, k, v = (t * 10 for t in tensors(1, 2, 2, 64, 240, 128, 64))
    check(q, k, v, tolerance=5e-3)
    check(q, k, v, tolerance=5e-3, softcap=30.0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_strides(dtype):
    """Views of any strides, read in place: transposed, sliced, broadcast, a last dimension that is not contiguous."""
    q, k, v = tensors(2, 3, 3, 40, 50, 32, 32, dtype)
    wanted = fldsl.ops.attention(q, k, v, causal=True)
    layouts = [
        lambda t: t.transpose(1, 2).contiguous().transpose(1, 2),
        lambda t: t.transpose(2, 3).contiguous().transpose(2, 3),
        lambda t: torch.stack([t, t * 0], -1).flatten(-2)[..., ::2],
        lambda t: torch.cat([t, t], 2)[:, :, : t.shape[2]],
    ]
    for layout in layouts:
        assert torch.equal(fldsl.ops.attention(layout(q), layout(k), layout(v), causal=True), wanted)
    shared = fldsl.ops.attention(q, k[:1].expand(2, -1, -1, -1), v[:1].expand(2, -1, -1, -1))
    assert torch.equal(shared[:1], fldsl.ops.attention(q[:1], k[:1], v[:1]))


def test_strides_beyond_32_bits():
    """Two heads more than 2^31 elements apart, in memory that is reserved but hardly touched."""
    far = 2**31 + 64
    base = torch.empty(far + 4096)
    q, k, v = tensors(1, 2, 2, 20, 20, 8, 8)
    apart = base.as_strided(q.shape, (2 * far, far, 8, 1))
    apart.copy_(k)
    assert torch.equal(fldsl.ops.attention(q, apart, v), fldsl.ops.attention(q, k, v))
    assert torch.equal(fldsl.ops.attention(apart, apart, apart), fldsl.ops.attention(k, k, k))


def test_numpy_in_numpy_out(rng):
    q, k, v = (rng.standard_normal((1, 2, 9, 16), np.float32) for _ in range(3))
    o, lse = fldsl.ops.attention(q, k, v, causal=True, return_lse=True)
    assert isinstance(o, np.ndarray) and isinstance(lse, np.ndarray)
    wanted, _ = reference.attention(q, k, v, causal=True)
    np.testing.assert_allclose(o, wanted, atol=3e-6)
    half = fldsl.ops.attention(*(t.astype(np.float16) for t in (q, k, v)))
    assert half.dtype == np.float16


def test_same_bits_every_time():
    q, k, v = tensors(2, 4, 2, 200, 300, 64, 64)
    first = fldsl.ops.attention(q, k, v, causal=True)
    for _ in range(20):
        assert torch.equal(fldsl.ops.attention(q, k, v, causal=True), first)


def test_torch_compile_keeps_one_graph():
    q, k, v = tensors(1, 2, 2, 20, 30, 16, 16)

    def model(q, k, v, lengths):
        return fldsl.ops.attention(q * 2, k, v, causal=True, lengths=lengths) + 1

    lengths = torch.tensor([25])
    compiled = torch.compile(model, fullgraph=True)
    torch.testing.assert_close(compiled(q, k, v, lengths), model(q, k, v, lengths))


def test_operator_check():
    from fldsl import torch_ops

    q, k, v = tensors(1, 2, 2, 20, 30, 16, 16)
    arguments = (q, k, v, True, "bottom_right", [], -1.0, None, -1, None, None, float("nan"))
    torch.library.opcheck(torch_ops._attention, arguments, test_utils=("test_schema", "test_faketensor"))


def test_threads_at_once():
    from concurrent.futures import ThreadPoolExecutor

    q, k, v = tensors(2, 4, 4, 100, 100, 32, 32)
    wanted = fldsl.ops.attention(q, k, v, causal=True)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: fldsl.ops.attention(q, k, v, causal=True), range(32)))
    assert all(torch.equal(r, wanted) for r in results)
