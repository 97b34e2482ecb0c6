"""The plain recurrent layer (Elman 1990): h = tanh(W x + b + U h), or with max(0, .) for tanh.

An input narrower than the state is joined with it, see shared.py. A wider one is projected for all steps
at once, right into the outputs; each step then adds U h to its rows and bends them in place. Backward
needs nothing but the outputs: the slope is 1 - h * h, and a step's h is the output of the one before.
"""
import numpy as np

from .. import native
from .shared import carried, columns, gradient_of_state, packed, product, rows, start, weight_gradients


def rnn_forward(nonlinearity, order, x, hx, w_ih, w_hh, b_ih, b_hh, keep):
    """(outputs (rows, hidden), final state (batch, hidden), what backward needs)."""
    run = _joined_forward if x.shape[-1] < w_hh.shape[1] else _projected_forward
    out, h, saved = run(nonlinearity, order, x, hx, w_ih, w_hh, b_ih, b_hh)
    return out.copy() if keep else out, h, saved          # the caller may write to what he gets


def _bend(nonlinearity, a):
    if nonlinearity == "tanh":
        np.tanh(a, out=a)
    else:
        np.maximum(a, 0, out=a)


def _joined_forward(nonlinearity, order, x, hx, w_ih, w_hh, b_ih, b_hh):
    hidden = w_hh.shape[1]
    batch = min(order)[1]                     # the rows of the first step
    joined, _, n = rows(x, hidden, hidden)
    out = np.empty((len(joined), hidden), x.dtype)
    h = start(hx, batch, hidden, x.dtype)
    used = columns(hx, n, hidden)
    weights = packed(1, w_ih, (b_ih, b_hh), w_hh)[0]
    for lo, hi in order:
        step, o = joined[lo:hi], out[lo:hi]
        step[:, n + 1:] = h[:hi - lo]
        np.dot(step[:, :used], weights[:used], out=o)
        used = n + 1 + hidden
        _bend(nonlinearity, o)
        h = carried(o, h)
    return out, h.copy(), (nonlinearity, out, joined, None, n, hx)


def _projected_forward(nonlinearity, order, x, hx, w_ih, w_hh, b_ih, b_hh):
    hidden = w_hh.shape[1]
    batch = min(order)[1]
    wide = np.ascontiguousarray(x).reshape(-1, x.shape[-1])
    out = wide.dot(w_ih.T)
    if b_ih is not None:
        out += b_ih + b_hh
    h = None if hx is None else hx.reshape(batch, hidden)
    recurrent = np.empty((batch, hidden), x.dtype)
    for lo, hi in order:
        o = out[lo:hi]
        if h is not None:
            part = recurrent[:hi - lo]
            np.dot(h[:hi - lo], w_hh.T, out=part)
            o += part
        _bend(nonlinearity, o)
        if h is None and hi - lo < batch:      # a packed batch in reverse: sequences yet to begin start from zeros
            h = start(None, batch, hidden, x.dtype)
        h = o if h is None else carried(o, h)
    return out, h.copy(), (nonlinearity, out, None, wide, 0, hx)


def rnn_backward(g_out, g_h, wanted, order, saved, w_ih, w_hh, samples=None):
    """Gradients of (x, hx, w_ih, w_hh, bias); `g_out` lists the outputs' by step in the order of
    processing, or is None; `wanted` says which of x, hx, w_ih, w_hh, bias are."""
    nonlinearity, out, joined, wide, n, hx = saved
    hidden = w_hh.shape[1]
    batch = min(order)[1]
    dh = gradient_of_state(g_h, batch, hidden, out.dtype)
    d = np.empty_like(out)
    for k in range(len(order) - 1, -1, -1):
        lo, hi = order[k]
        now, o, dk = dh[:hi - lo], out[lo:hi], d[lo:hi]
        if g_out is not None:
            now += g_out[k]
        if nonlinearity == "tanh" and native.takes("rnn_step_backward", o, now, dk):
            native.run("rnn_step_backward", o.size, o, now, dk)
        elif nonlinearity == "tanh":
            np.multiply(o, o, out=dk)
            dk *= now
            np.subtract(now, dk, out=dk)
        else:
            np.multiply(now, o > 0, out=dk)
        if k or wanted[1]:
            np.dot(dk, w_hh, out=now)
    dx = np.dot(d, w_ih) if wanted[0] else None
    if joined is not None:
        return dx, dh, *weight_gradients(wanted[2:], joined, None, n, d, samples)
    d_ih = product(d, wide, samples) if wanted[2] else None
    if samples is not None:
        before = _states_before(order, out, hx) if wanted[3] else None
        return (dx, dh, d_ih, product(d, before, samples) if wanted[3] else None,
                product(np.ones((len(d), 1), d.dtype), d, samples)[:, 0] if wanted[4] else None)
    d_hh = _recurrent_gradient(order, out, hx, d) if wanted[3] else None
    return dx, dh, d_ih, d_hh, np.ones(len(d), d.dtype).dot(d) if wanted[4] else None


def _states_before(order, out, hx):
    """The state that each row's step started from."""
    before = np.zeros_like(out)
    h = start(hx, min(order)[1], out.shape[1], out.dtype)
    for lo, hi in order:
        before[lo:hi] = h[:hi - lo]
        h = carried(out[lo:hi], h)
    return before


def _recurrent_gradient(order, out, hx, d):
    """The gradient of U: `d` of each row times the state that the row's step started from."""
    batch = order[0][1] - order[0][0]
    if any([hi - lo != batch for lo, hi in order]):
        return np.dot(d.T, _states_before(order, out, hx))
    # Steps of one size: the states before are the outputs, moved by a step.
    later, earlier = slice(batch, None), slice(None, len(d) - batch)
    to, source, first = (later, earlier, slice(None, batch)) if order[0][0] == 0 else \
        (earlier, later, slice(len(d) - batch, None))
    result = np.dot(d[to].T, out[source])
    if hx is not None:
        result += np.dot(d[first].T, hx.reshape(batch, hx.shape[-1]))
    return result
