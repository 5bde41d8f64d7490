"""Tests of the Python package against the libraries of the build tree (FLDSL_BUILD, or <project>/build)."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "frontends" / "python"))


@pytest.fixture(scope="session")
def attention_library():
    import fldsl

    return fldsl.load("attention")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
