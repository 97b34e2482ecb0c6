"""Every module of torch's module_db that exists here: construction with the same seed, parameters, output,
gradients, state_dict, repr, and the errors of wrong inputs."""
import warnings

import pytest
import torch

import tinytorch

from .adapter import MODULES, Untranslatable, convert, described, error_of, refused, same, tensors


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


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("name", HERE)
def test_module(name, training, dtype):
    info, cls = MODULES[name], _ours(name)
    outputs = 0
    for case in _inputs(name, dtype, training):
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
            scale = 20 if name in ("nn.RNN", "nn.LSTM", "nn.GRU") else 1
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
                continue
            outputs += 1
            same(result, expected, f"{label}: output", scale=scale)
            _gradients(ours, theirs, result, expected, converted, inputs, label, scale)
            same(ours.state_dict(), theirs.state_dict(), f"{label}: state_dict afterwards", scale=scale)
    assert outputs, "no output was compared"


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
