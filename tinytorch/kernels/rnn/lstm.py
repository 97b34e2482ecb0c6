"""The LSTM on arrays; shared.py explains the layout of the steps.

The gates are in torch's order: input, forget, cell, output. Three of them are sigmoids, and sigmoid(a) =
tanh(a / 2) / 2 + 1/2. So their weights are halved when they are packed, and one tanh computes all four gates.
"""
import numpy as np

from .. import native
from . import loops
from .shared import (
    by_step,
    carried,
    columns,
    gradient_of_state,
    packed,
    product,
    projected,
    rows,
    start,
    weight_gradients,
)

_HALVED = {t: np.array([0.5, 0.5, 1, 0.5], t)[:, None, None] for t in ("f", "d")}
_RAISED = {t: 1 - halved for t, halved in _HALVED.items()}


def lstm_step(a, c, c_next, squashed, h):
    """One step from the pre-activations `a` (4, batch, hidden), those of sigmoids halved, and cells `c`.

    Writes the gates to `a`, the cells to `c_next`, their tanh to `squashed` and the output to `h`.
    """
    if native.done("lstm_step", *c.shape, a, c, c_next, squashed, h):
        return
    np.tanh(a, out=a)
    a *= _HALVED[a.dtype.char]
    a += _RAISED[a.dtype.char]
    i, f, g, o = a
    np.multiply(f, c, out=c_next)
    np.multiply(i, g, out=squashed)
    c_next += squashed
    np.tanh(c_next, out=squashed)
    np.multiply(o, squashed, out=h)


def lstm_step_backward(a, c, squashed, dh, dc, d, work):
    """Writes the gradients of the pre-activations to `d` (batch, 4 * hidden). `dc`, the gradient of the cells, becomes
    that of the previous cells. `work` (4, batch, hidden) is scratch memory.
    """
    if native.done("lstm_step_backward", *c.shape, a, c, squashed, dh, dc, d):
        return
    d = d.reshape(len(d), 4, d.shape[1] // 4).swapaxes(0, 1)
    i, f, g, o = a
    t, r, u, v = work
    np.multiply(dh, o, out=u)
    np.multiply(u, squashed, out=v)
    np.subtract(1, o, out=t)
    np.multiply(v, t, out=d[3])
    v *= squashed
    u -= v
    dc += u
    np.subtract(1, a[:2], out=work[:2])
    np.multiply(dc, i, out=u)
    np.multiply(u, g, out=v)
    np.multiply(v, t, out=d[0])
    v *= g
    np.subtract(u, v, out=d[2])
    dc *= f
    np.multiply(dc, c, out=u)
    np.multiply(u, r, out=d[1])


def lstm_forward(order, x, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr, keep):
    """(outputs (rows, width), final state, final cells, arrays for backward).

    `w_hr` (width, hidden) projects the output. If it is None, the width is `hidden`.
    """
    if loops.takes(x, hx, cx, w_ih, w_hh, w_hr):
        return loops.forward("lstm", order, x, hx, cx, w_ih, w_hh, b_ih, b_hh, keep)
    hidden, width = w_hh.shape[0] // 4, w_hh.shape[1]
    batch = min(order)[1]                     # the number of rows of the first step
    scale = _HALVED[x.dtype.char]
    joined, wide, n = rows(x, hidden, width)
    weights = packed(4, w_ih if n else None, (b_ih, b_hh), w_hh, scale)
    inputs = projected(wide, 4, w_ih, scale)
    out = np.empty((len(joined), width), x.dtype)
    unprojected = None if w_hr is None else np.empty((len(joined), hidden), x.dtype)
    h, c = start(hx, batch, width, x.dtype), start(cx, batch, hidden, x.dtype)
    steps = []
    a = None
    used = columns(hx, n, width)
    for lo, hi in order:
        size = hi - lo
        if keep or a is None or a.shape[1] != size:
            a, squashed = np.empty((4, size, hidden), x.dtype), np.empty((size, hidden), x.dtype)
        step, before = joined[lo:hi], c[:size]
        step[:, n + 1:] = h[:size]
        np.matmul(step[:, :used], weights[..., :used, :], out=a)
        used = n + 1 + width
        if inputs is not None:
            a += inputs[:, lo:hi]
        c_next = np.empty((size, hidden), x.dtype)
        o = out[lo:hi]
        lstm_step(a, before, c_next, squashed, o if w_hr is None else unprojected[lo:hi])
        if w_hr is not None:
            np.dot(unprojected[lo:hi], w_hr.T, out=o)
        if keep:
            steps.append((a, before, squashed))
        h, c = carried(o, h), carried(c_next, c)
    return out, h.copy(), c.copy(), (joined, wide, n, steps, unprojected)


def lstm_backward(g_out, g_h, g_c, wanted, order, saved, w_ih, w_hh, w_hr, samples=None):
    """Gradients of (x, hx, cx, w_ih, w_hh, bias, w_hr); see `rnn_backward`."""
    if loops.has(saved):
        dx, dh, dc, d, *_ = loops.backward(saved, order, g_out, g_h, g_c, wanted, w_ih, w_hh)
        return dx, dh, dc, *weight_gradients(wanted[3:6], *saved[1:4], d, samples), None
    joined, wide, n, steps, unprojected = saved
    hidden, width = w_hh.shape[0] // 4, w_hh.shape[1]
    batch = min(order)[1]                     # the number of rows of the first step
    dtype = w_hh.dtype
    dh, dc = gradient_of_state(g_h, batch, width, dtype), gradient_of_state(g_c, batch, hidden, dtype)
    d = np.empty((len(joined), 4 * hidden), dtype)
    outputs = None if w_hr is None else np.empty((len(joined), width), dtype)
    work = np.empty((4, batch, hidden), dtype)
    g_out = by_step(g_out, order)
    for k in range(len(order) - 1, -1, -1):
        lo, hi = order[k]
        size = hi - lo
        now = dh[:size]
        if g_out is not None:
            now += g_out[k]
        step = d[lo:hi]
        if w_hr is not None:
            outputs[lo:hi] = now
        lstm_step_backward(*steps[k], now if w_hr is None else np.dot(now, w_hr), dc[:size], step, work[:, :size])
        if k or wanted[1]:
            np.dot(step, w_hh, out=now)
    dx = np.dot(d, w_ih) if wanted[0] else None
    d_hr = product(outputs, unprojected, samples) if wanted[6] else None
    return dx, dh, dc, *weight_gradients(wanted[3:6], joined, wide, n, d, samples), d_hr
