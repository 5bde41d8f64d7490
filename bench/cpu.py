"""./dev bench cpu: attention on this CPU, side by side with torch SDPA, compiled FlexAttention and eager torch.

All peers run in one process, interleaved, on random normal inputs; outputs are compared with a float32 reference
before anything is timed. Medians go to bench/results/cpu.json, ratios (peer time / fldsl time: above 1, fldsl is
faster) to the terminal. Masks of SDPA and block masks of FlexAttention are made outside the timed calls; making the
latter is timed apart.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parent))
import fldsl  # noqa: E402
import table  # noqa: E402

RESULTS = Path(__file__).resolve().parent / "results" / "cpu.json"
SHAPES = [(1, 8, 2048, 64), (1, 8, 1024, 128), (8, 12, 256, 64), (4, 16, 512, 64)]  # B, H, S, D
# softcap and alibi are causal; their _full forms keep every key.
CASES = ["full", "causal", "window", "softcap", "alibi", "document", "softcap_full", "alibi_full"]
WINDOW, CAP, DOCUMENTS = 256, 30.0, 12
TOLERANCE = {torch.float32: 2e-5, torch.bfloat16: 4e-2}


class Inputs:
    """Tensors of one shape and what each case adds to them."""

    def __init__(self, shape: tuple[int, int, int, int], dtype: torch.dtype):
        self.shape, self.dtype = shape, dtype
        batch, heads, size, dim = shape
        self.q, self.k, self.v = (torch.randn(batch, heads, size, dim).to(dtype) for _ in range(3))
        self.slopes = torch.tensor([2.0 ** (-8 * (h + 1) / heads) for h in range(heads)])
        cuts = torch.randperm(size - 1)[: DOCUMENTS - 1].sort().values + 1
        self.documents = torch.bucketize(torch.arange(size), cuts, right=True).to(torch.int32)
        self.i, self.j = torch.arange(size)[:, None], torch.arange(size)[None, :]

    def kept(self, case: str) -> torch.Tensor | None:
        """Dense mask [S, S] of a case; None keeps everything."""
        i, j = self.i, self.j
        if case == "window":
            return (j <= i) & (j >= i - WINDOW)
        if case == "document":
            return (self.documents[:, None] == self.documents[None, :]) & (j <= i)
        return j <= i if case in ("causal", "softcap", "alibi") else None

    def options(self, case: str) -> dict[str, Any]:
        """The case as options of fldsl.ops.attention."""
        return {
            "full": {},
            "causal": {"causal": True},
            "window": {"window": WINDOW},
            "softcap": {"causal": True, "softcap": CAP},
            "alibi": {"causal": True, "alibi_slopes": self.slopes},
            "document": {"causal": True, "documents": self.documents},
            "softcap_full": {"softcap": CAP},
            "alibi_full": {"alibi_slopes": self.slopes},
        }[case]


def eager(x: Inputs, case: str, dtype: torch.dtype | None = None) -> torch.Tensor:
    """The mathematics in plain torch operations."""
    q, k, v = (t if dtype is None else t.to(dtype) for t in (x.q, x.k, x.v))
    s = q @ k.transpose(-1, -2) * (1 / math.sqrt(q.shape[-1]))
    if case.startswith("softcap"):
        s = CAP * torch.tanh(s / CAP)
    if case.startswith("alibi"):
        s = s + (x.slopes[:, None, None] * (x.j - x.i)).to(s.dtype)
    kept = x.kept(case)
    if kept is not None:
        s = s.masked_fill(~kept, -math.inf)
    return torch.softmax(s, -1) @ v


def sdpa(x: Inputs, case: str) -> Callable[[], torch.Tensor] | None:
    """torch's fused attention; None where it cannot express the case."""
    if case in ("full", "causal"):
        return lambda: F.scaled_dot_product_attention(x.q, x.k, x.v, is_causal=case == "causal")
    if case.startswith("softcap"):
        return None
    mask = x.kept(case)
    if case.startswith("alibi"):
        bias = x.slopes[:, None, None] * (x.j - x.i)
        bias = (bias if mask is None else bias.masked_fill(~mask, -math.inf)).to(x.dtype)[None]
        return lambda: F.scaled_dot_product_attention(x.q, x.k, x.v, attn_mask=bias)
    return lambda: F.scaled_dot_product_attention(x.q, x.k, x.v, attn_mask=mask)


def flex(x: Inputs, case: str) -> tuple[Callable[[], torch.Tensor], float]:
    """Compiled FlexAttention, and the seconds that its block mask took."""
    documents, slopes = x.documents, x.slopes

    def mask_mod(b, h, i, j):  # noqa: ANN001, ANN202
        kept = j <= i
        if case == "window":
            kept = kept & (j >= i - WINDOW)
        if case == "document":
            kept = kept & (documents[i] == documents[j])
        return kept

    def score_mod(s, b, h, i, j):  # noqa: ANN001, ANN202
        return CAP * torch.tanh(s / CAP) if case.startswith("softcap") else s + slopes[h] * (j - i)

    size = x.shape[2]
    begin = time.perf_counter()
    block_mask = None if x.kept(case) is None else create_block_mask(mask_mod, None, None, size, size, device="cpu")
    seconds = time.perf_counter() - begin
    compiled = torch.compile(flex_attention, dynamic=False)
    score = score_mod if case.startswith(("softcap", "alibi")) else None
    return lambda: compiled(x.q, x.k, x.v, score_mod=score, block_mask=block_mask), seconds


def measure(calls: dict[str, Callable[[], Any]], seconds: float) -> dict[str, float]:
    """Median milliseconds of each call, interleaved, for about `seconds` in all and at least 5 rounds."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    begin = time.perf_counter()
    while len(next(iter(times.values()))) < 5 or time.perf_counter() - begin < seconds:
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append((time.perf_counter() - start) * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}


def run_case(
    shape: tuple[int, int, int, int], dtype: torch.dtype, case: str, options: argparse.Namespace
) -> dict[str, Any]:
    x = Inputs(shape, dtype)
    reference = eager(x, case, torch.float32)
    arguments = x.options(case)
    calls: dict[str, Callable[[], torch.Tensor]] = {"fldsl": lambda: fldsl.ops.attention(x.q, x.k, x.v, **arguments)}
    fused = sdpa(x, case)
    if fused:
        calls["sdpa"] = fused
    notes = {}
    mask_ms = None
    if not options.no_flex:
        try:
            call, seconds = flex(x, case)
            call()
            calls["flex"], mask_ms = call, seconds * 1e3
        except Exception as error:  # what FlexAttention cannot compile is a result, not a failure of the bench
            notes["flex"] = f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"
    calls["eager"] = lambda: eager(x, case)
    errors = {}
    for name, call in list(calls.items()):
        errors[name] = (call().float() - reference).abs().max().item()
        # Scores of alibi_full reach a thousand, which float32 holds to 1e-4; the weights follow.
        limit = max(TOLERANCE[dtype], 1e-3 if case == "alibi_full" else 0)
        if errors[name] > limit and name != "eager":
            if name == "fldsl":
                raise SystemExit(f"{case} {shape} {dtype}: fldsl is off by {errors[name]}")
            notes[name] = f"off by {errors[name]:.1e}"
    milliseconds = measure(calls, options.seconds)
    return {
        "shape": list(shape),
        "dtype": str(dtype).removeprefix("torch."),
        "case": case,
        "milliseconds": milliseconds,
        "errors": errors,
        "flex_block_mask_ms": mask_ms,
        "notes": notes,
    }


def machine() -> dict[str, Any]:
    facts = fldsl.info()
    return {
        "date": datetime.date.today().isoformat(),
        "cpu": facts["cpu"],
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torch_cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "fldsl": facts["fldsl"],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="first shape only, short runs")
    parser.add_argument("--case", action="append", choices=CASES, help="only these cases")
    parser.add_argument("--dtype", action="append", choices=["float32", "bfloat16"])
    parser.add_argument(
        "--no-flex", action="store_true", help="leave compiled FlexAttention out (it compiles for minutes)"
    )
    parser.add_argument("--seconds", type=float, default=4.0, help="time for each case")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    shapes = SHAPES[:1] if options.quick else SHAPES
    if options.quick:
        options.seconds = 1.0
    work = [
        (shape, getattr(torch, dtype), case)
        for dtype in options.dtype or ["float32", "bfloat16"]
        for shape in shapes
        for case in options.case or CASES
    ]
    results = []
    with torch.no_grad():
        for shape, dtype, case in tqdm(work, desc="bench", unit="case"):
            results.append(run_case(shape, dtype, case, options))
            torch._dynamo.reset()
            options.output.parent.mkdir(exist_ok=True)
            options.output.write_text(json.dumps({"machine": machine(), "results": results}, indent=1) + "\n")
    print(table.markdown(json.loads(options.output.read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
