"""Logical and bitwise functions (logical_and bitwise_or shifts gcd lcm ...) and the operators & | ^ ~ << >>."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd.grad_mode import unrecorded
from ...autograd.in_place import in_place
from ...autograd.op import binary, operator, unary
from ...autograd.public import method, reflected
from ...errors import not_implemented
from ...kernels.ufuncs import shared
from ...tensor import Tensor

__all__ = ["bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
           "gcd", "lcm", "logical_and", "logical_not", "logical_or", "logical_xor"]


def refuse_records(array):
    """TypeError for bfloat16, whose bits NumPy would test. On this error the caller computes in float32."""
    if array.dtype.kind == dt.WIDENED:
        raise TypeError("bfloat16")


def _unrecorded(function):
    """The in-place form of a logical function. torch does not record its write."""
    return unrecorded()(in_place(function))


@binary(numbers="none", inplace=_unrecorded)
def logical_and(input, other):
    """Whether both elements are non-zero.

    >>> import tinytorch as torch
    >>> torch.logical_and(torch.tensor([True, False]), torch.tensor([1, 1]))
    tensor([ True, False])
    """
    refuse_records(input)
    return shared(np.logical_and, input, other)


@binary(numbers="none", inplace=_unrecorded)
def logical_or(input, other):
    """Whether at least one of the elements is non-zero.

    >>> import tinytorch as torch
    >>> torch.logical_or(torch.tensor([True, False]), torch.tensor([0, 0]))
    tensor([ True, False])
    """
    refuse_records(input)
    return shared(np.logical_or, input, other)


@binary(numbers="none", inplace=_unrecorded)
def logical_xor(input, other):
    """Whether exactly one of the elements is non-zero.

    >>> import tinytorch as torch
    >>> torch.logical_xor(torch.tensor([True, False]), torch.tensor([1, 1]))
    tensor([False,  True])
    """
    refuse_records(input)
    return shared(np.logical_xor, input, other)


@unary(inplace=_unrecorded, casts=True)
def logical_not(input):
    """Whether each element is zero.

    >>> import tinytorch as torch
    >>> torch.logical_not(torch.tensor([0., 2.]))
    tensor([ True, False])
    """
    refuse_records(input)
    return shared(np.logical_not, input)


@binary(name="bitwise_and_cpu", ufunc=np.bitwise_and, out_beside_number=False)
def bitwise_and(input, other):
    """The bits that are set in both; logical and for bools. NotImplementedError for floats.

    >>> import tinytorch as torch
    >>> torch.bitwise_and(torch.tensor([5, 6]), 3)
    tensor([1, 2])
    """
    return shared(np.bitwise_and, input, other)


@binary(name="bitwise_or_cpu", ufunc=np.bitwise_or, out_beside_number=False)
def bitwise_or(input, other):
    """The bits that are set in at least one; logical or for bools. NotImplementedError for floats.

    >>> import tinytorch as torch
    >>> torch.bitwise_or(torch.tensor([5, 6]), 3)
    tensor([7, 7])
    """
    return shared(np.bitwise_or, input, other)


@binary(name="bitwise_xor_cpu", ufunc=np.bitwise_xor, out_beside_number=False)
def bitwise_xor(input, other):
    """The bits that are set in exactly one; logical xor for bools. NotImplementedError for floats.

    >>> import tinytorch as torch
    >>> torch.bitwise_xor(torch.tensor([5, 6]), 3)
    tensor([6, 5])
    """
    return shared(np.bitwise_xor, input, other)


@unary()
def bitwise_not(input):
    """Inverts all bits; logical not for bools. NotImplementedError for floats.

    >>> import tinytorch as torch
    >>> torch.bitwise_not(torch.tensor([0, 5]))
    tensor([-1, -6])
    """
    if input.dtype.kind not in dt.INTEGRAL:
        raise not_implemented("bitwise_not_cpu", input)
    return np.invert(input)


def _valid_shifts(name, input, other):
    """(whether each shift is valid, the number of bits of the dtype). Shifts by less than 0 bits or by more than the
    dtype has are left to the caller."""
    if input.dtype.kind in dt.BOOL:
        raise not_implemented(name, dt.bool)
    bits = 8 * input.dtype.itemsize
    return (np.asarray(other) >= 0) & (np.asarray(other) < bits), bits


@binary(name="lshift_cpu", wraps=True, out_beside_number=False)
def bitwise_left_shift(input, other):
    """Shifts the bits up by `other` places. NotImplementedError for floats.

    >>> import tinytorch as torch
    >>> torch.bitwise_left_shift(torch.tensor([1, 5]), 2)
    tensor([ 4, 20])
    """
    fits, _ = _valid_shifts("lshift_cpu", input, other)
    return np.where(fits, np.left_shift(input, np.where(fits, other, 0).astype(input.dtype)), 0).astype(input.dtype)


@binary(name="rshift_cpu", wraps=True, out_beside_number=False)
def bitwise_right_shift(input, other):
    """Shifts the bits down by `other` places and keeps the sign. NotImplementedError for floats.

    >>> import tinytorch as torch
    >>> torch.bitwise_right_shift(torch.tensor([8, -8]), 2)
    tensor([ 2, -2])
    """
    fits, bits = _valid_shifts("rshift_cpu", input, other)
    moved = np.right_shift(input, np.where(fits, other, bits - 1).astype(input.dtype))
    return np.where(fits, moved, 0).astype(input.dtype) if input.dtype.kind == dt.UNSIGNED else moved


@binary(numbers="none", name="gcd_cpu")
def gcd(input, other):
    """Greatest common divisor. NotImplementedError for floats.

    >>> import tinytorch as torch
    >>> torch.gcd(torch.tensor([12, 15]), torch.tensor([8]))
    tensor([4, 1])
    """
    result = np.gcd(input, other)
    if input.dtype.kind == "i" and (input == (least := np.iinfo(input.dtype).min)).any() | (other == least).any():
        return np.where((input == least) ^ (other == least), _gcd_of_least(input, other), result)
    return result


def _gcd_of_least(input, other):
    """Euclid's algorithm with signed remainders, as torch computes it where one operand is the least integer, which has
    no absolute value: its sign stays in the result if the number of divisions is even."""
    a, b = np.broadcast_arrays(np.abs(input), np.abs(other))
    while a.any():
        a, b = np.where(a, np.fmod(b, np.where(a, a, 1)), 0), np.where(a, a, b)
    return b


@binary(numbers="none", name="lcm_cpu")
def lcm(input, other):
    """Least common multiple. NotImplementedError for floats.

    >>> import tinytorch as torch
    >>> torch.lcm(torch.tensor([12, 15]), torch.tensor([8]))
    tensor([ 24, 120])
    """
    if input.dtype == bool:
        raise not_implemented("lcm_cpu", dt.bool)
    # C computes in at least 32 bits. Where the multiple wraps around, the result may be negative.
    wide = np.promote_types(input.dtype, dt.int32.numpy)
    return np.abs(np.lcm(input, other, dtype=wide)).astype(input.dtype, copy=False)


@method("__invert__", shown=True)
def _invert(self):
    """~self inverts all bits. TypeError for floats."""
    if self._array.dtype.kind not in dt.INTEGRAL:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(self)


for _name, _function in ("and", bitwise_and), ("or", bitwise_or), ("xor", bitwise_xor):
    method(f"__{_name}__", shown=True)(operator(_function))
    method(f"__r{_name}__", shown=_function.__name__)(operator(_function))
    method(f"__i{_name}__", shown=True)(getattr(Tensor, f"{_function.__name__}_").as_operator)
for _name, _function in ("lshift", bitwise_left_shift), ("rshift", bitwise_right_shift):
    method(f"__{_name}__", shown=True)(operator(_function))
    method(f"__r{_name}__", shown=True, in_python=True)(reflected(_function))
    method(f"__i{_name}__", shown=True)(getattr(Tensor, f"{_function.__name__}_").as_operator)
