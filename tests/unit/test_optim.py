"""Optimisers without torch: hooks, closures, groups, what is refused. Values: tests/parity/test_optim_db.py."""
import copy
import pickle
import re

import pytest

import tinytorch as torch

ALL = [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop, torch.optim.Adagrad,
       torch.optim.Adadelta, torch.optim.Adamax, torch.optim.NAdam, torch.optim.RAdam, torch.optim.Rprop,
       torch.optim.ASGD]


def weight(*values):
    w = torch.tensor(values or (1.0, 2.0), requires_grad=True)
    w.grad = torch.ones_like(w)
    return w


@pytest.mark.parametrize("cls", ALL)
def test_differentiable_steps_are_recorded(cls):
    start = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    w = start.clone()
    opt = cls([w], lr=0.1, differentiable=True)
    w.grad = w * 0.5 + 1.0
    opt.step()
    w.sum().backward()
    assert w.grad_fn is not None and start.grad.isfinite().all() and (start.grad != 0).all()


@pytest.mark.parametrize("cls", ALL)
def test_a_step_counts_as_a_write(cls):
    w = weight()
    y = (w * w).sum()
    cls([w], lr=0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.parametrize("cls", ALL)
def test_minimises_a_parabola(cls):
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    opt = cls([w], lr=0.05)
    start = None
    for _ in range(50):
        opt.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        opt.step()
        start = start or loss.item()
    assert loss.item() < start


@pytest.mark.parametrize("cls", ALL)
def test_large_and_transposed_parameters_agree_with_small_ones(cls):
    torch.manual_seed(0)
    big = torch.randn(300, 200, requires_grad=True)
    turned = big.detach().clone().t().contiguous().t().requires_grad_()
    rows = [big.detach()[i].clone().requires_grad_() for i in (0, 299)]
    opt = cls([big, turned, *rows], lr=0.1)
    for _ in range(3):
        for p in (big, turned, *rows):
            p.grad = p.detach() * 0.5 + 1
        opt.step()
    # Large contiguous arrays are added up with one rounding less.
    for some, other in ((big, turned), (big[0], rows[0]), (big[299], rows[1])):
        assert torch.allclose(some, other, atol=2e-7)


def test_closure_and_its_value():
    w = torch.tensor([1.0], requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.5)

    def closure():
        opt.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss
    with torch.no_grad():
        assert opt.step(closure).item() == 1.0
    assert w.tolist() == [0.0]


def test_zero_grad_keeps_zeros_if_asked():
    w = weight()
    opt = torch.optim.SGD([w], lr=0.1)
    opt.zero_grad(set_to_none=False)
    assert w.grad.tolist() == [0.0, 0.0]
    opt.zero_grad()
    assert w.grad is None


def test_step_hooks():
    seen = []
    w = weight()
    opt = torch.optim.SGD([w], lr=0.1)
    before = opt.register_step_pre_hook(lambda o, args, kwargs: seen.append("before"))
    opt.register_step_post_hook(lambda o, args, kwargs: seen.append("after"))
    opt.step()
    before.remove()
    opt.step()
    assert seen == ["before", "after", "after"]


def test_own_optimiser_by_subclassing():
    class Halve(torch.optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"factor": 0.5})

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.mul_(group["factor"])
    w = weight(4.0)
    seen = []
    opt = Halve([w])
    opt.register_step_post_hook(lambda *_: seen.append(1))
    opt.step()
    assert w.tolist() == [2.0] and seen == [1]


def test_copy_and_pickle():
    w = weight()
    opt = torch.optim.Adam([w], lr=0.1)
    opt.step()
    for other in (copy.deepcopy(opt), pickle.loads(pickle.dumps(opt))):
        assert repr(other) == repr(opt)
        p = other.param_groups[0]["params"][0]
        assert other.state[p]["exp_avg"].tolist() == opt.state[w]["exp_avg"].tolist()
        p.grad = torch.ones_like(p)
        other.step()


def test_refused_parameters():
    with pytest.raises(ValueError, match="empty parameter list"):
        torch.optim.SGD([])
    with pytest.raises(TypeError, match="should be an iterable of Tensors or dicts, but got torch.FloatTensor"):
        torch.optim.SGD(weight())
    with pytest.raises(TypeError, match="one of the params is int"):
        torch.optim.SGD([1])
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        torch.optim.SGD([weight() * 2])
    w = weight()
    with pytest.raises(ValueError, match="more than one parameter group"):
        torch.optim.SGD([{"params": [w]}, {"params": [w]}])


def test_capturable_needs_a_gpu():
    with pytest.raises(AssertionError, match="capturable=True"):
        torch.optim.Adam([weight()], capturable=True).step()


# ------------------------------------------------------------------ state that does not fit
STATES = [("SGD", {"momentum": 0.9}, "momentum_buffer"), ("Adam", {}, "exp_avg"), ("Adam", {}, "exp_avg_sq"),
          ("Adam", {"amsgrad": True}, "max_exp_avg_sq"), ("AdamW", {}, "exp_avg"), ("RMSprop", {}, "square_avg"),
          ("RMSprop", {"momentum": 0.5, "centered": True}, "grad_avg"),
          ("RMSprop", {"momentum": 0.5}, "momentum_buffer"), ("Adagrad", {}, "sum"),
          ("Adadelta", {}, "square_avg"), ("Adadelta", {}, "acc_delta")]


@pytest.mark.parametrize("n, shape, text", [
    (20_000, (9_000,), "The size of tensor a (9000) must match the size of tensor b (20000) at non-singleton"),
    (20_000, (1,), "output with shape [1] doesn't match the broadcast shape [20000]"),
    (20_000, (2, 10_000), "The size of tensor a (10000) must match the size of tensor b (20000)"),
    (3, (2,), "The size of tensor a (2) must match the size of tensor b (3)"),
    (3, (), "output with shape [] doesn't match the broadcast shape [3]")])
@pytest.mark.parametrize("name, options, state", STATES)
def test_state_of_another_shape_is_refused(name, options, state, n, shape, text):
    """As from the state dict of another model: an error before anything is written, in parameters alone or bundled."""
    params = [torch.zeros(n, requires_grad=True) for _ in range(2)]
    optimizer = getattr(torch.optim, name)(params, **options)
    for _ in range(3):
        for p in params:
            p.grad = torch.ones(n)
        optimizer.step()
    saved = optimizer.state_dict()
    saved = {"state": {k: dict(v) for k, v in saved["state"].items()}, "param_groups": saved["param_groups"]}
    saved["state"][0][state] = torch.zeros(shape)
    before = [p.detach().clone() for p in params]
    optimizer.load_state_dict(saved)
    with pytest.raises(RuntimeError, match=re.escape(text)):
        optimizer.step()
    assert all(torch.equal(p, b) for p, b in zip(params, before, strict=True))


def test_a_gradient_of_another_shape_is_refused():
    for name in ("SGD", "Adam"):
        for n in (20_000, 20):
            p = torch.zeros(n, requires_grad=True)
            p.grad = torch.ones(n)
            p.data = torch.zeros(n + 10)
            with pytest.raises(RuntimeError, match=rf"tensor a \({n + 10}\) must match the size of tensor b \({n}\)"):
                getattr(torch.optim, name)([p]).step()
            assert not p.detach().any()


def test_a_gradient_that_is_resized_under_a_bundle_is_refused():
    params = [torch.zeros(3, requires_grad=True) for _ in range(2)]
    optimizer = torch.optim.Adam(params)
    for _ in range(3):
        for p in params:
            p.grad = torch.ones(3)
        optimizer.step()
    before = [p.detach().clone() for p in params]
    params[0].grad.data = torch.ones(1)
    with pytest.raises(RuntimeError, match="shape"):
        optimizer.step()
    assert all(torch.equal(p, b) for p, b in zip(params, before, strict=True))
