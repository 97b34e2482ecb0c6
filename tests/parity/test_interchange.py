"""Training goes on in the other library from a state dict of a model and its optimiser, and ends at the same place."""
import warnings

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import MODULES, OPTIMIZERS, Untranslatable, array_of, convert, tensors

STEPS = 10
#: Layers that draw numbers as they train.
DRAWN = {"nn.RReLU", "nn.AlphaDropout", "nn.Dropout", "nn.FeatureAlphaDropout", "nn.FractionalMaxPool2d",
         "nn.FractionalMaxPool3d"}


def cases(name):
    """(arguments of the constructor, inputs) of a layer's configurations in torch's table."""
    info = MODULES[name]
    torch.manual_seed(0)
    for case in info.module_inputs_func(info, device="cpu", dtype=torch.float64, requires_grad=False, training=False):
        if case.forward_input is not None:
            yield case.constructor_input, case.forward_input


def trainable(name):
    """The first configuration of a layer in which a step changes its parameters; None if none does."""
    if name in DRAWN or not hasattr(tinytorch.nn, name.removeprefix("nn.")):
        return None
    for made, given in cases(name):
        try:
            convert((made.args, made.kwargs, given.args, given.kwargs))
        except Untranslatable:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            layer = MODULES[name].module_cls(*made.args, **made.kwargs).double().eval()
            layer(*given.args, **given.kwargs)                 # lazy ones have parameters now
            before = arrays(layer.state_dict())
            weights = [p for p in layer.parameters() if p.requires_grad]
            if weights:
                train(torch, layer, torch.optim.SGD(weights, lr=0.1), (given.args, given.kwargs), 1)
        if any((np.asarray(v) != np.asarray(before[k])).any() for k, v in arrays(layer.state_dict()).items()):
            return made, given
    return None


def targets(library, output):
    """What an output is to become: no symmetry that leaves gradients of rounding errors alone."""
    return ((library.arange(output.numel(), dtype=output.dtype) * 3) % 7 - 2).reshape(output.shape) / 4


def train(library, model, optimizer, inputs, steps=STEPS):
    def closure():
        optimizer.zero_grad()
        outputs = [t for t in tensors(model(*inputs[0], **inputs[1])) if t.requires_grad]
        loss = sum(((t - targets(library, t)) ** 2).mean() for t in outputs)
        loss.backward()
        return loss
    for _ in range(steps):
        optimizer.step(closure)


def arrays(state):
    """A state dict with ndarrays for tensors."""
    if isinstance(state, dict):
        return {k: arrays(v) for k, v in state.items()}
    if isinstance(state, (list, tuple)):
        return [arrays(v) for v in state]
    return np.array(array_of(state)) if hasattr(state, "detach") else state


def given_to(library, state):
    """The tensors of a state dict as those of `library`."""
    if isinstance(state, dict):
        return {k: given_to(library, v) for k, v in state.items()}
    if isinstance(state, list):
        return [given_to(library, v) for v in state]
    return library.tensor(state) if isinstance(state, np.ndarray) else state


def close(a, b, label):
    assert type(a) is type(b), label
    if isinstance(a, dict):
        assert list(a) == list(b), label
        for k in a:
            close(a[k], b[k], f"{label}.{k}")
    elif isinstance(a, list):
        assert len(a) == len(b), label
        for i, (x, y) in enumerate(zip(a, b)):
            close(x, y, f"{label}[{i}]")
    elif isinstance(a, (np.ndarray, float)):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10, err_msg=label)
    else:
        assert a == b, label


def both_ways(name, made, given, optimizer, kwargs, steps=STEPS):
    """Some steps in each library; then the next ones in both from its state dicts."""
    inputs = {torch: (given.args, given.kwargs), tinytorch: convert((given.args, given.kwargs))}
    arguments = {torch: (made.args, made.kwargs), tinytorch: convert((made.args, made.kwargs))}

    def build(library):
        args, kw = arguments[library]
        model = getattr(library.nn, name.removeprefix("nn."))(*args, **kw).double().train()
        for part in model.modules():
            if isinstance(getattr(part, "dropout", None), float):
                part.dropout = 0.0
            if isinstance(part, library.nn.Dropout):
                part.p = 0.0
        extra = kwargs if library is torch else convert(kwargs)
        return model, getattr(library.optim, optimizer)([p for p in model.parameters() if p.requires_grad], **extra)

    for here, there in (torch, tinytorch), (tinytorch, torch):
        here.manual_seed(1)
        model, opt = build(here)
        train(here, model, opt, inputs[here], 2)
        states = arrays(model.state_dict()), arrays(opt.state_dict())
        # Both are loaded: loading brings state into the parameters' dtype, NAdam's `mu_product` too.
        (model, opt), (other, other_opt) = loaded = build(here), build(there)
        for library, (net, stepper) in zip((here, there), loaded):
            net.load_state_dict(given_to(library, states[0]))
            stepper.load_state_dict(given_to(library, states[1]))
        train(here, model, opt, inputs[here], steps)
        train(there, other, other_opt, inputs[there], steps)
        after, other_after = arrays(model.state_dict()), arrays(other.state_dict())
        assert any((np.asarray(after[k]) != np.asarray(states[0][k])).any() for k in after), f"{name} learnt nothing"
        close(other_after, after, f"{name} from {here.__name__}")
        close(arrays(other_opt.state_dict()), arrays(opt.state_dict()), f"{optimizer} from {here.__name__}")


TRAINED = {name: found for name in MODULES for found in [trainable(name)] if found}


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True", "ignore:Lazy modules are a new feature")
@pytest.mark.parametrize("name", TRAINED)
def test_layers(name):
    both_ways(name, *TRAINED[name], "SGD", {"lr": 0.05, "momentum": 0.9})


@pytest.mark.parametrize("optimizer", [name for name, info in OPTIMIZERS.items() if not info.only_supports_sparse_grads
                                       and hasattr(tinytorch.optim, name)])
def test_optimizers(optimizer):
    made, given = next(iter(cases("nn.Linear")))
    if optimizer == "Muon":                    # takes matrices alone
        made.kwargs["bias"] = False
    for case in OPTIMIZERS[optimizer].optim_inputs_func(device=torch.device("cpu")):
        if not any(case.kwargs.get(flag) for flag in ("capturable", "differentiable")):
            few = {"max_iter": 3} if optimizer == "LBFGS" else {}              # lest it is there at once
            both_ways("nn.Linear", made, given, optimizer, {**few, **case.kwargs})
