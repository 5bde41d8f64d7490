"""What a library says of its kernels: `manifest.json` as records. Dimensions are outermost first."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel: a tensor with named axes, or a scalar."""

    name: str
    kind: str  # "tensor" or "scalar"
    type: str  # element type, as NumPy and torch spell it
    rank: int = 0
    use: str = "input"  # or "output"
    dims: tuple[str | None, ...] = ()

    @property
    def is_tensor(self) -> bool:
        return self.kind == "tensor"

    @property
    def is_output(self) -> bool:
        return self.use == "output"

    def __str__(self) -> str:
        axes = f"[{', '.join(dim or '_' for dim in self.dims)}]" if self.is_tensor else ""
        return f"{self.name}: {self.type}{axes}"


@dataclass(frozen=True)
class KernelInfo:
    """One kernel of a manifest. `raw` keeps every key of the JSON object."""

    name: str
    arguments: tuple[Argument, ...]
    features: dict[str, str] = field(default_factory=dict)
    capacity: dict[str, int] = field(default_factory=dict)
    workspace: str = "0"
    targets: tuple[str, ...] = ()
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """Input tensors and scalars, in order."""
        return tuple(a for a in self.arguments if not a.is_output)

    @property
    def outputs(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.arguments if a.is_output)

    def argument(self, name: str) -> Argument | None:
        return next((a for a in self.arguments if a.name == name), None)

    def limit(self, argument: str, dimension: int) -> int | None:
        """Largest extent of a tensor's dimension, where the kernel was built for a class of sizes."""
        found = self.argument(argument)
        if found is None or dimension >= len(found.dims):
            return None
        return self.capacity.get(found.dims[dimension] or "")

    def __str__(self) -> str:
        inputs = ", ".join(map(str, self.inputs))
        return f"{self.name}({inputs}) -> {', '.join(map(str, self.outputs))}"


@dataclass(frozen=True)
class Manifest:
    library: str
    version: str
    targets: tuple[str, ...]
    tools: dict[str, str]
    kernels: tuple[KernelInfo, ...]


def parse_manifest(text: str) -> Manifest:
    """Reads the manifest; keys that this version does not know are left in `KernelInfo.raw`."""
    data = json.loads(text)
    return Manifest(
        library=data.get("library", ""),
        version=str(data.get("fldsl", "")),
        targets=tuple(data.get("targets", ())),
        tools=dict(data.get("tools", {})),
        kernels=tuple(_parse_kernel(kernel) for kernel in data.get("kernels", ())),
    )


def _parse_kernel(data: dict[str, Any]) -> KernelInfo:
    arguments = tuple(
        Argument(
            name=a["name"],
            kind=a["kind"],
            type=a["type"],
            rank=a.get("rank", 0),
            use=a.get("use", "input"),
            dims=tuple(a.get("dims", ())),
        )
        for a in data["arguments"]
    )
    return KernelInfo(
        name=data["name"],
        arguments=arguments,
        features={key: str(value) for key, value in data.get("features", {}).items()},
        capacity={axis: int(extent) for axis, extent in data.get("capacity", {}).items()},
        workspace=str(data.get("workspace", "0")),
        targets=tuple(data.get("targets", ())),
        raw=data,
    )
