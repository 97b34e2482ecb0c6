"""Modules call the functions that torch.nn.functional holds at that moment, as torch's do: libraries that count work,
or replace functions, put their own there."""
import contextlib
import types
import warnings

import pytest
import torch

import tinytorch

from .adapter import MODULES, Untranslatable, convert


@contextlib.contextmanager
def watched(t):
    """The names of the functions that are called there, by others than themselves."""
    functional, called, inside = t.nn.functional, [], []

    def watching(name, function):
        def call(*args, **kwargs):
            if not inside:
                called.append(name)
            inside.append(name)
            try:
                return function(*args, **kwargs)
            finally:
                inside.pop()
        return call
    before = {name: f for name, f in vars(functional).items() if callable(f) and not isinstance(
        f, (type, types.ModuleType)) and not name.startswith(("_", "has_torch_function"))}
    try:
        for name, function in before.items():
            setattr(functional, name, watching(name, function))
        yield called
    finally:
        for name, function in before.items():
            setattr(functional, name, function)


@pytest.mark.parametrize("name", MODULES)
def test_functions(name):
    info = MODULES[name]
    made = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=True)
    compared = 0
    for sample in [m for m in made if m.forward_input is not None][:2]:
        given = (sample.constructor_input, sample.forward_input)
        try:
            ours = convert([(x.args, x.kwargs) for x in given])
        except Untranslatable:
            continue
        found = []
        for t, ((args, kwargs), (inputs, options)) in ((torch, [(x.args, x.kwargs) for x in given]), (tinytorch, ours)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                module = getattr(t.nn, info.module_cls.__name__)(*args, **kwargs)
                with watched(t) as called, contextlib.suppress(RuntimeError):
                    module(*inputs, **options)
            found.append(called)
        assert found[0] == found[1]
        compared += 1
    assert compared
