"""The functions of lists of tensors beside torch, on the samples of its tables and some calls of their own."""
import itertools

import pytest
import torch
from torch.testing._internal import common_methods_invocations as tables

import tinytorch

from .adapter import convert, described, error_of, refused, same, same_outcome, spread

ENTRIES = {op.name: op for table in ("unary", "binary", "pointwise", "reduce", "other")
           for op in getattr(tables, f"foreach_{table}_op_db")}
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.complex64, torch.bool]


def _samples(op, dtype, count):
    torch.manual_seed(0)
    given = itertools.islice(op.sample_inputs("cpu", dtype, noncontiguous=False, num_input_tensors=[2]), 60)
    return [(s.input, s.args, s.kwargs) for s in spread(given, count)]


def _both(name, call, input, args, kwargs, label):
    """The results of both modules, None where both refuse; the input as it is afterwards is part of them."""
    ours = convert((input, args, kwargs))
    error, theirs = error_of(lambda: (getattr(torch, call)(input, *args, **kwargs), input))
    our_error, mine = error_of(lambda: (getattr(tinytorch, call)(ours[0], *ours[1], **ours[2]), ours[0]))
    return None if refused(our_error, error, label) else (mine, theirs)


@pytest.mark.parametrize("name", ENTRIES)
def test_tables(name):
    calls = [call for call in (name, name + "_") if hasattr(torch, call)]
    for dtype, call in itertools.product(DTYPES, calls):
        for input, args, kwargs in _samples(ENTRIES[name], dtype, 4):
            label = f"{call} {dtype} {described(input, args, kwargs)}"
            found = _both(name, call, input, args, kwargs, label)
            if found is not None:
                same(*found, label, scale=4)


@pytest.mark.parametrize("name", [name for name in ENTRIES if hasattr(torch, name)])
def test_gradients(name):
    for input, args, kwargs in _samples(ENTRIES[name], torch.float64, 4):
        if isinstance(input, (list, tuple)):
            for x in input:
                x.requires_grad_()
        label = f"{name} {described(input, args, kwargs)}"
        given = convert((input, args, kwargs))
        error, theirs = error_of(lambda: getattr(torch, name)(input, *args, **kwargs))
        our_error, ours = error_of(lambda: getattr(tinytorch, name)(given[0], *given[1], **given[2]))
        if refused(our_error, error, label):
            continue
        same(ours, theirs, label)
        same(*[[y.grad_fn and y.grad_fn.name() for y in found] for found in (ours, theirs)], label)
        wanted = [x for x in (input if isinstance(input, (list, tuple)) else args[0]) if x.requires_grad]
        if wanted:
            mine = [x for x in (given[0] if isinstance(input, (list, tuple)) else given[1][0]) if x.requires_grad]
            same(tinytorch.autograd.grad(sum([y.sum() for y in ours]), mine, allow_unused=True),
                 torch.autograd.grad(sum([y.sum() for y in theirs]), wanted, allow_unused=True), label)


def lists(t):
    return [t.tensor([1., 2.]), t.tensor([[3.]])], [t.tensor([0.5, 4.]), t.tensor(2.)]


@pytest.mark.parametrize("call", [
    lambda t, a, b: t._foreach_add(a, b, alpha=2), lambda t, a, b: t._foreach_add(a, t.tensor(2.), alpha=3),
    lambda t, a, b: t._foreach_add(a, t.tensor([2., 1.])),
    lambda t, a, b: t._foreach_sub(a, t.tensor(2.)), lambda t, a, b: t._foreach_add(a, 1, alpha=2.5),
    lambda t, a, b: t._foreach_exp([]), lambda t, a, b: t._foreach_exp(a[0]), lambda t, a, b: t._foreach_exp([1]),
    lambda t, a, b: t._foreach_exp(a, a), lambda t, a, b: t._foreach_add(a, b[:1]), lambda t, a, b: t._foreach_add(a),
    lambda t, a, b: t._foreach_add(a, [1]), lambda t, a, b: t._foreach_mul(
        [t.ones(2).long()], [t.ones(2)]), lambda t, a, b: t._foreach_mul_([t.ones(2).long()], [t.ones(2)]),
    lambda t, a, b: t._foreach_addcmul(a, b, b, scalars=t.tensor([2., 3.])),
    lambda t, a, b: t._foreach_addcmul(a, b, b, t.tensor([2.])), lambda t, a, b: t._foreach_addcdiv(a, b, b, [2, 3.]),
    lambda t, a, b: t._foreach_addcdiv(a, b, b, value=3), lambda t, a, b: t._foreach_lerp(a, b, weight=0.25),
    lambda t, a, b: t._foreach_lerp(a, b, [0.25, 0.5]), lambda t, a, b: t._foreach_lerp(a, b, b),
    lambda t, a, b: t._foreach_pow(2, a), lambda t, a, b: t._foreach_pow(a, exponent=b),
    lambda t, a, b: t._foreach_norm(a, 1, dtype=t.float64), lambda t, a, b: t._foreach_norm(a, float("inf")),
    lambda t, a, b: t._foreach_powsum(a, 3, t.float64), lambda t, a, b: t._foreach_copy_(a, b, non_blocking=True),
    lambda t, a, b: t._foreach_copy_(a, b[:1]), lambda t, a, b: t._foreach_zero_(tuple(a)),
    lambda t, a, b: t._foreach_mul(a, True), lambda t, a, b: t._foreach_mul(a, other=b),
    lambda t, a, b: t._foreach_div(a, scalars=[2, 3]),
    lambda t, a, b: t._foreach_exp_([t.ones(1, requires_grad=True)])])
def test_calls(call):
    def program(t):
        a, b = lists(t)
        return call(t, a, b), a, b
    same_outcome(program)


def test_names():
    assert not [name for name in dir(torch) if name.startswith("_foreach_") and not hasattr(tinytorch, name)]


def test_in_place_gives_the_list_back():
    def program(t):
        a, _ = lists(t)
        versions = [x._version for x in a]
        return t._foreach_add_(a, 1) is a, t._foreach_zero_(a) is a, [x._version - v for x, v in zip(a, versions)]
    same_outcome(program)


def test_operands_of_no_kind():
    """torch goes on to tell what each form of the call found wrong."""
    for other in ("a", None, [1, "a"]):
        refused(error_of(lambda other=other: tinytorch._foreach_sub(lists(tinytorch)[0], other))[0],
                error_of(lambda other=other: torch._foreach_sub(lists(torch)[0], other))[0], repr(other))
    refused(error_of(lambda: tinytorch._foreach_sub(lists(tinytorch)[0], tinytorch.ones(2)))[0],
            error_of(lambda: torch._foreach_sub(lists(torch)[0], torch.ones(2)))[0], "a tensor")
