"""The downstream projects of docs/examples build and run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

BUILD = Path(os.environ.get("FLDSL_BUILD") or ROOT / "build")
EXAMPLES = ROOT / "docs" / "examples"


def run(command: list[str], folder: Path) -> str:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def commands(kind: str, folder: Path) -> list[list[str]]:
    if kind == "make":
        return [
            [
                "make",
                "-f",
                str(EXAMPLES / "make" / "Makefile"),
                f"FLDSL_SOURCE={ROOT}",
                f"FLDSL_BUILD={BUILD}",
                f"PYTHON={sys.executable}",
            ],
            ["./example"],
        ]
    if kind == "cmake":
        options = [f"-DFLDSL_SOURCE={ROOT}", f"-DFLDSL_BUILD={BUILD}", f"-DPython3_EXECUTABLE={sys.executable}"]
        return [["cmake", "-S", str(EXAMPLES / "cmake"), "-B", ".", *options], ["cmake", "--build", "."], ["./example"]]
    options = [f"-Dfldsl_source={ROOT}", f"-Dfldsl_build={BUILD}", f"-Dpython={sys.executable}"]
    return [["meson", "setup", ".", str(EXAMPLES / "meson"), *options], ["ninja"], ["./example"]]


@pytest.mark.parametrize("kind", ["make", "cmake", "meson"])
def test_example(kind, tmp_path):
    if shutil.which(kind) is None:
        pytest.skip(f"{kind} is not installed")
    output = ""
    for command in commands(kind, tmp_path):
        output = run(command, tmp_path)
    assert output == "4.500 5.500 6.500\n"
