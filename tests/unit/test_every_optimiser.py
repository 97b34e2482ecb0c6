"""What every optimiser takes, also one that somebody adds: half precision, options out of range, flags."""
import inspect

import pytest

import tinytorch as torch

#: Every class of optimisers that there is, but the one of sparse gradients and the one that asks for a closure.
EVERY = sorted({name for name in [*torch.optim.__all__, *vars(torch.optim)]
                if inspect.isclass(found := getattr(torch.optim, name)) and issubclass(found, torch.optim.Optimizer)}
               - {"Optimizer", "SparseAdam", "LBFGS"})


def optimizer_of(name, params, **options):
    return getattr(torch.optim, name)(params, **options)


def parameters_of(name):
    return inspect.signature(getattr(torch.optim, name)).parameters


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("name", EVERY)
def test_three_steps_in_other_dtypes(name, dtype):
    """They go the way of float32: what the dtype can hold of it, and the state is of the dtype."""
    ends = []
    for kind in torch.float32, dtype:
        w = torch.tensor([[1., -2., 0.5], [0.25, 3., -1.]], dtype=kind, requires_grad=True)
        optimizer = optimizer_of(name, [w], lr=0.0625)
        for _ in range(3):
            w.grad = (w.detach() * 2).clone()
            optimizer.step()
        assert w.dtype is kind and torch.isfinite(w).all()
        ends.append(w.detach().float())
    step = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float64: 1e-5}[dtype]
    assert torch.allclose(*ends, rtol=10 * step, atol=step) or name == "Muon"      # Muon computes in bfloat16


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", [name for name in EVERY if "weight_decay" in parameters_of(name)])
def test_decay_and_direction_in_half_precision(name, dtype):
    """A step in half precision heeds the same options as one in float32: kernels/optim_half.py is a text of its own."""
    ends = []
    for kind in torch.float32, dtype:
        w = torch.tensor([[1., -2., 0.5], [0.25, 3., -1.]], dtype=kind, requires_grad=True)
        options = {"weight_decay": 0.5, "maximize": True}
        optimizer = optimizer_of(name, [w], lr=0.0625, **{k: v for k, v in options.items() if k in parameters_of(name)})
        w.grad = torch.ones_like(w)
        optimizer.step()
        ends.append(w.detach().float())
    step = {torch.float16: 2e-3, torch.bfloat16: 2e-2}[dtype]
    assert torch.allclose(*ends, rtol=step, atol=step / 8) or name == "Muon", (
        f"{name}: one step with {options} in {dtype} ends elsewhere than in float32")


@pytest.mark.parametrize("name", [name for name in EVERY if "differentiable" in parameters_of(name)])
def test_a_step_that_autograd_records_ends_where_the_others_do(name):
    """`_record` is a text of its own too."""
    ends = []
    for differentiable in False, True:
        start = torch.tensor([[1., -2., 0.5], [0.25, 3., -1.]], requires_grad=True)
        w = start.clone()
        options = {"weight_decay": 0.5, "maximize": True, "differentiable": differentiable}
        optimizer = optimizer_of(name, [w if differentiable else w.detach().requires_grad_()], lr=0.0625,
                                 **{k: v for k, v in options.items() if k in parameters_of(name)})
        p, = optimizer.param_groups[0]["params"]
        for factor in 1., -0.25:
            p.grad = torch.full((2, 3), factor)
            optimizer.step()
        ends.append(p.detach())
        assert (p.grad_fn is not None) is differentiable
    torch.testing.assert_close(*ends, msg=lambda said: f"{name}: `_update` and `_record` differ. {said}")


@pytest.mark.parametrize("name", [name for name in EVERY if "betas" in parameters_of(name)])
def test_betas_out_of_range(name):
    w = torch.ones(2, requires_grad=True)
    for betas in (1.0, 0.9), (0.9, 1.0), (-0.1, 0.9), (0.9, -0.1):
        with pytest.raises(ValueError, match="beta"):
            optimizer_of(name, [w], betas=betas)
    with pytest.raises((ValueError, IndexError, TypeError)):
        optimizer_of(name, [w], betas=(0.9,))


@pytest.mark.parametrize("name", EVERY)
def test_rates_and_directions(name):
    """A negative rate is refused, and `maximize` turns the direction of a step."""
    start = torch.tensor([[1., -2.], [0.5, 3.]])
    with pytest.raises(ValueError, match="(?i)lr|learning rate"):
        optimizer_of(name, [start.clone().requires_grad_()], lr=-1.0)
    ends = {}
    for maximize in (False, True) if "maximize" in parameters_of(name) else (False,):
        w = start.clone().requires_grad_()
        w.grad = torch.ones(2, 2)
        given = {"weight_decay": 0.0, "maximize": maximize}
        optimizer_of(name, [w], lr=0.125, **{k: v for k, v in given.items() if k in parameters_of(name)}).step()
        ends[maximize] = w.detach() - start
    assert (ends[False] <= 0).all() and (ends[False] < 0).any()
    if True in ends:
        assert (ends[True] >= 0).all() and (ends[True] > 0).any()
