"""python bench/table.py [FILE]: the table of a result file of bench/cpu.py, in Markdown."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PEERS = ["sdpa", "flex", "eager"]


def markdown(data: dict[str, Any]) -> str:
    """One row a case: fldsl's milliseconds, and how many times longer each peer took."""
    lines = [
        "| type | B, H, S, D | case | fldsl ms | SDPA / fldsl | Flex / fldsl | eager / fldsl |",
        "|---|---|---|--:|--:|--:|--:|",
    ]
    for r in data["results"]:
        ours = r["milliseconds"]["fldsl"]
        ratios = [f"{r['milliseconds'][p] / ours:.2f}" if p in r["milliseconds"] else "-" for p in PEERS]
        shape = ", ".join(map(str, r["shape"]))
        lines.append(f"| {r['dtype']} | {shape} | {r['case']} | {ours:.2f} | {' | '.join(ratios)} |")
    m = data["machine"]
    cpu = m["cpu"]
    features = " ".join(cpu["features"])
    lines.append("")
    lines.append(f"{cpu['model']} ({features}), {m['threads']} threads, torch {m['torch']}, {m['date']}.")
    return "\n".join(lines)


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "results" / "cpu.json"
    print(markdown(json.loads(path.read_text())))
