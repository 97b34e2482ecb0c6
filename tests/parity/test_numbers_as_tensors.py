"""torch takes a tensor without dimensions for a number in many places: each number among the arguments of its samples
is replaced by one, and what torch answers is answered here."""
import warnings

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import OPS, Untranslatable, convert, error_of, namesake, same, samples, tensors
from .test_op_db import HERE, NO_VALUES

pytestmark = pytest.mark.any_kernels

DTYPES = torch.float64, torch.float32, torch.complex128, torch.int64, torch.bool

#: Functions whose numbers are drawn, or that say how an error comes about: they are to answer, and that is all.
DRAWN = ("normal", "randint", "multinomial", "bernoulli", "dropout", "rrelu", "rand", "lowrank", "uniform",
         "exponential", "geometric", "cauchy", "log_normal", "fractional")


def numbers(args, kwargs):
    """(the place of a number, or of a list of them, among the arguments)."""
    for key, value in [*enumerate(args), *kwargs.items()]:
        if type(value) in (int, float) or isinstance(value, (tuple, list)) and value and all(
                type(n) in (int, float) for n in value):
            yield key


def with_tensor(t, args, kwargs, key):
    args, kwargs = list(args), dict(kwargs)
    target = args if isinstance(key, int) else kwargs
    value = target[key]
    target[key] = type(value)([t.tensor(value[0]), *value[1:]]) if isinstance(value, (tuple, list)) else t.tensor(value)
    return args, kwargs


def differences(name):
    """(how many calls torch answers, what of them ends otherwise here)."""
    op, count, found = OPS[name], 0, []
    dtype = next((d for d in DTYPES if op.supports_dtype(d, "cpu")), None)
    function, drawn = namesake(op.op, op.name), any(word in name for word in DRAWN) or NO_VALUES.match(name)
    for x, args, kwargs, _ in samples(op, dtype, 6, requires_grad=False) if dtype else ():
        for key in numbers(args, kwargs):
            try:
                ours = convert((x, args, kwargs))
            except Untranslatable:
                continue
            a, k = with_tensor(torch, args, kwargs, key)
            b, j = with_tensor(tinytorch, *ours[1:], key)
            error, theirs = error_of(lambda: op.op(x, *a, **k))
            if error is None:
                count += 1
                try:
                    same(tensors(function(ours[0], *b, **j)), tensors(theirs), values=not drawn, scale=10)
                except Exception as different:
                    found.append((name, key, repr(different)))
    return count, found


def test_numbers_as_tensors():
    count, found = 0, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in HERE:
            compared, different = differences(name)
            count, found = count + compared, found + different
    assert count > 500 and found == []


# ------------------------------------------------------------------ ints
#: What stands in the place of an int (also of one in a list), and of a list of ints.
FOR_AN_INT = {
    "a tensor": lambda t, v: t.tensor(v), "of one element": lambda t, v: t.tensor([v]),
    "of one in a matrix": lambda t, v: t.tensor([[v]]), "of a bool": lambda t, v: t.tensor(bool(v)),
    "of one bool": lambda t, v: t.tensor([bool(v)]), "of a float": lambda t, v: t.tensor(float(v)),
    "of NumPy": lambda t, v: np.int64(v), "a bool of NumPy": lambda t, v: np.bool_(v),
    "an array": lambda t, v: np.array(v), "an array of one": lambda t, v: np.array([v]), "a bool": lambda t, v: bool(v),
    "a float": lambda t, v: float(v), "a list": lambda t, v: [v]}
FOR_A_LIST = {
    "a tensor": lambda t, v: t.tensor(v), "tensors": lambda t, v: [t.tensor(n) for n in v],
    "tensors of one": lambda t, v: [t.tensor([n]) for n in v], "of NumPy": lambda t, v: tuple([np.int64(n) for n in v]),
    "an int": lambda t, v: v[0], "an int as a tensor": lambda t, v: t.tensor([v[0]]), "a Size": lambda t, v: t.Size(v)}
#: (function, what it is given): why that is answered otherwise.
OTHERWISE = {
    **dict.fromkeys(["broadcast_shapes", "nn.functional.max_unpool1d", "nn.functional.max_unpool2d",
                     "nn.functional.max_unpool3d"], "torch compares sizes, and asks whether what comes out is a bool"),
    "split": "an integer of NumPy's is one here", "histogramdd": "tensors in a list are edges, be they whole numbers",
    "nn.functional.local_response_norm": "torch pads by a bool, which it then refuses for a window",
    "__getitem__": "numbers in a list that are no integers are not made integers",
    "nn.functional.smooth_l1_loss": "torch's Python compares `beta` with 0 before anything asks what it is",
    "nn.functional.linear_cross_entropy": "torch's in pieces is a custom operator, which converts what it is given",
    "arange": "torch has a dtype of its own for bools of NumPy's",
    **dict.fromkeys(["masked." + name for name in (
        "sum", "prod", "amax", "amin", "mean", "median", "norm", "var", "std", "logsumexp", "softmax", "log_softmax",
        "softmin", "cumsum", "cumprod")], "torch's Python takes remainders of "
        "dimensions, whatever these are"),
    **dict.fromkeys(["var", "std", "var_mean", "std_mean", "sum", "mean"],
                    "a bool among the dimensions is told from the other form of the call by its place alone")}


def places(args, kwargs):
    """(the place of an argument, the place in it or None, what may stand there) of ints and lists of ints."""
    for key, value in [*enumerate(args), *kwargs.items()]:
        if type(value) is int:
            yield key, None, FOR_AN_INT
        elif isinstance(value, (tuple, list)) and value and all(type(n) is int for n in value):
            yield key, None, FOR_A_LIST
            yield from [(key, i, FOR_AN_INT) for i in range(min(len(value), 2))]


def replaced(t, args, kwargs, key, i, make):
    args, kwargs = list(args), dict(kwargs)
    target = args if isinstance(key, int) else kwargs
    value = target[key]
    target[key] = make(t, value) if i is None else [*value[:i], make(t, value[i]), *value[i + 1:]]
    return args, kwargs


def unlike(name):
    """(how many calls were compared, those that end otherwise)."""
    op, count, found = OPS[name], 0, []
    dtype = next((d for d in DTYPES if op.supports_dtype(d, "cpu")), None)
    function, drawn = namesake(op.op, op.name), any(word in name for word in DRAWN) or NO_VALUES.match(name)
    for x, args, kwargs, _ in samples(op, dtype, 4, requires_grad=False) if dtype else ():
        for key, i, makes in places(args, kwargs):
            for what, make in makes.items():
                try:
                    ours = convert((x, args, kwargs))
                except Untranslatable:
                    continue
                a, k = replaced(torch, args, kwargs, key, i, make)
                b, j = replaced(tinytorch, *ours[1:], key, i, make)
                error, theirs = error_of(lambda: op.op(x, *a, **k))
                if "INTERNAL ASSERT" in str(error) and "isIntegral" not in str(error):
                    continue                   # of arrays where one int stands for several
                our_error, mine = error_of(lambda: function(ours[0], *b, **j))
                count += 1
                try:
                    assert type(our_error) is type(error), f"{our_error!r:.120} for {error!r:.120}"
                    if error is None:
                        same(tensors(mine), tensors(theirs), values=not drawn, scale=10)
                except Exception as different:
                    found.append((name, key, i, what, str(different)[:300]))
    return count, found


def test_ints_of_other_kinds():
    """A size may be a tensor of one integer, whatever its shape, and a dimension one without dimensions; lists, and an
    int that stands for several, take bools too. torch says which, and is asked about every int of its samples."""
    count, found, seen = 0, [], set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in HERE:
            compared, different = unlike(name)
            count += compared
            if OPS[name].name in OTHERWISE:
                seen.add(OPS[name].name)
            else:
                found += different
    assert count > 15_000 and found == [] and seen == set(OTHERWISE)
