"""torch's op_db, module_db and optim_db under torch.compile(mode="max-autotune"): recorded with some numbers, lowered
to C, and replayed with others beside eager. Numbers may differ in their last digits; all else is the same."""
import warnings

import numpy as np
import pytest
import torch
from torch.testing._internal.common_optimizers import optim_db

import tinytorch
from tinytorch.capture import compiled
from tinytorch.capture.lowered import Lowered

from .adapter import Untranslatable
from .test_compile_db import (
    LAYERS,
    NAMES as ALL,
    calls,
    layers,
    other,
    unchecked,  # noqa: F401
    with_gradients,
    with_gradients_of,
)

#: What gives memory with anything in it has nothing to compare.
NAMES = [name for name in ALL if "empty" not in name]


@pytest.fixture(autouse=True)
def at_once(unchecked, monkeypatch):  # noqa: F811
    """Programs are lowered before their first replay."""
    monkeypatch.setattr(compiled.settings, "patience", 0)


class Found:
    """Steps of programs that were lowered, and of those that were left to Python the reasons."""

    lowered, python, reasons = 0, 0, {}


#: Of results far from what they are made of, sums over many: relative to the largest number of a result.
NEAR = 2e-5


def leaves(x):
    """What a result is made of, in order."""
    if isinstance(x, (tuple, list)):
        return [z for y in x for z in leaves(y)]
    return [z for y in x.values() for z in leaves(y)] if isinstance(x, dict) else [x]


def near(mine, theirs, label, least=1e-3):
    """Whether results are those of eager; `least`: how large numbers were whose sums they are, at least."""
    assert type(mine) is type(theirs), f"{label}: {mine}, {theirs}"
    mine, theirs = leaves(mine), leaves(theirs)
    assert len(mine) == len(theirs), label
    for a, b in zip(mine, theirs):
        if not isinstance(b, tinytorch.Tensor):
            assert repr(a) == repr(b), label
            continue
        told = [(x.dtype, tuple(x.shape), x.stride(), x.requires_grad) for x in (a, b)]
        assert told[0] == told[1], f"{label}: {told}"
        x, y = a._array, b._array
        if type(y) is not np.ndarray or y.dtype.kind not in "fc":
            assert repr(a) == repr(b), label
            continue
        assert (np.isnan(x) == np.isnan(y)).all(), f"{label}: NaN at other places"
        with np.errstate(all="ignore"):
            whole = np.isfinite(y)
            assert np.array_equal(np.where(whole, 0, x), np.where(whole, 0, y), equal_nan=True), f"{label}: {x} {y}"
            apart = np.abs(np.where(whole, x - y, 0)).max(initial=0)
            largest = np.abs(np.where(whole, y, 0)).max(initial=0)
        assert apart <= NEAR * max(largest, least), f"{label}: {apart} of {largest}"


def outcome(function, given, seed):
    tinytorch.manual_seed(seed)
    try:
        return function(*given)
    except Exception as error:
        return type(error), str(error)


def replays(function, given, label, count=4):
    """Compares calls of the compiled function with those of the function."""
    compiled_function = compiled.Compiled(function, native=True)
    for k in range(count):
        try:
            mine, theirs = other(given, k), other(given, k)
        except Untranslatable:
            return
        expected, found = outcome(function, mine, k), outcome(compiled_function, theirs, k)
        near(found, expected, f"{label}, call {k}")
        near(theirs, mine, f"{label}, arguments of call {k}")
    entry = next(iter(compiled_function.entries.values()), None)
    for ready in entry.programs if entry is not None else ():
        if isinstance(ready.run_steps, Lowered):
            Found.lowered += len(ready.run_steps.program.steps) - len(ready.run_steps.python)
            Found.python += len(ready.run_steps.python)
            for reason in ready.run_steps.why:
                Found.reasons.setdefault(reason[:100], []).append(label)


def compare(name, count):
    for call, given, label, differentiable in calls(name, count):
        if differentiable:
            replays(with_gradients(call), given, f"{label} with gradients")
        else:
            replays(call, given, label)


@pytest.mark.parametrize("name", NAMES)
def test_operation(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(name, 2)


@pytest.mark.sweep
@pytest.mark.parametrize("name", NAMES)
def test_every_sample(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(name, 12)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("name", LAYERS)
def test_layer(name, training):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for pair, given in layers(name, training, 2):
            steps = [with_gradients_of(layer) for layer in pair]
            compiled_step = compiled.Compiled(steps[0], native=True)
            for k in range(4):
                found, expected = outcome(compiled_step, other(given, k), k), outcome(steps[1], other(given, k), k)
                near(found, expected, f"{name}, call {k}")
                near([*pair[0].state_dict().values()], [*pair[1].state_dict().values()], f"{name}, state of call {k}")
                near([p.grad for p in pair[0].parameters()], [p.grad for p in pair[1].parameters()],
                     f"{name}, gradients of call {k}", 0.25)


def model(kind, options):
    """A step of training of a small model, and its parameters."""
    tinytorch.manual_seed(0)
    net = tinytorch.nn.Sequential(tinytorch.nn.Linear(4, 20), tinytorch.nn.Tanh(), tinytorch.nn.Linear(20, 1))
    optimiser = kind(net.parameters(), **options)

    def step(x, y):
        optimiser.zero_grad()
        loss = tinytorch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimiser.step()
        return loss.detach()
    return step, [*net.parameters()], optimiser


@pytest.mark.parametrize("info", [info for info in optim_db if hasattr(tinytorch.optim, info.optim_cls.__name__)],
                         ids=lambda info: info.optim_cls.__name__)
def test_optimiser(info):
    """Each optimiser with each of its options follows eager, also when its rate is changed."""
    kind = getattr(tinytorch.optim, info.optim_cls.__name__)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for given in info.optim_inputs_func(device="cpu"):
            options = {key: x for key, x in given.kwargs.items() if not isinstance(x, torch.Tensor)}
            if len(options) < len(given.kwargs) or options.get("differentiable") or options.get("capturable"):
                continue
            try:
                pair = [model(kind, options) for _ in range(2)]
            except (ValueError, TypeError, RuntimeError):
                continue
            step = compiled.Compiled(pair[0][0], native=True)
            random_numbers = np.random.RandomState(0)
            for k in range(6):
                x, y = (tinytorch.from_numpy(random_numbers.rand(*shape).astype("f4")) for shape in ((8, 4), (8, 1)))
                if k == 4:
                    for _, _, optimiser in pair:
                        for group in optimiser.param_groups:
                            group["lr"] = group["lr"] * 0.5
                found, expected = outcome(step, (x, y), k), outcome(pair[1][0], (x, y), k)
                near(found, expected, f"{options}, call {k}")
                near(pair[0][1], pair[1][1], f"{options}, parameters of call {k}")
