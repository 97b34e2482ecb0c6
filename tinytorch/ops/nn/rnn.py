"""Recurrent layers and cells: rnn_tanh rnn_relu lstm gru and their *_cell forms.

One direction of one layer over the whole batch of sequences is one op; so is one step of a cell.
"""
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ... import dtypes as dt
from ...autograd.grad_mode import mode
from ...autograd.op import op
from ...autograd.public import Public, public
from ...errors import type_name
from ...kernels.rnn import cell as cells, elman, gru as grus, lstm as lstms, shared, split
from ...tensor import Tensor, wrap
from ...types import Tensors
from ..elementwise.math import tanh
from ..elementwise.special import sigmoid
from ..layout.join import cat
from ..linalg.products import linear
from .dropout import dropout as drop
from .packing import check_steps, sizes_of_steps
from .relu import relu

__all__ = ["gru", "gru_cell", "lstm", "lstm_cell", "rnn_relu", "rnn_relu_cell", "rnn_tanh", "rnn_tanh_cell"]

_ACTIVATION = {"tanh": tanh, "relu": relu}


# ------------------------------------------------------------------ one direction of one layer
# Arguments of these ops: `sizes`, the number of rows of each step of a packed batch (None if the input
# is (steps, batch, features), or (batch, steps, features) if `batch_first`); `reverse`: from the last
# step to the first. States are (1, batch, hidden), None for zeros. In the memory of outputs the steps
# are always the first axis.

def _steps_first(x, sizes, batch_first):
    """An array of the op's input or output as (steps, batch, n), or (rows, n) if packed."""
    return x.swapaxes(0, 1) if batch_first and sizes is None else x


def _order(sizes, x, reverse):
    return shared.spans([x.shape[1]] * len(x) if sizes is None else sizes, reverse)


def _outputs(flat, x, sizes, batch_first):
    """The kernel's output rows, with the axes of the input."""
    return flat if sizes is not None else _steps_first(flat.reshape(x.shape[:2] + flat.shape[1:]), None, batch_first)


def _as_layer(state):
    return state.reshape((1,) + state.shape)


def _joint(backward, g, wanted, sizes, batch_first, x, aux, *weights):
    """Gradients of the input, with its axes, and of the other arguments."""
    order, saved = aux
    g_out = g[0] if g[0] is None else _steps_first(g[0], sizes, batch_first)
    dx, *others = split.run_backward(backward, g_out, g[1:], wanted, order, saved, weights)
    return dx if dx is None else _steps_first(dx.reshape(_steps_first(x, sizes, batch_first).shape), sizes,
                                              batch_first), *others


def _rnn_joint(g, wanted, args, aux):
    _, sizes, batch_first, _, x, _, w_ih, w_hh, _, _ = args
    wanted = *wanted[:4], wanted[4] or wanted[5]
    dx, dh, d_ih, d_hh, bias = _joint(elman.rnn_backward, g, wanted, sizes, batch_first, x, aux, w_ih, w_hh)
    return dx, _as_layer(dh), d_ih, d_hh, bias, bias


def _rnn_decomposition(nonlinearity, sizes, batch_first, reverse, input, hx, w_ih, w_hh, b_ih, b_hh):
    def step(x, h):
        new = _rnn_step(nonlinearity, x, h, w_hh, b_hh)
        return new, new
    return _unrolled(step, sizes, batch_first, reverse, linear(input, w_ih, b_ih), (hx, w_hh.shape[1]))


@op(name="rnn", first=4, aux=True, multi=True, joint=_rnn_joint, decomposition=_rnn_decomposition)
def _rnn(nonlinearity, sizes, batch_first, reverse, input, hx, w_ih, w_hh, b_ih, b_hh, keep):
    x = _steps_first(input, sizes, batch_first)
    order = _order(sizes, x, reverse)
    out, h, saved = split.run_forward(elman.FORWARD[nonlinearity], order, x, (hx,), (w_ih, w_hh, b_ih, b_hh), keep)
    return (_outputs(out, x, sizes, batch_first), _as_layer(h)), (order, saved)


def _lstm_joint(g, wanted, args, aux):
    sizes, batch_first, _, x, _, _, w_ih, w_hh, _, _, w_hr = args
    wanted = *wanted[:5], wanted[5] or wanted[6], wanted[7]
    dx, dh, dc, d_ih, d_hh, bias, d_hr = _joint(lstms.lstm_backward, g, wanted, sizes, batch_first, x, aux, w_ih,
                                                w_hh, w_hr)
    return dx, _as_layer(dh), _as_layer(dc), d_ih, d_hh, bias, bias, d_hr


def _lstm_decomposition(sizes, batch_first, reverse, input, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr):
    def step(x, h, c):
        h, c = _lstm_step(x, h, c, w_hh, b_hh)
        if w_hr is not None:
            h = linear(h, w_hr)
        return h, h, c
    x = linear(input, w_ih, b_ih)
    return _unrolled(step, sizes, batch_first, reverse, x, (hx, w_hh.shape[1]), (cx, w_hh.shape[0] // 4))


@op(name="lstm", first=3, aux=True, multi=True, joint=_lstm_joint, decomposition=_lstm_decomposition)
def _lstm(sizes, batch_first, reverse, input, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr, keep):
    x = _steps_first(input, sizes, batch_first)
    order = _order(sizes, x, reverse)
    out, h, c, saved = split.run_forward(lstms.lstm_forward, order, x, (hx, cx), (w_ih, w_hh, b_ih, b_hh, w_hr), keep)
    return (_outputs(out, x, sizes, batch_first), _as_layer(h), _as_layer(c)), (order, saved)


def _gru_joint(g, wanted, args, aux):
    sizes, batch_first, _, x, _, w_ih, w_hh, _, _ = args
    dx, dh, *weights = _joint(grus.gru_backward, g, wanted, sizes, batch_first, x, aux, w_ih, w_hh)
    return dx, _as_layer(dh), *weights


def _gru_decomposition(sizes, batch_first, reverse, input, hx, w_ih, w_hh, b_ih, b_hh):
    def step(x, h):
        new = _gru_step(x, h, w_hh, b_hh)
        return new, new
    return _unrolled(step, sizes, batch_first, reverse, linear(input, w_ih, b_ih), (hx, w_hh.shape[1]))


@op(name="gru", first=3, aux=True, multi=True, joint=_gru_joint, decomposition=_gru_decomposition)
def _gru(sizes, batch_first, reverse, input, hx, w_ih, w_hh, b_ih, b_hh, keep):
    x = _steps_first(input, sizes, batch_first)
    order = _order(sizes, x, reverse)
    out, h, saved = split.run_forward(grus.gru_forward, order, x, (hx,), (w_ih, w_hh, b_ih, b_hh), keep)
    return (_outputs(out, x, sizes, batch_first), _as_layer(h)), (order, saved)


def _unrolled(step, sizes, batch_first, reverse, input, *states):
    """One direction of a layer, step by step in ordinary ops. `step(x, *states)` takes rows of input @ w_ih.T + b_ih
    and returns (output, *states). Each of `states` is a pair: the initial state or None, and its width."""
    packed = sizes is not None
    if not packed:
        input = input.transpose(0, 1) if batch_first else input
        count, batch = input.shape[:2]
        sizes = [batch] * count
        input = input.reshape(count * batch, input.shape[2])
    states = [wrap(np.zeros((sizes[0], width), input._array.dtype)) if s is None else s.reshape(s.shape[1:])
              for s, width in states]
    outputs = {}
    for lo, hi in shared.spans(sizes, reverse):
        n = hi - lo
        outputs[lo], *new = step(input[lo:hi], *[s[:n] for s in states])
        states = [cat((a, s[n:])) if n < s.shape[0] else a for a, s in zip(new, states)]
    result = cat([outputs[lo] for lo in sorted(outputs)])
    if not packed:
        result = result.reshape(count, batch, result.shape[1])
        result = result.transpose(0, 1) if batch_first else result
    return (result, *[s.unsqueeze(0) for s in states])


# ------------------------------------------------------------------ one step of a cell
# The functions _..._step take x = input @ w_ih.T + b_ih.
def _rnn_step(nonlinearity, x, hx, w_hh, b_hh):
    return _ACTIVATION[nonlinearity](x + linear(hx, w_hh, b_hh))


def _rnn_cell_decomposition(nonlinearity, input, hx, w_ih, w_hh, b_ih, b_hh):
    return _rnn_step(nonlinearity, linear(input, w_ih, b_ih), hx, w_hh, b_hh)


@op(name="rnn_cell", first=1, decomposition=_rnn_cell_decomposition,
    joint=lambda g, wanted, args, ans: cells.rnn_backward(g, wanted, ans, *args))
def _rnn_cell(nonlinearity, input, hx, w_ih, w_hh, b_ih, b_hh):
    return cells.rnn_forward(nonlinearity, input, hx, w_ih, w_hh, b_ih, b_hh)


def _lstm_step(x, hx, cx, w_hh, b_hh):
    gates = x + linear(hx, w_hh, b_hh)
    n = w_hh.shape[0] // 4
    i, f, g, o = (gates[:, k * n:k * n + n] for k in range(4))
    c = sigmoid(f) * cx + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(c), c


def _lstm_cell_decomposition(input, hx, cx, w_ih, w_hh, b_ih, b_hh):
    return _lstm_step(linear(input, w_ih, b_ih), hx, cx, w_hh, b_hh)


_CELLS = {"tanh": lambda *args: _rnn_cell("tanh", *args), "relu": lambda *args: _rnn_cell("relu", *args)}


@op(name="lstm_cell", aux=True, multi=True, decomposition=_lstm_cell_decomposition,
    joint=lambda g, wanted, args, aux: cells.lstm_backward(g, wanted, aux, *args))
def _lstm_cell(input, hx, cx, w_ih, w_hh, b_ih, b_hh):
    return cells.lstm_forward(input, hx, cx, w_ih, w_hh, b_ih, b_hh)


def _gru_step(x, hx, w_hh, b_hh):
    h, n = linear(hx, w_hh, b_hh), w_hh.shape[1]
    r, z = sigmoid(x[:, :n] + h[:, :n]), sigmoid(x[:, n:2 * n] + h[:, n:2 * n])
    new = tanh(x[:, 2 * n:] + r * h[:, 2 * n:])
    return new + z * (hx - new)


def _gru_cell_decomposition(input, hx, w_ih, w_hh, b_ih, b_hh):
    return _gru_step(linear(input, w_ih, b_ih), hx, w_hh, b_hh)


@op(name="gru_cell", aux=True, decomposition=_gru_cell_decomposition,
    joint=lambda g, wanted, args, aux: cells.gru_backward(g, wanted, aux, *args))
def _gru_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    return cells.gru_forward(input, hx, w_ih, w_hh, b_ih, b_hh)


# ------------------------------------------------------------------ all layers
def run_layers(layer, input, sizes, states, params, has_biases, num_layers, dropout, train, bidirectional,
               batch_first=False):
    """Stacked layers: `layer` is one of the ops above as a function (sizes, batch_first, reverse,
    input, *states, *weights); `states` holds tensors (layers * directions, batch, n) or None.

    Returns (outputs, final state, ...).
    """
    # First the checks, in torch's order: dtypes, number of steps, number of parameters, number of states. Then, for a
    # packed batch, the rows of each direction. Then each layer runs its directions: the outputs of one layer, after
    # dropout, are the input of both directions of the next one. `final` holds the states by kind: all h, then all c.
    _check_dtypes(input, states, params)
    if input._array.dtype.itemsize == 2:
        layer = _BY_STEPS[layer]
    if sizes is None and input._array.shape[1 if batch_first else 0] == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    directions = 2 if bidirectional else 1
    total = num_layers * directions
    per = 4 if has_biases else 2
    if len(states) == 2 and len(params) % (total * per):
        per += 1                               # the projection of an LSTM
    if len(params) < total * per:
        raise RuntimeError("Expected more weights in stacked_rnn")
    if any(s is not None and len(s._array) < total for s in states):
        raise RuntimeError("Expected more hidden states in stacked_rnn")
    inputs = input, input
    if sizes is not None:
        inputs = _rows_of_steps(layer, input, sizes, per)
        sizes = [n for n in sizes if n] or sizes[:1]           # steps without rows are left out
    finals = [[] for _ in states]
    for k in range(num_layers):
        outputs = []
        for d in range(directions):
            at = k * directions + d
            weights = params[at * per:(at + 1) * per]
            if not has_biases:
                weights = [*weights[:2], None, None, *weights[2:]]
            own = [s if s is None or total == 1 else s[at:at + 1] for s in states]
            output, *final = layer(sizes, batch_first, d == 1, inputs[d], *own, *weights)
            outputs.append(output)
            for found, state in zip(finals, final):
                found.append(state)
        input = _beside(outputs, batch_first and sizes is None)
        if dropout and train and k < num_layers - 1:
            input = drop(input, dropout, True)
        inputs = input, input
    return (input, *[found[0] if total == 1 else cat(found) for found in finals])


def _rows_of_steps(layer, input, sizes, per):
    """The packed rows that the steps use, for each direction: if there are more, torch takes the first rows for the
    forward direction and the last rows for the reverse one. RuntimeError in torch's words if there are too few."""
    count = len(input._array)
    if layer is LAYERS["LSTM"] and per < 5 and input._array.itemsize == 4 and sizes[0] > 0 and set(sizes) == {sizes[0]}:
        if len(sizes) * sizes[0] != count:     # oneDNN reshapes a batch of equal lengths
            shape = [len(sizes), sizes[0], *input._array.shape[1:]]
            raise RuntimeError(f"shape '{shape}' is invalid for input of size {input._array.size}")
    used = check_steps(sizes, count)
    return (input, input) if used == count else (input[:used], input[count - used:])


def _beside(outputs, batch_first):
    """The outputs of both directions in one tensor. In its memory the steps are the first axis."""
    if len(outputs) == 1:
        return outputs[0]
    if not batch_first:
        return cat(outputs, -1)
    return cat([output.transpose(0, 1) for output in outputs], -1).transpose(0, 1)


def _check_dtypes(input, states, params):
    if not params:
        raise RuntimeError("Expected more weights in stacked_rnn")
    weight = params[0]._array.dtype
    if weight.kind not in dt.FLOATING:
        raise NotImplementedError(f"recurrent layers of dtype {params[0].dtype} are not supported, only floating ones")
    for x in (input, *states):
        if x is not None and x._array.dtype != weight:
            raise RuntimeError("mat1 and mat2 must have the same dtype, but got "
                               f"{type_name(x)} and {type_name(params[0])}")


LAYERS = {
    "RNN_TANH": lambda *args: _rnn("tanh", *args),
    "RNN_RELU": lambda *args: _rnn("relu", *args),
    "LSTM": lambda *args: _lstm(*args, None) if len(args) == 10 else _lstm(*args),
    "GRU": _gru}


def _half_lstm(sizes, batch_first, reverse, *tensors):
    """An LSTM layer of half precision. torch computes it in float32 by oneDNN, except in float16, of packed batches, or
    with projections: then it computes step by step."""
    w_hr = tensors[7] if len(tensors) == 8 else None
    if w_hr is not None or sizes is not None or tensors[0]._array.dtype == np.float16:
        return _lstm_decomposition(sizes, batch_first, reverse, *tensors[:7], w_hr)
    wide = _lstm(sizes, batch_first, reverse, *[t if t is None else t.float() for t in tensors[:7]], None)
    return tuple(t.to(tensors[0].dtype) for t in wide)


#: For each layer and cell, its computation in half precision, in which torch rounds every step.
_BY_STEPS = {
    LAYERS["RNN_TANH"]: partial(_rnn_decomposition, "tanh"), LAYERS["RNN_RELU"]: partial(_rnn_decomposition, "relu"),
    LAYERS["LSTM"]: _half_lstm, _gru: _gru_decomposition, _CELLS["tanh"]: partial(_rnn_cell_decomposition, "tanh"),
    _CELLS["relu"]: partial(_rnn_cell_decomposition, "relu"), _lstm_cell: _lstm_cell_decomposition,
    _gru_cell: _gru_cell_decomposition}

#: Exceptions that arguments of the wrong type may raise.
_WRONG = AttributeError, IndexError, RuntimeError, TypeError, ValueError


def _padded(input: Tensor, hx: Tensor | Tensors, params: Tensors, has_biases: bool, num_layers: int, dropout: float,
            train: bool, bidirectional: bool, batch_first: bool):
    """The signature of the layer functions for a padded batch."""


def _packed(data: Tensor, batch_sizes: Tensor, hx: Tensor | Tensors, params: Tensors, has_biases: bool, num_layers: int,
            dropout: float, train: bool, bidirectional: bool):
    """The signature of the layer functions for a packed batch."""


_NAMES = {signature: Public(signature).parameters()[0] for signature in (_padded, _packed)}


def _run(name, args, kwargs):
    """Calls a layer function by either of its signatures."""
    packed = "batch_sizes" in kwargs or len(args) > 3 and isinstance(args[3], (tuple, list))
    signature = _packed if packed else _padded
    names = _NAMES[signature]
    given = dict(zip(names, args), **kwargs)
    if len(args) > len(names) or len(given) != len(args) + len(kwargs) or set(given) != set(names):
        raise TypeError(f"{name}() received an invalid combination of arguments; expected "
                        f"({', '.join(_NAMES[_padded])}) or ({', '.join(_NAMES[_packed])})")
    given = [given[argument] for argument in names]
    try:
        input, sizes, hx, *rest = given if packed else (given[0], None, *given[1:])
        several = not isinstance(hx, Tensor)
        if several != (name == "lstm"):
            word = "Tensor" if several else "tuple of Tensors"
            raise TypeError(f"{name}(): argument 'hx' (position {2 + packed}) must be {word}, not {type(hx).__name__}")
        if several and len(hx) != 2:
            raise RuntimeError("lstm expects two hidden states")
        sizes = sizes_of_steps(sizes) if packed else None
        return run_layers(LAYERS[name.upper()], input, sizes, hx if several else (hx,), *rest)
    except _WRONG:
        record = Public(signature, name)
        record.read()
        record.check(given)
        raise


@public(hot=True, draws=True)
def rnn_tanh(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """A stack of plain recurrent layers, h' = tanh(W_ih x + b_ih + W_hh h + b_hh).

    Arguments (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first),
    or (data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional) for a
    packed batch. `params` lists w_ih (hidden, features), w_hh (hidden, hidden), b_ih, b_hh (hidden) of
    every layer and direction. Returns (outputs, final states (layers * directions, batch, hidden)).

    >>> import tinytorch as torch
    >>> weights = [torch.zeros(3, 2), torch.zeros(3, 3)]
    >>> out, h = torch.rnn_tanh(torch.ones(5, 1, 2), torch.ones(1, 1, 3), weights, False, 1, 0.0, False, False, False)
    >>> out.shape, h.shape
    (torch.Size([5, 1, 3]), torch.Size([1, 1, 3]))
    """
    return _run("rnn_tanh", args, kwargs)


@public(hot=True, draws=True)
def rnn_relu(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """`rnn_tanh` with relu for tanh.

    >>> import tinytorch as torch
    >>> weights = [torch.ones(1, 1), torch.ones(1, 1)]
    >>> torch.rnn_relu(torch.ones(3, 1, 1), torch.zeros(1, 1, 1), weights, False, 1, 0.0, False, False, False)[1]
    tensor([[[3.]]])
    """
    return _run("rnn_relu", args, kwargs)


@public(hot=True, draws=True)
def lstm(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor, Tensor]:
    """A stack of LSTM layers; arguments as of `rnn_tanh`, with `hx` = (states, cells).

    Weights have 4 * hidden rows: input, forget, cell and output gate. A fifth weight of each layer and
    direction, w_hr (projected, hidden), projects its outputs. Returns (outputs, final states, final cells).

    >>> import tinytorch as torch
    >>> weights = [torch.zeros(12, 2), torch.zeros(12, 3)]
    >>> hx = torch.zeros(1, 1, 3), torch.ones(1, 1, 3)
    >>> torch.lstm(torch.ones(2, 1, 2), hx, weights, False, 1, 0.0, False, False, False)[2]
    tensor([[[0.2500, 0.2500, 0.2500]]])
    """
    return _run("lstm", args, kwargs)


@public(hot=True, draws=True)
def gru(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """A stack of GRU layers; arguments as of `rnn_tanh`. Weights have 3 * hidden rows: reset, update
    and new gate.

    >>> import tinytorch as torch
    >>> weights = [torch.zeros(9, 2), torch.zeros(9, 3)]
    >>> torch.gru(torch.ones(2, 1, 2), torch.ones(1, 1, 3), weights, False, 1, 0.0, False, False, False)[1]
    tensor([[[0.2500, 0.2500, 0.2500]]])
    """
    return _run("gru", args, kwargs)


def _cell(layer, gates, input, hx, w_ih, w_hh, b_ih, b_hh):
    """One of the cell ops, after checks. RuntimeError in torch's words if the shapes do not fit."""
    states = (hx,) if gates < 4 else hx
    _check_cell(gates, input._array.shape, states, w_ih._array.shape, w_hh._array.shape)
    _check_dtypes(input, states, (w_ih,))
    if input._array.dtype.itemsize == 2 or mode.vmap_levels:
        layer = _BY_STEPS[layer]
    try:
        return layer(input, *states, w_ih, w_hh, b_ih, b_hh)
    except ValueError:                         # biases do not fit: expand raises torch's error for them
        for bias in (b_ih, b_hh):
            if bias is not None:
                bias.expand(len(input._array), len(w_hh._array))
        raise


def _check_cell(gates, x, states, w_ih, w_hh):
    """RuntimeError unless the shapes of input, weights and states fit each other."""
    if gates == 4 and len(states) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    hidden = w_hh[1]
    rows = gates * hidden
    if w_ih[0] != rows or w_hh[0] != rows:
        name, given = ("weight_ih", w_ih[0]) if w_ih[0] != rows else ("weight_hh", w_hh[0])
        raise RuntimeError(f"{name} first dim must be {gates} * hidden_size = {rows}, but got {given}")
    if x[1] != w_ih[1]:
        raise RuntimeError(f"input has inconsistent input_size: got {x[1]} expected {w_ih[1]}")
    wanted = x[0], hidden
    for k, state in enumerate(states):
        h = state._array.shape
        if h == wanted:
            continue
        if h[0] != x[0]:
            raise RuntimeError(f"Input batch size {x[0]} doesn't match hidden{k} batch size {h[0]}")
        if h[1] != hidden:
            raise RuntimeError(f"hidden{k} has inconsistent hidden_size: got {h[1]}, expected {hidden}")


@public(hot=True)
def rnn_tanh_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
                  b_hh: Tensor | None = None) -> Tensor:
    """One step tanh(input @ w_ih.T + b_ih + hx @ w_hh.T + b_hh): (batch, features), (batch, hidden) -> (batch, hidden).

    >>> import tinytorch as torch
    >>> torch.rnn_tanh_cell(torch.ones(1, 2), torch.ones(1, 1), torch.ones(1, 2), torch.full((1, 1), -2.))
    tensor([[0.]])
    """
    return _cell(_CELLS["tanh"], 1, input, hx, w_ih, w_hh, b_ih, b_hh)


@public(hot=True)
def rnn_relu_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
                  b_hh: Tensor | None = None) -> Tensor:
    """One step relu(input @ w_ih.T + b_ih + hx @ w_hh.T + b_hh).

    >>> import tinytorch as torch
    >>> torch.rnn_relu_cell(torch.ones(1, 2), torch.ones(1, 1), torch.ones(1, 2), torch.ones(1, 1))
    tensor([[3.]])
    """
    return _cell(_CELLS["relu"], 1, input, hx, w_ih, w_hh, b_ih, b_hh)


@public(hot=True)
def lstm_cell(input: Tensor, hx: Tensors, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
              b_hh: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """One LSTM step; `hx` = (state, cells), each (batch, hidden). Returns the next (state, cells).

    >>> import tinytorch as torch
    >>> hx = torch.zeros(1, 1), torch.ones(1, 1)
    >>> torch.lstm_cell(torch.ones(1, 2), hx, torch.zeros(4, 2), torch.zeros(4, 1))[1]
    tensor([[0.5000]])
    """
    return _cell(_lstm_cell, 4, input, hx, w_ih, w_hh, b_ih, b_hh)


@public(hot=True)
def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
             b_hh: Tensor | None = None) -> Tensor:
    """One GRU step: (batch, features), (batch, hidden) -> (batch, hidden).

    >>> import tinytorch as torch
    >>> torch.gru_cell(torch.ones(1, 2), torch.ones(1, 1), torch.zeros(3, 2), torch.zeros(3, 1))
    tensor([[0.5000]])
    """
    return _cell(_gru_cell, 3, input, hx, w_ih, w_hh, b_ih, b_hh)
