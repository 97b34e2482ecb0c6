"""torch._foreach_*: functions of lists of tensors. Each calls a function of tensors for every element of the lists."""
from __future__ import annotations

import functools
from collections.abc import Callable

from ..autograd.promotion import NUMBERS
from ..autograd.public import TABLE
from ..autograd.views import has_history
from ..errors import kind_of
from ..tensor import Tensor
from .creation import conversion  # noqa: F401  (clone, copy_)
from .elementwise import arithmetic, limits, math, power, rounding, special, ternary  # noqa: F401  (the methods)
from .layout import index  # noqa: F401  (zero_)
from .linalg.norms import vector_norm
from .linalg.products import mm
from .reduction import extremes  # noqa: F401  (max)


# ------------------------------------------------------------------ checks
def _check_list(function, argument, position, tensors):
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(f"{function}(): argument '{argument}' (position {position}) must be tuple of Tensors, not "
                        f"{kind_of(tensors)}")
    for i, x in enumerate(tensors):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument {position - 1}, but got {kind_of(x)}")


def _check_lengths(tensors, *others):
    if not tensors:
        raise RuntimeError("Tensor list must have at least one tensor.")
    for other in others:
        if len(other) != len(tensors):
            if other and isinstance(other[0], Tensor):
                raise RuntimeError(f"Tensor lists must have the same number of tensors, got {len(tensors)} and "
                                   f"{len(other)}")
            raise RuntimeError("Tensor list must have same number of elements as scalar list.")


def _numbers(tensors, operand):
    """A number for each of the tensors, from a list or from one number for all. None if `operand` is neither."""
    if isinstance(operand, (list, tuple)) and all([isinstance(x, NUMBERS) for x in operand]):
        _check_lengths(tensors, operand)
        return operand
    if isinstance(operand, Tensor) and not operand.dim() and not has_history(operand):
        operand = operand.item()
    if not isinstance(operand, NUMBERS):
        return None
    _check_lengths(tensors)
    return [operand] * len(tensors)


def _operands(function, tensors, operand, of_tensor):
    """An operand for each of the tensors, from a list or from one for all. With `of_tensor`, a tensor without
    dimensions can be the one for all. None if `operand` is neither."""
    if isinstance(operand, (list, tuple)) and operand and isinstance(operand[0], Tensor):
        _check_list(function, "other", 2, operand)
        _check_lengths(tensors, operand)
        return operand
    if of_tensor and isinstance(operand, Tensor):
        if operand.dim():
            raise RuntimeError(f"scalar tensor expected to be 0 dim but it has {operand.dim()} dimensions and "
                               f"{operand.numel()} elements.")
        _check_lengths(tensors)
        return [operand] * len(tensors)
    return _numbers(tensors, operand)


def _no_such_call(function, forms, args, kwargs):
    got = ", ".join([kind_of(x) for x in args] + [f"{name}={kind_of(x)}" for name, x in kwargs.items()])
    return TypeError(f"{function}() received an invalid combination of arguments - got ({got}), but expected one of:\n"
                     + "".join([f" * (tuple of Tensors self, {form})\n" for form in forms]))


# ------------------------------------------------------------------ makers
#: The forms of an operand in torch's error messages, and the endings of torch's node names for sums.
_NUMBER, _SCALARS, _TENSORS = "Number scalar", "tuple of Scalars scalars", "tuple of Tensors other"
_SUMS = "0List", "1Scalar", "1ScalarList"
#: The functions by name, as they are in `torch`.
_MADE: dict[str, Callable] = {}


def _both(name, prepare):
    """Makes _foreach_f, which returns a tuple, and _foreach_f_, which writes into the tensors and returns the list.
    prepare(function, tensors, ...) gives the arguments of the method for each tensor, and the ending of the node's
    name."""
    _make(f"_foreach_{name}", getattr(Tensor, name), prepare)
    _make(f"_foreach_{name}_", getattr(Tensor, name + "_"), prepare)


def _make(function, method, prepare):
    writes = function[-1] == "_"

    def call(self, *args, **kwargs):
        prepared, overload = prepare(function, self, *args, **kwargs)
        results = [method(x, *given, **named) for x, (given, named) in zip(self, prepared)]
        return self if writes else _named(results, f"{function[1:]}.{overload}")
    call.__name__ = call.__qualname__ = function
    ending = ", written into it: gives the list back." if writes else ", as a tuple."
    call.__doc__ = f"`{method.__name__.rstrip('_')}` of each tensor of a list{ending}"
    _MADE[function] = call


def _named(results, name):
    """The results as a tuple. Their nodes get the name of the function of lists."""
    for result in results:
        if result._node is not None:
            result._node.op = _renamed(result._node.op, name)
    return tuple(results)


@functools.lru_cache(1024)
def _renamed(op, name):
    return op.renamed(name)


def _unary(function, self, *more):
    if more:
        raise TypeError(f"{function}() takes 1 positional argument but {1 + len(more)} were given")
    _check_list(function, "self", 1, self)
    _check_lengths(self)
    return [((), {})] * len(self), "1" if function == "_foreach_max" else "0"


def _binary(forms, overloads):
    """The `prepare` of a function with an operand in one of these forms. `overloads`: the endings of torch's node names
    for a list of tensors, for one number, and for a list of numbers."""
    of_tensor = any([form.startswith("Tensor") for form in forms])
    scaled = any(["alpha" in form for form in forms])
    names = {form.partition(",")[0].split()[-1] for form in forms}
    tensors_first = forms[0] == _SCALARS       # torch then tries a tensor before a number

    def prepare(function, self, *args, **kwargs):
        given = [*args, *[x for name, x in kwargs.items() if name in names]]
        options = {name: x for name, x in kwargs.items() if name not in names}
        if isinstance(self, (list, tuple)) and len(given) == 1 and set(options) <= {"alpha"}:
            _check_list(function, "self", 1, self)
            others = _operands(function, self, given[0], of_tensor)
            if others is not None and (not options or scaled and isinstance(others[0], Tensor)):
                return [((other,), options) for other in others], _overload(
                    given[0], overloads, tensors_first or bool(options))
        raise _no_such_call(function, forms, (self, *args), kwargs)
    return prepare


def _overload(operand, overloads, tensors_first):
    if isinstance(operand, (list, tuple)):
        return overloads[0 if isinstance(operand[0], Tensor) else 2]
    is_tensor = isinstance(operand, Tensor) and (tensors_first or has_history(operand))
    return "0Tensor" if is_tensor else overloads[1]


def _pointwise(function, self, tensor1, tensor2, scalars=1, *, value=None):
    lists = ("self", self), ("tensor1", tensor1), ("tensor2", tensor2)
    for i, (argument, tensors) in enumerate(lists, 1):
        _check_list(function, argument, i, tensors)
    _check_lengths(self, tensor1, tensor2)
    given, overload = scalars if value is None else value, "0Scalar"
    if isinstance(given, (list, tuple)):
        overload = "0ScalarList"
    if isinstance(given, Tensor) and given.dim():
        if len(given) != len(self):
            raise RuntimeError(f"Expected length of scalars to match input of length {len(self)} but got {len(given)} "
                               "instead.")
        given = given.tolist()
    values = _numbers(self, given)
    if values is None:
        raise _no_such_call(function, _POINTWISE, (self, tensor1, tensor2, given), {})
    return [((a, b), {"value": v}) for a, b, v in zip(tensor1, tensor2, values)], overload


_POINTWISE = [f"tuple of Tensors tensor1, tuple of Tensors tensor2, {last}" for last in (
    "tuple of Scalars scalars", "Tensor scalars", "Number value = 1")]


def _lerp(function, self, tensors1, weight=None, *, weights=None):
    _check_list(function, "self", 1, self)
    _check_list(function, "tensors1", 2, tensors1)
    _check_lengths(self, tensors1)
    given = weight if weights is None else weights
    each = _operands(function, self, given, False)
    if each is None:
        raise _no_such_call(function, [f"tuple of Tensors tensors1, {last}" for last in (
            "Number weight", "tuple of Scalars weight", "tuple of Tensors weights")], (self, tensors1, given), {})
    return [(pair, {}) for pair in zip(tensors1, each)], _overload(given, ("1List", "0Scalar", "0ScalarList"), False)


def _copy(function, self, src, non_blocking=False):
    _check_list(function, "self", 1, self)
    _check_list(function, "src", 2, src)
    _check_lengths(self, src)
    return [((x, non_blocking), {}) for x in src], "0"


# ------------------------------------------------------------------ the functions
for _function in [f for f in TABLE if hasattr(f, "op") and f.op.foreach]:
    _both(_function.__name__, _unary)
_both("round", _unary)
_ALPHA = ", *, Number alpha = 1"
_both("add", _binary([_NUMBER, _SCALARS, "Tensor other" + _ALPHA, _TENSORS + _ALPHA], _SUMS))
_both("sub", _binary([_NUMBER, _SCALARS, _TENSORS + _ALPHA], _SUMS))
for _name, _overloads in (("mul", _SUMS), ("div", ("0", *_SUMS[1:]))):
    _both(_name, _binary([_SCALARS, "Tensor other", _TENSORS, _NUMBER], _overloads))
for _name, _names in {"clamp_max": ("clamp_max", "minimum"), "clamp_min": ("clamp_min", "maximum")}.items():
    for _made, _overloads in zip(_names, (("1List", "0Scalar", "0ScalarList"), ("0List", "0", "1"))):
        for _ending in ("", "_"):
            _make(f"_foreach_{_made}{_ending}", getattr(Tensor, _name + _ending),
                  _binary([_NUMBER, _SCALARS, _TENSORS], _overloads))
_both("pow", _binary(["Number exponent", "tuple of Scalars exponent", "tuple of Tensors exponent"],
                     ("0", "0Scalar", "1")))
_both("lerp", _lerp)
for _name in ("addcdiv", "addcmul"):
    _both(_name, _pointwise)
_make("_foreach_clone", Tensor.clone, _unary)
_make("_foreach_max", Tensor.max, _unary)
_make("_foreach_copy_", Tensor.copy_, _copy)
_make("_foreach_zero_", Tensor.zero_, _unary)

_pow_of_tensors = _MADE["_foreach_pow"]


def _foreach_pow(self, exponent):
    """`pow` of each tensor of a list, or of a number to the power of each exponent of a list, as a tuple."""
    if isinstance(self, NUMBERS):
        _check_list("_foreach_pow", "exponent", 2, exponent)
        _check_lengths(exponent)
        return _named([power.pow(self, x) for x in exponent], "foreach_pow.2")
    return _pow_of_tensors(self, exponent)


def _foreach_norm(self, ord=2, dtype=None):
    """`torch.linalg.vector_norm` of each tensor of a list, as a tuple.

    >>> import tinytorch as torch
    >>> torch._foreach_norm([torch.tensor([3., 4.]), torch.ones(4)])
    (tensor(5.), tensor(2.))
    """
    _check_list("_foreach_norm", "self", 1, self)
    _check_lengths(self)
    return _named([vector_norm(x, ord, dtype=dtype) for x in self], "foreach_norm")


def _foreach_powsum(self, ord=2, dtype=None):
    """The sum of |x| ** ord over each tensor of a list, as a tuple."""
    _check_list("_foreach_powsum", "self", 1, self)
    _check_lengths(self)
    return tuple([x.to(dtype or x.dtype).abs().pow(ord).sum() for x in self])


def _foreach_mm(self, mat2):
    """`mm` of each pair of matrices of two lists, as a tuple."""
    _check_list("_foreach_mm", "self", 1, self)
    _check_list("_foreach_mm", "mat2", 2, mat2)
    _check_lengths(self, mat2)
    return _named(list(map(mm, self, mat2)), "foreach_mm")


for _call in (_foreach_pow, _foreach_norm, _foreach_powsum, _foreach_mm):
    _MADE[_call.__name__] = _call
__all__ = sorted(_MADE)
globals().update(_MADE)
