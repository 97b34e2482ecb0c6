"""One step of a recurrent cell on arrays. The kernels of the layers compute the gates.

In a row of these arrays the gates are adjacent. `by_gate` is a view in which the gates are the first axis.
"""
import numpy as np

from .gru import gru_step, gru_step_backward
from .lstm import lstm_step, lstm_step_backward


def by_gate(a, gates):
    return a.reshape(len(a), gates, a.shape[1] // gates).swapaxes(0, 1)


def affine(x, weight, bias):
    out = np.dot(x, weight.T)
    if bias is not None:
        out += bias
    return out


def linear_gradients(wanted, d, x, h, w_ih, w_hh):
    """Gradients of (x, h, w_ih, w_hh, b_ih, b_hh), given that of x @ w_ih.T + b_ih + h @ w_hh.T + b_hh, `d`."""
    bias = np.add.reduce(d, axis=0) if wanted[4] or wanted[5] else None
    dx = np.dot(d, w_ih) if wanted[0] else None
    dh = np.dot(d, w_hh) if wanted[1] else None
    d_ih = np.dot(d.T, x) if wanted[2] else None
    return dx, dh, d_ih, np.dot(d.T, h) if wanted[3] else None, bias, bias


def rnn_forward(nonlinearity, x, h, w_ih, w_hh, b_ih, b_hh):
    out = affine(x, w_ih, b_ih)
    out += affine(h, w_hh, b_hh)
    return np.tanh(out, out=out) if nonlinearity == "tanh" else np.maximum(out, 0, out=out)


def rnn_backward(g, wanted, out, nonlinearity, x, h, w_ih, w_hh, b_ih, b_hh):
    d = g * (1 - out * out) if nonlinearity == "tanh" else g * (out > 0)
    return linear_gradients(wanted, d, x, h, w_ih, w_hh)


def lstm_forward(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """((state, cells), arrays for backward)."""
    flat = affine(x, w_ih, b_ih)
    flat += affine(h, w_hh, b_hh)
    a = by_gate(flat, 4)
    a[:2] *= 0.5
    a[3] *= 0.5
    out, cells, squashed = np.empty_like(h), np.empty_like(c), np.empty_like(c)
    lstm_step(a, c, cells, squashed, out)
    return (out, cells), (a, squashed)


def lstm_backward(g, wanted, saved, x, h, c, w_ih, w_hh, b_ih, b_hh):
    a, squashed = saved
    dh = np.zeros_like(c) if g[0] is None else g[0]
    dc = np.zeros_like(c) if g[1] is None else g[1].copy()
    d = np.empty((len(c), w_hh.shape[0]), c.dtype)
    lstm_step_backward(a, c, squashed, dh, dc, d, np.empty(a.shape, c.dtype))
    dx, dh, *weights = linear_gradients(wanted[:2] + wanted[3:], d, x, h, w_ih, w_hh)
    return dx, dh, dc, *weights


def gru_forward(x, h, w_ih, w_hh, b_ih, b_hh):
    """(state, arrays for backward)."""
    from_x, from_h = by_gate(affine(x, w_ih, b_ih), 3), by_gate(affine(h, w_hh, b_hh), 3)
    a = np.empty((4,) + h.shape, h.dtype)
    np.add(from_x[:2], from_h[:2], out=a[:2])
    a[:2] *= 0.5
    a[2], a[3] = from_x[2], from_h[2]
    out = np.empty_like(h)
    gru_step(a, h, out)
    return out, a


def gru_backward(g, wanted, a, x, h, w_ih, w_hh, b_ih, b_hh):
    n = h.shape[1]
    dh = g.copy()
    d = np.empty((len(h), 4 * n), h.dtype)
    gru_step_backward(a, h, 0, dh, d, np.empty((2,) + h.shape, h.dtype))
    d_in, d_hidden = d[:, n:], np.concatenate((d[:, n:3 * n], d[:, :n]), axis=1)
    dx, _, w_in, _, b_in, _ = linear_gradients(
        [wanted[0], False, wanted[2], False, wanted[4], False], d_in, x, h, w_ih, w_hh)
    _, past, _, w_hidden, _, b_hidden = linear_gradients(
        [False, wanted[1], False, wanted[3], False, wanted[5]], d_hidden, x, h, w_ih, w_hh)
    if past is not None:
        past += dh
    return dx, past, w_in, w_hidden, b_in, b_hidden
