"""Packed sequences whose batch sizes do not fit their rows: torch's result or its kind of error, before anything is
read. Sizes for which torch ends the process are left out here, and refused in tests/unit/test_rnn.py."""
import pytest

from .adapter import same_outcome

#: (rows of data, batch sizes)
SIZES = {
    "too many": (10, [5] * 40), "nobody first": (10, [0, 10]), "more than before": (10, [2, 8]),
    "beyond": (10, [5, 50]), "fewer than none": (10, [5, -3, 8]), "rows left over": (10, [5, 4]),
    "none at all": (10, []), "ends with nobody": (10, [5, 5, 0]), "nobody in between": (10, [5, 0, 5]),
    "begins below": (10, [-5, 15]), "rises": (9, [3, 4, 2]), "one too many": (10, [6, 5]),
    "one step of some": (3, [2]), "one sequence, then five": (10, [1, 5]), "nobody": (0, [0]), "a number": (10, 5),
    "a matrix": (10, [[5, 5]]), "steps of one size": (10, [2, 2, 2]),
}


@pytest.mark.parametrize("options", ({}, {"bidirectional": True}, {"num_layers": 2, "bidirectional": True},
                                     {"bias": False}), ids=str)
@pytest.mark.parametrize("kind", ("RNN", "LSTM", "GRU"))
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("dtype", ("float32", "float64"))
def test_layers(kind, options, sizes, dtype):
    count, batch_sizes = SIZES[sizes]

    def program(t):
        t.manual_seed(0)
        layer = getattr(t.nn, kind)(8, 6, dtype=getattr(t, dtype), **options)
        x = t.randn(count, 8, dtype=getattr(t, dtype), requires_grad=True)
        out, h = layer(t.nn.utils.rnn.PackedSequence(x, t.tensor(batch_sizes, dtype=t.int64)))
        h = h[0] if isinstance(h, tuple) else h
        grads = t.autograd.grad((out.data * out.data).sum() + h.sum(), [x, *layer.parameters()], allow_unused=True)
        return out.data, out.batch_sizes, h, *grads
    same_outcome(program, cut=lambda text: "")


@pytest.mark.parametrize("total", (None, 1, -3, 5))
@pytest.mark.parametrize("sizes", [name for name in SIZES if name not in (
    "fewer than none", "nobody in between", "a matrix", "a number")])
def test_padding(sizes, total):
    count, batch_sizes = SIZES[sizes]
    same_outcome(lambda t: t.nn.utils.rnn.pad_packed_sequence(t.nn.utils.rnn.PackedSequence(
        t.arange(2. * count).reshape(count, 2), t.tensor(batch_sizes, dtype=t.int64)), total_length=total),
        cut=lambda text: "")
