"""What optimisers take beside numbers: flags, options in tensors, state from the other library's files. The updates
themselves: test_optim_db.py."""
import inspect
import io
import itertools

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import OPTIMIZERS, error_of, same, same_error

DENSE = [name for name, info in OPTIMIZERS.items() if not info.only_supports_sparse_grads]
DIFFERENTIABLE = [name for name, info in OPTIMIZERS.items() if "differentiable" in info.supported_impls]
FOREACH = [name for name, info in OPTIMIZERS.items() if "foreach" in info.supported_impls]
BOTH = (tinytorch, torch)


def outcome(program):
    """What a program gives under both: its result, or the error."""
    (mine, ours), (error, theirs) = [error_of(lambda library=library: program(library)) for library in BOTH]
    if error is not None:
        same_error(mine, error, words=True)
    elif mine is not None:
        raise mine
    else:
        same(ours, theirs, tolerance=1e-10)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_signature(name):
    ours, theirs = [inspect.signature(getattr(library.optim, name).__init__).parameters.values() for library in BOTH]
    assert [(p.name, p.kind, p.default) for p in ours] == [(p.name, p.kind, p.default) for p in theirs]


# ------------------------------------------------------------------ state
def _trained(library, name, parameters, steps, state=None):
    """Parameters after steps down a bowl that is bent in each direction by its own."""
    optimizer = getattr(library.optim, name)(parameters, lr=0.01)
    if state is not None:
        optimizer.load_state_dict(state)
    bends = [library.from_numpy(np.random.RandomState(i).uniform(0.5, 2, tuple(p.shape)))
             for i, p in enumerate(parameters)]

    def closure():
        for p, bend in zip(parameters, bends):
            p.grad = p.detach() * bend + 0.3
        return float(sum((0.5 * bend * p.detach() ** 2 + 0.3 * p.detach()).sum() for p, bend in zip(parameters, bends)))
    for _ in range(steps):
        if name == "LBFGS":
            optimizer.step(closure)
        else:
            closure()
            optimizer.step()
    return optimizer


@pytest.mark.parametrize("first, then", [BOTH, BOTH[::-1]], ids=["to torch", "from torch"])
@pytest.mark.parametrize("name", DENSE)
def test_state_goes_over_by_file(name, first, then):
    """Saved by one library, loaded by the other: ten more steps of both end at the same numbers. (Muon's are of
    bfloat16.)"""
    shapes = ((3, 4), (5, 2)) if name == "Muon" else ((3, 4), (5,), ())
    start = [np.random.RandomState(7).standard_normal(shape) for shape in shapes]

    def leaves(library, arrays):
        return [library.from_numpy(np.array(a)).requires_grad_() for a in arrays]
    parameters = leaves(first, start)
    optimizer = _trained(first, name, parameters, 3)
    file = io.BytesIO()
    first.save(optimizer.state_dict(), file)
    file.seek(0)
    others = leaves(then, [p.detach().numpy() for p in parameters])
    _trained(then, name, others, 10, then.load(file))
    _trained(first, name, parameters, 10, optimizer.state_dict())
    for a, b in zip(parameters, others):
        np.testing.assert_allclose(*[p.detach().numpy() for p in (a, b)], rtol=2e-4 if name == "Muon" else 1e-10,
                                   atol=1e-4 if name == "Muon" else 1e-10)


@pytest.mark.parametrize("options", [dict(fused=True), {}], ids=["fused", ""])
def test_dtypes_of_loaded_state(options):
    """Sums have the parameter's dtype, counts their own, or float32 for fused updates."""
    def program(library):
        p = library.ones(3, dtype=library.float64).requires_grad_()
        p.grad = library.ones(3, dtype=library.float64)
        optimizer = library.optim.Adam([p], **options)
        optimizer.step()
        saved = optimizer.state_dict()
        saved["state"][0]["step"] = saved["state"][0]["step"].double()
        other = library.optim.Adam([library.ones(3, dtype=library.float32).requires_grad_()], **options)
        other.load_state_dict(saved)
        return other.state_dict()
    outcome(program)


@pytest.mark.parametrize("name", ["NAdam", "RAdam", "Rprop", "ASGD", "Adafactor", "Adam", "Adagrad"])
def test_state_of_old_files(name):
    """Numbers where there are tensors now, and options that are missing."""
    def program(library):
        p = library.ones(2, 2, dtype=library.float64).requires_grad_()
        p.grad = library.ones(2, 2, dtype=library.float64)
        optimizer = getattr(library.optim, name)([p])
        optimizer.step()
        saved = optimizer.state_dict()
        for key in ("step", "eta", "mu", "mu_product"):
            if key in saved["state"][0]:
                saved["state"][0][key] = saved["state"][0][key].item()
        for key in ("foreach", "differentiable", "capturable", "decoupled_weight_decay", "amsgrad", "fused"):
            saved["param_groups"][0].pop(key, None)
        optimizer.load_state_dict(saved)
        optimizer.step()
        return p.detach(), optimizer.state_dict()
    outcome(program)


# ------------------------------------------------------------------ flags
@pytest.mark.counted(of="errors")
@pytest.mark.parametrize("name", DENSE)
def test_flags(name):
    """Every pair of them, accepted or refused with torch's words."""
    takes = inspect.signature(getattr(torch.optim, name).__init__).parameters
    flags = [flag for flag in ("capturable", "foreach", "fused", "differentiable", "maximize") if flag in takes]
    pairs = [(flag,) for flag in flags] + list(itertools.combinations(flags, 2))
    for pair in pairs:
        if name == "Adam" or name == "AdamW":
            if set(pair) == {"capturable", "fused"}:
                continue                       # a fused update does without the devices that capturable is for

        def program(library, pair=pair):
            p = library.ones(2, 2, dtype=library.float64).requires_grad_()
            p.grad = library.ones(2, 2, dtype=library.float64)
            optimizer = getattr(library.optim, name)([p], **dict.fromkeys(pair, True))
            optimizer.step()
            return p.detach(), optimizer.state_dict()
        outcome(program)
    error, _ = error_of(lambda: tinytorch.optim.SGD([tinytorch.ones(1)], differentiable=True, fused=True))
    same_error(error, error_of(lambda: torch.optim.SGD([torch.ones(1)], differentiable=True, fused=True))[0])


@pytest.mark.parametrize("kind", ["float64", "bfloat16", "float16"])
@pytest.mark.parametrize("name", FOREACH)
def test_foreach(name, kind):
    """The same but for the rounding, which is torch's."""
    def run(library):
        dtype, numbers = getattr(library, kind), np.random.RandomState(0)
        given = [[library.from_numpy(numbers.standard_normal(shape)).to(dtype) for shape in ((4, 8), (64,))]
                 for _ in range(5)]
        parameters = [p.requires_grad_() for p in given.pop()]
        optimizer = getattr(library.optim, name)(parameters, foreach=True)
        for gradients in given:
            for p, g in zip(parameters, gradients):
                p.grad = g
            optimizer.step()
        return [p.detach() for p in parameters], optimizer.state_dict()
    tolerance = 1e-7 if name == "ASGD" else 1e-10          # whose rates are float32 numbers
    same(run(tinytorch), run(torch), name, tolerance=tolerance if kind == "float64" else
         torch.finfo(getattr(torch, kind)).eps)


# ------------------------------------------------------------------ differentiable steps
def differentiated(name, steps=1, complex=False, **options):
    """A program: the derivatives of a step's result by the parameter and by the gradient."""
    def program(library):
        start, slope = [library.tensor(values, dtype=library.float64) for values in ([1., -2., 0.5], [0.5, 0.25, -1.])]
        if complex:
            start, slope = start * (1 + 0.5j), slope * (1 - 2j)
        start.requires_grad_()
        slope.requires_grad_()
        p = start.clone()
        given = {key: value(library) if callable(value) else value for key, value in options.items()}
        optimizer = getattr(library.optim, name)([p], differentiable=True, **given)
        for _ in range(steps):
            p.grad = p * 0.5 + slope
            optimizer.step()
        wanted = [start, slope, *[value for value in given.values() if getattr(value, "requires_grad", False)]]
        loss = (p.real ** 2).sum() if complex else (p ** 2).sum()
        return p.detach(), library.autograd.grad(loss, wanted), optimizer.state_dict()
    return program


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_differentiable(name, steps):
    """A second step of those that save their state for backward is an error at backward, as in torch."""
    outcome(differentiated(name, steps))
    outcome(differentiated(name, steps, maximize=True))
    if name != "Rprop":
        outcome(differentiated(name, steps, weight_decay=0.1))


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_differentiable_complex(name):
    outcome(differentiated(name, complex=True))


@pytest.mark.parametrize("name, options", [
    ("SGD", dict(momentum=0.9, steps=3)), ("SGD", dict(momentum=0.9, nesterov=True, steps=3)),
    ("Adam", dict(amsgrad=True, steps=3)), ("AdamW", dict(amsgrad=True)), ("RMSprop", dict(centered=True)),
    ("RMSprop", dict(centered=True, momentum=0.5, steps=2)), ("NAdam", dict(decoupled_weight_decay=True,
                                                                         weight_decay=0.1)),
    ("RAdam", dict(decoupled_weight_decay=True, weight_decay=0.1)), ("RAdam", dict(betas=(0.9, 0.5), steps=7)),
    ("ASGD", dict(t0=0, steps=3)), ("Adagrad", dict(lr_decay=0.1, steps=2))])
def test_differentiable_options(name, options):
    outcome(differentiated(name, **options))


def number(value):
    return lambda library: library.tensor(value, dtype=library.float64, requires_grad=True)


@pytest.mark.parametrize("name, options", [
    ("SGD", dict(lr=number(0.1))), ("SGD", dict(lr=number(0.1), weight_decay=number(0.5))),
    ("Adam", dict(lr=number(0.1))), ("Adam", dict(weight_decay=number(0.5))),
    ("AdamW", dict(lr=number(0.1))), ("AdamW", dict(weight_decay=number(0.5)))])
def test_derivatives_by_options(name, options):
    outcome(differentiated(name, **options))


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("name", ["Adam", "AdamW"])
def test_betas_in_tensors(name, kind):
    def program(library):
        p = library.tensor([1., 2., -1.], dtype=library.float64).requires_grad_()
        betas = [library.tensor([beta], dtype=getattr(library, kind)) for beta in (0.9, 0.99)]
        optimizer = getattr(library.optim, name)([p], betas=betas)
        for step in range(3):
            p.grad = p.detach() * (0.5 + step) + 0.3
            optimizer.step()
        return p.detach(), optimizer.state_dict()
    ours, theirs = [program(library) for library in BOTH]
    same(ours, theirs, tolerance=1e-10 if kind == "float64" else 1e-6)


# ------------------------------------------------------------------ hooks
def test_hooks_of_steps_and_state():
    def program(library):
        seen = []
        p = library.ones(2).requires_grad_()
        p.grad = library.ones(2)
        optimizer = library.optim.SGD([p], lr=0.5)
        optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append((len(args), list(kwargs))) or (
            (args[0],), {"closure": lambda: seen.append("closure") or 3.0}))
        optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append((len(args), list(kwargs))))
        seen.append(optimizer.step())
        optimizer.register_state_dict_pre_hook(lambda o: seen.append("second"))
        optimizer.register_state_dict_pre_hook(lambda o: seen.append("first"), prepend=True)
        optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
        seen.append(sorted(optimizer.state_dict()))
        optimizer.register_load_state_dict_pre_hook(lambda o, state: seen.append(state.pop("more")))
        optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded"))
        optimizer.load_state_dict(optimizer.state_dict())
        return seen, optimizer._zero_grad_profile_name, type(optimizer).step.hooked, p.detach()
    outcome(program)


@pytest.mark.counted(of="errors")
def test_a_hook_that_returns_something_else():
    def program(library):
        optimizer = library.optim.SGD([library.ones(1).requires_grad_()])
        optimizer.register_step_pre_hook(lambda *args: 3)
        optimizer.step()
    ours, theirs = [error_of(lambda library=library: program(library))[0] for library in BOTH]
    same_error(ours, theirs)
    assert "must return None or a tuple of (new_args, new_kwargs), but got 3." in str(ours)


@pytest.mark.parametrize("infinite", [0., 1.])
@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad"])
def test_scaled_gradients(name, infinite):
    """What a gradient scaler gives a fused optimiser: the scale, and whether to leave the parameters alone."""
    def program(library):
        p = library.tensor([1., 2.], requires_grad=True)
        p.grad = library.tensor([32., -8.])
        optimizer = getattr(library.optim, name)([p], lr=0.1, fused=True)
        optimizer.grad_scale, optimizer.found_inf = library.tensor(16.), library.tensor(infinite)
        optimizer.step()
        return p.detach(), p.grad, optimizer.state_dict()["state"], optimizer._step_supports_amp_scaling
    ours, theirs = [program(library) for library in BOTH]
    same(ours, theirs, name)
