"""Attention for NumPy and torch: options are checked, a kernel is picked by what it can do, and called."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from typing import Any

from . import library as _library
from .errors import ArgumentError, LibraryError, NoKernelError
from .library import Kernel

UNBOUNDED = 1 << 30  # a window side without limit
FLOAT32_MAX = (2 - 2**-23) * 2.0**127

# What each kind of kernel in a manifest (features mask and score) can do beyond plain attention.
MASK_OPTIONS = {
    "full": set(),
    "causal": {"causal"},
    "window": {"causal", "window"},
    "prefix": {"causal", "prefix"},
    "document": {"documents", "causal"},
    "lengths": {"lengths", "causal", "window"},
    "general": {"causal", "window", "prefix", "lengths", "documents"},
}
SCORE_OPTIONS = {
    "plain": set(),
    "softcap": {"softcap"},
    "alibi": {"alibi_slopes"},
    "general": {"softcap", "alibi_slopes"},
}
# Masks that are always on in a kernel: it cannot be used without them.
MASK_NEEDS = {"causal": {"causal"}, "prefix": {"causal", "prefix"}, "document": {"documents"}, "lengths": {"lengths"}}


@dataclass
class Request:
    """A checked call. `left` and `right` bound keys around the aligned position of a query."""

    q: Any
    k: Any
    v: Any
    dtype: str
    scale: float
    shift: int
    left: int = UNBOUNDED
    right: int = UNBOUNDED
    prefix: int = 0
    softcap: float = 0.0
    lengths: Any = None
    documents: Any = None
    slopes: Any = None
    options: set[str] = field(default_factory=set)

    @property
    def head_dim(self) -> int:
        return max(self.q.shape[3], self.v.shape[3])


def _refuse(message: str, argument: str, dimension: int | None = None) -> ArgumentError:
    return ArgumentError(f"attention: {message}", kernel="attention", argument=argument, dimension=dimension)


def _type_name(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _is_torch(tensor: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(tensor, torch.Tensor)


def _check_tensor(tensor: Any, name: str, rank: int) -> None:
    if not hasattr(tensor, "shape") or not hasattr(tensor, "dtype"):
        raise _refuse(f"{name} is a {type(tensor).__name__}; allowed: a NumPy array or a torch tensor", name)
    if len(tensor.shape) != rank:
        layout = {"q": "[B, Hq, Sq, D]", "k": "[B, Hkv, Sk, D]", "v": "[B, Hkv, Sk, Dv]"}.get(
            name, f"{rank} dimensions"
        )
        raise _refuse(f"{name} has {len(tensor.shape)} dimensions; allowed: {layout}", name)
    if _is_torch(tensor) and str(tensor.layout) != "torch.strided":
        raise _refuse(f"{name} has the layout {tensor.layout}; allowed: a dense tensor, torch.strided", name)


def _check_shapes(q: Any, k: Any, v: Any) -> None:
    for tensor, name in ((q, "q"), (k, "k"), (v, "v")):
        _check_tensor(tensor, name, 4)
    if _type_name(q) not in ("float32", "float16", "bfloat16"):
        raise _refuse(f"q has type {_type_name(q)}; allowed: float32, float16, bfloat16", "q")
    for tensor, name in ((k, "k"), (v, "v")):
        if _is_torch(tensor) != _is_torch(q):
            raise _refuse(f"{name} is a {type(tensor).__name__}; allowed: the kind of q, {type(q).__name__}", name)
        if _type_name(tensor) != _type_name(q):
            raise _refuse(f"{name} has type {_type_name(tensor)}; allowed: {_type_name(q)}, as q", name)
        if tensor.shape[0] != q.shape[0]:
            raise _refuse(f"{name} dimension 0 is {tensor.shape[0]}; allowed: {q.shape[0]}, as q", name, 0)
    heads, key_heads = q.shape[1], k.shape[1]
    if key_heads == 0 or heads % key_heads:
        raise _refuse(f"q dimension 1 is {heads}; allowed: a whole multiple of k dimension 1 ({key_heads})", "q", 1)
    if k.shape[3] != q.shape[3]:
        raise _refuse(f"k dimension 3 is {k.shape[3]}; allowed: {q.shape[3]}, as q", "k", 3)
    if q.shape[3] == 0:
        raise _refuse("q dimension 3 is 0; allowed: at least 1", "q", 3)
    for d in (1, 2):
        if v.shape[d] != k.shape[d]:
            raise _refuse(f"v dimension {d} is {v.shape[d]}; allowed: {k.shape[d]}, as k", "v", d)


def _number(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise _refuse(f"{name} is {value!r}; allowed: a finite number", name) from None
    if not math.isfinite(number):
        raise _refuse(f"{name} is {number}; allowed: a finite number", name)
    if abs(number) > FLOAT32_MAX:
        raise _refuse(f"{name} is {number}; allowed: -{FLOAT32_MAX:.3g} to {FLOAT32_MAX:.3g}, what float32 holds", name)
    return number


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise _refuse(f"{name} is {value!r}; allowed: a whole number", name)
    number = value.__index__()
    if number < 0:
        raise _refuse(f"{name} is {number}; allowed: at least 0", name)
    return min(number, UNBOUNDED)


def _vector(value: Any, name: str, size: int, like: Any, type_name: str, meaning: str) -> Any:
    """A rank-1 tensor of the kind of `like`, of `type_name`, with `size` elements."""
    if _is_torch(like):
        torch = sys.modules["torch"]
        try:
            tensor = torch.as_tensor(value)
        except (TypeError, ValueError, RuntimeError):
            raise _refuse(f"{name} is {value!r}; allowed: {meaning}", name) from None
        if tensor.device != like.device:
            raise _refuse(f"{name} is on {tensor.device}; allowed: {like.device}, as q", name)
        integral = not tensor.dtype.is_floating_point and tensor.dtype != torch.bool
        converted = tensor.to(getattr(torch, type_name))
    else:
        import numpy as np

        tensor = np.asarray(value)
        integral = tensor.dtype.kind in "iu"
        if tensor.dtype.kind not in "iuf":
            raise _refuse(f"{name} has type {tensor.dtype}; allowed: {meaning}", name)
        converted = tensor.astype(type_name, copy=False)
    if type_name == "int32" and not integral:
        raise _refuse(f"{name} has type {_type_name(tensor)}; allowed: integers, {meaning}", name)
    if len(converted.shape) != 1:
        raise _refuse(f"{name} has {len(converted.shape)} dimensions; allowed: 1, {meaning}", name)
    if converted.shape[0] != size:
        raise _refuse(f"{name} dimension 0 is {converted.shape[0]}; allowed: {size}, {meaning}", name, 0)
    if type_name == "int32" and tensor.dtype != converted.dtype and not bool((tensor == converted).all()):
        bad = next(int(x) for x in tensor if not -(2**31) <= int(x) < 2**31)
        raise _refuse(f"{name} holds {bad}; allowed: what int32 holds, {meaning}", name)
    return converted


def _window(window: Any) -> tuple[int, int, bool]:
    """Keys before and after the aligned position, and whether the window implies causal."""
    if isinstance(window, (tuple, list)):
        if len(window) != 2:
            raise _refuse(f"window has {len(window)} numbers; allowed: one, or a pair (left, right)", "window")
        return _whole(window[0], "window"), _whole(window[1], "window"), False
    return _whole(window, "window"), 0, True


def check(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    alignment: str = "bottom_right",
    window: Any = None,
    softcap: Any = None,
    alibi_slopes: Any = None,
    prefix: Any = None,
    lengths: Any = None,
    documents: Any = None,
    scale: Any = None,
) -> Request:
    """Checks the arguments of `attention`; ArgumentError names tensor, dimension, value and what is allowed."""
    _check_shapes(q, k, v)
    queries, keys = q.shape[2], k.shape[2]
    if alignment not in ("bottom_right", "top_left"):
        raise _refuse(f"alignment is {alignment!r}; allowed: 'bottom_right', 'top_left'", "alignment")
    request = Request(
        q,
        k,
        v,
        dtype=_type_name(q),
        scale=1 / math.sqrt(q.shape[3]) if scale is None else _number(scale, "scale"),
        shift=keys - queries if alignment == "bottom_right" else 0,
    )
    if window is not None:
        request.left, request.right, implied = _window(window)
        causal = causal or implied
        request.options.add("window")
    if causal:
        request.right = 0
        request.options.add("causal")
    if prefix is not None:
        request.prefix = _whole(prefix, "prefix")
        if "causal" in request.options or "window" in request.options:  # everything is kept otherwise
            request.options.add("prefix")
    if softcap is not None:
        request.softcap = _number(softcap, "softcap")
        if request.softcap <= 0:
            raise _refuse(f"softcap is {request.softcap}; allowed: above 0", "softcap")
        request.options.add("softcap")
    if alibi_slopes is not None:
        request.slopes = _vector(alibi_slopes, "alibi_slopes", q.shape[1], q, "float32", "one slope a query head")
        request.options.add("alibi_slopes")
    if lengths is not None:
        request.lengths = _vector(lengths, "lengths", q.shape[0], q, "int32", "one key count a batch element")
        if q.shape[0] and (int(request.lengths.min()) < 0 or int(request.lengths.max()) > keys):
            bad = next(int(x) for x in request.lengths if not 0 <= int(x) <= keys)
            raise _refuse(f"lengths holds {bad}; allowed: 0 to {keys}, k dimension 2", "lengths")
        request.options.add("lengths")
    if documents is not None:
        if queries != keys:
            raise _refuse(
                f"documents needs as many queries as keys; q dimension 2 is {queries}, k dimension 2 is {keys}",
                "documents",
            )
        request.documents = _vector(documents, "documents", keys, q, "int32", "one document id a position")
        request.options.add("documents")
    return request


def _reason(kernel: Kernel, request: Request) -> str | None:
    """Why this kernel cannot serve the request; None when it can."""
    features = kernel.info.features
    if features.get("op") != "attention":
        return "is no attention kernel"
    if features.get("dtype") != request.dtype:
        return f"is for {features.get('dtype')}; q is {request.dtype}"
    size = int(features.get("head_dim", "0"))
    if size < request.head_dim:
        return f"holds head dimensions up to {size}; the call has {request.head_dim}"
    mask, score = features.get("mask", ""), features.get("score", "")
    can = MASK_OPTIONS.get(mask, set()) | SCORE_OPTIONS.get(score, set())
    if score in ("alibi", "softcap"):
        can |= {"causal", "window"}
    lacking = sorted(request.options - can)
    if lacking:
        return f"cannot do {', '.join(lacking)}"
    always = MASK_NEEDS.get(mask, set()) | (SCORE_OPTIONS.get(score, set()) if score != "general" else set())
    unwanted = sorted(always - request.options)
    if unwanted:
        return f"always does {', '.join(unwanted)}"
    if mask == "prefix" and "window" in request.options:
        return "cannot do prefix and window together"
    if mask == "document" and "window" in request.options:
        return "cannot do documents and window together"
    if mask == "window" and score == "plain" and not request.options & {"causal", "window"}:
        return "always does window"
    return None


def _preference(kernel: Kernel) -> tuple[int, int]:
    """Special kernels before general ones, small head classes before large."""
    features = kernel.info.features
    breadth = {"general": 3, "lengths": 2, "window": 1}.get(features.get("mask", ""), 0)
    return breadth, int(features.get("head_dim", "0"))


def _candidates() -> list[Kernel]:
    libraries = _library.loaded()
    if not any(k.info.features.get("op") == "attention" for lib in libraries for k in lib.kernels.values()):
        try:
            libraries = [*libraries, _library.load("attention")]
        except LibraryError as error:
            raise NoKernelError(f"attention: no library with attention kernels is loaded. {error}") from None
    return [k for lib in libraries for k in lib.kernels.values()]


_picked: dict[tuple, Kernel] = {}


def _pick(request: Request) -> Kernel:
    """The kernel for a request; what it depends on is remembered, as it costs more than a small call."""
    key = (request.dtype, request.head_dim, frozenset(request.options), len(_library.loaded()))
    if key not in _picked:
        _picked[key] = _search(request)
    return _picked[key]


def _search(request: Request) -> Kernel:
    reasons, fitting = [], []
    for kernel in _candidates():
        reason = _reason(kernel, request)
        if reason is None:
            fitting.append(kernel)
        else:
            reasons.append(f"{kernel.name}: {reason}")
    if not fitting:
        asked = ", ".join(sorted(request.options)) or "no options"
        raise NoKernelError(
            f"attention: no kernel for {request.dtype}, head dimensions {request.q.shape[3]} and "
            f"{request.v.shape[3]}, {asked}",
            reasons,
        )
    return min(fitting, key=_preference)


def _filled(request: Request, size: int, value: float, type_name: str) -> Any:
    """`size` equal elements in the memory of one."""
    if _is_torch(request.q):
        torch = sys.modules["torch"]
        one = torch.full((1,), value, dtype=getattr(torch, type_name), device=request.q.device)
        return one.expand(size)
    import numpy as np

    return np.broadcast_to(np.asarray(value, type_name), (size,))


def _arguments(kernel: Kernel, request: Request) -> dict[str, Any]:
    """The kernel's inputs by name; what the call does not use takes its neutral value."""
    values: dict[str, Any] = {
        name: getattr(request, name) for name in ("q", "k", "v", "scale", "shift", "left", "right")
    }
    values.update(prefix=request.prefix, softcap=request.softcap)
    batch, heads, queries, keys = request.q.shape[0], request.q.shape[1], request.q.shape[2], request.k.shape[2]
    wanted = {a.name for a in kernel.info.inputs}
    neutral = {
        "lengths": (request.lengths, batch, keys, "int32"),
        "slopes": (request.slopes, heads, 0.0, "float32"),
        "documents": (request.documents, keys, 0, "int32"),
        "documents_q": (request.documents, queries, 0, "int32"),
        "documents_k": (request.documents, keys, 0, "int32"),
    }
    for name, (given, size, value, type_name) in neutral.items():
        if name in wanted:
            values[name] = given if given is not None else _filled(request, size, value, type_name)
    return {name: values[name] for name in wanted}


def _run(request: Request) -> tuple[Any, Any]:
    kernel = _pick(request)
    return kernel(**_arguments(kernel, request))


def _check_gradients(*tensors: Any) -> None:
    torch = sys.modules.get("torch")
    if torch is None or not torch.is_grad_enabled():
        return
    for tensor, name in zip(tensors, ("q", "k", "v", "alibi_slopes")):
        if isinstance(tensor, torch.Tensor) and tensor.requires_grad:
            raise _refuse(
                f"{name} requires a gradient and there is no backward kernel yet; call it under torch.no_grad()", name
            )


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    alignment: str = "bottom_right",
    window: Any = None,
    softcap: Any = None,
    alibi_slopes: Any = None,
    prefix: Any = None,
    lengths: Any = None,
    documents: Any = None,
    scale: Any = None,
    return_lse: bool = False,
) -> Any:
    """Scaled dot-product attention, softmax(scale * q k^T) v, with masks that are never stored.

    q [B, Hq, Sq, D], k [B, Hkv, Sk, D], v [B, Hkv, Sk, Dv] of one type (float32, float16, bfloat16), NumPy or torch,
    any strides; Hq a whole multiple of Hkv. Returns o [B, Hq, Sq, Dv] of q's type and kind, and with return_lse also
    lse [B, Hq, Sq] float32, the natural logarithm of the sum of exp(score). A query without keys has o = 0, lse = -inf.

    Scores: scale (default 1 / sqrt(D)), then softcap c: c * tanh(s / c), then alibi_slopes [Hq]: slope * (j - i).
    Kept keys: ((causal and window) or prefix) and lengths and documents.
      alignment  i is the position of a query among the keys: 'bottom_right' i + Sk - Sq, 'top_left' i. Sk, not lengths.
                 Causal, window and ALiBi use it.
      causal     j <= i
      window     W keeps i - W <= j <= i (W + 1 keys) and implies causal; (left, right) keeps i - left <= j <= i + right
      prefix     P keeps j < P as well
      lengths    [B] key counts: j < lengths[b]; what lies behind is never read into a result
      documents  [S] ids; equal ids attend each other; needs Sq == Sk

    ArgumentError for arguments that do not fit, NoKernelError (one reason a candidate) when no loaded kernel does.
    """
    _check_gradients(q, k, v, alibi_slopes)
    if _is_torch(q):
        from . import torch_ops

        if torch_ops.is_compiling():
            o, lse = torch_ops.attention(
                q, k, v, causal, alignment, window, softcap, alibi_slopes, prefix, lengths, documents, scale
            )
            return (o, lse) if return_lse else o
    request = check(
        q,
        k,
        v,
        causal=causal,
        alignment=alignment,
        window=window,
        softcap=softcap,
        alibi_slopes=alibi_slopes,
        prefix=prefix,
        lengths=lengths,
        documents=documents,
        scale=scale,
    )
    o, lse = _run(request)
    return (o, lse) if return_lse else o


def explain(q: Any, k: Any, v: Any, **options: Any) -> str:
    """Which kernel `attention` would call, and why each other candidate is not it. Options as those of `attention`."""
    options.pop("return_lse", None)
    request = check(q, k, v, **options)
    lines = []
    try:
        chosen: Kernel | None = _pick(request)
    except NoKernelError as error:
        chosen = None
        lines.append(str(error).splitlines()[0])
    for kernel in _candidates():
        reason = _reason(kernel, request)
        if kernel is chosen:
            lines.insert(0, f"{kernel.name}: chosen, from {kernel.library.path.name}")
        elif reason is None:
            lines.append(f"{kernel.name}: fits, but is more general")
        else:
            lines.append(f"{kernel.name}: {reason}")
    return "\n".join(lines)
