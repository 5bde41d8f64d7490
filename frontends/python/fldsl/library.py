"""Kernel libraries: finding, opening, calling."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import _threads, errors
from ._core_choice import core
from .manifest import Argument, KernelInfo, Manifest, parse_manifest

_open_libraries: dict[str, Library] = {}


def _is_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _allocate(shape: tuple[int, ...], type_name: str, like: Any) -> Any:
    """An uninitialised output of the kind (torch or NumPy) of `like`."""
    if _is_torch(like):
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, type_name), device=like.device)
    import numpy as np

    if type_name == "bfloat16":
        import ml_dtypes

        return np.empty(shape, ml_dtypes.bfloat16)
    return np.empty(shape, type_name)


class Kernel:
    """One kernel. Call it with its inputs in order, or scalars by name; outputs are made, or taken from `out`."""

    def __init__(self, library: Library, index: int, info: KernelInfo):
        self.library = library
        self.info = info
        self.name = info.name
        self.__doc__ = str(info)
        kinds = "".join(
            ("o" if a.is_output else "t") if a.is_tensor else ("f" if a.type.startswith(("float", "bfloat")) else "i")
            for a in info.arguments
        )
        names = [a.name for a in info.arguments]
        self._core = core.Kernel(library._core, index, kinds, names, info.workspace != "0")
        self._inputs = info.inputs
        self._outputs = info.outputs

    def __repr__(self) -> str:
        return f"<fldsl kernel {self.info}>"

    def __call__(self, *inputs: Any, out: Any = None, threads: int | None = None, **named: Any) -> Any:
        """Runs the kernel.

        inputs   tensors and scalars in the manifest's order; any of them may be given by name instead
        out      the output, or a sequence of all outputs in order; made when left out
        threads  most threads to use; default: torch's count when torch is loaded, else all
        Returns the output, or a tuple of outputs.
        """
        given = self._bind(inputs, named)
        outputs = self._take_outputs(out, given)
        arguments = tuple(given) + tuple(outputs)
        count = _threads.default_threads() if threads is None else threads
        failure = self._core.call(arguments, count, _threads.parallel_address())
        if failure is not None:
            raise errors.from_failure(self.name, failure)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def workspace(self, *inputs: Any, **named: Any) -> int:
        """Bytes of workspace that a call with these inputs takes."""
        given = self._bind(inputs, named)
        result = self._core.workspace(tuple(given) + tuple(self._take_outputs(None, given)))
        if isinstance(result, tuple):
            raise errors.from_failure(self.name, result)
        return result

    def _bind(self, inputs: tuple, named: dict[str, Any]) -> list[Any]:
        if len(inputs) > len(self._inputs):
            raise errors.ArgumentError(
                f"{self.name} takes {len(self._inputs)} inputs; {len(inputs)} were given", kernel=self.name
            )
        values = list(inputs)
        for argument in self._inputs[len(inputs) :]:
            if argument.name not in named:
                raise errors.ArgumentError(
                    f"{self.name} misses its input {argument}", kernel=self.name, argument=argument.name
                )
            values.append(named.pop(argument.name))
        if named:
            name = next(iter(named))
            known = ", ".join(a.name for a in self._inputs)
            raise errors.ArgumentError(
                f"{self.name} has no further input {name}; its inputs are {known}", kernel=self.name, argument=name
            )
        return values

    def _take_outputs(self, out: Any, given: list[Any]) -> list[Any]:
        if out is None:
            return [self._make_output(a, given) for a in self._outputs]
        outputs = [out] if len(self._outputs) == 1 and not isinstance(out, (tuple, list)) else list(out)
        if len(outputs) != len(self._outputs):
            names = ", ".join(a.name for a in self._outputs)
            raise errors.ArgumentError(
                f"{self.name}: out has {len(outputs)} tensors; allowed: {names}", kernel=self.name
            )
        return outputs

    def _make_output(self, output: Argument, given: list[Any]) -> Any:
        shape, like = [], None
        for axis in output.dims:
            extent = None
            for argument, value in zip(self._inputs, given):
                if argument.is_tensor and axis in argument.dims:
                    if not hasattr(value, "shape") or len(value.shape) != argument.rank:
                        rank = len(value.shape) if hasattr(value, "shape") else type(value).__name__
                        raise errors.ArgumentError(
                            f"{self.name}: {argument.name} has rank {rank}; allowed: {argument.rank}, {argument}",
                            kernel=self.name,
                            argument=argument.name,
                        )
                    extent, like = value.shape[argument.dims.index(axis)], like if like is not None else value
                    break
            if extent is None:
                raise errors.ArgumentError(
                    f"{self.name}: the extent {axis} of output {output.name} follows from no input: pass out=",
                    kernel=self.name,
                    argument=output.name,
                )
            shape.append(int(extent))
        return _allocate(tuple(shape), output.type, like)


class Kernels(Mapping[str, Kernel]):
    """The kernels of a library by name."""

    def __init__(self, kernels: dict[str, Kernel]):
        self._kernels = kernels

    def __getitem__(self, name: str) -> Kernel:
        return self._kernels[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def __repr__(self) -> str:
        return "\n".join(str(k.info) for k in self._kernels.values())


class Library:
    """An open kernel library: `library.kernels` lists its kernels, `library.<kernel>(...)` calls one."""

    def __init__(self, path: Path):
        try:
            self._core = core.Library(str(path))
        except RuntimeError as error:
            raise errors.LibraryError(str(error)) from None
        self.path = path
        self.manifest: Manifest = parse_manifest(self._core.manifest)
        by_name = {info.name: info for info in self.manifest.kernels}
        self.kernels = Kernels(
            {name: Kernel(self, index, by_name[name]) for index, name in enumerate(self._core.kernel_names)}
        )

    def __getattr__(self, name: str) -> Kernel:
        kernels = self.__dict__.get("kernels")
        if kernels is None or name not in kernels:
            raise AttributeError(f"library {self.__dict__.get('path')} has no kernel {name}")
        return kernels[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.kernels]

    def __repr__(self) -> str:
        return f"<fldsl library {self.manifest.library}: {len(self.kernels)} kernels, {self.path}>"


def search_path() -> list[Path]:
    """Folders in which libraries are looked for: FLDSL_LIBRARY_PATH, the package's own, the project's build."""
    package = Path(__file__).resolve().parent
    folders = [Path(p) for p in os.environ.get("FLDSL_LIBRARY_PATH", "").split(os.pathsep) if p]
    build = Path(os.environ.get("FLDSL_BUILD") or package.parents[2] / "build")
    return [*folders, package / "lib", build / "generators"]


def find(name: str) -> Path:
    """The file of a library, by path or by name ("attention")."""
    if os.sep in name or name.endswith(".so"):
        path = Path(name)
        if not path.is_file():
            raise errors.LibraryError(f"there is no library {path}")
        return path.resolve()
    for folder in search_path():
        path = folder / f"libfldsl_{name}.so"
        if path.is_file():
            return path.resolve()
    looked = "".join(f"\n  {folder}" for folder in search_path())
    raise errors.LibraryError(
        f"there is no library libfldsl_{name}.so; build it (./dev build) or add its folder to FLDSL_LIBRARY_PATH. "
        f"Looked in:{looked}"
    )


def load(path_or_name: str | os.PathLike[str]) -> Library:
    """Opens a library: a path, or a name such as "attention" that is looked for in `search_path()`. Opened once."""
    path = find(os.fspath(path_or_name))
    key = str(path)
    if key not in _open_libraries:
        _open_libraries[key] = Library(path)
    return _open_libraries[key]


def loaded() -> list[Library]:
    """The libraries opened so far, in that order."""
    return list(_open_libraries.values())
