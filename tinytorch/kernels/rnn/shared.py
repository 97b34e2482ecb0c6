"""The parts that the kinds of recurrent layers share. elman.py, lstm.py and gru.py have the layers.

A kernel runs one direction of one layer over a whole batch of sequences. The rows of all time steps are joined in one
matrix, earliest step first, so that padded and packed batches have one form. `spans` lists the rows of each step in the
order of processing.

One matrix product computes all of a step's linear algebra. Its rows are [x | 1 | h], the weights are packed once to
match, and the biases are multiplied by the ones. An input that is wider than the hidden state is left out of the rows,
and projected for all steps in advance. Backward collects the gradients of the pre-activations of all steps, so that
every gradient of a weight is one product too.
"""
from itertools import accumulate

import numpy as np

from ..linalg.products import dot


def spans(sizes, reverse):
    """(first row, last row + 1) of each step, in the order of processing. `sizes`: the number of rows of each step."""
    stops = list(accumulate(sizes))
    found = list(zip([0] + stops[:-1], stops))
    return found[::-1] if reverse else found


def rows(x, hidden, width):
    """(rows [x | 1 | h], the left operands of all steps; x if it is wide, else None; the number of its columns in the
    rows).

    `x` is (steps, batch, features) or (rows, features). It is wide from `hidden` features on. `width`: the number of
    columns for the state.
    """
    features = x.shape[-1]
    count = x.size // features
    n = features if features < hidden else 0
    joined = np.empty((count, n + 1 + width), x.dtype)
    joined[:, n] = 1
    if n:
        joined.reshape(x.shape[:-1] + joined.shape[1:])[..., :n] = x
        return joined, None, n
    return joined, np.ascontiguousarray(x).reshape(count, features), 0


def packed(gates, w_x, biases, w_h, scale=None):
    """Weights (gates * hidden, ...) as (gates, rows of [w_x ; biases ; w_h], hidden); w_x or w_h may be None."""
    some = w_x if w_h is None else w_h
    hidden = some.shape[0] // gates
    n = 0 if w_x is None else w_x.shape[1]
    out = np.empty((gates, n + 1 + (0 if w_h is None else w_h.shape[1]), hidden), some.dtype)
    if n:
        out[:, :n] = w_x.reshape(gates, hidden, n).swapaxes(1, 2)
    if biases[0] is None:
        out[:, n] = 0
    else:
        out[:, n] = (biases[0] if len(biases) == 1 else biases[0] + biases[1]).reshape(gates, hidden)
    if w_h is not None:
        out[:, n + 1:] = w_h.reshape(gates, hidden, -1).swapaxes(1, 2)
    if scale is not None:
        out *= scale
    return out


def projected(wide, gates, w_ih, scale=None):
    """The projections (gates, rows, hidden) of a wide input for all steps; None for a narrow one."""
    if wide is None:
        return None
    weights = w_ih.reshape(gates, -1, w_ih.shape[1])
    if scale is not None:
        weights = weights * scale
    return np.matmul(wide, weights.swapaxes(1, 2))


def start(state, batch, width, dtype):
    """The initial state (batch, width): zeros if `state` is None."""
    return np.zeros((batch, width), dtype) if state is None else state.reshape(batch, width)


def columns(state, n, width):
    """The number of columns of its rows that the first step needs: it leaves out a zero state."""
    return n + 1 if state is None else n + 1 + width


def carried(new, old):
    """The state after a step on the first rows. Sequences that have ended, or not begun, keep their states."""
    return new if len(new) == len(old) else np.concatenate((new, old[len(new):]))


def gradient_of_state(g, batch, width, dtype):
    """A buffer (batch, width) that contains the gradient of the final state."""
    return np.zeros((batch, width), dtype) if g is None else g.reshape(batch, width).copy()


def product(a, b, samples):
    """a.T @ b for matrices of rows. `samples`, if not None, is (number of samples, steps): each step has the sequences
    of the samples one after the other, and the result has one product for each sample."""
    if samples is None:
        return dot(a.T, b)
    count, steps = samples
    a, b = (x.reshape(steps, count, -1, x.shape[-1]).swapaxes(0, 1).reshape(count, -1, x.shape[-1]) for x in (a, b))
    return np.matmul(a.swapaxes(1, 2), b)


def weight_gradients(wanted, joined, wide, n, d, samples=None):
    """Gradients of (w_ih, w_hh, bias) from those of the pre-activations, `d` (rows, gates * hidden). `samples`: see
    `product`; the gradients then have a first dimension for the samples."""
    if not any(wanted):
        return None, None, None
    # The gradients of all columns, a row for each gate.
    all_of = product(d, joined, samples) if d.shape[1] < joined.shape[1] else \
        product(joined, d, samples).swapaxes(-1, -2)
    if wide is None:
        w_ih = np.ascontiguousarray(all_of[..., :n])
    else:
        w_ih = product(d, wide, samples) if wanted[0] else None
    return w_ih, np.ascontiguousarray(all_of[..., n + 1:]), all_of[..., n]


def sums(d, samples=None):
    """The sums of columns: the gradient of a bias. `samples`: see `product`."""
    ones = np.ones((len(d), 1), d.dtype)
    return ones[:, 0].dot(d) if samples is None else product(ones, d, samples)[:, 0]


def by_step(g, order):
    """The gradient of the outputs, (steps, batch, hidden) or packed (rows, hidden), as a list of steps in the order of
    processing."""
    if g is None or g.ndim < 3:
        return g if g is None else [g[lo:hi] for lo, hi in order]
    return list(g[::-1] if order[0][0] else g)


def state_product(order, out, hx, d, samples=None):
    """The gradient of recurrent weights: `d` of each row times the state at the start of the row's step, which is an
    output of the previous one. `samples`: see `product`."""
    batch = order[0][1] - order[0][0]
    if samples is not None or any([hi - lo != batch for lo, hi in order]):
        return product(d, _states_before(order, out, hx), samples)
    # All steps have one size: the previous states are the outputs, shifted by a step.
    later, earlier = slice(batch, None), slice(None, len(d) - batch)
    to, source, first = (later, earlier, slice(None, batch)) if order[0][0] == 0 else \
        (earlier, later, slice(len(d) - batch, None))
    result = dot(d[to].T, out[source])
    if hx is not None:
        result += np.dot(d[first].T, hx.reshape(batch, hx.shape[-1]))
    return result


def _states_before(order, out, hx):
    """For each row, the state at the start of its step."""
    before = np.zeros_like(out)
    h = start(hx, min(order)[1], out.shape[1], out.dtype)
    for lo, hi in order:
        before[lo:hi] = h[:hi - lo]
        h = carried(out[lo:hi], h)
    return before
