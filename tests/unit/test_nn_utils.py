"""torch.nn.utils: gradient clipping, parameters as vectors."""
import pytest

import tinytorch as torch
from tinytorch.nn import utils


def with_grad(*values):
    p = torch.zeros(len(values), requires_grad=True)
    p.grad = torch.tensor(values)
    return p


@pytest.mark.parametrize("norm_type, norm", [(2, 5.), (1, 7.), (float("inf"), 4.), ("inf", 4.)])
def test_clip_grad_norm(norm_type, norm):
    a, b, without = with_grad(3.), with_grad(0., -4.), torch.zeros(1, requires_grad=True)
    assert utils.clip_grad_norm_([a, b, without], norm / 2, norm_type).item() == pytest.approx(norm)
    assert a.grad.tolist() == pytest.approx([1.5], rel=1e-5) and b.grad.tolist() == pytest.approx([0., -2.], rel=1e-5)
    assert without.grad is None


def test_small_gradients_are_left_alone():
    a = with_grad(3., 4.)
    utils.clip_grad_norm_(a, 10.)
    assert a.grad.tolist() == [3., 4.]


def test_nonfinite_norm():
    a = with_grad(float("nan"), 1.)
    with pytest.raises(RuntimeError, match="The total norm of order 2.0 for gradients from `parameters` is non-finite"):
        utils.clip_grad_norm_(a, 1., error_if_nonfinite=True)
    assert utils.clip_grad_norm_(a, 1.).isnan()


def told(call):
    with pytest.raises(RuntimeError, match="^The total norm of order 2.0 for gradients from `parameters` is non-") as e:
        call()
    return str(e.value).splitlines()[1:]


def test_what_is_not_finite_is_named():
    nan, inf = float("nan"), float("inf")
    ps = [with_grad(1., 2.), torch.zeros(1, requires_grad=True), with_grad(nan, inf, -3.), with_grad(-inf)]
    lines = ["Not finite are 2 of 3 gradients:",
             "  parameter 2: torch.float32 [3], finite values from -3 to -3, 1 NaN, 1 Inf",
             "  parameter 3: torch.float32 [1], none finite, 1 Inf"]
    assert told(lambda: utils.clip_grad_norm_(ps, 1., error_if_nonfinite=True)) == lines
    named = list(zip("abcd", ps))
    lines[1:] = [lines[1].replace("2:", "2 (c):"), lines[2].replace("3:", "3 (d):")]
    assert told(lambda: utils.clip_grad_norm_(named, 1., error_if_nonfinite=True)) == lines
    assert told(lambda: utils.get_total_norm([p.grad for p in ps if p.grad is not None], error_if_nonfinite=True))[1:] \
        == ["  tensor 1: torch.float32 [3], finite values from -3 to -3, 1 NaN, 1 Inf",
            "  tensor 2: torch.float32 [1], none finite, 1 Inf"]
    assert ps[0].grad.tolist() == [1., 2.]                     # as they were
    many = [with_grad(nan) for _ in range(30)]
    lines = told(lambda: utils.clip_grad_norm_(many, 1., error_if_nonfinite=True))
    assert len(lines) == 12 and lines[-1] == "  and 20 more"
    large = [with_grad(3e38, 3e38)]
    assert told(lambda: utils.clip_grad_norm_(large, 1., error_if_nonfinite=True)) == [
        "Every gradient is finite: their norm is too large for the dtype."]


def test_gradients_are_left_alone_on_request():
    ps = [with_grad(1., float("nan")), with_grad(5.)]
    assert utils.clip_grad_norm_(ps, 1., skip_if_nonfinite=True).isnan()
    assert ps[0].grad[0].item() == 1. and ps[1].grad.item() == 5. and ps[1].grad._version == 0
    ps[0].grad[1] = 0.
    utils.clip_grad_norm_(ps, 1., skip_if_nonfinite=True)
    assert ps[1].grad.item() < 1.
    with pytest.raises(RuntimeError, match="non-finite"):      # an error is the stronger wish
        utils.clip_grad_norm_([with_grad(float("inf"))], 1., error_if_nonfinite=True, skip_if_nonfinite=True)


def test_pairs_of_names_and_parameters():
    layer = torch.nn.Linear(2, 1)
    layer(torch.ones(1, 2)).backward()
    utils.clip_grad_norm_(layer.named_parameters(), 1.)
    utils.clip_grad_value_(layer.named_parameters(), .25)
    assert layer.bias.grad.item() == .25
    total = utils.get_total_norm([("w", layer.weight.grad), ("b", layer.bias.grad)])
    utils.clip_grads_with_norm_(layer.named_parameters(), .1, total)
    assert layer.bias.grad.item() < .25


def test_no_gradients():
    assert utils.clip_grad_norm_([], 1.).item() == 0.
    with pytest.warns(UserWarning, match="empty generator"):
        utils.clip_grad_norm_((p for p in []), 1.)


def test_clipping_is_not_recorded():
    a = with_grad(3., 4.)
    a.grad.requires_grad_(False)
    utils.clip_grad_norm_(a, 1.)
    utils.clip_grad_value_(a, 0.5)
    assert a.grad.grad_fn is None and a.grad.tolist() == pytest.approx([0.5, 0.5])


def test_parameters_as_a_vector_and_back():
    layer = torch.nn.Linear(2, 3)
    vector = utils.parameters_to_vector(layer.parameters())
    assert vector.shape == (9,) and vector.requires_grad
    new = torch.arange(9.)
    utils.vector_to_parameters(new, layer.parameters())
    assert layer.weight.tolist() == [[0., 1.], [2., 3.], [4., 5.]] and layer.bias.tolist() == [6., 7., 8.]
    new[8] = 50
    assert layer.bias[2].item() == 50. and isinstance(layer.bias, torch.nn.Parameter)
    with pytest.raises(TypeError, match="expected torch.Tensor, but got: list"):
        utils.vector_to_parameters([1.], layer.parameters())


def test_stateless_is_an_attribute_of_utils():
    layer = torch.nn.Linear(2, 1)
    with pytest.warns(FutureWarning, match="functional_call"):
        out = torch.nn.utils.stateless.functional_call(
            layer, {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}, torch.tensor([[2., 3.]]))
    assert out.tolist() == [[5.]]
