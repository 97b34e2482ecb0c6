"""A recurrent layer over a large batch, whose parts are shared by threads: sequences do not depend on each other.

`forward` and `backward` are those of elman.py, lstm.py or gru.py.
"""
import numpy as np

from ..threads import number, split
from . import loops

_HEAVY = 1 << 25          # from so many multiplications of a pass on threads are worth their overhead
# In small steps the threads wait longer for the interpreter than they compute. A step is large enough if its state has
# _LARGE numbers, or _MIDDLING numbers with _LONG multiplications for _MANY sequences: each part of the batch multiplies
# with all weights.
_LARGE = 20_000
_MIDDLING = 8_000
_LONG = 1_500_000
_MANY = 32


class Parts(list):
    """The arrays for backward by parts of the batch: (first, last + 1, order, saved)."""


def run_forward(forward, order, x, states, weights, keep):
    """forward(order, x, *states, *weights, keep): (outputs (rows, width), final states ..., arrays for backward).

    The second of the `weights` is the recurrent one.
    """
    batch = min(order)[1]
    if x.ndim < 3 or number() < 2 or not _heavy(len(x), batch, weights[1]) or loops.takes(
            x, states[0], states[-1], *weights[:2], *weights[4:]):
        return forward(order, x, *states, *weights, keep)
    steps, found, results = len(x), Parts(), {}

    def run(first, last):
        n = last - first
        backwards = order[0][0] != 0
        own = [(k * n, k * n + n) for k in range(steps)][::-1 if backwards else 1]
        *results[first], saved = forward(own, x[:, first:last], *_cut(states, first, last), *weights, keep)
        found.append((first, last, own, saved))
    split(batch, run)
    found.sort(key=lambda part: part[0])
    if len(found) == 1:
        return *results[0], found[0][3]
    out, *finals = zip(*[results[first] for first, *_ in found])
    return _joined(out, found, steps), *[np.concatenate(final) for final in finals], found


def _heavy(steps, batch, recurrent):
    """Whether threads are worth their overhead for a layer with these recurrent weights (gates * hidden, hidden)."""
    step, state = batch * recurrent.size, batch * recurrent.shape[1]
    return steps * step >= _HEAVY and (state >= _LARGE or state >= _MIDDLING and step >= _LONG and batch >= _MANY)


def run_backward(backward, g_out, g_states, wanted, order, saved, weights):
    """backward(g_out, *g_states, wanted, order, saved, *weights): gradients of (x, states ..., weights ...)."""
    if not isinstance(saved, Parts):
        return backward(g_out, *g_states, wanted, order, saved, *weights)
    results = [None] * len(saved)

    def run(start, stop):
        for i in range(start, stop):
            first, last, own, kept = saved[i]
            mine = None if g_out is None else g_out[:, first:last]
            results[i] = backward(mine, *_cut(g_states, first, last), wanted, own, kept, *weights)
    split(len(saved), run)
    dx, *others = zip(*results)
    states = [np.concatenate(d) for d in others[:len(g_states)]]
    summed = [None if d[0] is None else sum(d[1:], d[0]) for d in others[len(g_states):]]
    return None if dx[0] is None else _joined(dx, saved, len(order)), *states, *summed


def _cut(states, first, last):
    """Parts of states (1, batch, n), each of which may be None."""
    return [s if s is None else s[:, first:last] for s in states]


def _joined(rows, parts, steps):
    """Rows (steps * sequences of the part, n) of all parts as rows of the whole batch."""
    width = rows[0].shape[1]
    result = np.empty((steps, parts[-1][1], width), rows[0].dtype)
    for part, (first, last, _, _) in zip(rows, parts):
        result[:, first:last] = part.reshape(steps, last - first, width)
    return result.reshape(-1, width)
