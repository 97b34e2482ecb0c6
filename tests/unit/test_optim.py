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
    big = torch.randn(300, 200, dtype=torch.float64, requires_grad=True)
    turned = big.detach().clone().t().contiguous().t().requires_grad_()
    rows = [big.detach()[i].clone().requires_grad_() for i in (0, 299)]
    opt = cls([big, turned, *rows], lr=0.1)
    for _ in range(3):
        for p in (big, turned, *rows):
            p.grad = p.detach() * 0.5 + 1
        opt.step()
    # Large contiguous arrays are added up with one rounding less.
    for some, other in ((big, turned), (big[0], rows[0]), (big[299], rows[1])):
        assert torch.allclose(some, other, rtol=1e-13, atol=1e-14)


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
    """An error before anything is written, in parameters alone or bundled: by a step, and by load_state_dict."""
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
    with pytest.raises(ValueError, match=re.escape(f"parameter 0 of group 0, of shape [{n}]: {state!r} has shape")):
        optimizer.load_state_dict(saved)
    optimizer.state[params[0]][state] = torch.zeros(shape)
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


# ------------------------------------------------------------------ of another kind
def bowl(optimizer, w):
    def closure():
        optimizer.zero_grad()
        loss = ((w - 3) ** 2 * torch.tensor([1.0, 10.0])).sum()
        loss.backward()
        return loss
    return closure


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_finds_the_bottom(search):
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    optimizer = torch.optim.LBFGS([w], lr=1 if search else 0.5, line_search_fn=search)
    for _ in range(3):
        optimizer.step(bowl(optimizer, w))
    assert torch.allclose(w, torch.full((2,), 3.0), atol=1e-3)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["deepcopy", "pickle"])
def test_copies_of_lbfgs_go_on(copied):
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    optimizer = torch.optim.LBFGS([w], max_iter=3)
    optimizer.step(bowl(optimizer, w))
    other = copied(optimizer)
    v = other.param_groups[0]["params"][0]
    optimizer.step(bowl(optimizer, w))
    other.step(bowl(other, v))
    assert v is not w and v.tolist() == w.tolist()


def test_lbfgs_refuses():
    w = weight()
    with pytest.raises(ValueError, match="doesn't support per-parameter options"):
        torch.optim.LBFGS([{"params": [w]}, {"params": [weight()]}])
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        optimizer = torch.optim.LBFGS([w], line_search_fn="weak")
        optimizer.step(bowl(optimizer, w))


def test_muon_makes_directions_even():
    """The singular values of an update are about lr, whatever those of the gradient."""
    w = torch.zeros(6, 4, requires_grad=True)
    w.grad = torch.zeros(6, 4).index_copy(
        0, torch.arange(4), torch.diag(torch.tensor([100.0, 20.0, 10.0, 5.0])))
    torch.optim.Muon([w], lr=1.0, weight_decay=0, adjust_lr_fn="match_rms_adamw").step()
    sizes = torch.linalg.svdvals(w.detach()) / (0.2 * 6 ** 0.5)
    assert sizes.min() > 0.5 and sizes.max() < 1.3


def test_adafactor_state_is_small():
    w = torch.ones(30, 20, requires_grad=True)
    w.grad = torch.ones(30, 20)
    optimizer = torch.optim.Adafactor([w])
    optimizer.step()
    assert {name: tuple(t.shape) for name, t in optimizer.state[w].items()} == {
        "step": (), "row_var": (30, 1), "col_var": (1, 20)}
    optimizer.state[w]["row_var"] = torch.zeros(29, 1)
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        optimizer.step()


def test_adafactor_where_squares_are_tiny():
    """Below eps the variance is eps: the update stays finite."""
    w = torch.ones(3, 2, requires_grad=True)
    w.grad = torch.tensor([[1e-30, 1.0], [0.0, 1.0], [0.0, 0.0]])
    torch.optim.Adafactor([w]).step()
    assert w.isfinite().all() and w[2].tolist() == [1.0, 1.0] and (w[:2, 1] < 1).all()


@pytest.mark.parametrize("name", ["NAdam", "ASGD"])
def test_bundled_parameters_have_the_numbers_of_single_ones(name):
    """Numbers of the whole parameter among the state: each is kept once for each parameter."""
    torch.manual_seed(0)
    starts = [torch.randn(n) for n in (3, 4, 5)]
    together = [s.clone().requires_grad_() for s in starts]
    alone = [s.clone().requires_grad_() for s in starts]
    optimizer, singles = getattr(torch.optim, name)(together), [getattr(torch.optim, name)([p]) for p in alone]
    for step in range(4):
        for p in together + alone:
            p.grad = p.detach() * 0.5 + step
        optimizer.step()
        for single in singles:
            single.step()
    for p, q, single in zip(together, alone, singles, strict=True):
        assert p.tolist() == q.tolist()
        for key, value in optimizer.state[p].items():
            assert value.tolist() == single.state[q][key].tolist(), key


# ------------------------------------------------------------------ loading by name, and what does not fit
def two_layers(width=3, names=True, order=slice(None), kind="Adam", **options):
    """(model, an optimiser of its parameters)."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(width, 4), torch.nn.Linear(4, 2))
    params = list(model.named_parameters())[order]
    params = params if names else [p for _, p in params]
    return model, getattr(torch.optim, kind)(params, **options)


def trained(model, optimizer, steps=2):
    def closure():
        optimizer.zero_grad()
        loss = model(torch.ones(2, model[0].in_features)).square().sum()
        loss.backward()
        return loss
    for _ in range(steps):
        optimizer.step(closure)
    return optimizer.state_dict()


@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("kind", ["Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "ASGD", "LBFGS",
                                  "NAdam", "RAdam", "RMSprop", "Rprop", "SGD"])
def test_state_of_another_model_is_refused_by_name(kind, names):
    options = {"momentum": 0.9} if kind == "SGD" else {}
    saved = trained(*two_layers(names=names, kind=kind, **options))
    model, optimizer = two_layers(5, names=names, kind=kind, **options)
    before = [dict(optimizer.state[p]) for p in model.parameters()] if kind == "Adagrad" else []
    place = "parameter 0 of group 0, " + ("'0.weight', " if names else "") + "of shape [4, 5]: "
    with pytest.raises(ValueError, match=re.escape(place)) as caught:
        optimizer.load_state_dict(saved)
    assert len(str(caught.value).splitlines()) == 2              # the other parameters fit
    assert kind == "Adagrad" and before or not optimizer.state   # nothing is loaded
    optimizer.load_state_dict(saved, strict=False)
    own = optimizer.state_dict()["state"]
    assert sorted(own) == ([] if kind == "LBFGS" else [1, 2, 3])
    trained(model, optimizer)                                    # the others start with new state
    model, optimizer = two_layers(names=names, kind=kind, **options)
    optimizer.load_state_dict(saved)                             # and what fits is taken
    trained(model, optimizer)


def test_state_by_name():
    model, optimizer = two_layers(lr=0.1)
    saved = trained(model, optimizer)
    for order in (slice(None), slice(None, None, -1)):
        again, other = two_layers(order=order)
        again.load_state_dict(model.state_dict())
        other.load_state_dict(copy.deepcopy(saved), by_name=True)          # else the two share their state
        assert other.param_groups[0]["param_names"] == [n for n, _ in list(again.named_parameters())[order]]
        assert other.param_groups[0]["lr"] == 0.1
        for (name, p), q in zip(model.named_parameters(), again.parameters()):
            for key, value in optimizer.state[p].items():
                assert torch.equal(other.state[q][key], value), (name, key)
    after = [trained(*pair)["state"] for pair in ((model, optimizer), (again, other))]
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), again.parameters()))
    assert torch.equal(after[0][0]["exp_avg"], after[1][3]["exp_avg"])


def test_state_by_name_of_groups_that_are_divided_otherwise():
    model, optimizer = two_layers(lr=0.1)
    saved = trained(model, optimizer)
    named = dict(model.named_parameters())
    two = torch.optim.Adam([{"params": [(n, named[n]) for n in ("1.bias", "0.bias")], "lr": 5},
                            {"params": [(n, named[n]) for n in ("0.weight", "1.weight")]}])
    two.load_state_dict(saved, by_name=True)
    assert [group["lr"] for group in two.param_groups] == [0.1, 0.1]
    assert all(torch.equal(two.state[p]["exp_avg"], optimizer.state[p]["exp_avg"]) for p in named.values())
    two.param_groups[1]["lr"] = 0.5
    with pytest.raises(ValueError, match="group 0 has parameters that were saved with different values of 'lr': 0.5"):
        optimizer.load_state_dict(two.state_dict(), by_name=True)


def test_names_that_differ():
    model, optimizer = two_layers(lr=0.1)
    saved = trained(model, optimizer)
    p = torch.ones(2, 4, requires_grad=True)
    fewer = torch.optim.Adam([("1.weight", p), ("new", torch.ones(2, requires_grad=True))], lr=7)
    with pytest.raises(ValueError, match=r"it has no state of: 'new'; this optimizer has no: '0.weight', '0.bias', "
                                         r"'1.bias'$"):
        fewer.load_state_dict(saved, by_name=True)
    fewer.load_state_dict(saved, by_name=True, strict=False)
    assert list(fewer.state) == [p] and torch.equal(fewer.state[p]["exp_avg"], saved["state"][2]["exp_avg"])
    assert fewer.param_groups[0]["lr"] == 0.1
    other = torch.optim.Adam([("else", p)], lr=7)
    other.load_state_dict(saved, by_name=True, strict=False)
    assert not other.state and other.param_groups[0]["lr"] == 7
    for ours, theirs, whose in ((False, True, "this optimizer"), (True, False, "the loaded state dict")):
        with pytest.raises(ValueError, match=f"by_name=True needs names, and {whose} has none"):
            two_layers(names=ours)[1].load_state_dict(trained(*two_layers(names=theirs)), by_name=True)


def test_names_in_another_order_are_warned_of():
    model, optimizer = two_layers(kind="SGD")
    saved = optimizer.state_dict()
    other = two_layers(kind="SGD", order=slice(None, None, -1))[1]
    with pytest.warns(UserWarning, match="parameter 0 is '1.bias' here and '0.weight' there.*by_name=True"):
        other.load_state_dict(saved)
    assert other.param_groups[0]["param_names"][0] == "0.weight"             # torch's


def test_steps_from_elsewhere_have_state_of_any_shape():
    class Rows(torch.optim.SGD):
        def step(self, closure=None):
            for p in self.param_groups[0]["params"]:
                self.state[p]["rows"] = torch.ones(7)
    p = torch.ones(3, requires_grad=True)
    optimizer = Rows([p])
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
    assert optimizer.state[p]["rows"].shape == (7,)


def test_states_after_a_step_that_is_refused():
    """All parameters of the group have one, as in torch; what has no gradient has none, listed twice too."""
    params = [torch.zeros(n, requires_grad=True) for n in (2, 0, 3)]
    for p in params:
        p.grad = torch.ones_like(p)
    optimizer = torch.optim.Adafactor(params)
    with pytest.raises(ZeroDivisionError):
        optimizer.step()
    assert len(optimizer.state) == 3
    p = torch.zeros(2, requires_grad=True)
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optimizer = torch.optim.SGD([p, p], lr=0.1, momentum=0.9)
    optimizer.step()
    assert not optimizer.state_dict()["state"]
