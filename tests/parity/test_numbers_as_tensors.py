"""torch takes a tensor without dimensions for a number in many places: each number among the arguments of its samples
is replaced by one, and what torch answers is answered here."""
import warnings

import torch

import tinytorch

from .adapter import OPS, Untranslatable, convert, error_of, namesake, same, samples, tensors
from .test_op_db import HERE, NO_VALUES

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
