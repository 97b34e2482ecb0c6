"""Small parameters that are updated together.

An update is a dozen passes over a parameter, and a pass over a small array costs as much as a call of NumPy. So the
state of a group's small parameters lives in flat arrays, of which the state tensors are views. A step gathers values
and gradients, updates them all at once and puts the values back. Each element is computed as in a separate update.
"""
from operator import is_

import numpy as np

from .. import dtypes as dt
from ..tensor import wrap

#: The largest number of elements for which the three copies cost less than the calls that they save.
SMALL = 1 << 14


class Bundle:
    """`params`, of one dtype and each with its own small dense array, and their `states`, which move into flat arrays.
    A state is a dict of tensors: those named in `numbers` hold one number for the parameter, others have its shape."""

    def __init__(self, params, states, numbers):
        self.params, self.states = params, states
        self.numbers = [name for name in states[0] if name in numbers]
        self.arrays = [p._array for p in params]
        ends = np.cumsum([a.size for a in self.arrays]).tolist()
        self.bounds = list(zip([0] + ends, ends))
        self.values, self.value_views = self._flat()
        self.grads, self.grad_views = self._flat()
        self.state, self.owned = {}, []        # state: an argument of the update; owned: (state, name, array in it)
        for name in states[0]:
            if name in numbers:
                flat = np.empty(len(params), states[0][name]._array.dtype)
                views = [flat[i:i + 1].reshape(()) for i in range(len(params))]
            else:
                flat, views = self._flat()
            for state, view in zip(states, views):
                view[...] = state[name]._array
                state[name]._array = view
                self.owned.append((state, name, view))
            self.state[name] = wrap(flat)

    def _flat(self):
        flat = np.empty(self.bounds[-1][1], self.arrays[0].dtype)
        return flat, [flat[i:j].reshape(a.shape) for (i, j), a in zip(self.bounds, self.arrays)]

    def holds(self, state_of):
        """Whether all the parameters have gradients, and their values and state still lie in the same arrays.
        `state_of`: the states by parameter."""
        if not all(map(is_, map(state_of.get, self.params), self.states)):
            return False
        for p, array in zip(self.params, self.arrays):
            if p._grad is None or p._array is not array or p._grad._array.size != array.size:
                return False
        for state, name, view in self.owned:
            tensor = state.get(name)
            if tensor is None or tensor._array is not view:
                return False
        for name in self.numbers:
            values = self.state[name]._array.tolist()
            if values.count(values[0]) != len(values):
                return False
        return True

    def gather(self) -> tuple[np.ndarray, np.ndarray]:
        """The values and the gradients as flat arrays."""
        for p, array, value, grad in zip(self.params, self.arrays, self.value_views, self.grad_views):
            value[...] = array
            grad[...] = p._grad._array
        return self.values, self.grads

    def put_back(self):
        """Write the flat values to the parameters."""
        for p, array, value in zip(self.params, self.arrays, self.value_views):
            array[...] = value
            p._version_counter[0] += 1


def _kind(p, state, numbers):
    """The properties that parameters must share to be updated together."""
    return p._array.dtype, tuple(state), [state[name].item() for name in numbers if name in state]


def bundled(params, state_of, numbers):
    """A Bundle of those among `params` that can be updated together, or None if there are fewer than two. A parameter
    that is listed twice is updated twice, one update after the other."""
    if len(set(map(id, params))) < len(params):
        return None
    small = [p for p in params if p._grad is not None and not p._grad.is_sparse and p._array.size <= SMALL
             and p._array.dtype.kind == dt.NATIVE and p._array.itemsize > 2 and p._array.flags.carray
             and type(p._array) is np.ndarray and state_of.get(p)]
    kinds = [_kind(p, state_of[p], numbers) for p in small]
    alike = [p for p, kind in zip(small, kinds) if kind == kinds[0]]
    return Bundle(alike, [state_of[p] for p in alike], numbers) if len(alike) > 1 else None
