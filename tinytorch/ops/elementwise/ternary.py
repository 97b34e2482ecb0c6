"""Arithmetic of three operands: addcmul addcdiv lerp."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd.op import op, renamed
from ...autograd.promotion import FOUND, converted, result_dtype, scalar_of, stored_as, write_out
from ...autograd.public import public
from ...errors import C_NAMES, not_implemented, type_name
from ...kernels.expressions import expression, lerp as from_nearer
from ...tensor import Tensor
from ...types import Number
from .arithmetic import alike, conj, half_multiply_add, half_product, ternary

__all__ = ["addcdiv", "addcmul", "lerp"]


def _scaled(x, value):
    """x * value. The number `value` is not rounded to half precision first."""
    if value == 1:
        return x
    if x.__class__ is np.ndarray and x.dtype == np.float16:
        return np.multiply(x, value, dtype=np.float32).astype(np.float16)
    return x * value


def _number_like(x, value):
    """A number in the dtype of `x`."""
    return x.new_full((), value) if isinstance(x, Tensor) else np.array(value, x.dtype)


#: NumPy's function -> (the expression with the factor `value`, the one for the factor 1).
_PLUS = {np.multiply: (expression(lambda x, y, z, value: x + y * value * z, 3),
                       expression(lambda x, y, z: x + y * z, 3)),
         np.divide: (expression(lambda x, y, z, value: x + y * value / z, 3),
                     expression(lambda x, y, z: x + y / z, 3))}


def _added(compute, input, tensor1, tensor2, value):
    """input + compute(value * tensor1, tensor2). float16 is rounded only at the end."""
    if input.dtype.char in "efd":
        scaled, plain = _PLUS[compute]
        return plain(input, tensor1, tensor2) if value == 1 else scaled(input, tensor1, tensor2, value)
    return input + compute(_scaled(tensor1, value), tensor2)


@op(name="addcmul", steps=True, elementwise=True, input=lambda g: g,
    tensor1=lambda g, tensor2, value: g * conj(_scaled(tensor2, value)),
    tensor2=lambda g, tensor1, value: g * conj(_scaled(tensor1, value)),
    stored=dt.ONLY_COMPLEX32, kernel="addcmul_cpu_out",
    on_records=lambda input, tensor1, tensor2, value: half_multiply_add(input, half_product(value, tensor1), tensor2))
def _addcmul(input, tensor1, tensor2, value):
    return _added(np.multiply, input, tensor1, tensor2, value)


@op(name="addcdiv", kernel="addcdiv_cpu_out", steps=True, elementwise=True, input=lambda g: g,
    tensor1=lambda g, tensor2, value: g * conj(_number_like(tensor2, value) / tensor2),
    tensor2=lambda g, tensor1, tensor2, value: -g * conj(_scaled(tensor1, value) / (tensor2 * tensor2)))
def _addcdiv(input, tensor1, tensor2, value):
    return _added(np.divide, input, tensor1, tensor2, value)


_from_start = expression(lambda x, y, weight: x + weight * (y - x), 2)
_from_end = expression(lambda x, y, rest: y - (y - x) * rest, 2)
_between = expression(lambda x, y, w: from_nearer(x, y, w), 3)


@op(name="lerp", kernel="lerp_kernel_scalar", steps=True, elementwise=True,
    input=expression(lambda g, weight: g * conj(1 - weight), 2), end=lambda g, weight: g * conj(weight),
    weight=expression(lambda g, input, end: g * conj(end - input), 3))
def _lerp(input, end, weight):
    # A number is computed from the nearer end, which is exact at both ends.
    if isinstance(weight, (int, float)):
        return _from_start(input, end, weight) if abs(weight) < 0.5 else _from_end(input, end, 1 - weight)
    return _between(input, end, weight)


_lerp_tensor = renamed(_lerp, "lerp.1")


def _value(value, numpy_dtype):
    """The number `value` of addcmul and addcdiv for tensors of a dtype. The integer 1 stays as it is: the product with
    it is left out."""
    if value.__class__ is int and value == 1:
        return value
    return value if dt.is_complex(numpy_dtype) else scalar_of(value, numpy_dtype)


@public(method=True, inplace=True, out="", older=("input value tensor1 tensor2",), elementwise=True, repeats=True)
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor | None = None) -> Tensor:
    """input + value * tensor1 * tensor2, with broadcasting.

    >>> import tinytorch as torch
    >>> torch.addcmul(torch.tensor([1.]), torch.tensor([2.]), torch.tensor([3.]), value=0.5)
    tensor([4.])
    """
    input, tensor1, tensor2 = alike(input, tensor1, tensor2)
    if input._array.dtype.kind in dt.INTEGRAL:
        if input._array.dtype.kind in dt.BOOL:
            raise not_implemented("addcmul_cpu_out", input)
        value = stored_as(value, input._array.dtype)
    else:
        value = _value(value, input._array.dtype)
    return ternary(lambda a, b, c: _addcmul(a, b, c, value), input, tensor1, tensor2)


@public(method=True, inplace=True, out="", older=("input value tensor1 tensor2",), elementwise=True, repeats=True)
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor | None = None) -> Tensor:
    """input + value * tensor1 / tensor2, with broadcasting. RuntimeError if both tensors are integers.

    >>> import tinytorch as torch
    >>> torch.addcdiv(torch.tensor([1.]), torch.tensor([2.]), torch.tensor([4.]), value=3)
    tensor([2.5000])
    """
    if tensor1._array.dtype.kind in dt.INTEGRAL and tensor2._array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError("Integer division with addcdiv is no longer supported: "
                           "use (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs "
                           "or (input + value * tensor1 / tensor2) for a true division.")
    input, tensor1, tensor2 = alike(input, tensor1, tensor2)
    value = _value(value, input._array.dtype)
    return ternary(lambda a, b, c: _addcdiv(a, b, c, value), input, tensor1, tensor2)


@public(method=True, inplace=True, elementwise=True, repeats=True)
def lerp(input: Tensor, end: Tensor, weight: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """input + weight * (end - input), with broadcasting. `weight` is a number or a tensor.

    RuntimeError if the dtypes differ, NotImplementedError for integers.

    >>> import tinytorch as torch
    >>> torch.lerp(torch.tensor([1., 2.]), torch.tensor([3., 3.]), 0.5)
    tensor([2.0000, 2.5000])
    """
    for name, x in (("end", end), ("weight", weight)):
        if isinstance(x, Tensor) and x._array.dtype != input._array.dtype and (name == "end" or x._array.ndim):
            want, got = (C_NAMES[type_name(y)] for y in (input, x))
            raise RuntimeError(f"expected dtype {want} for `{name}` but got dtype {got}")
    if input._array.dtype.kind in dt.INTEGRAL:
        d = result_dtype((input, weight)) if isinstance(weight, Tensor) else None      # only a tensor has a dtype
        if d is None or d.category < 2:
            raise not_implemented("lerp_kernel_scalar" if d is None else "lerp_kernel_tensor", input)
        input, end = converted(input, d.numpy), converted(end, d.numpy)
    exact = None                               # with a single weight the result may be cast to the dtype of `out`
    if isinstance(weight, Tensor):
        exact = FOUND if weight._array.ndim else None
        d = result_dtype((input, weight))      # only a weight without dimensions can have another dtype here
        if d is dt.complex32:
            raise not_implemented("lerp_kernel_tensor", d)
        if not input._array.dtype == end._array.dtype == weight._array.dtype == d.numpy:
            input, end, weight = [converted(x, d.numpy) for x in (input, end, weight)]
    elif not dt.is_complex(input._array.dtype):
        weight = scalar_of(weight, input._array.dtype)
    result = ternary(_lerp_tensor if isinstance(weight, Tensor) else _lerp, input, end, weight)
    return write_out(out, result, input, end, weight, exact=exact)
