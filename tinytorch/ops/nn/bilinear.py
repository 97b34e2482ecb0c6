"""The bilinear form of two inputs."""
from __future__ import annotations

from ... import dtypes as dt
from ...autograd.op import op
from ...autograd.promotion import refuse_complex_gradient
from ...autograd.public import public
from ...autograd.record_dtypes import by_steps
from ...errors import not_implemented, type_name
from ...tensor import Tensor, check_dim
from ..linalg.products import _matmul, _mm

__all__ = ["bilinear"]


def _with_weight(input1, weight):
    """The products of input1 (N, in1) and every weight[k], computed as one product: (N, out, in2)."""
    out, in1, in2 = weight.shape
    return _mm(input1, weight.swapaxes(0, 1).reshape(in1, out * in2)).reshape(len(input1), out, in2)


def _sums(input1, weight, input2):
    return _matmul(_with_weight(input1, weight), input2.reshape(*input2.shape, 1)).reshape(len(input1), len(weight))


def _products(g, input2):
    """The outer products of the rows of g (N, out) and input2 (N, in2): (N, out * in2)."""
    (n, out), in2 = g.shape, input2.shape[1]
    return _matmul(g.reshape(n, out, 1), input2.reshape(n, 1, in2)).reshape(n, out * in2)


def _weight_gradient(g, input1, input2):
    return _mm(input1.T, _products(g, input2)).reshape(input1.shape[1], g.shape[1], input2.shape[1]).swapaxes(0, 1)


@op(name="_trilinear", steps=True, weight=_weight_gradient,
    input1=lambda g, weight, input2: _mm(
        _products(g, input2), weight.swapaxes(1, 2).reshape(g.shape[1] * input2.shape[1], weight.shape[1])),
    input2=lambda g, input1, weight: _matmul(
        g.reshape(len(g), 1, g.shape[1]), _with_weight(input1, weight)).reshape(len(g), weight.shape[2]),
    apart=True, in_bfloat16=by_steps(_sums))
def _trilinear(input1, weight, input2):
    return _sums(input1, weight, input2)


@public()
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """out[..., k] = input1[...] @ weight[k] @ input2[...] + bias[k].

    input1 (*, in1), input2 (*, in2), weight (out, in1, in2), bias (out) or None; the result is (*, out).
    RuntimeError if the shapes do not fit or the dtypes differ.

    >>> import tinytorch as torch
    >>> torch.bilinear(torch.tensor([1., 2.]), torch.tensor([3.]), torch.ones(1, 2, 1))
    tensor([9.])
    """
    _check(input1, input2, weight, bias)
    if input1._array.dtype.kind in dt.BOOL:
        raise not_implemented("bmm", input1)
    refuse_complex_gradient("_trilinear", input1, input2, weight)
    out, in1, in2 = weight.shape
    result = _trilinear(input1.reshape(-1, in1), weight, input2.reshape(-1, in2)).reshape(*input1.shape[:-1], out)
    return result if bias is None else result + bias


def _check(input1, input2, weight, bias):
    names = ("input1", "input2", "weight") if bias is None else ("input1", "input2", "weight", "bias")
    tensors = (input1, input2, weight, bias)[:len(names)]
    if len({t.dtype for t in tensors}) > 1:
        raise RuntimeError("All tensors must have the same dtype, got "
                           + ", ".join(f"{name}: {type_name(t).lower()}" for name, t in zip(names, tensors)))
    if input1.dim() != input2.dim():
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}")
    for i, (n, m) in enumerate(zip(input1.shape[:-1], input2.shape[:-1])):
        if n != m:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {i}: got {n} and {m}")
    if not input1.dim():
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    for i, x in enumerate((input1, input2), 1):
        size = weight.shape[check_dim(i, weight.dim())]
        if x.shape[-1] != size:
            raise RuntimeError(f"bilinear(): input{i} size does not match weight size: got {x.shape[-1]} but expected "
                               f"{size}")
    if bias is not None and (bias.dim() != 1 or bias.shape[0] != weight.shape[0]):
        size = bias.shape[0] if bias.dim() else 1
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got {size} but expected "
                           f"{weight.shape[0]}")
