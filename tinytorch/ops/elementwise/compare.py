"""Comparisons and predicates: eq lt isnan isclose equal is_tensor ..."""
from __future__ import annotations

import functools

import numpy as np

from ... import dtypes as dt
from ...arguments.data import check_array
from ...autograd.in_place import in_place
from ...autograd.op import binary, op, operator, unary
from ...autograd.promotion import EXACT, check_broadcast, converted, promoted, result_dtype
from ...autograd.public import method, public
from ...errors import not_a_tensor, not_implemented, refuse_records, type_name
from ...kernels.errstate import ignored
from ...kernels.layout import as_array, operand_order
from ...kernels.looks import all_true, are_equal
from ...kernels.ufuncs import shared
from ...kinds.one_step import one_step
from ...tensor import Tensor, wrap
from ...types import Number
from .arithmetic import alike, zeros_like

__all__ = ["allclose", "eq", "equal", "ge", "greater", "greater_equal", "gt", "is_complex",
           "is_floating_point", "is_nonzero", "is_signed", "isclose", "isfinite", "isin", "isinf", "isnan",
           "isneginf", "isposinf", "isreal", "le", "less", "less_equal", "lt", "ne", "not_equal"]


def _zeros(g, dtype):
    return converted(zeros_like(g), dtype) if isinstance(g, Tensor) else np.zeros(g.shape, dtype)


def _in_place(function):
    """The in-place form of a comparison. It writes 0 and 1 in the dtype of `self`; its derivatives are zero."""
    @op(name=function.__name__, input=zeros_like)
    def with_number(input, truth):
        return truth

    @op(name=f"{function.__name__}.1", input=zeros_like, other=lambda g, dtype: _zeros(g, dtype))
    def with_tensor(input, other, truth, dtype):
        return truth

    @functools.wraps(function)
    def compared(self, other):
        truth = function(self, other).to(self.dtype)
        if not isinstance(other, Tensor):
            return with_number(self, truth)
        return with_tensor(self, other, truth, other._array.dtype)
    return in_place(compared, common=False)


@binary(numbers="other", wraps=True, inplace=_in_place, ufunc=np.equal, stored=dt.ONLY_STORED)
def eq(input, other):
    """Whether the elements are equal.

    >>> import tinytorch as torch
    >>> torch.eq(torch.tensor([1, 2]), 2)
    tensor([False,  True])
    """
    return shared(np.equal, input, other)


@binary(numbers="other", wraps=True, inplace=_in_place, aliases="not_equal", ufunc=np.not_equal,
        stored=dt.ONLY_STORED)
def ne(input, other):
    """Whether the elements differ.

    >>> import tinytorch as torch
    >>> torch.ne(torch.tensor([1, 2]), 2)
    tensor([ True, False])
    """
    return shared(np.not_equal, input, other)


def _ordered(name, array):
    if array.dtype.kind in dt.COMPLEX:
        raise not_implemented(f"{name}_cpu", array)


@binary(numbers="other", wraps=True, inplace=_in_place, aliases="less", answers=True)
def lt(input, other):
    """Whether input < other. NotImplementedError for complex numbers.

    >>> import tinytorch as torch
    >>> torch.lt(torch.tensor([1, 2]), 2)
    tensor([ True, False])
    """
    _ordered("lt", input)
    return shared(np.less, input, other)


@binary(numbers="other", wraps=True, inplace=_in_place, aliases="less_equal", answers=True)
def le(input, other):
    """Whether input <= other. NotImplementedError for complex numbers.

    >>> import tinytorch as torch
    >>> torch.le(torch.tensor([1, 2]), 1)
    tensor([ True, False])
    """
    _ordered("le", input)
    return shared(np.less_equal, input, other)


@binary(numbers="other", wraps=True, inplace=_in_place, aliases="greater", answers=True)
def gt(input, other):
    """Whether input > other. NotImplementedError for complex numbers.

    >>> import tinytorch as torch
    >>> torch.gt(torch.tensor([1, 2]), 1)
    tensor([False,  True])
    """
    _ordered("gt", input)
    return shared(np.greater, input, other)


@binary(numbers="other", wraps=True, inplace=_in_place, aliases="greater_equal", answers=True)
def ge(input, other):
    """Whether input >= other. NotImplementedError for complex numbers.

    >>> import tinytorch as torch
    >>> torch.ge(torch.tensor([1, 2]), 2)
    tensor([False,  True])
    """
    _ordered("ge", input)
    return shared(np.greater_equal, input, other)


# ------------------------------------------------------------------ predicates of each element
@unary(inplace=False, ufunc=np.isnan, of_zero=True, stored=dt.ONLY_STORED)
def isnan(input):
    """Whether each element is NaN.

    >>> import tinytorch as torch
    >>> torch.isnan(torch.tensor([1., float("nan")]))
    tensor([False,  True])
    """
    return np.isnan(input)


@unary(inplace=False, ufunc=np.isinf, of_zero=True, stored=dt.ONLY_COMPLEX32 | {dt.FLOAT8_E5M2}, kernel="isinf")
def isinf(input):
    """Whether each element is infinite.

    >>> import tinytorch as torch
    >>> torch.isinf(torch.tensor([1., float("-inf")]))
    tensor([False,  True])
    """
    return np.isinf(input)


@unary(inplace=False, ufunc=np.isfinite,
       stored=dt.ONLY_COMPLEX32 | {dt.FLOAT8_E5M2, dt.FLOAT8_E8M0FNU}, kernel="isfinite")
def isfinite(input):
    """Whether each element is neither infinite nor NaN.

    >>> import tinytorch as torch
    >>> torch.isfinite(torch.tensor([1., float("inf")]))
    tensor([ True, False])
    """
    return np.isfinite(input)


def _refuse_complex(name, array):
    if dt.kind(array.dtype) in dt.COMPLEX:
        raise RuntimeError(f"{name} does not support complex inputs.")


@unary(inplace=False, of_zero=True)
def isposinf(input):
    """Whether each element is +inf. RuntimeError for complex numbers.

    >>> import tinytorch as torch
    >>> torch.isposinf(torch.tensor([float("inf"), float("-inf")]))
    tensor([ True, False])
    """
    _refuse_complex("isposinf", input)
    return np.equal(input, np.inf)


@unary(inplace=False, of_zero=True)
def isneginf(input):
    """Whether each element is -inf. RuntimeError for complex numbers.

    >>> import tinytorch as torch
    >>> torch.isneginf(torch.tensor([float("inf"), float("-inf")]))
    tensor([False,  True])
    """
    _refuse_complex("isneginf", input)
    return np.equal(input, -np.inf)


@unary(inplace=False)
def isreal(input):
    """Whether the imaginary part is zero.

    >>> import tinytorch as torch
    >>> torch.isreal(torch.tensor([1 + 0j, 1j]))
    tensor([ True, False])
    """
    if input.dtype == dt.COMPLEX32:
        return np.equal(input["imag"], 0)
    return np.equal(input.imag, 0) if input.dtype.kind in dt.COMPLEX else np.ones_like(input, bool)


@public(method=True)
def isclose(input: Tensor, other: Tensor, rtol: float | bool = 1e-05, atol: float | bool = 1e-08,
            equal_nan: bool = False) -> Tensor:
    """Whether |input - other| <= atol + rtol * |other|. RuntimeError if the dtypes differ.

    >>> import tinytorch as torch
    >>> torch.isclose(torch.tensor([1., 2.]), torch.tensor([1.000001, 2.1]))
    tensor([ True, False])
    """
    if input._array.dtype != other._array.dtype:
        raise RuntimeError(f"{type_name(input)} did not match {type_name(other)}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0:                     # true for NaN too
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value}")
    a, b = input._array, other._array
    check_broadcast(a.shape, b.shape)
    if rtol or atol:
        refuse_records("mul_cpu_reduced_float", a, dt.FLOAT8_RECORDS)
    a, b = dt.numbers(a), dt.numbers(b)
    close = np.equal(a, b)
    if equal_nan and a.dtype.kind not in dt.INTEGRAL:
        close |= np.isnan(a) & np.isnan(b)
    if rtol or atol:
        if a.dtype.kind in dt.INTEGRAL:
            a, b = [x.astype(dt.get_default_dtype().numpy) for x in (a, b)]
        with ignored():
            allowed, gap = atol + np.abs(rtol * b), np.abs(a - b)
        close = close | (np.isfinite(gap) & (gap <= allowed))
    return wrap(operand_order(as_array(close), input._array, other._array))


@public(out=EXACT)
def isin(elements: Tensor | Number, test_elements: Tensor | Number, *, assume_unique: bool = False,
         invert: bool = False, out: Tensor | None = None) -> Tensor:
    """Whether each of `elements` is among `test_elements` (with `invert`: is not among them). One may be a number.

    RuntimeError for bools and complex numbers.

    >>> import tinytorch as torch
    >>> torch.isin(torch.tensor([1, 2, 3]), torch.tensor([2, 5]))
    tensor([False,  True, False])
    """
    if not isinstance(elements, Tensor) and not isinstance(test_elements, Tensor):
        raise not_a_tensor("isin", "elements", 1, elements)
    for x in (elements, test_elements):
        d = result_dtype((x,))
        if d.category in (dt.bool.category, dt.complex64.category):
            raise RuntimeError(f"Unsupported input type encountered for isin(): {d.type_name}")
        if isinstance(x, Tensor):
            refuse_records("isin_default_cpu", x)
    a, b = [dt.numbers(x._array) for x in promoted(elements, test_elements)]
    return wrap(_is_in(a, b, assume_unique, invert))


@one_step
def _is_in(a, b, assume_unique, invert):
    return np.asarray(np.isin(a, b, assume_unique=assume_unique, invert=invert))


# ------------------------------------------------------------------ predicates of whole tensors
@public(method=True, looks=True, leaves=True)
def allclose(input: Tensor, other: Tensor, rtol: float | bool = 1e-05, atol: float | bool = 1e-08,
             equal_nan: bool = False) -> bool:
    """Whether all elements are close in the sense of `isclose`, as a Python bool.

    >>> import tinytorch as torch
    >>> torch.allclose(torch.tensor([1., 2.]), torch.tensor([1., 2.]))
    True
    """
    return all_true(isclose(input, other, rtol, atol, equal_nan)._array)


@public(method=True, looks=True, leaves=True)
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shapes and elements are the same, as a Python bool. NaN differs from itself.

    >>> import tinytorch as torch
    >>> torch.equal(torch.tensor([1, 2]), torch.tensor([1, 2]))
    True
    """
    x, y = input._array, other._array
    if x.shape != y.shape:
        return False
    if type(x) is type(y) is np.ndarray and x.dtype == y.dtype and x.dtype.kind != dt.WIDENED:
        return are_equal(x, y)
    a, b = alike(input, other)
    refuse_records(*("equal_notnan_cpu", a) if input is other else ("equal_cpu", a, dt.ONLY_COMPLEX32))
    return all_true(eq(a, b)._array)


@public(method=True, looks=True, leaves=True)
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not zero. RuntimeError if the tensor has more or fewer elements.

    >>> import tinytorch as torch
    >>> torch.is_nonzero(torch.tensor([0.]))
    False
    """
    return bool(input)


@public(any_layout=True)
def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is floating-point.

    >>> import tinytorch as torch
    >>> torch.is_floating_point(torch.tensor(1.))
    True
    """
    return input.is_floating_point()


@public(any_layout=True)
def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex.

    >>> import tinytorch as torch
    >>> torch.is_complex(torch.tensor(1j))
    True
    """
    return input.is_complex()


@public(any_layout=True)
def is_signed(input: Tensor) -> bool:
    """Whether the dtype can hold negative numbers.

    >>> import tinytorch as torch
    >>> torch.is_signed(torch.tensor(1.))
    True
    """
    return input.is_signed()


not_equal, greater, greater_equal, less, less_equal = ne, gt, ge, lt, le


def _equals_array(input, other):
    """`==` accepts an ndarray too. The other operators leave it to NumPy, as in torch."""
    if not isinstance(other, np.ndarray):
        return NotImplemented
    try:
        other = check_array(other)
    except TypeError:                          # a dtype that tensors do not have
        return NotImplemented
    return eq(input, wrap(other))


method("__eq__", shown=True)(operator(eq, _equals_array))
method("__ne__", shown="ne")(operator(ne))
method("__lt__", shown="lt")(operator(lt))
method("__le__", shown="le")(operator(le))
method("__gt__", shown="gt")(operator(gt))
method("__ge__", shown="ge")(operator(ge))
