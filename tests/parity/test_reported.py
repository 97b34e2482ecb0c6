"""Calls that users reported, against torch: empty batches, operands that overlap, refusals, and what is warned of."""
import warnings

import numpy as np
import pytest
import torch

import tinytorch
from tinytorch import errors

OVERLAP = "some elements of the input tensor and the written-to tensor refer"


def told(f, t):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(f(t)).replace("tinytorch", "torch")
        except Exception as error:
            return type(error).__name__, str(error).replace("tinytorch", "torch")


def same(f):
    ours = told(f, tinytorch)
    assert ours == told(f, torch)
    return ours


LAYERS = {
    "Conv1d": (lambda n: n.Conv1d(2, 8, 2), (0, 2, 6)), "Conv2d": (lambda n: n.Conv2d(2, 8, 2), (0, 2, 6, 6)),
    "Conv3d": (lambda n: n.Conv3d(2, 8, 2), (0, 2, 4, 4, 4)), "Linear": (lambda n: n.Linear(3, 2), (0, 3)),
    "ConvTranspose2d": (lambda n: n.ConvTranspose2d(2, 8, 2), (0, 2, 6, 6)),
    "of nothing": (lambda n: n.Linear(0, 2), (4, 0)),
    "to nothing": (lambda n: n.Linear(3, 0), (4, 3)), "LayerNorm": (lambda n: n.LayerNorm(3), (0, 3)),
    "BatchNorm2d": (lambda n: n.BatchNorm2d(3).eval(), (0, 3, 2, 2)),
    "GroupNorm": (lambda n: n.GroupNorm(1, 3), (0, 3, 4)),
    "MaxPool2d": (lambda n: n.MaxPool2d(2), (0, 3, 4, 4)), "AvgPool2d": (lambda n: n.AvgPool2d(2), (0, 3, 4, 4)),
    "Upsample": (lambda n: n.Upsample(scale_factor=2), (0, 3, 4, 4)), "Softmax": (lambda n: n.Softmax(1), (3, 0)),
    "AdaptiveAvgPool2d": (lambda n: n.AdaptiveAvgPool2d(1), (0, 3, 4, 4)), "PReLU": (lambda n: n.PReLU(), (0, 3)),
    "Unfold": (lambda n: n.Unfold(2), (0, 3, 4, 4)), "GLU": (lambda n: n.GLU(), (0, 4)),
    "TransformerEncoderLayer": (lambda n: n.TransformerEncoderLayer(16, 4, dropout=0.0), (0, 10, 16)),
    "its sequences": (lambda n: n.TransformerEncoderLayer(16, 4, dropout=0.0), (10, 0, 16)),
    "batch first": (lambda n: n.TransformerEncoderLayer(16, 4, dropout=0.0, batch_first=True), (0, 10, 16)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_of_empty_batches(name):
    make, shape = LAYERS[name]

    def run(t):
        module, x = make(t.nn), t.ones(shape, requires_grad=True)
        y = module(x)
        y.sum().backward()
        grads = [p.grad is not None and (tuple(p.grad.shape), float(p.grad.abs().sum())) for p in module.parameters()]
        return tuple(y.shape), tuple(x.grad.shape), grads
    same(run)


def looked_up(t, rows, size, count):
    layer = t.nn.Embedding(rows, size, sparse=True)
    layer(t.zeros(count, dtype=t.long)).sum().backward()
    return layer.weight.grad.to_dense().sum(), tuple(layer.weight.grad.shape)


EMPTY = {
    "probabilities of no classes": lambda t: t.nn.functional.cross_entropy(t.ones(2, 0), t.ones(2, 0)),
    "no classes": lambda t: t.nn.functional.cross_entropy(t.ones(2, 0), t.tensor([0, 0])),
    "no rows": lambda t: t.nn.functional.cross_entropy(t.ones(0, 3), t.zeros(0, dtype=t.long)),
    "no table": lambda t: looked_up(t, 0, 0, 0), "nothing looked up": lambda t: looked_up(t, 4, 3, 0),
    "no sequences": lambda t: t.nn.functional.ctc_loss(
        t.ones(5, 0, 3), t.zeros(0, 2, dtype=t.long), t.zeros(0, dtype=t.long), t.zeros(0, dtype=t.long)),
    "a Transformer": lambda t: t.nn.Transformer(4, 2, 1, 1, 8)(t.ones(3, 0, 4), t.ones(2, 0, 4)).shape,
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty(name):
    same(EMPTY[name])


INDEXED = {
    "index_add_": lambda x, i, s: x.index_add_(0, i, s), "index_copy_": lambda x, i, s: x.index_copy_(0, i, s),
    "scatter_": lambda x, i, s: x.scatter_(0, i, s), "scatter_add_": lambda x, i, s: x.scatter_add_(0, i, s),
    "put_": lambda x, i, s: x.put_(i, s), "index_fill_": lambda x, i, s: x.index_fill_(0, i, 1)}


@pytest.mark.parametrize("name", INDEXED)
def test_indexed_writes_of_what_they_read(name):
    """Nothing is written then."""
    write = INDEXED[name]
    if name != "index_fill_":
        for t in (torch, tinytorch):
            for source in (lambda x: x, lambda x: x[1:3]):
                x = t.arange(4.0)
                with pytest.raises(RuntimeError, match=OVERLAP):
                    write(x, t.arange(len(source(x))), source(x))
                assert x.tolist() == [0, 1, 2, 3]
    if name not in ("index_copy_", "put_"):
        for t in (torch, tinytorch):
            x = t.arange(4)
            with pytest.raises(RuntimeError, match=OVERLAP):
                write(x, x, t.ones(4, dtype=t.long))
            assert x.tolist() == [0, 1, 2, 3]
    same(lambda t: write(t.arange(4.0), t.arange(4), t.ones(4)))


def flat(t):
    return t.zeros(1).expand(3)


REFUSED = {
    "sum of another dtype": lambda t: t.sum(t.ones(3), dim=0, out=t.empty(()), dtype=t.float64),
    "sum of its dtype": lambda t: t.sum(t.ones(3), dim=0, out=t.empty((), dtype=t.float64), dtype=t.float64),
    "arange": lambda t: t.arange(3, out=t.zeros(1, dtype=t.long).expand(3)),
    "linspace": lambda t: t.linspace(0, 1, 3, out=flat(t)), "logspace": lambda t: t.logspace(0, 1, 3, out=flat(t)),
    "spacing": lambda t: t.trapezoid(t.ones(3), dx=1j), "spacings": lambda t: t.cumulative_trapezoid(t.ones(3), dx=1j),
    "pivots": lambda t: t.linalg.lu_solve(t.eye(2), t.tensor([0, 0], dtype=t.int32), t.ones(2, 1)),
    "memory of an array": lambda t: t.from_numpy(np.zeros(2)).resize_(5),
    "a part of it": lambda t: t.from_numpy(np.zeros(4))[:2].resize_(5),
    "as many": lambda t: t.from_numpy(np.zeros(4))[:2].resize_(4),
    "a buffer": lambda t: t.frombuffer(bytearray(16), dtype=t.float32).resize_(5),
    "shrunk": lambda t: t.from_numpy(np.zeros(4)).resize_(2)}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    same(REFUSED[name])


NUMBERS = {
    "hardshrink": lambda t: t.nn.functional.hardshrink(t.tensor([1.0, float("inf")]), float("inf")),
    "NaN": lambda t: t.nn.functional.hardshrink(t.tensor([float("nan"), -0.1, -3.0])),
    "log1p": lambda t: [abs(z) < 1 and round(abs(z) * 1e25) for z in t.log1p(t.tensor([1e-20 + 1e-20j])).tolist()],
    "arange of doubles": lambda t: t.arange(t.tensor(3.0, dtype=t.float64)).dtype,
    "arange of halves": lambda t: t.arange(t.tensor(3.0, dtype=t.float16)).dtype,
    "arange of ints": lambda t: t.arange(t.tensor(3)).dtype,
    "a gradient of out": lambda t: t.empty(2, out=t.ones(2), requires_grad=True).requires_grad,
    "NumPy's numbers": lambda t: t.arange(5.0)[[np.int8(1), np.int16(3)]],
    "sizes as tensors": lambda t: t.nn.functional.interpolate(t.ones(1, 1, 2, 2), [t.tensor(6), t.tensor(5)]).shape,
    "data of what is not there": lambda t: t.nn.LazyLinear(2).weight.data.normal_(0, 0.01).shape,
    "its state": lambda t: type(t.nn.LazyLinear(2).state_dict()["weight"]).__name__,
    "one length": lambda t: (lambda p: (p.materialize(3), p.shape))(t.nn.parameter.UninitializedParameter()),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name):
    same(NUMBERS[name])


def test_detaching_what_is_not_there():
    for t in (torch, tinytorch):
        with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter"):
            t.nn.LazyLinear(3).weight.detach()


WARNED = {
    "meshgrid": lambda t: t.meshgrid(t.ones(2), t.ones(3)),
    "searchsorted": lambda t: t.searchsorted(t.arange(8.0).view(2, 4).t().contiguous().t(), t.ones(2, 2)),
    "values": lambda t: t.searchsorted(t.arange(4.0), t.ones(2, 2).t()),
    "a list of arrays": lambda t: t.tensor([np.zeros(2), np.ones(2)]),
    "a list as an index": lambda t: t.ones(3, 3)[[slice(0, 1), 1]],
    "a list as a place": lambda t: t.ones(3, 3).__setitem__([slice(0, 1), 1], 2)}


@pytest.mark.parametrize("name", WARNED)
def test_warned(name):
    """In torch's words, and, but for indices, once in a process."""
    found = []
    errors._warned.clear()
    for t in (torch, tinytorch):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            WARNED[name](t)
            WARNED[name](t)
        found.append({(w.category, str(w.message).partition(" (Triggered")[0]) for w in caught})
        assert len(caught) <= (2 if "list as" in name else 1) and all("tinytorch" not in w.filename for w in caught)
    assert found[1] and found[1] >= found[0]   # torch may have told it in this process before


def _view_without_gradients(t):
    x = t.ones(4, requires_grad=True).clone()
    with t.no_grad():
        view = x[:2]
        view.mul_(2)
    return view, x


def _custom_without_result(t):
    def fill(x) -> None:
        x.fill_(3)
    fill.__annotations__["x"] = t.Tensor
    x = t.ones(2)
    return t.library.custom_op(f"{t.__name__}_fills::fill", fill, mutates_args=("x",))(x), x


def test_shown_and_without_result():
    same(_view_without_gradients)
    same(_custom_without_result)


SIZES = {
    "tensors": lambda t: t.Size([t.tensor(8), t.tensor([3]), t.tensor(True)]), "bool": lambda t: t.Size([True]),
    "float": lambda t: t.Size([1, 1.5]), "a tensor of a float": lambda t: t.Size([t.tensor(1.5)]),
    "a vector": lambda t: t.Size([t.arange(2)]), "text": lambda t: t.Size("ab"), "none": lambda t: t.Size([None]),
    "numpy": lambda t: t.Size([np.int64(3)]), "a bool of numpy": lambda t: t.Size([np.bool_(True)]),
    "a number": lambda t: t.Size(5), "nothing": lambda t: t.Size(), "range": lambda t: t.Size(range(3)),
    "plus": lambda t: t.Size([1]) + (True,), "plus a list": lambda t: t.Size([1]) + [3],
    "before": lambda t: (1,) + t.Size([2]), "times": lambda t: (t.Size([1]) * 2, 2 * t.Size([1])),
    "counts": lambda t: t.zeros(t.Size(list(t.ones(2, 3).count_nonzero(0)))).shape}


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name):
    same(SIZES[name])


def _running_gradient(t):
    x = t.zeros(1, dtype=t.float64, requires_grad=True)
    found, = t.autograd.grad(t.cumsum(x, 0)[0::7].sum(), x)
    return found.stride(), found[1::7].sum()


def test_of_one_element():
    same(_running_gradient)
    same(lambda t: t.log1p(t.tensor(0.25 + 0j)) * 1)
