"""Parametrizations: registering, chaining, caching, removing; weight_norm, spectral_norm, orthogonal;
the older norms."""
import copy
import pickle

import pytest

import tinytorch as torch
from tinytorch import nn
from tinytorch.nn.utils import parametrizations, parametrize


class Double(nn.Module):
    def forward(self, X):
        return X * 2

    def right_inverse(self, X):
        return X / 2


class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).T


def test_a_parametrized_weight_is_computed_and_trained():
    layer = nn.Linear(3, 3)
    weight = layer.weight
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert layer.parametrizations.weight.original is weight and type(layer).__name__ == "ParametrizedLinear"
    layer(torch.ones(1, 3)).sum().backward()
    assert weight.grad.tolist() == [[1, 2, 2], [0, 1, 2], [0, 0, 1]]
    assert torch.equal(layer.weight, layer.weight.T)
    with pytest.raises(RuntimeError, match="parametrization Symmetric does not implement right_inverse"):
        layer.weight = torch.ones(3, 3)


def test_chain_assign_and_remove():
    layer = nn.Linear(2, 2)
    before = layer.weight.detach().clone()
    for _ in range(2):
        parametrize.register_parametrization(layer, "weight", Double())
    assert torch.allclose(layer.weight, before * 2)        # the second has changed the value, the first has not
    layer.weight = torch.full((2, 2), 8.)
    assert layer.parametrizations.weight.original.tolist() == [[2, 2], [2, 2]]
    original = layer.parametrizations.weight.original
    parametrize.remove_parametrizations(layer, "weight")
    assert layer.weight is original and layer.weight.tolist() == [[8, 8], [8, 8]] and type(layer) is nn.Linear


def test_copies_and_pickles():
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Double())
    twin = copy.deepcopy(layer)
    twin.weight = torch.zeros(2, 2)
    assert twin.weight.sum() == 0 and layer.weight.abs().sum() > 0
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        pickle.dumps(layer)
    twin.load_state_dict(layer.state_dict())
    assert torch.equal(twin.weight, layer.weight)


def test_changes_of_shape_are_refused_unless_unsafe():
    class Row(nn.Module):
        def forward(self, X):
            return X[0]
    with pytest.raises(ValueError, match="may not change the shape"):
        parametrize.register_parametrization(nn.Linear(2, 2), "weight", Row())
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Row(), unsafe=True)
    assert layer.weight.shape == (2,)


def test_cached():
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Double())
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert layer.weight is not layer.weight


def test_weight_norm_and_the_older_one_agree():
    torch.manual_seed(0)
    old = nn.Linear(3, 2)
    new = parametrizations.weight_norm(copy.deepcopy(old))
    with pytest.warns(FutureWarning, match="weight_norm` is deprecated"):
        nn.utils.weight_norm(old)
    x = torch.randn(4, 3)
    assert torch.allclose(old(x), new(x))
    old.weight_g.data.mul_(2)
    new.load_state_dict(old.state_dict())
    assert torch.allclose(old(x), new(x))
    nn.utils.remove_weight_norm(old)
    assert sorted(name for name, _ in old.named_parameters()) == ["bias", "weight"] and torch.allclose(old(x), new(x))


@pytest.mark.parametrize("make", [parametrizations.spectral_norm, nn.utils.spectral_norm])
def test_spectral_norm(make):
    torch.manual_seed(0)
    layer = make(nn.Linear(4, 3))
    for _ in range(30):
        layer(torch.ones(1, 4))
    assert abs(torch.linalg.matrix_norm(layer.weight, 2).item() - 1) < 1e-3
    first, second = layer(torch.ones(1, 4)), layer(torch.zeros(1, 4))
    (first - second).sum().backward()          # each forward has vectors of its own
    layer.eval()
    assert torch.equal(layer(torch.ones(1, 4)), layer(torch.ones(1, 4)))


@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2)])
def test_orthogonal_stays_orthogonal(kind, shape):
    torch.manual_seed(0)
    layer = parametrizations.orthogonal(nn.Linear(*shape).double(), orthogonal_map=kind)
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        layer(torch.ones(1, shape[0], dtype=torch.float64)).pow(2).sum().backward()
        optimizer.step()
    W = layer.weight if shape[0] <= shape[1] else layer.weight.T
    assert torch.allclose(W.T @ W, torch.eye(min(shape), dtype=torch.float64), atol=1e-9)
