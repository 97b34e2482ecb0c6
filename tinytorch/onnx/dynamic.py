"""The sizes of the inputs that may differ from call to call, from `dynamic_axes` and `dynamic_shapes`."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..capture.twice import changed, mapped
from ..errors import warn
from ..tensor import Tensor, wrap

__all__ = ["axes_of_names", "axes_of_shapes", "others", "symbols_of"]

#: {index of an input: {dimension: name of its size, or None for a size without a name}}.
Axes = dict[int, dict[int, str | None]]
#: Sizes for other recordings, in the order in which they are tried. Doubling keeps equal sizes equal, and keeps sizes
#: divisible by strides.
_SIZES: tuple[Callable[[int], int], ...] = (lambda n: 2 * n, lambda n: n + 1, lambda n: 3 * n, lambda n: n + 8,
                                            lambda n: n + 32, lambda n: max(n // 2, 1), lambda n: max(n - 1, 1))


def axes_of_names(dynamic_axes: Mapping[str, Any], inputs: Sequence[str], outputs: Sequence[str],
                  ) -> tuple[Axes, dict[str, dict[int, str]]]:
    """(axes of the inputs, {name of an output: {dimension: name}}) from torch's `dynamic_axes`. A UserWarning for a
    name that is not an input or output, and for axes without names."""
    found, of_outputs = {}, {}
    for name, axes in dynamic_axes.items():
        if name not in inputs and name not in outputs:
            warn(f"Provided key {name} for dynamic axes is not a valid input/output name")
        if isinstance(axes, (list, tuple)):
            warn("No names were found for specified dynamic axes of provided input.Automatically generated names will "
                 f"be applied to each dynamic axes of input {name}")
            axes = {dim: f"{name}_dynamic_axes_{i + 1}" for i, dim in enumerate(axes)}
        if not all([isinstance(dim, int) for dim in axes]):
            raise ValueError(f"The type of axis index is expected to be an integer: {axes}")
        if name in inputs:
            found[inputs.index(name)] = {dim: str(label) for dim, label in axes.items()}
        else:
            of_outputs[name] = {dim: str(label) for dim, label in axes.items()}
    return found, of_outputs


def axes_of_shapes(dynamic_shapes: Any, args: Sequence[Any], kwargs: Mapping[str, Any], names: Sequence[str]) -> Axes:
    """The axes of the inputs from torch.export's `dynamic_shapes`. It has for each argument, in order or by name, a
    dict {dimension: Dim, hint or name} or a list of them, in the structure of the argument."""
    given = {**dict(zip(names, args)), **kwargs}
    if isinstance(dynamic_shapes, Mapping):
        unknown = set(dynamic_shapes) - set(given)
        if unknown:
            raise ValueError(f"dynamic_shapes names {sorted(unknown)}, and the arguments are {list(given)}")
        specs = {name: dynamic_shapes.get(name) for name in given}
    else:
        if len(dynamic_shapes) != len(given):
            raise ValueError(f"dynamic_shapes has {len(dynamic_shapes)} arguments, and there are {len(given)}")
        specs = dict(zip(given, dynamic_shapes))
    found = {}
    for i, (tensor, shape) in enumerate(_pairs(list(given.values()), list(specs.values()))):
        axes = dict(enumerate(shape)) if isinstance(shape, (list, tuple)) else shape or {}
        named = {dim: _label(x) for dim, x in axes.items() if _is_dynamic(x)}
        for dim in named:
            if not -tensor.dim() <= dim < tensor.dim():
                raise ValueError(f"dynamic_shapes has the dimension {dim}, and the input {tensor.dim()} dimensions")
        if named:
            found[i] = named
    return found


def _pairs(x: Any, spec: Any) -> Iterator[tuple[Tensor, Any]]:
    """(tensor, its spec) for the tensors in nested arguments."""
    if isinstance(x, Tensor):
        yield x, spec
    elif isinstance(x, (list, tuple)):
        for y, inner in zip(x, spec or [None] * len(x)):
            yield from _pairs(y, inner)
    elif isinstance(x, dict):
        for key, y in x.items():
            yield from _pairs(y, (spec or {}).get(key))


def _is_dynamic(x):
    kind = getattr(getattr(x, "type", None), "name", None)
    return x is not None and not isinstance(x, int) and kind != "STATIC"


def _label(x):
    return x if isinstance(x, str) else getattr(x, "__name__", None)


def symbols_of(axes: Axes, tensors: Sequence[Tensor]) -> dict[tuple[int, int], str]:
    """{(input, dimension): name}. A dimension without a name gets a new name."""
    found, used = {}, {label for each in axes.values() for label in each.values() if label}
    for i, each in axes.items():
        for dim, label in each.items():
            n = len(found)
            while label is None or label in used and label.startswith("s") and each[dim] is None:
                label, n = f"s{n}", n + 1
            used.add(label)
            found[i, dim % max(tensors[i].dim(), 1)] = label
    return found


def others(inputs: Any, symbols: dict[tuple[int, int], str]) -> Iterator[list]:
    """For each recording after the first, a list of inputs to try until the model accepts them. They have other numbers
    and, where sizes may vary, other sizes."""
    if not symbols:
        yield [changed(inputs)]
        return
    for size in _SIZES:
        places = iter(range(1 << 30))

        def resized(tensor, size=size, places=places):
            i, array = next(places), tensor._array
            for (owner, dim), _ in symbols.items():
                if owner == i and array.shape[dim]:
                    n = array.shape[dim]
                    array = np.take(array, np.arange(size(n)) % n, axis=dim)
            return wrap(np.array(array)).requires_grad_(tensor.requires_grad)
        made = mapped(inputs, resized)
        yield [changed(made), made]            # the second is for models that take no other numbers


def label_of(sizes: tuple[int, ...], symbols: Mapping[str, set[tuple[int, ...]]]) -> str | None:
    """The name of the only symbol that had these sizes in all recordings; None if there is none, or several."""
    found = [name for name, known in symbols.items() if sizes in known]
    return found[0] if len(found) == 1 else None
