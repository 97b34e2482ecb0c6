"""The plain recurrent layer (Elman 1990): h = tanh(W x + b + U h), or with max(0, .) for tanh.

An input that is narrower than the state is joined with it, see shared.py. A wider one is projected for all steps at
once, directly into the outputs; each step then adds U h to its rows and applies the nonlinearity in place. Backward
needs the outputs alone: the slope is 1 - h * h, and the h of a step is the output of the previous one.
"""
from functools import partial

import numpy as np

from . import loops
from .shared import (
    by_step,
    carried,
    columns,
    gradient_of_state,
    packed,
    product,
    rows,
    start,
    state_product,
    sums,
    weight_gradients,
)


def rnn_forward(nonlinearity, order, x, hx, w_ih, w_hh, b_ih, b_hh, keep):
    """(outputs (rows, hidden), final state (batch, hidden), arrays for backward)."""
    if loops.takes(x, hx, None, w_ih, w_hh):
        out, h, _, saved = loops.forward(nonlinearity, order, x, hx, None, w_ih, w_hh, b_ih, b_hh, keep)
        return out, h, saved
    run = _joined_forward if x.shape[-1] < w_hh.shape[1] else _projected_forward
    out, h, saved = run(nonlinearity, order, x, hx, w_ih, w_hh, b_ih, b_hh)
    return out.copy() if keep else out, h, saved          # a copy: the caller may write to it


#: {nonlinearity: rnn_forward with it}.
FORWARD = {name: partial(rnn_forward, name) for name in ("tanh", "relu")}


def _activate(nonlinearity, a):
    if nonlinearity == "tanh":
        np.tanh(a, out=a)
    else:
        np.maximum(a, 0, out=a)


def _joined_forward(nonlinearity, order, x, hx, w_ih, w_hh, b_ih, b_hh):
    hidden = w_hh.shape[1]
    batch = min(order)[1]                     # the number of rows of the first step
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
        _activate(nonlinearity, o)
        h = carried(o, h)
    return out, h.copy(), (out, joined, None, n, hx, nonlinearity)


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
        _activate(nonlinearity, o)
        if h is None and hi - lo < batch:      # packed and reversed: sequences that begin later start from zeros
            h = start(None, batch, hidden, x.dtype)
        h = o if h is None else carried(o, h)
    return out, h.copy(), (out, None, wide, 0, hx, nonlinearity)


def rnn_backward(g_out, g_h, wanted, order, saved, w_ih, w_hh, samples=None):
    """Gradients of (x, hx, w_ih, w_hh, bias), of which `wanted` lists five flags. `g_out`: the gradient of the outputs
    (steps, batch, hidden), or (rows, hidden) for a packed batch, or None. `samples`: see `weight_gradients`."""
    if loops.has(saved):
        at_once = samples is None and saved[2] is None and all(wanted[2:])
        dx, dh, _, d, *weights = loops.backward(saved, order, g_out, g_h, None, wanted, w_ih, w_hh, at_once)
        return dx, dh, *(weights if at_once else weight_gradients(wanted[2:], *saved[1:4], d, samples))
    out, joined, wide, n, hx, nonlinearity = saved
    hidden = w_hh.shape[1]
    batch = min(order)[1]
    dh = gradient_of_state(g_h, batch, hidden, out.dtype)
    d = np.empty_like(out)
    g_out = by_step(g_out, order)
    for k in range(len(order) - 1, -1, -1):
        lo, hi = order[k]
        now, o, dk = dh[:hi - lo], out[lo:hi], d[lo:hi]
        if g_out is not None:
            now += g_out[k]
        if nonlinearity == "tanh":
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
    d_hh = state_product(order, out, hx, d, samples) if wanted[3] else None
    return dx, dh, d_ih, d_hh, sums(d, samples) if wanted[4] else None
