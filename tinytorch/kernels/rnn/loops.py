"""The loop over all steps of a recurrent layer in C. Its twins are the loops in elman.py, lstm.py and gru.py. It uses
their rows [x | 1 | h] (shared.py)."""
import numpy as np

from .. import native
from ..linalg.products import dot
from .shared import gradient_of_state, start

_KINDS = "tanh", "relu", "lstm", "gru"
_FLOAT = np.dtype(np.float32)


def has(saved):
    """Whether the arrays `saved` for backward are those of a layer that ran in C: (kind, rows, the input if the rows do
    not hold it, the number of its columns in the rows, steps, activated gates of an LSTM or a GRU, the cells before
    each step of an LSTM, the tanh of the cells after it, the final state of other layers)."""
    return saved[0].__class__ is str


def takes(x, hx, cx, w_ih, w_hh, w_hr=None):
    """Whether C computes a layer with these arrays, which may be None. It computes no layer that projects its
    output."""
    if w_hr is not None or x.dtype != _FLOAT or x.size < native.LEAST or not native.takes("recurrent", w_hh, w_ih):
        return False
    return type(x) is np.ndarray and all([s is None or s.dtype == _FLOAT and s.size for s in (hx, cx)])


def forward(kind, order, x, hx, cx, w_ih, w_hh, b_ih, b_hh, keep):
    """(outputs (rows, hidden), final state, final cells of an LSTM or None, arrays for backward)."""
    # The order below is that of the memory: the input (copied unless C can read its rows), the rows [x | 1 | h], what
    # the kinds keep (activated gates of an LSTM or a GRU, cells and their tanh of an LSTM), the outputs, the states.
    # Without `keep` the rows and gates have room for one step alone.
    features, hidden, batch = x.shape[-1], w_hh.shape[1], min(order)[1]
    gated, count = kind in ("lstm", "gru"), x.size // features
    limit = hidden if gated else 4 * hidden
    n = features if features < limit else 0    # the columns of x in the rows
    first, next_row, step = x.strides[0], *x.strides[-2:]
    if not n or step != 4 or next_row < 4 * features or (first | next_row) % 4:
        x = np.ascontiguousarray(x)
    x = x[None] if n and x.ndim == 3 else x.reshape(count, features)[None, None]       # runs of rows, one for each step
    gates = 4 if gated else 1
    kept = count if keep else batch
    joined = np.empty((kept, n + 1 + hidden), _FLOAT)
    steps = np.array(order, np.int64)
    biases = [b if b is None else np.ascontiguousarray(b, _FLOAT) for b in (b_ih, b_hh)]
    activated = np.empty((kept, gates * hidden), _FLOAT) if gated else None
    cells = np.empty((count, hidden), _FLOAT) if kind == "lstm" and keep else None
    squashed = np.empty((kept, hidden), _FLOAT) if kind == "lstm" else None
    out = np.empty((count, hidden), _FLOAT)
    h = start(hx, batch, hidden, _FLOAT)
    h = h if hx is None else h.copy()
    c = None
    if kind == "lstm":
        c = np.zeros((batch, hidden), _FLOAT) if cx is None else cx.reshape(batch, -1).copy()
    _, onward, apart, _ = x.strides
    native.run("recurrent", _KINDS.index(kind), len(order), batch, count, kept, n, features - n, features, hidden,
               gates, len(w_hh) // hidden, n + 1 + hidden, keep, hx is not None, x.shape[2], x.shape[1], apart // 4,
               onward // 4, steps, x, w_ih, w_hh, *biases, joined, activated, cells, squashed, out, h, c)
    last = h.copy() if keep and not gated else None        # a copy: the caller may write to h
    if not keep:
        return out, h, c, None
    return out, h, c, (kind, joined, None if n else x[0, 0], n, steps, activated, cells, squashed, last)


def _plain(g):
    """(the gradient of the outputs as a C-contiguous array, whether its first axis is the batch)."""
    if g is None:
        return None, False
    g = g if g.dtype == _FLOAT else g.astype(_FLOAT)
    if g.ndim == 3 and not g.flags.c_contiguous and g.swapaxes(0, 1).flags.c_contiguous:
        return g.swapaxes(0, 1), True
    return np.ascontiguousarray(g), False


def backward(saved, order, g_out, g_h, g_c, wanted, w_ih, w_hh, weights=False):
    """Gradients of x, hx, cx, the pre-activations, and with `weights` w_ih, w_hh and the bias, else None for these
    three. `wanted`: flags for x and hx."""
    kind, joined, _, n, steps, activated, cells, squashed, last = saved
    hidden, count, batch = w_hh.shape[1], len(joined), min(order)[1]
    gates = 1 if activated is None else 4
    dh = gradient_of_state(g_h, batch, hidden, _FLOAT)
    dc = gradient_of_state(g_c, batch, hidden, _FLOAT) if kind == "lstm" else None
    d = np.empty((count, gates * hidden), _FLOAT)
    g, turned = _plain(g_out)
    found = [np.empty(w_ih.shape, _FLOAT), np.empty(w_hh.shape, _FLOAT), np.empty(len(w_hh), _FLOAT)] if weights else \
        [None] * 3
    native.run("recurrent_backward", _KINDS.index(kind), len(order), batch, count, n, hidden, gates,
               len(w_hh) // hidden, joined.shape[1], wanted[1], turned, steps, g,
               w_hh, joined, activated, cells, squashed, last, dh, dc, d, *found)
    dx = None
    if wanted[0]:
        dx = dot(d[:, hidden:] if kind == "gru" else d, w_ih)
    return dx, dh, dc, d, *found
