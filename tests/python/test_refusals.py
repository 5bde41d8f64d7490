"""Bad arguments are refused with tensor, dimension, value and what is allowed; outputs stay as they were."""

from __future__ import annotations

import fldsl
import numpy as np
import pytest
import torch


def call(**changes):
    arguments = {
        "q": torch.ones(2, 4, 5, 8),
        "k": torch.ones(2, 2, 6, 8),
        "v": torch.ones(2, 2, 6, 7),
    }
    arguments.update(changes)
    return fldsl.ops.attention(arguments.pop("q"), arguments.pop("k"), arguments.pop("v"), **arguments)


CASES = [
    ("rank", {"q": torch.ones(4, 5, 8)}, "q", None, "q has 3 dimensions; allowed: [B, Hq, Sq, D]"),
    ("no tensor", {"k": [1.0]}, "k", None, "k is a list"),
    ("mixed kinds", {"v": np.ones((2, 2, 6, 7), np.float32)}, "v", None, "v is a ndarray; allowed: the kind of q"),
    (
        "type",
        {"q": torch.ones(2, 4, 5, 8, dtype=torch.float64)},
        "q",
        None,
        "float64; allowed: float32, float16, bfloat16",
    ),
    ("mixed types", {"k": torch.ones(2, 2, 6, 8).half()}, "k", None, "float16; allowed: float32, as q"),
    ("batch", {"k": torch.ones(3, 2, 6, 8)}, "k", 0, "k dimension 0 is 3; allowed: 2, as q"),
    (
        "head ratio",
        {"k": torch.ones(2, 3, 6, 8), "v": torch.ones(2, 3, 6, 7)},
        "q",
        1,
        "q dimension 1 is 4; allowed: a whole multiple of k dimension 1 (3)",
    ),
    (
        "no key heads",
        {"k": torch.ones(2, 0, 6, 8), "v": torch.ones(2, 0, 6, 7)},
        "q",
        1,
        "a whole multiple of k dimension 1 (0)",
    ),
    ("k head dim", {"k": torch.ones(2, 2, 6, 9)}, "k", 3, "k dimension 3 is 9; allowed: 8, as q"),
    ("no head dim", {"q": torch.ones(2, 4, 5, 0), "k": torch.ones(2, 2, 6, 0)}, "q", 3, "q dimension 3 is 0"),
    ("v heads", {"v": torch.ones(2, 1, 6, 7)}, "v", 1, "v dimension 1 is 1; allowed: 2, as k"),
    ("v length", {"v": torch.ones(2, 2, 5, 7)}, "v", 2, "v dimension 2 is 5; allowed: 6, as k"),
    ("alignment", {"alignment": "left"}, "alignment", None, "'bottom_right', 'top_left'"),
    ("negative window", {"window": -1}, "window", None, "window is -1; allowed: at least 0"),
    ("window pair", {"window": (1, 2, 3)}, "window", None, "window has 3 numbers"),
    ("window type", {"window": 1.5}, "window", None, "window is 1.5; allowed: a whole number"),
    ("softcap zero", {"softcap": 0}, "softcap", None, "softcap is 0.0; allowed: above 0"),
    ("softcap nan", {"softcap": float("nan")}, "softcap", None, "softcap is nan; allowed: a finite number"),
    ("scale inf", {"scale": float("inf")}, "scale", None, "scale is inf"),
    ("scale text", {"scale": "big"}, "scale", None, "scale is 'big'"),
    ("slopes length", {"alibi_slopes": torch.ones(3)}, "alibi_slopes", 0, "alibi_slopes dimension 0 is 3; allowed: 4"),
    ("slopes rank", {"alibi_slopes": torch.ones(4, 1)}, "alibi_slopes", None, "alibi_slopes has 2 dimensions"),
    ("prefix negative", {"prefix": -2, "causal": True}, "prefix", None, "prefix is -2"),
    ("lengths length", {"lengths": torch.tensor([1, 2, 3])}, "lengths", 0, "lengths dimension 0 is 3; allowed: 2"),
    ("lengths over", {"lengths": torch.tensor([1, 7])}, "lengths", None, "lengths holds 7; allowed: 0 to 6"),
    ("lengths negative", {"lengths": torch.tensor([-1, 3])}, "lengths", None, "lengths holds -1"),
    ("lengths floats", {"lengths": torch.tensor([1.0, 3.0])}, "lengths", None, "float32; allowed: integers"),
    (
        "documents lengths",
        {"documents": torch.zeros(6, dtype=torch.int32)},
        "documents",
        None,
        "q dimension 2 is 5, k dimension 2 is 6",
    ),
    (
        "documents size",
        {"q": torch.ones(2, 4, 6, 8), "documents": torch.zeros(5, dtype=torch.int32)},
        "documents",
        0,
        "documents dimension 0 is 5; allowed: 6",
    ),
    ("lengths wrap", {"lengths": torch.tensor([2**32 + 5, 3])}, "lengths", None, "lengths holds 4294967301; allowed"),
    (
        "documents wrap",
        {"q": torch.ones(2, 4, 6, 8), "documents": torch.arange(6) * 2**32},
        "documents",
        None,
        "documents holds 4294967296; allowed: what int32 holds",
    ),
    ("scale over float32", {"scale": 1e300}, "scale", None, "scale is 1e+300; allowed: -3.4e+38 to 3.4e+38"),
    ("sparse", {"q": torch.ones(2, 4, 5, 8).to_sparse()}, "q", None, "layout torch.sparse_coo; allowed: a dense"),
    ("gradient", {"q": torch.ones(2, 4, 5, 8, requires_grad=True)}, "q", None, "no backward kernel"),
]


@pytest.mark.parametrize("changes,argument,dimension,text", [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_attention_refuses(changes, argument, dimension, text):
    with pytest.raises(fldsl.ArgumentError) as refusal:
        call(**changes)
    assert isinstance(refusal.value, ValueError)
    assert text in str(refusal.value)
    assert refusal.value.argument == argument
    assert refusal.value.dimension == dimension


def test_no_kernel_lists_a_reason_for_each(attention_library):
    with pytest.raises(fldsl.NoKernelError) as refusal:
        call(q=torch.ones(1, 1, 2, 300), k=torch.ones(1, 1, 2, 300), v=torch.ones(1, 1, 2, 300))
    assert len(refusal.value.reasons) == sum(len(lib.kernels) for lib in fldsl.loaded())
    assert any(
        "general_f32_d256: holds head dimensions up to 256; the call has 300" in r for r in refusal.value.reasons
    )


def kernel_arguments():
    q = np.ones((1, 2, 5, 8), np.float32)
    return {
        "q": q,
        "k": np.ones((1, 1, 6, 8), np.float32),
        "v": np.ones((1, 1, 6, 7), np.float32),
        "scale": 1.0,
        "shift": 1,
        "out": (np.full((1, 2, 5, 7), 9, np.float32), np.full((1, 2, 5), 9, np.float32)),
    }


KERNEL_CASES = [
    ("rank", {"k": np.ones((1, 6, 8), np.float32)}, "k", "k has 3 dimensions; allowed: 4"),
    ("type", {"k": np.ones((1, 1, 6, 8), np.float64)}, "k", "float64; allowed: float32"),
    (
        "equal extents",
        {"v": np.ones((1, 1, 5, 7), np.float32)},
        "v",
        "v dimension 2 is 5; allowed: 6, as k dimension 2",
    ),
    (
        "head ratio",
        {"k": np.ones((1, 3, 6, 8), np.float32), "v": np.ones((1, 3, 6, 7), np.float32)},
        "q",
        "a whole multiple of the number of key heads",
    ),
    (
        "capacity",
        {"q": np.ones((1, 2, 5, 72), np.float32), "k": np.ones((1, 1, 6, 72), np.float32)},
        "q",
        "0 to 64, what this kernel was built for",
    ),
    ("scalar range", {"shift": 2**40}, "shift", "shift is 1099511627776"),
    ("scalar type", {"shift": 1.5}, "shift", "shift is 1.5; allowed: an integer"),
    (
        "output shape",
        {"out": (np.full((1, 2, 4, 7), 9, np.float32), np.full((1, 2, 5), 9, np.float32))},
        "o",
        "o dimension 2 is 4; allowed: 5, as q dimension 2",
    ),
    (
        "output type",
        {"out": (np.full((1, 2, 5, 7), 9, np.float16), np.full((1, 2, 5), 9, np.float32))},
        "o",
        "o has elements of type float16",
    ),
    ("byte order", {"q": np.ones((1, 2, 5, 8), ">f4")}, "q", "big-endian"),
    ("object", {"q": object()}, "q", "allowed: a NumPy array, a torch tensor"),
]


@pytest.mark.parametrize("changes,argument,text", [c[1:] for c in KERNEL_CASES], ids=[c[0] for c in KERNEL_CASES])
def test_kernels_refuse_and_leave_outputs(attention_library, changes, argument, text):
    arguments = {**kernel_arguments(), **changes}
    outputs = arguments["out"]
    with pytest.raises(fldsl.ArgumentError) as refusal:
        attention_library.causal_f32_d64(**arguments)
    assert text in str(refusal.value)
    assert refusal.value.argument == argument
    assert refusal.value.kernel == "causal_f32_d64"
    assert all((o == 9).all() for o in outputs)


def test_read_only_and_overlapping_outputs(attention_library):
    arguments = kernel_arguments()
    arguments["out"][0].flags.writeable = False
    with pytest.raises(fldsl.ArgumentError, match="o is read-only"):
        attention_library.causal_f32_d64(**arguments)
    shared = np.full(200, 9, np.float32)
    arguments["out"] = (shared[:70].reshape(1, 2, 5, 7), shared[60:70].reshape(1, 2, 5))
    with pytest.raises(fldsl.ArgumentError, match="shares memory with"):
        attention_library.causal_f32_d64(**arguments)
    assert (shared == 9).all()


def test_missing_and_unknown_inputs(attention_library):
    kernel = attention_library.causal_f32_d64
    with pytest.raises(fldsl.ArgumentError, match="misses its input"):
        kernel(np.ones((1, 1, 2, 8), np.float32))
    with pytest.raises(fldsl.ArgumentError, match="no further input colour"):
        kernel(**{**kernel_arguments(), "colour": 1})
    with pytest.raises(fldsl.ArgumentError, match="takes 5 inputs; 7 were given"):
        kernel(*[1] * 7)


def test_libraries_that_do_not_exist(tmp_path):
    with pytest.raises(fldsl.LibraryError, match="there is no library libfldsl_nothing.so"):
        fldsl.load("nothing")
    with pytest.raises(fldsl.LibraryError, match="there is no library"):
        fldsl.load(str(tmp_path / "x.so"))
    (tmp_path / "y.so").write_bytes(b"not a library")
    with pytest.raises(fldsl.LibraryError):
        fldsl.load(str(tmp_path / "y.so"))
