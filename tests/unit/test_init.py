"""torch.nn.init: what each initialiser guarantees, its arguments and its errors."""
import math
import warnings

import pytest

import tinytorch as torch
from tinytorch.nn import init


def test_fills_in_place_and_returns_the_tensor():
    for fill in (init.uniform_, init.normal_, init.ones_, init.zeros_, init.eye_, init.xavier_uniform_,
                 init.xavier_normal_,
                 init.kaiming_uniform_, init.kaiming_normal_, init.orthogonal_, init.trunc_normal_):
        w = torch.empty(4, 6, requires_grad=True)
        assert fill(w) is w and w.is_leaf and w.requires_grad and w._version >= 1
        assert torch.isfinite(w).all()


def test_bounds():
    w = torch.empty(50, 40)
    assert init.kaiming_uniform_(w, a=math.sqrt(5)).abs().max() <= 1 / math.sqrt(40)
    assert init.xavier_uniform_(w, gain=2).abs().max() <= 2 * math.sqrt(6 / 90)
    init.trunc_normal_(w, std=3, a=-1, b=2)
    assert w.min() >= -1 and w.max() <= 2
    init.trunc_normal_(w, a=2, b=2.5)
    assert w.min() >= 2 and w.max() <= 2.5


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 2, 3)])
def test_orthogonal(shape):
    w = init.orthogonal_(torch.empty(shape, dtype=torch.float64), gain=2).reshape(shape[0], -1)
    product = w @ w.t() if w.shape[0] <= w.shape[1] else w.t() @ w
    assert torch.allclose(product, 4 * torch.eye(len(product), dtype=torch.float64))


def test_sparse_zeroes_a_fraction_of_each_column():
    w = init.sparse_(torch.empty(10, 7), 0.25)
    assert (w == 0).sum(0).tolist() == [3] * 7


def test_dirac_hands_channels_on():
    w = init.dirac_(torch.empty(4, 2, 3), groups=2)
    assert w.nonzero().tolist() == [[0, 0, 1], [1, 1, 1], [2, 0, 1], [3, 1, 1]]


def test_generator():
    a = init.normal_(torch.empty(20), generator=torch.Generator().manual_seed(1))
    assert a.tolist() == torch.randn(20, generator=torch.Generator().manual_seed(1)).tolist()


@pytest.mark.parametrize("call, message", [
    (lambda: init.kaiming_uniform_(torch.empty(3)), "fewer than 2 dimensions"),
    (lambda: init.kaiming_normal_(torch.empty(3, 2), mode="fan"), "Mode fan not supported"),
    (lambda: init.eye_(torch.empty(3)), "Only tensors with 2 dimensions"),
    (lambda: init.dirac_(torch.empty(3, 3)), "3, 4, or 5 dimensions"),
    (lambda: init.dirac_(torch.empty(3, 3, 3), 2), "divisible by groups"),
    (lambda: init.orthogonal_(torch.empty(3)), "2 or more dimensions"),
    (lambda: init.sparse_(torch.empty(3), 0.1), "Only tensors with 2 dimensions"),
    (lambda: init.calculate_gain("foo"), "Unsupported nonlinearity foo"),
    (lambda: init.calculate_gain("leaky_relu", "a"), "not a valid number")])
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_warnings():
    with pytest.warns(FutureWarning, match="`nn.init.uniform` is now deprecated in favor of `nn.init.uniform_`"):
        init.uniform(torch.empty(2))
    with pytest.warns(UserWarning, match="zero-element"):
        init.kaiming_uniform_(torch.empty(0, 2))
    with pytest.warns(UserWarning, match="mean is more than 2 std"):
        init.trunc_normal_(torch.empty(3), mean=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        init.xavier_uniform_(torch.empty(0, 2))
