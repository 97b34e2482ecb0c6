"""Compares a replay with eager execution: both start from the same state and must leave the same bits behind."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..random import default_generator
from ..tensor import Tensor
from .program import refs

__all__ = ["checked", "with_one_nan"]


class _State:
    """A copy of everything that a program may write to, from which it can be restored."""

    def __init__(self, ready: Any, inputs: list[Tensor]) -> None:
        self.tensors = list({id(t): t for t in (*ready.tensors, *inputs)}.values())
        self.leaves = [t for t in self.tensors if t._requires_grad]
        self.optimisers = ready.optimisers.values()
        self.arrays = [t._array.copy("K") for t in self.tensors]
        self.grads = [(t._grad, None if t._grad is None else t._grad._array.copy("K")) for t in self.leaves]
        self.states = [(o, {p: {key: (x, x._array.copy("K")) if isinstance(x, Tensor) else (x, None)
                                for key, x in state.items()} for p, state in o.state.items()})
                       for o in self.optimisers]
        self.stream = default_generator._stream.state()
        self.versions = [(t._version_counter, t._version_counter[0]) for t in self.tensors]

    def put_back(self) -> None:
        """Restores the state."""
        for t, before in zip(self.tensors, self.arrays):
            if t._array.flags.writeable and t._array.tobytes() != before.tobytes():
                t._array[...] = before
        for leaf, (grad, numbers) in zip(self.leaves, self.grads):
            leaf._grad = grad
            if grad is not None:
                grad._array[...] = numbers
        for optimiser, states in self.states:
            for p in list(optimiser.state):
                if p not in states:
                    del optimiser.state[p]
            for p, state in states.items():
                own = optimiser.state[p]
                for key in list(own):
                    if key not in state:
                        del own[key]
                for key, (x, numbers) in state.items():
                    own[key] = x
                    if numbers is not None:
                        x._array[...] = numbers
        default_generator._stream.resume(self.stream)
        for cell, version in self.versions:
            cell[0] = version

    def numbers(self) -> list[tuple[str, bytes | None]]:
        """The current state as (description, bits) of each part."""
        found = [(f"a tensor of shape {list(t._array.shape)}", _bits(t._array)) for t in self.tensors]
        found += [(f"the gradient of a tensor of shape {list(t._array.shape)}",
                   None if t._grad is None else _bits(t._grad._array)) for t in self.leaves]
        for o in self.optimisers:
            for state in o.state.values():
                found += [(f"the {key} of an optimiser", _bits(x._array)) for key, x in state.items()
                          if isinstance(x, Tensor)]
        found.append(("the random numbers drawn", default_generator._stream.state().tobytes()))
        return found


def _bits(array):
    return array.dtype, array.shape, with_one_nan(array).tobytes()


def with_one_nan(array: np.ndarray) -> np.ndarray:
    """An array with the same NaN in place of all NaNs. Their signs differ between instructions that give equal numbers,
    as between NumPy's own loops."""
    if array.dtype.kind not in "fc" or not np.isnan(array).any():
        return array
    array = array.copy()
    for part in (array.real, array.imag) if array.dtype.kind == "c" else (array,):
        part[np.isnan(part)] = np.nan
    return array


def checked(compiled: Any, ready: Any, inputs: list[Tensor], args: tuple, kwargs: dict) -> Any:
    """The result of a call in eager execution, after a replay was compared with it. RuntimeError if they differ."""
    state = _State(ready, inputs)
    outputs = [_bits(t._array) for t in _tensors(ready.run(inputs))]
    replayed = state.numbers()
    state.put_back()
    result = compiled.function(*args, **kwargs)
    if ready.in_c:                             # C code may round differently
        return result
    found = [_bits(t._array) for t in _tensors(result)]
    for i, (a, b) in enumerate(zip(outputs, found)):
        if a != b:
            raise RuntimeError(_words(compiled, ready, f"result {i}", i))
    for (what, a), (_, b) in zip(replayed, state.numbers()):
        if a != b:
            raise RuntimeError(_words(compiled, ready, what, None))
    return result


def _words(compiled, ready, what, number):
    slots = list(refs(ready.program.outputs))
    made = None if number is None or number >= len(slots) else ready.program.slots[slots[number]].made
    names = [step.name or step.kind for step in ready.program.steps]
    said = f", which {names[made]} (step {made}) gives" if made is not None and made < len(names) else ""
    return (f"torch.compile: the program of {compiled.name} gives other numbers than eager for {what}{said}. This is a "
            "bug in tinytorch. With torch._dynamo.config.disable = True everything runs as it is written")


def _tensors(x):
    if isinstance(x, Tensor):
        return [x]
    if isinstance(x, (list, tuple)):
        return [t for y in x for t in _tensors(y)]
    return [t for y in x.values() for t in _tensors(y)] if isinstance(x, dict) else []
