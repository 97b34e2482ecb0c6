"""Recurrent networks by ONNX's operators, and single steps of them."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ..registry import Refusal, entered, translation
from ..writer import Value

#: The gates in ONNX's order, as indices in torch's order.
_LSTM, _GRU, _PLAIN = (0, 3, 1, 2), (1, 0, 2), (0,)


def _ordered(g, x, gates):
    """A weight or bias with the blocks of its gates in ONNX's order, and a leading dimension."""
    n = len(gates)
    if x.array is not None:
        blocks = x.array.reshape(n, -1, *x.shape[1:])[list(gates)]
        return g.constant(blocks.reshape(1, *x.shape), x.dtype)
    blocks = g.split(x, [x.shape[0] // n] * n, 0)
    return g.unsqueeze(g.op("Concat", *[blocks[i] for i in gates], axis=0) if n > 1 else x, [0])


def _joined(g, parts, axis):
    if len(parts) == 1:
        return parts[0]
    arrays = [getattr(x, "array", None) for x in parts]
    if all([x is not None for x in arrays]):
        return g.constant(np.concatenate(arrays, axis), parts[0].dtype)
    return g.op("Concat", *parts, axis=axis)


def _layers(g, kind, gates, x, states, params, has_biases, layers, dropout, train, bidirectional, batch_first,
            **attributes):
    """(the outputs, the last states): one node for each layer. `attributes` are attributes of the nodes."""
    directions = 1 + bidirectional
    each = 2 + 2 * has_biases
    if len(params) != each * layers * directions:
        raise Refusal("projections of the outputs")
    hidden = params[1].shape[1]
    y = g.transpose(x, [1, 0, 2]) if batch_first else x
    ends = [[] for _ in states]
    for layer in range(layers):
        begin = directions * layer
        sides = [params[each * i:each * (i + 1)] for i in range(begin, begin + directions)]
        starts = [state if layers == 1 else g.slice(state, 0, begin, begin + directions) for state in states]
        found = g.op(kind, y, *_weights(g, sides, gates, has_biases), None, *starts, outputs=1 + len(states),
                     hidden_size=hidden, direction="bidirectional" if bidirectional else "forward", **attributes)
        for end, last in zip(ends, found[1:]):
            end.append(last)
        if bidirectional:
            y = g.op("Reshape", g.transpose(found[0], [0, 2, 1, 3]), g.ints([0, 0, -1]))
        else:
            y = g.squeeze(found[0], [1])
        if dropout and train and layer < layers - 1:
            y = g.op("Dropout", y, g.number(dropout, dt.float32), g.number(True, dt.bool))
    if batch_first:
        y = g.transpose(y, [1, 0, 2])
    return y, *[end[0] if len(end) == 1 else g.op("Concat", *end, axis=0) for end in ends]


def _weights(g, sides, gates, has_biases):
    """(input weights, recurrent weights, biases or None) of a layer, with all directions in each."""
    weights = [_joined(g, [_ordered(g, side[i], gates) for side in sides], 0) for i in (0, 1)]
    if not has_biases:
        return *weights, None
    biases = [_joined(g, [_ordered(g, side[i], gates) for i in (2, 3)], 1) for side in sides]
    return *weights, _joined(g, biases, 0)


@translation("lstm.input")
def lstm(g, x, states, params, *options):
    return _layers(g, "LSTM", _LSTM, x, states, params, *options)


@translation("gru.input")
def gru(g, x, state, params, *options):
    return _layers(g, "GRU", _GRU, x, [state], params, *options, linear_before_reset=1)


def _plain(activation):
    def write(g, x, state, params, *options):
        activations = [activation] * (1 + options[4])
        return _layers(g, "RNN", _PLAIN, x, [state], params, *options, activations=activations)
    return write


entered([("rnn_tanh.input", _plain("Tanh")), ("rnn_relu.input", _plain("Relu"))])


@translation("lstm.data", "gru.data", "rnn_tanh.data", "rnn_relu.data")
def packed(g, *arguments):
    raise Refusal("packed sequences; padded ones can be exported")


# ------------------------------------------------------------------ single steps
def _single(g, x):
    """The tensor with a batch dimension."""
    return x if x.rank == 2 else Value(g.unsqueeze(x, [0]), (1, *x.shape), x.dtype)


def _gates(g, x, weight, bias):
    return g.op("Gemm", x, weight, bias, transB=1)


@translation("lstm_cell")
def lstm_cell(g, x, states, w_ih, w_hh, b_ih=None, b_hh=None):
    flat, (h, c) = x.rank == 1, [_single(g, y) for y in states]
    n = w_hh.shape[1]
    total = g.op("Add", _gates(g, _single(g, x), w_ih, b_ih), _gates(g, h, w_hh, b_hh))
    i, f, new, o = g.split(total, [n] * 4, 1)
    i, f, o = [g.op("Sigmoid", y) for y in (i, f, o)]
    c = g.op("Add", g.op("Mul", f, c), g.op("Mul", i, g.op("Tanh", new)))
    made = g.op("Mul", o, g.op("Tanh", c)), c
    return [g.squeeze(y, [0]) for y in made] if flat else made


@translation("gru_cell")
def gru_cell(g, x, h, w_ih, w_hh, b_ih=None, b_hh=None):
    flat, h = x.rank == 1, _single(g, h)
    n = w_hh.shape[1]
    first, second = [g.split(y, [n] * 3, 1) for y in (_gates(g, _single(g, x), w_ih, b_ih), _gates(g, h, w_hh, b_hh))]
    r, z = [g.op("Sigmoid", g.op("Add", first[k], second[k])) for k in (0, 1)]
    new = g.op("Tanh", g.op("Add", first[2], g.op("Mul", r, second[2])))
    made = g.op("Add", new, g.op("Mul", z, g.op("Sub", h, new)))
    return g.squeeze(made, [0]) if flat else made


def _cell(activation):
    def write(g, x, h, w_ih, w_hh, b_ih=None, b_hh=None):
        total = g.op("Add", _gates(g, _single(g, x), w_ih, b_ih), _gates(g, _single(g, h), w_hh, b_hh))
        made = g.op(activation, total)
        return g.squeeze(made, [0]) if x.rank == 1 else made
    return write


entered([("rnn_tanh_cell", _cell("Tanh")), ("rnn_relu_cell", _cell("Relu"))])
