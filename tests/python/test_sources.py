"""The sources keep their shape: includes point one way, and the compiler knows no variant of attention by name."""

from __future__ import annotations

import re

from conftest import ROOT

# What each part may include besides itself and the public headers.
ALLOWED = {
    "support": set(),
    "algorithm": {"support"},
    "tile": {"support"},
    "passes": {"support", "algorithm", "tile"},
    "lower_halide": {"support", "tile"},
    "package": {"support", "tile", "algorithm", "passes", "lower_halide", "runtime"},
    "tools": {"support", "tile", "algorithm", "passes", "package"},
    "runtime": set(),
}
VARIANTS = (
    r"causal|alibi|softcap|sliding|prefix_?lm|document|differential|evoformer|sigmoid_attention|flash|attention|softmax"
)


def sources():
    return [p for p in sorted((ROOT / "src").rglob("*")) if p.suffix in (".h", ".cpp", ".c")]


def test_includes_point_one_way():
    wrong = []
    for path in sources():
        part = path.relative_to(ROOT / "src").parts[0]
        for included in re.findall(r'#include "src/(\w+)/', path.read_text()):
            if part in ALLOWED and included != part and included not in ALLOWED[part]:
                wrong.append(f"{path.relative_to(ROOT)} includes {included}")
    assert not wrong, "\n".join(wrong)


def test_the_runtime_includes_nothing_of_the_compiler():
    for path in (ROOT / "src" / "runtime").iterdir():
        assert (
            "Halide" not in path.read_text() or path.suffix not in (".h", ".cpp", ".c") or path.name == "primitives.c"
        )


def code_of(text: str) -> str:
    """Without comments: they may speak of what the compiler is used for."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r"//[^\n]*", "", text)


def test_no_template_for_attention():
    found = []
    for path in sources():
        for match in re.finditer(VARIANTS, code_of(path.read_text()), re.IGNORECASE):
            found.append(f"{path.relative_to(ROOT)}: {match.group(0)}")
    assert not found, "\n".join(found)


def test_libraries_import_nothing_that_ends_the_process():
    import subprocess

    import fldsl

    library = fldsl.load("attention").path
    imported = subprocess.run(
        ["nm", "-D", "--undefined-only", str(library)], capture_output=True, text=True, check=True
    ).stdout
    names = {line.split()[-1].split("@")[0] for line in imported.splitlines() if line.strip()}
    assert not names & {
        "abort",
        "exit",
        "_exit",
        "printf",
        "fprintf",
        "puts",
        "__assert_fail",
        "raise",
        "signal",
        "system",
    }
    assert not any("Halide" in n or n.startswith("halide_") or n.startswith("_ZSt") for n in names)
