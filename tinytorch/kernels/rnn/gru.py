"""The GRU on arrays; shared.py explains the layout of the steps.

The gates are in torch's order: reset, update, new. The input part and the hidden part of the new gate are kept apart,
because the reset gate multiplies the hidden part. The arguments of the sigmoids are halved as in lstm.py.
"""
import numpy as np

from .. import native
from . import loops
from .shared import by_step, carried, gradient_of_state, packed, product, projected, rows, start

_HALVED = {t: np.array([0.5, 0.5, 1], t)[:, None, None] for t in ("f", "d")}


def gru_step(a, h, h_next):
    """One step from `a` (4, batch, hidden): halved pre-activations of reset and update, then the input part and the
    hidden part of the new gate. Writes the gates reset, update, new and the hidden part to `a`, the state to
    `h_next`."""
    if native.done("gru_step", *h.shape, a, h, h_next):
        return
    r, z, new, part = a
    s = a[:2]
    np.tanh(s, out=s)
    s *= 0.5
    s += 0.5
    np.multiply(r, part, out=h_next)
    new += h_next
    np.tanh(new, out=new)
    np.subtract(h, new, out=h_next)
    h_next *= z
    h_next += new


def gru_step_backward(a, joined, offset, dh, d, work):
    """Writes the gradients of the new gate's hidden part, reset, update and the new gate's input part to `d` (batch,
    4 * hidden). The previous state is in the columns of `joined` (batch, *) from `offset` on. `dh`, the gradient of the
    state, becomes the part of the previous state's gradient that does not pass the gates.

    `work` (2, batch, hidden) is scratch memory.
    """
    if native.done("gru_step_backward", *dh.shape, joined.shape[1], offset, a, joined, dh, d):
        return
    h, d = joined[:, offset:], d.reshape(len(d), 4, d.shape[1] // 4).swapaxes(0, 1)
    r, z, new, part = a
    t, u = work
    np.subtract(1, z, out=u)
    u *= dh                                    # now the gradient of the new gate
    np.subtract(h, new, out=t)
    t *= u
    np.multiply(t, z, out=d[2])
    np.multiply(new, new, out=t)
    np.subtract(1, t, out=t)
    u *= t
    d[3] = u
    np.multiply(u, r, out=t)
    d[0] = t
    t *= part
    np.subtract(1, r, out=u)
    np.multiply(t, u, out=d[1])
    dh *= z


def gru_forward(order, x, hx, w_ih, w_hh, b_ih, b_hh, keep):
    """(outputs (rows, hidden), final state, arrays for backward)."""
    if loops.takes(x, hx, None, w_ih, w_hh):
        out, h, _, saved = loops.forward("gru", order, x, hx, None, w_ih, w_hh, b_ih, b_hh, keep)
        return out, h, saved
    hidden = w_hh.shape[1]
    batch = min(order)[1]                     # the number of rows of the first step
    two = 2 * hidden
    scale = _HALVED[x.dtype.char]
    joined, wide, n = rows(x, hidden, hidden)
    b_ih_gates, b_ih_new, b_hh_gates, b_hh_new = (
        (None,) * 4 if b_ih is None else (b_ih[:two], b_ih[two:], b_hh[:two], b_hh[two:]))
    gates = packed(2, w_ih[:two] if n else None, (b_ih_gates, b_hh_gates), w_hh[:two], scale[:2])
    new_in = packed(1, w_ih[two:, :n], (b_ih_new,), None)[0]
    new_hidden = packed(1, None, (b_hh_new,), w_hh[two:])[0]
    inputs = projected(wide, 3, w_ih, scale)
    out = np.empty((len(joined), hidden), x.dtype)
    h = start(hx, batch, hidden, x.dtype)
    steps = []
    a = None
    for lo, hi in order:
        size = hi - lo
        if keep or a is None or a.shape[1] != size:
            a = np.empty((4, size, hidden), x.dtype)
        step, o, before = joined[lo:hi], out[lo:hi], h[:size]
        step[:, n + 1:] = before
        np.matmul(step, gates, out=a[:2])
        np.dot(step[:, :n + 1], new_in, out=a[2])
        np.matmul(step[:, n:], new_hidden, out=a[3])
        if inputs is not None:
            a[:3] += inputs[:, lo:hi]
        gru_step(a, before, o)
        if keep:
            steps.append(a)
        h = carried(o, h)
    return out, h.copy(), (joined, wide, n, steps)


def gru_backward(g_out, g_h, wanted, order, saved, w_ih, w_hh, samples=None):
    """Gradients of (x, hx, w_ih, w_hh, b_ih, b_hh); see `rnn_backward`."""
    hidden = w_hh.shape[1]
    if loops.has(saved):
        dx, dh, _, d, *_ = loops.backward(saved, order, g_out, g_h, None, wanted, w_ih, w_hh)
        return dx, dh, *_weight_gradients(wanted[2:], *saved[1:4], d, hidden, samples)
    joined, wide, n, steps = saved
    batch = min(order)[1]                     # the number of rows of the first step
    dh = gradient_of_state(g_h, batch, hidden, w_hh.dtype)
    # The columns of d are those of the new gate's hidden part, reset, update, and the new gate's input part. The
    # first three belong to the hidden weights, the last three to the input weights.
    d = np.empty((len(joined), 4 * hidden), w_hh.dtype)
    weights = np.concatenate((w_hh[2 * hidden:], w_hh[:2 * hidden]))
    work = np.empty((2, batch, hidden), w_hh.dtype)
    past = np.empty((batch, hidden), w_hh.dtype)
    g_out = by_step(g_out, order)
    for k in range(len(order) - 1, -1, -1):
        lo, hi = order[k]
        size = hi - lo
        now = dh[:size]
        if g_out is not None:
            now += g_out[k]
        step = d[lo:hi]
        gru_step_backward(steps[k], joined[lo:hi], n + 1, now, step, work[:, :size])
        if k or wanted[1]:
            np.dot(step[:, :3 * hidden], weights, out=past[:size])
            now += past[:size]
    dx = np.dot(d[:, hidden:], w_ih) if wanted[0] else None
    return dx, dh, *_weight_gradients(wanted[2:], joined, wide, n, d, hidden, samples)


def _weight_gradients(wanted, joined, wide, n, d, hidden, samples):
    """Gradients of (w_ih, w_hh, b_ih, b_hh); `samples`: see `product`."""
    if not any(wanted):
        return None, None, None, None
    two, d_in = 2 * hidden, d[:, hidden:]
    gates = product(joined, d_in[:, :two], samples)            # reset and update, for all rows
    new_in = product(joined[:, :n + 1], d_in[:, two:], samples)
    new_hidden = product(joined[:, n:], d[:, :hidden], samples)
    if wide is None:
        w_ih = _stacked(gates[..., :n, :], new_in[..., :n, :])
    else:
        w_ih = product(d_in, wide, samples) if wanted[0] else None
    w_hh = _stacked(gates[..., n + 1:, :], new_hidden[..., 1:, :])
    biases = [np.concatenate((gates[..., n, :], x), axis=-1) for x in (new_in[..., n, :], new_hidden[..., 0, :])]
    return w_ih, w_hh, *biases


def _stacked(left, right):
    """Two matrices, joined along their columns and transposed, in C order."""
    out = np.empty((*left.shape[:-2], left.shape[-1] + right.shape[-1], left.shape[-2]), left.dtype)
    out[..., :left.shape[-1], :], out[..., left.shape[-1]:, :] = left.swapaxes(-1, -2), right.swapaxes(-1, -2)
    return out
