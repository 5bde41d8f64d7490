"""Libraries, manifests, the two cores, the command line, memory, fork, the demo."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import fldsl
import numpy as np
import pytest
from conftest import ROOT


def python(code: str, **environment: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "frontends" / "python"), **environment}
    result = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout


def command(*arguments: str) -> subprocess.CompletedProcess:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "frontends" / "python")}
    return subprocess.run(
        [sys.executable, "-m", "fldsl", *arguments], env=env, capture_output=True, text=True, timeout=120
    )


def test_the_default_library(attention_library):
    assert len(attention_library.kernels) <= 60
    assert len(attention_library.manifest.targets) >= 2
    assert "causal_f32_d64(q: float32[b, h, i, rd]" in repr(attention_library.kernels)
    assert fldsl.load("attention") is attention_library
    assert "causal_f32_d64" in dir(attention_library)
    with pytest.raises(AttributeError, match="no kernel other"):
        attention_library.other  # noqa: B018


def test_manifest_says_what_a_kernel_needs(attention_library):
    info = attention_library.causal_f32_d64.info
    assert [a.name for a in info.arguments] == ["q", "k", "v", "scale", "shift", "o", "lse"]
    assert info.features["mask"] == "causal" and info.capacity == {"rd": 64, "e": 64}
    raw = info.raw
    assert raw["schedule"] == "tile(i, 96).stream(keys, 64).online().whole(rd, 64).whole(e, 64).order(LongestFirst)"
    assert "row_max [(i, h, b), (j)] float32 max" in raw["graph"]
    assert raw["tile"].startswith("kernel ") and "stream j" in raw["tile"]
    assert len(raw["graph_hash"]) == 16 and raw["workspace"] == "0"
    assert attention_library.manifest.tools["halide"] == "21.0.0"


def test_kernels_by_position_name_and_out(attention_library, rng):
    q, k, v = (rng.standard_normal((1, 2, 9, 16), np.float32) for _ in range(3))
    o, lse = attention_library.causal_f32_d64(q, k, v, 0.25, 0)
    o2, lse2 = attention_library.causal_f32_d64(q, k, v=v, shift=0, scale=0.25, threads=1)
    np.testing.assert_array_equal(o, o2)
    mine = (np.empty_like(o), np.empty_like(lse))
    assert attention_library.causal_f32_d64(q, k, v, 0.25, 0, out=mine)[0] is mine[0]
    np.testing.assert_array_equal(mine[1], lse2)
    assert attention_library.causal_f32_d64.workspace(q, k, v, 0.25, 0) == 0


def test_both_cores_agree():
    code = """
import numpy as np, fldsl
rng = np.random.default_rng(0)
q, k, v = (rng.standard_normal((1, 2, 9, 16), np.float32) for _ in range(3))
print(fldsl.info()["core"], fldsl.ops.attention(q, k, v, causal=True).tobytes().hex())
"""
    compiled, ctypes = python(code).split(), python(code, FLDSL_CORE="ctypes").split()
    assert (compiled[0], ctypes[0]) == ("compiled", "ctypes")
    assert compiled[1] == ctypes[1]


def test_works_without_torch():
    code = """
import sys
sys.modules["torch"] = None
import numpy as np, fldsl
q = np.ones((1, 1, 3, 8), np.float32)
print(fldsl.ops.attention(q, q, q).shape)
"""
    assert python(code).strip() == "(1, 1, 3, 8)"


@pytest.mark.parametrize("threads", ["own", "torch"])
def test_after_fork(threads):
    code = """
import os, torch, fldsl
torch.set_num_threads(2)
q = torch.randn(2, 4, 200, 32)
bits = lambda: fldsl.ops.attention(q, q, q, causal=True).numpy().tobytes()  # torch's own threads do not survive a fork
wanted = bits()
child = os.fork()
if child == 0:
    os._exit(0 if bits() == wanted else 1)
print(os.waitpid(child, 0)[1])
"""
    assert python(code, FLDSL_THREADS=threads).strip() == "0"


def test_no_memory_of_size_s_squared():
    """Peak memory beyond the tensors grows with S at most: at S = 16k a single S x S float mask would be a gigabyte."""
    code = """
import resource, sys, numpy as np, fldsl
size = int(sys.argv[1]) if len(sys.argv) > 1 else SIZE
q = np.ones((1, 1, size, 64), np.float32)
ids = np.zeros(size, np.int32)
small = np.ones((1, 1, 64, 64), np.float32)
fldsl.ops.attention(small, small, small, causal=True)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
fldsl.ops.attention(q, q, q, window=64)
fldsl.ops.attention(q, q, q, window=64, prefix=3, documents=ids)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    small, large = (int(python(code.replace("SIZE", str(size)))) for size in (1024, 16384))
    outputs = 2 * 16384 * 65 * 4 / 1024  # KiB, of both calls
    assert small < 4096, f"{small} KiB at S = 1k"
    assert large < outputs + 4096, f"{large} KiB at S = 16k, outputs are {outputs}"


def test_command_line():
    info = json.loads(command("info", "--json").stdout)
    assert info["libraries"] and info["cpu"]["usable"] >= 1
    assert "library" in command("info").stdout
    assert "general_bf16_d256" in command("list").stdout
    listed = command("list", "attention", "causal_f32_d64").stdout
    assert "--- tile" in listed and "stream j" in listed
    explained = command("explain", "--causal", "--q", "1", "8", "100", "80").stdout
    assert explained.splitlines()[0].startswith("causal_f32_d128: chosen")
    assert "causal_f32_d64: holds head dimensions up to 64; the call has 80" in explained
    failed = command("list", "nothing")
    assert failed.returncode == 1 and "there is no library" in failed.stderr


def test_explain_prefers_the_special_kernel(attention_library):
    q = np.ones((1, 2, 5, 8), np.float32)
    chosen = {
        "full": {},
        "causal": {"causal": True},
        "window": {"window": 3},
        "prefix": {"causal": True, "prefix": 2},
        "alibi": {"alibi_slopes": [0.1, 0.2]},
        "softcap": {"softcap": 2.0, "causal": True},
        "lengths": {"lengths": [4]},
        "document": {"documents": np.zeros(5, np.int32)},
        "general": {"softcap": 2.0, "alibi_slopes": [0.1, 0.2]},
    }
    for kind, options in chosen.items():
        first = fldsl.ops.explain(q, q, q, **options).splitlines()[0]
        assert first.startswith(f"{kind}_f32") and "chosen" in first


def test_a_wheel_works_without_the_project(attention_library, tmp_path):
    """pip makes a wheel with the compiled core; installed elsewhere it finds libraries by FLDSL_LIBRARY_PATH."""
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    source = str(ROOT / "frontends" / "python")
    wheels, site = tmp_path / "wheels", tmp_path / "site"
    subprocess.run(
        [*pip, "wheel", "--no-build-isolation", "--no-deps", "-w", str(wheels), source], check=True, timeout=300
    )
    (wheel,) = wheels.glob("fldsl-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(site), str(wheel)], check=True, timeout=120)
    code = """
import numpy as np, fldsl
q = np.ones((1, 1, 3, 8), np.float32)
print(fldsl.__file__, fldsl.info()["core"], fldsl.ops.attention(q, q, q, causal=True).shape)
"""
    folder = str(attention_library.path.parent)
    output = python(code, PYTHONPATH=str(site), FLDSL_LIBRARY_PATH=folder, FLDSL_BUILD=str(tmp_path))
    assert output.startswith(str(site)) and output.strip().endswith("compiled (1, 1, 3, 8)")


def test_demo():
    pytest.importorskip("transformers")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "frontends" / "python")}
    result = subprocess.run(
        [sys.executable, "-m", "fldsl.demo", "--repeats", "2"], env=env, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "largest difference from PyTorch's attention" in result.stdout
    assert "The program crashes when the file is empty." in result.stdout
