"""torch's op_db and module_db under torch.compile: recorded with some numbers and replayed with others, every operation
and layer gives the bits of eager, forward and backward, or says why it is run as it is written."""
import random
import warnings

import numpy as np
import pytest
import torch
from torch.utils._pytree import tree_flatten, tree_map

import tinytorch
from tinytorch.capture import compiled
from tinytorch.tensor import wrap

from .adapter import OPS, Untranslatable, convert, namesake, samples
from .test_module_db import HERE as LAYERS, _inputs
from .test_op_db import HERE
from .test_optim_db import HERE as OPTIMIZERS, _keyword_sets, _start

NAMES = [name for name in HERE if OPS[name].supports_dtype(torch.float32, "cpu")]


class Found:
    """How many calls were replayed, and of what was run eagerly why."""

    replayed, eager, reasons = 0, 0, {}


@pytest.fixture(autouse=True)
def unchecked():
    """Without comparisons at run time, which would hide what is compared here."""
    settings = compiled.settings
    settings.self_check, settings.patience, settings.longer = False, 1, 1      # the second replay is in C
    yield
    settings.self_check, settings.patience, settings.longer = True, 3, 5


def bits(tree, numbers=True):
    """All that can be told of the tensors, or all but their numbers."""
    if isinstance(tree, (tuple, list)):
        return [bits(x, numbers) for x in tree]
    return [(str(x.dtype), tuple(x.shape), x.stride(), x.requires_grad, numbers and (
             tinytorch.dtypes.numbers(x._array).tobytes() if type(x._array) is np.ndarray else repr(x)))
            if isinstance(x, tinytorch.Tensor) else repr(x) for x in tree_flatten(tree)[0]]


def other(tree, seed):
    """Tensors of the same layout with the same numbers in other places: fresh ones."""
    def changed(x):
        if not isinstance(x, tinytorch.Tensor):
            return x
        if type(x._array) is not np.ndarray:
            raise Untranslatable("an array of another kind")
        array = x._array
        fresh = np.empty_like(array)
        flat = array.reshape(-1)
        if seed and flat.size:
            flat = flat[np.random.RandomState(seed).permutation(flat.size)]
        fresh[...] = flat.reshape(array.shape)
        return wrap(fresh).requires_grad_(x.requires_grad)
    return tree_map(changed, tree)


def outcome(function, given, seed, numbers=True):
    """(bits of the result, of the arguments afterwards and of the stream, or the error)."""
    tinytorch.manual_seed(seed)
    try:
        result = function(*given)
    except Exception as error:
        return type(error), str(error)
    return bits(result, numbers), bits(given), tinytorch.get_rng_state()._array.tobytes()


def told(found, expected):
    """Where they differ first."""
    if isinstance(found, (tuple, list)) and isinstance(expected, (tuple, list)) and len(found) == len(expected):
        return next((f"{i}: {told(a, b)}" for i, (a, b) in enumerate(zip(found, expected)) if a != b), "")
    return f"{str(found)[:300]} for {str(expected)[:300]}"


def replays(function, given, label, count=5, numbers=True):
    """Compares calls of the compiled function with those of the function. `numbers` is false for results whose memory
    nobody has set."""
    compiled_function = compiled.Compiled(function)
    for k in range(count):
        try:
            mine, theirs = other(given, k), other(given, k)
        except Untranslatable:
            return None
        expected = outcome(function, mine, k, numbers)
        found = outcome(compiled_function, theirs, k, numbers)
        assert found == expected, f"{label}, call {k}: {told(found, expected)}"
    entry = next(iter(compiled_function.entries.values()), None)
    if entry is None or entry.reason is not None:
        Found.eager += 1
        Found.reasons.setdefault(entry and entry.reason, []).append(label)
        return False
    Found.replayed += any([ready.count for ready in entry.programs])
    return True


def with_gradients(function):
    """The results of a function and the gradients of its arguments."""
    def call(*given):
        result = function(*given)
        leaves = [x for x in tree_flatten(given)[0] if isinstance(x, tinytorch.Tensor) and x.requires_grad]
        outputs = [x for x in tree_flatten(result)[0] if isinstance(x, tinytorch.Tensor) and x.requires_grad]
        if not leaves or not outputs:
            return result
        total = sum([(x.abs() if x.is_complex() else x).sum() for x in outputs])
        grads = tinytorch.autograd.grad(total, leaves, allow_unused=True)
        return tree_map(lambda x: x.detach() if isinstance(x, tinytorch.Tensor) else x, result), grads
    return call


def calls(name, count):
    """(a call of an operation, its arguments, how it is called, whether they require gradients) of torch's samples."""
    op = OPS[name]
    function = namesake(op.op, op.name)
    for x, args, kwargs, _ in samples(op, torch.float32, count):
        try:
            given = convert((x, args, kwargs))
        except Untranslatable:
            continue

        def call(x, args, kwargs):
            return function(x, *args, **kwargs)
        yield call, given, f"{name} {x.shape if hasattr(x, 'shape') else ''}", False
        if op.supports_autograd:
            given = tree_map(lambda t: t.requires_grad_() if isinstance(t, tinytorch.Tensor) and (
                t.is_floating_point() or t.is_complex()) and t.is_leaf else t, given)
            yield call, given, name, True


def compare(name, count):
    numbers = "empty" not in name
    for call, given, label, differentiable in calls(name, count):
        if differentiable:
            replays(with_gradients(call), given, f"{label} with gradients", numbers=numbers)
            replays(call, given, f"{label} of tensors that require gradients", numbers=numbers)
        else:
            replays(call, given, label, numbers=numbers)


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


def layers(name, training, most):
    """Pairs of layers of the same numbers, and what they are called with."""
    cases = _inputs(name, torch.float32, training)
    for case in random.Random(name).sample(cases, min(len(cases), most)):
        try:
            args, kwargs = convert((case.constructor_input.args, case.constructor_input.kwargs))
            given = convert((case.forward_input.args, case.forward_input.kwargs))
        except Untranslatable:
            continue
        pair = []
        for _ in range(2):
            tinytorch.manual_seed(1)
            pair.append(getattr(tinytorch.nn, name.removeprefix("nn."))(*args, **kwargs).train(training))
        yield pair, given


def compare_layer(name, training, most):
    for pair, given in layers(name, training, most):
        calls = [with_gradients_of(layer) for layer in pair]
        compiled_call = compiled.Compiled(calls[0])
        for k in range(5):
            found = outcome(compiled_call, other(given, k), k), bits(pair[0].state_dict()), grads_of(pair[0])
            expected = outcome(calls[1], other(given, k), k), bits(pair[1].state_dict()), grads_of(pair[1])
            assert found == expected, f"{name}, call {k}: {told(found, expected)}"
        entry = next(iter(compiled_call.entries.values()), None)
        if entry is None or entry.reason is not None:
            Found.eager += 1
            Found.reasons.setdefault(entry and entry.reason, []).append(name)
        else:
            Found.replayed += any([ready.count for ready in entry.programs])


def grads_of(layer):
    return bits([p.grad for p in layer.parameters()])


def with_gradients_of(layer):
    def step(args, kwargs):
        layer.zero_grad()
        result = layer(*args, **kwargs)
        outputs = [x for x in tree_flatten(result)[0] if isinstance(x, tinytorch.Tensor) and x.requires_grad]
        leaves = [*layer.parameters()]
        if outputs and leaves:
            sum([x.sum() for x in outputs]).backward(inputs=leaves)
        return tree_map(lambda x: x.detach() if isinstance(x, tinytorch.Tensor) else x, result)
    return step


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("name", LAYERS)
def test_layer(name, training):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare_layer(name, training, 2)


@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("name", LAYERS)
def test_layer_of_many_samples(name, training):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare_layer(name, training, 20)


def step_of(parameters, optimizer):
    """A step of training, whose gradients depend on where the parameters are and on `factor`."""
    def step(factor):
        optimizer.zero_grad()
        loss = sum([((p * p.conj()).real if p.is_complex() else p * p).sum() for p in parameters])
        (loss * factor).backward()
        optimizer.step()
        return loss.detach()
    return step


@pytest.mark.parametrize("name", [name for name in OPTIMIZERS if name != "LBFGS"])
def test_optimizer(name):
    """With every set of options of torch's optim_db."""
    replayed = 0
    for options in _keyword_sets(name):
        pair = []
        for _ in range(2):
            parameters = [convert(p).requires_grad_() for p in _start(name, torch.float32)]
            try:
                pair.append((parameters, getattr(tinytorch.optim, name)(parameters, **convert(dict(options)))))
            except (ValueError, RuntimeError):
                break
        if len(pair) < 2:
            continue
        calls = [step_of(*parts) for parts in pair]
        step = compiled.Compiled(calls[0])
        for k in range(6):
            factor = tinytorch.tensor(0.1 * (k + 1))
            states = [bits([*parts[0], *parts[1].state_dict()["state"].values()]) for parts in pair]
            assert states[0] == states[1], (options, k)
            assert bits([step(factor)]) == bits([calls[1](factor)]), (options, k)
        replayed += any([entry.programs for entry in step.entries.values()])
    assert replayed


def test_that_most_are_replayed():
    """At the end of the others, if they have all run."""
    if Found.replayed + Found.eager > 500:
        assert Found.replayed > 2 * Found.eager
