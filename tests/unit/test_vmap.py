"""vmap: the arrays that hold a batch, what passes through them, and what it costs where it is not used."""
import subprocess
import sys
import warnings

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.func import batch_rules, dispatch  # noqa: F401  makes Batched whole
from tinytorch.func.batched import Batched, NotBatchable, level_of


@pytest.fixture
def both():
    """A batch of two samples, and them."""
    physical = np.arange(12.0).reshape(2, 2, 3)
    return Batched(physical, 1), list(physical)


def samples(x):
    return list(x.physical)


@pytest.mark.parametrize("function", [
    lambda x: x + 1, lambda x: np.exp(x), lambda x: x * x[0], lambda x: x[:, None] - x[1],
    lambda x: np.add.reduce(x, 0), lambda x: x.sum(), lambda x: np.max(x, axis=-1, keepdims=True), lambda x: x.T,
    lambda x: x.reshape(-1),
    lambda x: x.swapaxes(0, 1), lambda x: x[..., ::-1], lambda x: x[np.array([1, 0, 1])], lambda x: x[:, [2, 0]],
    lambda x: x[[0, 1], :, None], lambda x: np.where(x > 3, x, 0), lambda x: np.concatenate([x, np.ones((1, 3))]),
    lambda x: np.stack([x, x], -1), lambda x: np.matmul(x, np.ones((3, 2))), lambda x: np.matmul(np.ones(2), x),
    lambda x: x.dot(x[0]), lambda x: np.sort(-x, 0), lambda x: np.cumsum(x, 1), lambda x: np.take_along_axis(
        x, np.argsort(-x, 1), 1), lambda x: np.flip(x, 0), lambda x: np.pad(x, 1), lambda x: np.moveaxis(x, 0, 1),
    lambda x: np.broadcast_to(x, (4, 2, 3)), lambda x: np.einsum("ij,kj->ik", x, x), lambda x: np.repeat(x, 2, 0),
    lambda x: np.tile(x, (2, 1)), lambda x: np.diff(x), lambda x: np.argmax(x), lambda x: x.astype(int),
    lambda x: np.linalg.inv(x[:, :2] + np.eye(2)), lambda x: np.maximum.accumulate(x, 1), lambda x: np.roll(x, 1, 0)])
def test_a_batch_does_to_each_sample_what_an_array_does(function, both):
    batch, arrays = both
    result = function(batch)
    assert type(result) is Batched
    for mine, x in zip(samples(result), arrays, strict=True):
        np.testing.assert_array_equal(mine, function(x))


def test_what_the_samples_do_not_share_is_not_looked_at(both):
    batch, _ = both
    for look in (np.asarray, bool, int, float, lambda x: np.ones((2, 3)) + x.item(), lambda x: np.unique(x)):
        with pytest.raises(NotBatchable):
            look(batch)
    with pytest.raises(NotBatchable):
        np.ones((2, 3))[...] = batch
    assert bool((batch >= 0).all()) and not bool((batch < 0).any())      # in which they agree


def test_batches_of_batches():
    inner = Batched(Batched(np.arange(24.0).reshape(2, 3, 4), 1), 2)
    assert inner.shape == (4,) and level_of(inner) == 2
    result = inner * Batched(np.array([10.0, 100.0]), 1) + Batched(np.arange(3.0), 2)
    expected = np.arange(24.0).reshape(2, 3, 4) * np.array([10, 100])[:, None, None] + np.arange(3)[:, None]
    np.testing.assert_array_equal(result.physical.physical, expected)


def test_writes_arrive_in_the_batch(both):
    batch, _ = both
    batch[0] += 100
    batch[:, 1] = Batched(np.array([7.0, 8.0]), 1)
    assert batch.physical[:, 0, 0].tolist() == [100, 106] and batch.physical[:, :, 1].tolist() == [[7, 7], [8, 8]]


def test_a_view_inside_is_one_of_the_memory_outside():
    x = torch.zeros(3, 2)
    torch.vmap(lambda row: row[1:].fill_(5.0))(x)
    assert x.tolist() == [[0, 5], [0, 5], [0, 5]]


def test_an_operation_without_a_rule_goes_through_the_samples():
    x = torch.arange(12.0).reshape(4, 3)
    with pytest.warns(UserWarning, match="have not yet implemented the batching rule for aten::histc"):
        y = torch.vmap(lambda row: torch.histc(row, 3, 0, 12))(x)
    assert y.tolist() == [torch.histc(row, 3, 0, 12).tolist() for row in x]
    with pytest.warns(UserWarning, match="have not yet implemented the batching rule for aten::put"):
        y = torch.vmap(lambda row, place: row.put(place, torch.zeros(1)))(x, torch.tensor([[0], [1], [2], [0]]))
    assert y[:3].trace() == 0 and y.count_nonzero() == 8


def test_a_rule_is_not_needed_twice():
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(),
                                torch.nn.Linear(8, 3))
    parameters = dict(model.named_parameters())

    def loss(p, x, y):
        return torch.nn.functional.cross_entropy(torch.func.functional_call(model, p, (x[None],)), y[None])
    x, y = torch.randn(5, 1, 6, 6), torch.arange(5) % 3
    found = torch.vmap(torch.func.grad(loss), (None, 0, 0))({k: v.detach() for k, v in parameters.items()}, x, y)
    for k in range(5):
        expected = torch.autograd.grad(loss(parameters, x[k], y[k]), list(parameters.values()))
        for mine, other in zip(found.values(), expected, strict=True):
            assert torch.allclose(mine[k], other, atol=1e-6)


def test_gradients_reach_what_the_function_captures():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    torch.vmap(lambda x: (x * w).sum())(torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert w.grad.tolist() == [4, 6]


def test_a_backward_cannot_be_repeated():
    w = torch.ones(2, requires_grad=True)
    y = torch.vmap(lambda x: (x * w * w).sum())(torch.ones(3, 2)).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_a_write_to_what_backward_needs_is_noticed():
    w = torch.ones(2, requires_grad=True)
    x = torch.ones(3, 2)
    y = torch.vmap(lambda x: (x * w).sum())(x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_programs_without_vmap_load_none_of_its_rules():
    program = ("import sys, tinytorch as torch; from tinytorch.func import dispatch; torch.ones(2).sin();"
               "assert not dispatch._Installed.ops and 'tinytorch.func.batch_rules' not in sys.modules;"
               "torch.vmap(torch.sin)(torch.ones(2));"
               "assert dispatch._Installed.ops and 'tinytorch.func.batch_rules' in sys.modules")
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize("kind, options", [("RNN", {"nonlinearity": "relu", "batch_first": True}), ("GRU", {}),
                                           ("LSTM", {"proj_size": 3, "bidirectional": True})])
@pytest.mark.parametrize("features", [3, 7])
def test_gradients_of_recurrent_layers_for_each_sample(kind, options, features):
    model = getattr(torch.nn, kind)(features, 5, **options)
    shared = {name: p.detach() for name, p in model.named_parameters()}
    own = {name: torch.stack([p, p * 0.5]) for name, p in shared.items()}
    x = torch.randn(2, 4, 3, features)

    def loss(parameters, x):
        return (torch.func.functional_call(model, parameters, (x,))[0] ** 2).sum()
    gradients = torch.func.grad(loss, (0, 1))
    for parameters, dim in ((shared, None), (own, 0)):
        found = torch.vmap(gradients, (dim, 0))(parameters, x)
        for i in range(2):
            expected = gradients(parameters if dim is None else {k: p[i] for k, p in parameters.items()}, x[i])
            assert torch.allclose(found[1][i], expected[1], atol=1e-5)
            for name, g in expected[0].items():
                assert torch.allclose(found[0][name][i], g, atol=1e-5), name


def test_batches_of_batches_are_not_gone_through():
    x = torch.randn(2, 3, 1, 4, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = torch.vmap(torch.vmap(lambda x: torch.nn.functional.group_norm(x, 2).cummax(2)[0]))(x)
        rows = torch.vmap(torch.vmap(lambda a, b: a * b, (None, 0)), (0, None))(x, x)
    assert torch.allclose(found, torch.nn.functional.group_norm(x.reshape(6, 4, 6), 2).cummax(2)[0].reshape(x.shape))
    assert torch.equal(rows, x[:, None] * x)


def test_rows_by_an_index_that_all_samples_share():
    x, index = torch.arange(12.0).reshape(2, 6), torch.tensor([1, 3])
    assert torch.vmap(lambda row: row.index_select(0, index))(x).tolist() == [[1, 3], [7, 9]]
    table = torch.arange(4.0)
    assert torch.vmap(lambda i: table[i])(torch.tensor([[1, 3], [0, 0]])).tolist() == [[1, 3], [0, 0]]


@pytest.mark.parametrize("function", [
    lambda x: torch.sort(x, 0)[0], lambda x: torch.topk(x, 2, 0)[0], lambda x: torch.cummax(x, 0)[0],
    lambda x: torch.kthvalue(x, 2, 0)[0], lambda x: torch.median(x, 0)[0], lambda x: torch.roll(x, 1),
    lambda x: torch.nn.functional.group_norm(x, 1), lambda x: torch.nn.functional.layer_norm(x, (2,)),
    lambda x: torch.nn.functional.batch_norm(x, None, None, training=True), lambda x: torch.prod(x),
    lambda x: torch.softmax(x, 0), lambda x: torch.linalg.det(x.mT @ x)])
def test_second_derivatives_are_those_of_each_sample(function):
    def value(x):
        y = function(x * x)
        return (y * torch.arange(1., y.numel() + 1).reshape(y.shape)).sum()
    warnings.simplefilter("ignore")            # of what goes through the samples one by one
    samples = torch.tensor([[[1., 2.], [3., 2.5], [.5, 4.]], [[2., 1.5], [1., 3.], [4., .5]]])
    for derivative in (lambda x: torch.func.jvp(value, (x,), (x + 1,))[1],
                       lambda x: torch.func.jvp(torch.func.grad(value), (x,), (x + 1,))[1],
                       lambda x: torch.func.grad(lambda y: torch.func.jvp(value, (y,), (y.detach() + 1,))[1])(x),
                       torch.func.hessian(value)):
        expected = torch.stack([derivative(x) for x in samples])
        assert expected.abs().max() > 0
        assert torch.allclose(torch.vmap(derivative)(samples), expected, rtol=1e-3, atol=1e-3)


def test_operations_that_are_loaded_after_the_first_vmap_take_batches():
    """torch.special's are: they were computed sample by sample then."""
    program = ("import warnings; warnings.simplefilter('error'); import tinytorch as torch; x = torch.rand(3, 4);"
               "torch.vmap(torch.sin)(x);"
               "print(torch.equal(torch.vmap(torch.special.ndtri)(x), torch.special.ndtri(x)),"
               "torch.equal(torch.vmap(torch.special.bessel_j0)(x), torch.special.bessel_j0(x)))")
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True
                          ).stdout.split() == ["True", "True"]


def test_an_error_in_a_rule_is_an_error(monkeypatch):
    """It is not taken for a reason to go through the samples one by one."""
    def fails(*args):
        raise KeyError("a mistake")
    x = torch.rand(3, 4)
    torch.vmap(torch.sin)(x)
    monkeypatch.setattr(torch.sin.op, "batched", dispatch.forward_of(fails))
    with pytest.raises(KeyError, match="a mistake"):
        torch.vmap(torch.sin)(x)


def test_a_sample_without_dimensions_is_added_to_a_vector():
    """As one of one element is. Its derivative is that of its own sample."""
    x, place = torch.tensor([[1., 2., 3.], [4., 5., 6.]]), torch.tensor([0])

    def f(x):
        return torch.index_add(x, 0, place, x[1])
    assert torch.vmap(f)(x).tolist() == [[3, 2, 3], [9, 5, 6]]
    assert torch.vmap(torch.func.grad(lambda x: f(x).sum()))(x).tolist() == [[1, 2, 1], [1, 2, 1]]
    with pytest.raises(RuntimeError, match="source tensor shape must match"):
        f(x[0])
