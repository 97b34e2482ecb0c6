"""Embeddings and one_hot against torch."""
import itertools

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import same_outcome

pytestmark = pytest.mark.filterwarnings("ignore")
TABLE = np.random.default_rng(0).normal(size=(6, 3))
INDEX = np.array([[1, 3, 3], [0, 1, 5]])


@pytest.mark.parametrize("options", [{}, {"padding_idx": 1}, {"padding_idx": -1}, {"scale_grad_by_freq": True},
                                     {"max_norm": 1.0}, {"max_norm": 1.5, "norm_type": 1.0}])
@pytest.mark.parametrize("index", [INDEX, np.array(2), INDEX.astype(np.int32), np.zeros((0, 2), np.int64)])
def test_lookup(options, index):
    found = []
    for m in (tinytorch, torch):
        table = m.tensor(TABLE, requires_grad=True)
        y = m.nn.functional.embedding(m.tensor(index), table, **options)
        weight = m.tensor(np.arange(y.numel()).reshape(y.shape) * 0.1, requires_grad=True)
        g, = m.autograd.grad((y * weight).sum(), table, create_graph=True)
        second = m.autograd.grad((g * g).sum() + weight.sum(), weight) if index.size else ()
        found.append([t.detach().numpy() for t in (y, g, table, *second)])
    for ours, theirs in zip(*found, strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, 1e-9, 1e-12)


@pytest.mark.parametrize("kind", ["float32", "bfloat16", "float64"])
@pytest.mark.parametrize("norm", [None, 1.0])
def test_no_rows_are_looked_up(norm, kind):
    same_outcome(lambda t: t.nn.functional.embedding(t.tensor([], dtype=t.int64), t.ones(3, 2, dtype=getattr(t, kind)),
                                                     max_norm=norm))


@pytest.mark.parametrize("index", [[0], [-1], [[1, 5]], 7])
@pytest.mark.parametrize("sizes", [(0, 2), (0, 0), (3, 0)])
def test_weights_without_elements(sizes, index):
    same_outcome(lambda t: t.nn.functional.embedding(t.tensor(index), t.ones(sizes)))


@pytest.mark.parametrize("requires_grad", [True, False])
@pytest.mark.parametrize("sizes", [(), (2,), (2, 3, 1)])
def test_the_weight_is_a_matrix(sizes, requires_grad):
    same_outcome(lambda t: t.nn.functional.embedding(t.tensor([0]), t.ones(sizes, requires_grad=requires_grad)))


@pytest.mark.parametrize("rows,words,width", [(50, 40, 3), (50, 40, 4), (50, 120, 4), (5, 120, 4), (50, 40, 0)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("padding_idx", [None, 3])
def test_gradient_is_added_up_in_the_same_order(rows, words, width, dtype, padding_idx):
    rng = np.random.default_rng(0)
    values, index = rng.normal(size=(words, width)), rng.integers(0, rows, words)
    index[:3] = 3
    found = []
    for m in (tinytorch, torch):
        table = m.zeros(rows, width, dtype=getattr(m, dtype), requires_grad=True)
        y = m.nn.functional.embedding(m.tensor(index), table, padding_idx)
        y.backward(m.tensor(values).to(table.dtype))
        found.append(table.grad.double().numpy())
    if dtype in ("float32", "float64"):
        np.testing.assert_array_equal(*found)
    else:                                      # torch rounds after each of up to 30 additions
        np.testing.assert_allclose(*found, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("mode, options", [
    *itertools.product(["sum", "mean", "max"], [{}, {"padding_idx": 1}, {"include_last_offset": True}]),
    ("sum", {"weights": True})])
@pytest.mark.parametrize("flat", [True, False])
def test_bag(mode, options, flat):
    options = dict(options)
    weighted = options.pop("weights", False)
    found = []
    for m in (tinytorch, torch):
        table = m.tensor(TABLE, requires_grad=True)
        index = m.tensor(INDEX.reshape(-1) if flat else INDEX)
        inputs = [table]
        if flat:
            options["offsets"] = m.tensor([0, 2, 2, 6])
        if weighted:
            inputs.append(m.tensor(np.linspace(0.1, 1, 6).reshape(index.shape), requires_grad=True))
            options["per_sample_weights"] = inputs[1]
        y = m.nn.functional.embedding_bag(index, table, mode=mode, **options)
        grads = m.autograd.grad((y * y).sum(), inputs)
        found.append([t.detach().numpy() for t in (y, *grads)])
    for ours, theirs in zip(*found, strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, 1e-9, 1e-12)


@pytest.mark.parametrize("build", [
    lambda nn: nn.Embedding(6, 3), lambda nn: nn.Embedding(6, 3, padding_idx=-2, max_norm=1.0),
    lambda nn: nn.EmbeddingBag(6, 3), lambda nn: nn.EmbeddingBag(6, 3, mode="sum", padding_idx=1)])
def test_module(build):
    found = []
    for m in (tinytorch, torch):
        m.manual_seed(1)
        module = build(m.nn)
        found.append((repr(module), module.weight.detach().numpy().copy(), module(m.tensor(INDEX)).detach().numpy()))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1], found[1][1], 1e-6)
    np.testing.assert_allclose(found[0][2], found[1][2], 1e-5)


def test_one_hot():
    for classes in (-1, 7):
        assert np.array_equal(*(m.nn.functional.one_hot(m.tensor(INDEX), classes).numpy() for m in (tinytorch, torch)))


@pytest.mark.parametrize("f", [
    lambda m, f, x: f.embedding(m.tensor([5]), x), lambda m, f, x: f.embedding(m.tensor([-1]), x),
    lambda m, f, x: f.embedding(m.tensor([0.5]), x), lambda m, f, x: f.embedding(m.tensor([1]), x, padding_idx=7),
    lambda m, f, x: f.embedding(m.tensor([1]), x[0]), lambda m, f, x: f.embedding(m.tensor([True]), x),
    lambda m, f, x: f.embedding_bag(m.tensor([1, 2]), x),
    lambda m, f, x: f.embedding_bag(m.tensor([1, 2]), x, m.tensor([0]), mode="foo"),
    lambda m, f, x: f.one_hot(m.tensor([0, -1])), lambda m, f, x: f.one_hot(m.tensor([0, 3]), 2),
    lambda m, f, x: f.one_hot(m.tensor([0.0])), lambda m, f, x: f.one_hot(m.zeros(0).long()),
    lambda m, f, x: m.nn.Embedding.from_pretrained(x[0]), lambda m, f, x: m.nn.Embedding(3, 2, padding_idx=3)])
def test_errors(f):
    with pytest.raises(Exception) as theirs:
        f(torch, torch.nn.functional, torch.ones(3, 4))
    with pytest.raises(theirs.type) as ours:
        f(tinytorch, tinytorch.nn.functional, tinytorch.ones(3, 4))
    assert str(ours.value).split("\n")[0] == str(theirs.value).split("\n")[0]


def test_rows_are_shortened_to_torchs_bits():
    weight = np.random.default_rng(0).standard_normal((300, 77)).astype(np.float32)
    found = [t.embedding_renorm_(t.from_numpy(weight.copy()), t.arange(200), 1.0, 2.0).numpy()
             for t in (torch, tinytorch)]
    np.testing.assert_array_equal(*found)
