"""Recurrent layers, cells and packed sequences against torch: values, gradients of first and second order,
random stream, strides, text and errors. Every program runs with both modules."""
import itertools

import pytest

from .adapter import same_outcome

warns = pytest.mark.filterwarnings("ignore:dropout option adds dropout")


def compare(program, tolerance=1e-10):
    """Both modules give the same, or the same error."""
    def seeded(t):
        t.manual_seed(3)
        return program(t)
    same_outcome(seeded, tolerance=tolerance)


def flat(x):
    """The tensors of a layer's result."""
    if hasattr(x, "batch_sizes"):
        return [x.data, x.batch_sizes]
    return [y for part in x for y in flat(part)] if isinstance(x, (tuple, list)) else [x]


def squares(tensors):
    return sum((x * x * (k + 1)).sum() for k, x in enumerate(tensors) if x.is_floating_point())


@warns
@pytest.mark.parametrize("mode", ("batch", "unbatched", "packed", "unsorted"))
@pytest.mark.parametrize("kind", ("RNN", "LSTM", "GRU"))
@pytest.mark.parametrize("layers, bidirectional, batch_first, dropout", list(itertools.product(
    (1, 2), (False, True), (False, True), (0., 0.5))))
def test_layer(kind, mode, layers, bidirectional, batch_first, dropout):
    def program(t, given):
        net = getattr(t.nn, kind)(3, 5, layers, bidirectional=bidirectional, batch_first=batch_first, dropout=dropout,
                                  dtype=t.float64)
        x = t.randn(4, 6, 3, dtype=t.float64, requires_grad=True)
        shape = (layers * (2 if bidirectional else 1), 4 if batch_first else 6, 5)
        h, c = (t.randn(shape, dtype=t.float64, requires_grad=True) for _ in range(2))
        hx = (h, c) if kind == "LSTM" else h
        inputs = x
        if mode == "unbatched":
            inputs, hx = x[0], (h[:, 0], c[:, 0]) if kind == "LSTM" else h[:, 0]
        elif mode != "batch":
            lengths = [6, 5, 5, 1] if batch_first else [4, 3, 3, 2, 2, 1]
            lengths = lengths if mode == "packed" else lengths[::-1]
            inputs = t.nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first, mode == "packed")
        result = net(inputs, hx) if given else net(inputs)
        parts = flat(result)
        if mode in ("packed", "unsorted"):
            parts += t.nn.utils.rnn.pad_packed_sequence(result[0], batch_first, 1.5, 7)
        squares(parts).backward()
        return parts + [x.grad, h.grad] + [p.grad for p in net.parameters()] + [t.rand(2)]
    for given in (False, True):
        compare(lambda t: program(t, given))


@pytest.mark.parametrize("kind, settings", [
    ("RNN", {}), ("RNN", {"nonlinearity": "relu", "bias": False}), ("GRU", {"bidirectional": True}),
    ("GRU", {"bias": False}),
    ("LSTM", {"num_layers": 2, "bias": False}), ("LSTM", {"proj_size": 2, "bidirectional": True, "num_layers": 2}),
    ("LSTM", {"proj_size": 2, "bias": False})])
@pytest.mark.parametrize("features", (3, 8))
def test_second_gradients(kind, settings, features):
    def program(t):
        net = getattr(t.nn, kind)(features, 5, dtype=t.float64, **settings)
        x = t.randn(4, 2, features, dtype=t.float64, requires_grad=True)
        leaves = [x, *net.parameters()]
        grads = t.autograd.grad(squares(flat(net(x))), leaves, create_graph=True)
        return [*grads, *t.autograd.grad(squares(grads), leaves)]
    compare(program, 1e-8)


@pytest.mark.parametrize("kind", ("RNNCell", "LSTMCell", "GRUCell"))
@pytest.mark.parametrize("bias, given, batched", list(itertools.product((True, False), repeat=3)))
def test_cell(kind, bias, given, batched):
    def program(t):
        net = getattr(t.nn, kind)(3, 5, bias=bias, dtype=t.float64)
        shape = (2,) if batched else ()
        x = t.randn(shape + (3,), dtype=t.float64, requires_grad=True)
        h = t.randn(shape + (5,), dtype=t.float64, requires_grad=True)
        parts = flat(net(x, *([((h, h) if kind == "LSTMCell" else h)] if given else [])))
        leaves = [x, *net.parameters()] + ([h] if given else [])
        grads = t.autograd.grad(squares(parts), leaves, create_graph=True)
        return [*parts, *grads, *t.autograd.grad(squares(grads), leaves)]
    compare(program, 1e-8)


@pytest.mark.parametrize("kind", ("RNN", "LSTM", "GRU"))
@pytest.mark.parametrize("batch_first", (False, True))
def test_strides(kind, batch_first):
    def program(t):
        net = getattr(t.nn, kind)(3, 5, 2, batch_first=batch_first, bidirectional=True)
        return [x.stride() for x in flat(net(t.randn(4, 6, 3)))]
    compare(program)


PLAIN = 0., False, False, False            # dropout, train, bidirectional, batch_first
PROGRAMS = [
    lambda t: t.nn.GRU(2, 3, proj_size=2), lambda t: t.nn.LSTM(2, 3, proj_size=3),
    lambda t: t.nn.LSTM(2, 3, proj_size=-1),
    lambda t: t.nn.RNN(2, 3, 1, "foo"), lambda t: t.nn.RNN(0, 3), lambda t: t.nn.RNN(2.5, 3),
    lambda t: t.nn.RNN(2, 3, 0),
    lambda t: t.nn.RNN(2, 3, batch_first=1), lambda t: t.nn.RNN(2, 3, dropout=True),
    lambda t: t.nn.RNN(2, 3)(t.ones(2)),
    lambda t: t.nn.LSTM(2, 3)(t.ones(2)), lambda t: t.nn.GRU(2, 3)(t.ones(2)),
    lambda t: t.nn.LSTM(2, 3)(t.ones(4, 2), (t.ones(1, 1, 3), t.ones(1, 3))),
    lambda t: t.nn.LSTM(2, 3)(t.ones(4, 1, 2), (t.ones(1, 1, 3), t.ones(1, 3))),
    lambda t: t.nn.LSTM(2, 3)(t.ones(4, 3, 2), (t.ones(1, 3, 3), t.ones(1, 4, 3))),
    lambda t: t.nn.RNN(2, 3)(t.ones(4, 2), t.ones(1, 1, 3)), lambda t: t.nn.GRU(2, 3)(t.ones(4, 3, 2), t.ones(1, 3)),
    lambda t: t.nn.GRU(2, 3)(t.ones(4, 3, 2), t.ones(2, 3, 3)), lambda t: t.nn.GRU(2, 3)(t.ones(4, 3, 3)),
    lambda t: t.nn.GRU(2, 3)(t.ones(0, 3, 2)), lambda t: flat(t.nn.LSTM(2, 3)(t.ones(4, 0, 2))),
    lambda t: t.nn.RNN(2, 3)(t.ones(4, 3, 2, dtype=t.double)),
    lambda t: t.nn.RNN(2, 3)(t.ones(4, 3, 2), t.ones(1, 3, 3, dtype=t.double)),
    lambda t: t.nn.RNNCell(3, 4)(t.ones(2, 5)), lambda t: t.nn.RNNCell(3, 4)(t.ones(2, 3), t.ones(3, 4)),
    lambda t: t.nn.LSTMCell(3, 4)(t.ones(2, 3), (t.ones(2, 4), t.ones(2, 5))),
    lambda t: t.nn.LSTMCell(3, 4)(t.ones(2, 3), (t.ones(2, 4, 1), t.ones(2, 5))),
    lambda t: t.nn.RNNCell(3, 4, nonlinearity="x")(t.ones(2, 3)),
    lambda t: t.nn.RNNCell(3, 4)(t.ones(2, 3, dtype=t.double)),
    lambda t: t.rnn_tanh(t.ones(4, 3, 2), t.ones(1, 3, 3), t.nn.RNN(2, 3, 2)._flat_weights, True, 2, *PLAIN),
    lambda t: t.rnn_tanh(t.ones(4, 3, 2), t.ones(2, 3, 3), t.nn.RNN(2, 3)._flat_weights, True, 2, *PLAIN),
    lambda t: t.lstm(t.ones(4, 3, 2), [t.ones(1, 3, 3)], t.nn.LSTM(2, 3)._flat_weights, True, 1, *PLAIN),
    lambda t: repr(t.nn.LSTM(3, 4, 2, bias=False, batch_first=True, dropout=.5, bidirectional=True, proj_size=2)),
    lambda t: repr(t.nn.RNN(3, 4, nonlinearity="relu")) + repr(t.nn.RNNCell(3, 4, False, "relu")),
    lambda t: repr(t.nn.GRUCell(3, 4)),
    lambda t: list(t.nn.LSTM(3, 4, 2, proj_size=2, bidirectional=True).state_dict()),
    lambda t: pack(t)(grid(t), [1, 2, 3]), lambda t: pack(t)(grid(t), [3, 2, 0]), lambda t: pack(t)(grid(t), [3, 2]),
    lambda t: pack(t)(grid(t), t.tensor([1., 3, 2]), enforce_sorted=False),
    lambda t: pack(t)(grid(t), t.tensor([[3, 2, 1]])),
    lambda t: pack(t)(t.ones(0, 3), [1, 2, 3]),
    lambda t: tools(t).pad_packed_sequence(pack(t)(grid(t), [3, 2, 1]), total_length=2),
    lambda t: list(tools(t).pad_packed_sequence(pack(t)(grid(t), [3, 2, 1]), True, -1., 5)),
    lambda t: tools(t).pad_packed_sequence(pack(t)(grid(t), [3, 2, 1]), True)[0].stride(),
    lambda t: tools(t).pad_sequence([]), lambda t: tools(t).pad_sequence([t.ones(2, 3), t.ones(1, 2)]),
    lambda t: [tools(t).pad_sequence([t.ones(2), t.ones(1, dtype=t.double)], True, 7, "left")],
    lambda t: tools(t).pad_sequence([t.ones(2), 3]), lambda t: [tools(t).pad_sequence(t.ones(2, 3))],
    lambda t: tools(t).pad_sequence([t.ones(2)], padding_side="x"), lambda t: tools(t).PackedSequence(t.ones(3)),
    lambda t: tools(t).PackedSequence(t.ones(3), t.tensor([2, 1]), t.tensor([1, 0])).double(),
    lambda t: repr(tools(t).PackedSequence(t.ones(3), t.tensor([2, 1]), t.tensor([1, 0]))),
    lambda t: tools(t).unpack_sequence(tools(t).pack_sequence([t.ones(1), t.ones(3)], enforce_sorted=False)),
]


def tools(t):
    return t.nn.utils.rnn


def pack(t):
    return tools(t).pack_padded_sequence


def grid(t):
    return t.arange(24.).reshape(4, 3, 2)


@warns
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_program(number):
    compare(PROGRAMS[number], 1e-6)


@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
@pytest.mark.parametrize("kind", ("RNN", "LSTM", "GRU", "LSTMCell"))
def test_half_precision(kind, dtype):
    def program(t):
        d = getattr(t, dtype)
        x = t.ones(*((4, 2, 3) if kind != "LSTMCell" else (2, 3)), dtype=d)
        found = flat(getattr(t.nn, kind)(3, 5, dtype=d)(x))
        assert all(y.dtype == d for y in found)
        return [y.float() for y in found]
    compare(program, 2e-2)


@pytest.mark.parametrize("kind", ("RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell"))
@pytest.mark.parametrize("layers", (1, 2))
def test_empty_batch(kind, layers):
    """A batch of no sequences: outputs without rows, gradients of zeros."""
    def program(t):
        cell = kind.endswith("Cell")
        model = getattr(t.nn, kind)(3, 4, *([] if cell else [layers]))
        state = t.zeros(0, 4) if cell else t.zeros(layers, 0, 4)
        found = flat(model(t.ones(*(0, 3) if cell else (5, 0, 3)), (state, state) if "LSTM" in kind else state))
        return [*found, *t.autograd.grad(found[0].sum(), list(model.parameters()))]
    compare(program, 1e-6)
