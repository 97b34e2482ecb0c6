"""Every module of torch's module_db that exists here: construction with the same seed, parameters, output,
gradients, state_dict, repr, and the errors of wrong inputs."""
import random
import warnings

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import MODULES, Untranslatable, array_of, convert, described, error_of, refused, same, tensors


def _ours(name):
    return getattr(tinytorch.nn, name.removeprefix("nn."), None)


HERE = [name for name in MODULES if _ours(name) is not None]
MISSING = [name for name in MODULES if _ours(name) is None]


def summary():
    return f"module_db: {len(HERE)} modules compared; {len(MISSING)} not implemented: " + ", ".join(MISSING)


def _inputs(name, dtype, training):
    torch.manual_seed(0)
    info = MODULES[name]
    return info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=training)


HALVES = [torch.float16, torch.bfloat16]
#: Roundings that add up: recurrent layers have steps, and torch adds up losses of float16 in that.
SCALE = {"nn.RNN": 20, "nn.LSTM": 20, "nn.GRU": 20, ("nn.CrossEntropyLoss", torch.float16): 4}


MOST = 40                                      # samples; of some modules torch has 64, and of one 857


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, *HALVES], ids=str)
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("name", HERE)
def test_module(name, training, dtype):
    """Of modules with many samples some, others in each mode and dtype."""
    cases = _inputs(name, dtype, training)
    _compare(name, training, dtype, random.Random(f"{name}{training}{dtype}").sample(cases, min(len(cases), MOST)))


@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, *HALVES], ids=str)
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("name", HERE)
def test_all_samples(name, training, dtype):
    cases = _inputs(name, dtype, training)
    if len(cases) <= MOST:
        pytest.skip("test_module has them all")
    _compare(name, training, dtype, cases)


def _compare(name, training, dtype, cases):
    info, cls = MODULES[name], _ours(name)
    outputs, refusals = 0, 0
    for case in cases:
        args, kwargs = case.constructor_input.args, case.constructor_input.kwargs
        try:
            our_args, our_kwargs = convert((args, kwargs))
        except Untranslatable:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.manual_seed(1)
            theirs = info.module_cls(*args, **kwargs).to(dtype).train(training)
            tinytorch.manual_seed(1)
            ours = cls(*our_args, **our_kwargs).to(convert(dtype)).train(training)
            label = f"{name} {case.desc} {described(args, kwargs)}"
            scale = SCALE.get(name) or SCALE.get((name, dtype), 1)
            same(ours.state_dict(), theirs.state_dict(), f"{label}: state_dict")
            assert repr(ours) == repr(theirs)
            if case.forward_input is None:
                continue
            inputs = (case.forward_input.args, case.forward_input.kwargs)
            converted = convert(inputs)
            torch.manual_seed(2)
            error, expected = error_of(lambda: theirs(*inputs[0], **inputs[1]))
            tinytorch.manual_seed(2)
            our_error, result = error_of(lambda: ours(*converted[0], **converted[1]))
            if refused(our_error, error, label):
                refusals += 1
                continue
            outputs += 1
            same(result, expected, f"{label}: output", scale=scale)
            _gradients(ours, theirs, result, expected, converted, inputs, label, scale)
            same(ours.state_dict(), theirs.state_dict(), f"{label}: state_dict afterwards", scale=scale)
    assert outputs or refusals and dtype in HALVES, "no output was compared"


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize("dtype", [torch.float64, *HALVES], ids=str)
@pytest.mark.parametrize("name", [name for name in HERE if MODULES[name].supports_gradgrad])
def test_second_gradients(name, dtype):
    """Of the inputs and parameters of a module's first samples."""
    info, cls = MODULES[name], _ours(name)
    for case in _inputs(name, dtype, True)[:3]:
        args, kwargs = case.constructor_input.args, case.constructor_input.kwargs
        if case.forward_input is None:
            continue
        given = (args, kwargs), (case.forward_input.args, case.forward_input.kwargs)
        try:
            converted = convert(given)
        except Untranslatable:
            continue
        found, errors = [], []
        for library, make, ((args, kwargs), inputs), kind in (
                (torch, info.module_cls, given, dtype), (tinytorch, cls, converted, convert(dtype))):
            library.manual_seed(1)
            module = make(*args, **kwargs).to(kind)
            own = [t.is_leaf and t.requires_grad for t in tensors(given[1])]
            leaves = [t for t, wanted in zip(tensors(inputs), own, strict=True) if wanted]
            error, result = error_of(lambda: _derived_twice(library, module, inputs, leaves))
            found.append(result)
            errors.append(error)
        if not refused(errors[1], errors[0], f"{name} {described(args, kwargs)}"):
            largest = max([t.abs().nan_to_num(posinf=0.0).max().item() for t in found[0] if t.numel()], default=0)
            same(found[1], found[0], f"{name} {case.desc}", values=False, history=False)
            limit = largest * (16 * torch.finfo(dtype).eps if dtype in HALVES else 1e-9)
            for ours, theirs in zip(found[1], found[0]):
                np.testing.assert_allclose(array_of(ours).astype(float), array_of(theirs).astype(float), rtol=0,
                                           atol=limit, err_msg=f"{name} {case.desc}")


def _derived_twice(library, module, inputs, leaves):
    """The gradients, and the second ones where there are any."""
    def weights(t):                            # exact in every dtype
        return ((library.arange(t.numel()) % 7 - 3) / 4).reshape(t.shape).to(t.dtype)
    library.manual_seed(2)
    outputs = [t for t in tensors(module(*inputs[0], **inputs[1])) if t.requires_grad]
    leaves = [*leaves, *module.parameters()]
    if not outputs or not leaves:
        return []
    grads = library.autograd.grad(outputs, leaves, [weights(t) for t in outputs], create_graph=True,
                                  allow_unused=True)
    firsts = [g for g in grads if g is not None]
    derived = [g for g in firsts if g.grad_fn is not None]
    if not derived:
        return firsts
    seconds = library.autograd.grad(derived, leaves, [weights(g) for g in derived], allow_unused=True)
    return [*firsts, *[g for g in seconds if g is not None and (g != 0).any()]]


def _gradients(ours, theirs, result, expected, our_inputs, their_inputs, label, scale):
    outputs = [(a, b) for a, b in zip(tensors(result), tensors(expected)) if b.requires_grad]
    if not outputs:
        return
    torch.manual_seed(3)
    weights = [torch.randn_like(b) for _, b in outputs]
    torch.autograd.backward([b for _, b in outputs], weights)
    tinytorch.autograd.backward([a for a, _ in outputs], convert(weights))
    ours, theirs = dict(ours.named_parameters()), dict(theirs.named_parameters())
    same(list(ours), list(theirs), f"{label}: names")
    for key in theirs:
        same(ours[key].grad, theirs[key].grad, f"{label}: gradient of {key}", scale=10 * scale)
    for a, b in zip(tensors(our_inputs), tensors(their_inputs), strict=True):
        if b.requires_grad and b.is_leaf:
            same(a.grad, b.grad, f"{label}: gradient of an input", scale=10 * scale)


@pytest.mark.counted(of="errors")
@pytest.mark.parametrize("name", [n for n in HERE if MODULES[n].module_error_inputs_func is not None])
def test_errors(name):
    info, cls = MODULES[name], _ours(name)
    torch.manual_seed(0)
    for case in info.module_error_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False,
                                              training=True):
        call = case.module_error_input
        args, kwargs = call.constructor_input.args, call.constructor_input.kwargs

        def attempt(make, convert_all):
            module = make(*convert_all(args), **convert_all(kwargs))
            if call.forward_input is None:
                return module
            return module(*convert_all(call.forward_input.args), **convert_all(call.forward_input.kwargs))
        error, _ = error_of(lambda: attempt(info.module_cls, lambda x: x))
        mine, _ = error_of(lambda: attempt(cls, convert))
        refused(mine, error, f"{name} {described(args, kwargs)}")
