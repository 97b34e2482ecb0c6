"""Every function that torch says can be overridden, called with arguments that override it, is seen by them here too:
under the same name, with as many arguments and the same keywords."""
import functools
import inspect
import warnings

import pytest
import torch
from torch.overrides import get_testing_overrides, resolve_name

import tinytorch

from .adapter import Different, same

#: Arguments that must be numbers, lest torch refuses them before anything else.
NUMBERS = set("""dim dim0 dim1 axis0 axis1 dimension n p chunks size sizes shape output_size fill_value split_sizes
    step start end length diagonal k num_samples repeats dims shifts source destination maxnorm q
    kernel_size upscale_factor downscale_factor groups num_groups N M stride sample_size blocks eps
    exponent indices_or_sections""".split())
#: Cases that differ, each with the reason.
DIFFERENT = {
    "torch.functional.chain_matmul": "torch leaves its argument `out` out of the call that it hands on",
    "torch.functional.unravel_index": "torch hands its second argument on by keyword",
    "torch.nn.functional.l1_loss": "torch leaves its argument `weight` out of the call that it hands on",
    "torch.nonzero_static": "a keyword is missing, which is refused before or after",
    "torch.Tensor.nonzero_static": "a keyword is missing, which is refused before or after",
    "torch.Tensor.repeat_interleave": "an argument is missing, which is refused before or after",
    "torch.Tensor.where": "an argument is missing, which is refused before or after",
    "torch.Tensor.__array__": "NumPy's argument `copy`, which torch lacks",
    "torch.Tensor.__array_wrap__": "NumPy's newer arguments, which torch lacks",
    "torch.Tensor.__setitem__": "what it returns is lost in C",
    "torch.Tensor.set_": "not seen in torch without arguments",
    "torch.Tensor.lu": "an argument more here, of the function that it shares its definition with",
}
#: How torch begins to say that an argument is of the wrong kind, which it looks at first and tinytorch last.
WRONG = "must be ", "invalid combination", "positional argument", "unknown parameter type"


@functools.cache
def classes(lib):
    seen = []

    def handler(cls, func, types, args=(), kwargs=None):
        seen.append((lib.overrides.resolve_name(func), len(args), sorted(kwargs or {})))
        return -1
    members = {"__torch_function__": classmethod(handler)}
    return type("Like", (), members), type("Sub", (lib.Tensor,), members), seen


def outcome(lib, name, override):
    """What a call of the function gives, and what was seen; None if there is no such function."""
    Like, Sub, seen = classes(lib)
    *path, last = name.split(".")[1:]
    try:
        function = getattr(functools.reduce(getattr, path, lib), last)
    except AttributeError:
        return None
    spec = inspect.getfullargspec(override)
    names = spec.args[:len(spec.args) - len(spec.defaults or ())] + [spec.varargs] * 2 * bool(spec.varargs)
    of_tensor = ".Tensor." in name

    def made(i, argument):
        if not of_tensor:
            return Like()
        return lib.tensor([5.]).as_subclass(Sub) if not i or argument not in NUMBERS else 1
    args = [made(i, argument) for i, argument in enumerate(names)]
    seen.clear()
    try:
        result = function(*args)
    except (RuntimeError, TypeError) as error:
        return type(error).__name__, str(error)
    return result, list(seen)


def test_every_function_is_seen():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        overrides = {resolve_name(function): override for function, override in get_testing_overrides().items()}
    compared, wrong = 0, {}
    for name, override in overrides.items():
        if name is None or name in DIFFERENT:
            continue
        ours, theirs = outcome(tinytorch, name, override), outcome(torch, name, override)
        # a name that is there to be imported alone refuses before it asks anybody
        refused = ours is not None and ours[0] == "NotImplementedError" and "is not supported" in ours[1]
        if ours is None or refused or theirs[0] in ("RuntimeError", "TypeError") and any(
                word in theirs[1] for word in WRONG):
            continue
        unpacked = "torch.Tensor.__index__"    # of sizes, by C++
        seen = [entry for entry in theirs[-1] if entry[0] != unpacked or name == unpacked]
        try:
            same(ours, (theirs[0], seen), name)
            compared += 1
        except Different as error:
            wrong[name] = str(error)
    assert not wrong
    assert compared > 1000


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_does(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        overrides = get_testing_overrides()
        override, = [overrides[function] for function in overrides if resolve_name(function) == name]
    ours = outcome(tinytorch, name, override)
    assert ours is not None and ours != outcome(torch, name, override)
