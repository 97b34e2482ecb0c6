"""typing.get_type_hints finds on every layer what it finds on torch's."""
import collections.abc
import typing

import pytest
import torch

import tinytorch


def plain(hint):
    """A type as nested tuples, the same for torch's classes and ours; a Union as the set of its types."""
    if hint is type(None) or hint is Ellipsis or isinstance(hint, str):
        return hint
    if isinstance(hint, list):                 # the arguments of a Callable
        return tuple(map(plain, hint))
    parts = typing.get_args(hint)
    origin = typing.get_origin(hint) or hint
    if not parts:
        return origin.__name__ if getattr(origin, "__module__", "builtins") not in ("builtins", "typing") else origin
    if origin is typing.Union or type(hint).__name__ == "UnionType":
        return frozenset(map(plain, parts))
    return (origin, *map(plain, parts))


def same(name):
    theirs, ours = (typing.get_type_hints(getattr(t.nn, name)) for t in (torch, tinytorch))
    assert {k: plain(v) for k, v in ours.items()} == {k: plain(v) for k, v in theirs.items()}
    assert list(ours) == list(theirs)


@pytest.mark.parametrize("name", torch.nn.modules.__all__)
def test_a_layer_has_the_hints_of_torchs(name):
    same(name)


def test_the_comparison_tells_types_apart():
    assert plain(int | None) == plain(None | int) != plain(int)
    assert plain(tuple[int, ...]) != plain(tuple[int]) != plain(list[int])
    assert plain(collections.abc.Callable[..., typing.Any]) != plain(collections.abc.Callable[..., int])
    assert plain(torch.Tensor) == plain(tinytorch.Tensor) != plain(torch.nn.Parameter)


def test_hints_of_a_module_of_the_users():
    """Own hints are added to those of Module."""
    class Net(tinytorch.nn.Module):
        width: int

    hints = typing.get_type_hints(Net)
    assert hints["width"] is int and hints["training"] is bool and hints["_modules"] == \
        typing.get_type_hints(tinytorch.nn.Module)["_modules"]
