"""Every optimiser of torch's optim_db that exists here, with all its keyword sets."""
import numpy as np
import pytest
import torch

import tinytorch

from .adapter import OPTIMIZERS, convert, error_of, refused, same

#: SparseAdam takes sparse gradients alone: it is in test_sparse_gradients.py.
OPTIMIZERS = {name: info for name, info in OPTIMIZERS.items() if not info.only_supports_sparse_grads}
HERE = [name for name in OPTIMIZERS if hasattr(tinytorch.optim, name)]
MISSING = [name for name in OPTIMIZERS if name not in HERE]
CPU = torch.device("cpu")
#: Matrices alone: Muon's.
MATRICES = ((3, 4), (5, 2), (40, 100), (1, 1))
#: Of bfloat16's five steps, whose sums may round to the other side: Muon's.
COARSE = {"Muon": 2e-3}


def summary():
    return f"optim_db: {len(HERE)} optimisers compared; {len(MISSING)} not implemented: " + ", ".join(MISSING)


def _keyword_sets(name):
    return [case.kwargs for case in OPTIMIZERS[name].optim_inputs_func(device=CPU)]


def _kinds(name):
    """The dtypes that an optimiser takes."""
    return [torch.float64, torch.float32] + [torch.complex128] * OPTIMIZERS[name].supports_complex


def _start(name, kind, shapes=((3, 4), (5,), (20_000,), ())):
    random = np.random.RandomState(0)
    return [torch.as_tensor(random.standard_normal(shape)).to(kind) for shape in
            (MATRICES if name == "Muon" else shapes)]


def _gradient(p, step):
    """A gradient that depends on where the parameter is."""
    return p * (0.5 + 0.1 * step) + 0.3


def _run(library, parameters, optimizer, steps, first=0):
    for step in range(first, first + steps):
        def closure():
            """The loss that has these gradients, for LBFGS."""
            for p in parameters:
                p.grad = _gradient(p.detach(), step)
            return sum(float(((0.25 + 0.05 * step) * abs(p.detach()) ** 2 + 0.3 * p.detach().real).sum())
                       for p in parameters)
        _step(optimizer, closure)


def _step(optimizer, closure):
    if OPTIMIZERS[type(optimizer).__name__].step_requires_closure:
        optimizer.step(closure)
    else:
        closure()
        optimizer.step()


def _steps(name, n):
    """The steps that a test takes: LBFGS has twenty iterations in each, and errors grow with every one."""
    return 1 if name == "LBFGS" else n


def _pair(name, kwargs, kind=torch.float64):
    theirs = [p.requires_grad_() for p in _start(name, kind)]
    ours = [convert(p) for p in theirs]
    return (ours, getattr(tinytorch.optim, name)(ours, **convert(kwargs)),
            theirs, OPTIMIZERS[name].optim_cls(theirs, **kwargs))


def _tolerance(name):
    return dict(tolerance=COARSE[name]) if name in COARSE else dict(scale=10)


CASES = [pytest.param(name, kwargs, id=f"{name}-{i}") for name in HERE for i, kwargs in enumerate(_keyword_sets(name))]


@pytest.mark.parametrize("name, kwargs", CASES)
def test_steps_and_state(name, kwargs):
    for kind in _kinds(name):
        ours, mine, theirs, other = _pair(name, kwargs, kind)
        _run(tinytorch, ours, mine, _steps(name, 6))
        _run(torch, theirs, other, _steps(name, 6))
        same(ours, theirs, f"{name} {kwargs} {kind}: parameters", **_tolerance(name))
        a, b = mine.state_dict(), other.state_dict()
        noise = name == "LBFGS" and kind == torch.float32         # differences of what hardly differs any more
        same(a, b, f"{name} {kwargs} {kind}: state_dict", values=not noise, **_tolerance(name))
        assert repr(mine) == repr(other)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name, kwargs", [case for case in CASES
                                          if not case.values[1].get("fused") and case.values[0] != "LBFGS"])
def test_half(name, kwargs, kind):
    """To a unit in the last place after six steps, from the same gradients. (Fused kernels: below.)"""
    random = np.random.RandomState(0)

    def numbers(shape):
        return torch.as_tensor(random.standard_normal(shape)).to(kind)
    theirs = [numbers(p.shape).requires_grad_() for p in _start(name, kind, ((3, 4), (5,), (200,), ()))]
    theirs.append(numbers((4, 3)).t().requires_grad_())
    ours = [convert(p) for p in theirs]
    mine = getattr(tinytorch.optim, name)(ours, **convert(kwargs))
    other = OPTIMIZERS[name].optim_cls(theirs, **kwargs)
    for _ in range(6):
        for a, b in zip(ours, theirs):
            b.grad = numbers(b.shape)
            a.grad = convert(b.grad)
        mine.step()
        other.step()
    same(ours, theirs, f"{name} {kwargs}: parameters", tolerance=torch.finfo(kind).eps)
    same(mine.state_dict(), other.state_dict(), f"{name} {kwargs}: state_dict", tolerance=torch.finfo(kind).eps)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("kwargs", [{}, dict(lr=0.5, history_size=2), dict(line_search_fn="strong_wolfe")])
def test_half_lbfgs(kwargs, kind):
    """Three iterations: each one multiplies what the one before has rounded. Whole vectors: torch rounds a scaled sum
    of the elements that fill none once more."""
    kwargs = dict(kwargs, max_iter=3)
    theirs = [torch.linspace(-2, 3, 64).to(kind).requires_grad_(), torch.ones(2, 32, dtype=kind, requires_grad=True)]
    ours = [convert(p) for p in theirs]
    mine, other = tinytorch.optim.LBFGS(ours, **kwargs), torch.optim.LBFGS(theirs, **kwargs)
    _run(tinytorch, ours, mine, 1)
    _run(torch, theirs, other, 1)
    same(ours, theirs, f"{kwargs}: parameters", tolerance=4 * torch.finfo(kind).eps)
    same(mine.state_dict(), other.state_dict(), f"{kwargs}: state_dict", tolerance=16 * torch.finfo(kind).eps)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name, kwargs", [("SGD", dict(momentum=0.9, nesterov=True, weight_decay=0.1)), ("SGD", {}),
                                          ("Adam", dict(amsgrad=True)), ("AdamW", dict(maximize=True)),
                                          ("Adagrad", dict(lr_decay=0.1))])
def test_half_fused(name, kwargs, kind):
    """Of few elements: torch's fused SGD does not change the others of a half dtype."""
    theirs = torch.linspace(-2, 3, 15).to(kind).requires_grad_()
    ours = convert(theirs)
    mine = getattr(tinytorch.optim, name)([ours], lr=0.1, fused=True, **kwargs)
    other = getattr(torch.optim, name)([theirs], lr=0.1, fused=True, **kwargs)
    for step in range(5):
        theirs.grad = torch.linspace(1, 1 + step, 15).to(kind)
        ours.grad = convert(theirs.grad)
        mine.step()
        other.step()
    same(ours, theirs, "parameter", tolerance=torch.finfo(kind).eps)
    same(mine.state_dict(), other.state_dict(), "state_dict", tolerance=torch.finfo(kind).eps)


@pytest.mark.parametrize("name", [name for name in HERE if torch.complex128 in _kinds(name) and name != "LBFGS"])
def test_complex_in_any_order(name):
    """Parameters, or gradients, that are not one run in memory (LBFGS takes them for one)."""
    def run(library):
        start = library.arange(24.).reshape(4, 6) * (1 + 0.5j)
        parameters = [start.clone().t().requires_grad_(), start.clone()[:, 1:3].requires_grad_()]
        optimizer = getattr(library.optim, name)(parameters, lr=0.05)
        for step in range(3):
            for p in parameters:
                p.grad = (library.arange(float(p.numel())).reshape(p.shape[::-1]) * (1 + 2j) - step).t()
            optimizer.step()
        return [p.detach() for p in parameters], optimizer.state_dict()["state"]
    same(run(tinytorch), run(torch), name, scale=2)


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("name", HERE)
def test_rate_in_a_tensor(name, kind):
    """What is computed of it has the tensor's dtype, for parameters of any."""
    def run(library):
        p = library.tensor([[1., 2., -1.]], dtype=library.float64).requires_grad_()
        optimizer = getattr(library.optim, name)([p], lr=library.tensor(0.1, dtype=getattr(library, kind)))
        _run(library, [p], optimizer, 3)
        return p.detach()
    same(run(tinytorch), run(torch), name, tolerance=COARSE.get(name, 1e-14))


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad"])
def test_fused_takes_no_complex_numbers(name):
    def attempt(library):
        p = library.ones(2, dtype=library.complex64).requires_grad_()
        p.grad = library.ones(2, dtype=library.complex64)
        return error_of(lambda: getattr(library.optim, name)([p], fused=True).step())[0]
    ours, theirs = attempt(tinytorch), attempt(torch)
    assert type(ours) is type(theirs) and str(ours) == str(theirs)


@pytest.mark.parametrize("name, kwargs", CASES)
def test_loading_torchs_state(name, kwargs):
    _, _, theirs, other = _pair(name, kwargs)
    _run(torch, theirs, other, _steps(name, 3))
    ours = [convert(p) for p in theirs]
    mine = getattr(tinytorch.optim, name)(ours, **convert(kwargs))
    mine.load_state_dict(convert(other.state_dict()))
    _run(tinytorch, ours, mine, _steps(name, 3), 3)
    _run(torch, theirs, other, _steps(name, 3), 3)
    same(ours, theirs, f"{name} {kwargs}: parameters after loading", **_tolerance(name))


@pytest.mark.counted(of="errors")
@pytest.mark.parametrize("name", HERE)
def test_errors(name):
    info = OPTIMIZERS[name]
    for case in info.optim_error_inputs_func(device=CPU, dtype=torch.float32):
        given = case.optimizer_error_input
        error, _ = error_of(lambda: info.optim_cls(given.params, **given.kwargs))
        mine, _ = error_of(lambda: getattr(tinytorch.optim, name)(convert(given.params), **convert(given.kwargs)))
        if refused(mine, error, f"{given.kwargs}"):
            assert str(mine) == str(error)
