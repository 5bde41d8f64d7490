"""python -m fldsl info | list | explain"""

from __future__ import annotations

import argparse
import json
import sys

import fldsl


def _info(arguments: argparse.Namespace) -> int:
    facts = fldsl.info()
    if arguments.json:
        print(json.dumps(facts, indent=2))
        return 0
    for key, value in facts.items():
        if key not in ("libraries", "cpu", "search_path"):
            print(f"{key:10} {value}")
    print(f"{'cpu':10} {facts['cpu']['model']}, {facts['cpu']['usable']} usable, {' '.join(facts['cpu']['features'])}")
    for folder in facts["search_path"]:
        print(f"{'searched':10} {folder}")
    for lib in facts["libraries"]:
        print(f"{'library':10} {lib['library']}: {lib['kernels']} kernels, {lib['path']}")
        for target in lib["targets"]:
            print(f"{'':10}   target {target}")
    return 0


def _list(arguments: argparse.Namespace) -> int:
    library = fldsl.load(arguments.library)
    if arguments.json:
        print(json.dumps([kernel.info.raw for kernel in library.kernels.values()], indent=2))
    elif arguments.kernel:
        raw = library.kernels[arguments.kernel].info.raw
        for key in ("generator", "schedule", "graph", "online", "storage", "tile"):
            print(f"--- {key}\n{raw.get(key, '')}")
    else:
        print(library.kernels)
    return 0


def _explain(arguments: argparse.Namespace) -> int:
    import numpy as np

    def empty(*shape: int) -> np.ndarray:
        return np.broadcast_to(np.zeros((), arguments.dtype), shape)

    batch, heads, queries, size = arguments.q
    key_heads = arguments.key_heads or heads
    keys = arguments.keys or queries
    value_size = arguments.value_dim or size
    options = {}
    if arguments.causal:
        options["causal"] = True
    for name in ("window", "softcap", "prefix"):
        if getattr(arguments, name) is not None:
            options[name] = getattr(arguments, name)
    if arguments.lengths:
        options["lengths"] = np.full(batch, keys, np.int32)
    if arguments.documents:
        options["documents"] = np.zeros(keys, np.int32)
    if arguments.alibi:
        options["alibi_slopes"] = np.zeros(heads, np.float32)
    q, k = empty(batch, heads, queries, size), empty(batch, key_heads, keys, size)
    text = fldsl.ops.explain(q, k, empty(batch, key_heads, keys, value_size), **options)
    print(json.dumps(text.splitlines(), indent=2) if arguments.json else text)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fldsl", description="Kernel libraries on this machine.")
    commands = parser.add_subparsers(dest="command", required=True)
    info = commands.add_parser("info", help="versions, CPU, libraries found")
    info.set_defaults(run=_info)
    listing = commands.add_parser("list", help="the kernels of a library, or all that is known of one")
    listing.add_argument("library", nargs="?", default="attention", help="name or path")
    listing.add_argument(
        "kernel", nargs="?", help="print graph, one-pass form, storage and tile program of this kernel"
    )
    listing.set_defaults(run=_list)
    explain = commands.add_parser("explain", help="which kernel a call of ops.attention takes, and why not another")
    explain.add_argument("--q", nargs=4, type=int, default=[1, 8, 1024, 64], metavar=("B", "H", "S", "D"))
    explain.add_argument("--key-heads", type=int)
    explain.add_argument("--keys", type=int)
    explain.add_argument("--value-dim", type=int)
    explain.add_argument("--dtype", default="float32", choices=["float32", "float16"])
    explain.add_argument("--window", type=int)
    explain.add_argument("--prefix", type=int)
    explain.add_argument("--softcap", type=float)
    for flag in ("causal", "lengths", "documents", "alibi"):
        explain.add_argument(f"--{flag}", action="store_true")
    explain.set_defaults(run=_explain)
    for command in (info, listing, explain):
        command.add_argument("--json", action="store_true")
    return parser


def main() -> int:
    arguments = _parser().parse_args()
    try:
        return arguments.run(arguments)
    except fldsl.Error as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
