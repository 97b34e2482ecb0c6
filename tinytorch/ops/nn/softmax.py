"""softmax and log_softmax, each one node that saves its output alone; gumbel_softmax, which draws random numbers."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd.op import op, single
from ...autograd.promotion import EXACT, converted, refuse_complex_gradient, write_out
from ...autograd.public import public, refuse
from ...errors import not_implemented, refuse_records, warn
from ...kernels import halves, softmax as kernels
from ...kinds.one_step import one_step
from ...random import stream_of
from ...tensor import Tensor, check_dim, wrap
from ..elementwise.math import exp
from ..random.samplers import fill_exponential, room

__all__ = ["log_softmax", "softmax"]


def _in_single(function, dim, *arrays):
    """`function` of arrays in half precision, computed in single precision and rounded once."""
    return dt.cast(function(*[dt.cast(x, np.dtype(np.float32)) for x in arrays], dim), arrays[0].dtype)


def _softmax_gradient(g, ans, dim):
    if isinstance(g, Tensor):
        return _softmax_backward(g, ans, dim)
    if ans.itemsize == 2:
        return _in_single(kernels.softmax_backward, dim, g, ans)
    return kernels.softmax_backward(g, ans, dim)


def _log_softmax_gradient(g, ans, dim):
    if isinstance(g, Tensor):
        return _log_softmax_backward(g, ans, dim)
    if ans.itemsize == 2:
        return _in_single(kernels.log_softmax_backward, dim, g, ans)
    return kernels.log_softmax_backward(g, ans, dim)


def _softmax_second(g, grad, output, dim):
    return grad * g - (output * grad).sum(dim, keepdims=True) * g - grad * (output * g).sum(dim, keepdims=True)


@op(name="softmax_backward_data", batches="dims", steps=True,
    grad=lambda g, output, dim: _softmax_gradient(g, output, dim),
    output=lambda g, grad, output, dim: _softmax_second(g, grad, output, dim))
def _softmax_backward(grad, output, dim):
    return _softmax_gradient(grad, output, dim)


@op(name="log_softmax_backward_data", batches="dims", steps=True,
    grad=lambda g, output, dim: g - (g * exp(output)).sum(dim, keepdims=True),
    output=lambda g, grad, output, dim: -grad.sum(dim, keepdims=True) * exp(output) * g)
def _log_softmax_backward(grad, output, dim):
    return _log_softmax_gradient(grad, output, dim)


@single(name="softmax", batches="dims", kernel="softmax_lastdim_kernel_impl", input=_softmax_gradient)
def _softmax(input, dim):
    if input.itemsize == 2:
        input = np.asarray(input, order="C")
        result = halves.softmax(input) if dim == input.ndim - 1 else None
        return _in_single(kernels.softmax, dim, input) if result is None else result
    return kernels.softmax(input if input.flags.c_contiguous else input.copy("C"), dim)


@single(name="log_softmax", batches="dims", kernel="log_softmax_lastdim_kernel_impl", input=_log_softmax_gradient)
def _log_softmax(input, dim):
    if input.itemsize == 2:
        return _log_softmax_of_halves(np.asarray(input, order="C"), dim)
    return kernels.log_softmax(input if input.flags.c_contiguous else input.copy("C"), dim)


def _log_softmax_of_halves(input, dim):
    """log_softmax in half precision. Along the last dimension torch rounds the sum and its logarithm."""
    if not input.size or dim != input.ndim - 1:
        return _in_single(kernels.log_softmax, dim, input)
    x = dt.cast(input, np.dtype(np.float32))
    x -= np.maximum.reduce(x, axis=-1, keepdims=True)
    total = np.add.reduce(np.exp(x), axis=-1, keepdims=True)
    for step in (np.asarray, np.log):
        total = dt.cast(dt.cast(step(total), input.dtype), x.dtype)
    return dt.cast(x - total, input.dtype)


def _along(primitive, input, dim, dtype):
    dim = check_dim(dim, input._array.ndim)
    if dtype is not None:
        input = converted(input, dtype.numpy)
    kind = input._array.dtype.kind
    if kind not in dt.FLOATING:
        if input._array.size:
            last = "lastdim_" if dim == input._array.ndim - 1 else ""
            raise not_implemented(f"{primitive.op.name}_{last}kernel_impl", input)
        if kind in dt.INTEGRAL:
            return input.clone()
        refuse_complex_gradient(f"_{primitive.op.name}", input)
    if input._array.ndim == 0:
        dim = ()                               # a sum along no dimension is the element itself
    elif kind in dt.WIDENED and dim != input._array.ndim - 1:
        refuse_records(f"{primitive.op.name}_kernel_impl", input)
    return primitive(input, dim)


@public(method=True, repeats=True)
def softmax(input: Tensor, dim: int, dtype: dt.dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """exp(input) / sum(exp(input)) along `dim`, computed without overflow.

    `dtype`: converted to it first. NotImplementedError for integers without it.

    >>> import tinytorch as torch
    >>> torch.softmax(torch.tensor([0., 0.]), 0)
    tensor([0.5000, 0.5000])
    """
    result = _along(_softmax, input, dim, dtype)
    return result if out is None else write_out(out, result, exact=EXACT)


@public(method=True, repeats=True)
def log_softmax(input: Tensor, dim: int, dtype: dt.dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(softmax(input, dim)), computed without overflow and with small numbers kept.

    >>> import tinytorch as torch
    >>> torch.log_softmax(torch.tensor([0., 0.]), 0)
    tensor([-0.6931, -0.6931])
    """
    result = _along(_log_softmax, input, dim, dtype)
    return result if out is None else write_out(out, result, exact=EXACT)


@public(python=True, draws=True)
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A differentiable sample of the categories along `dim` that `logits` weigh (Jang et al., 2016).

    `hard`: one-hot, with the gradient of the soft sample. `eps` is deprecated and has no effect.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.functional.gumbel_softmax(torch.tensor([0., 1., 2.]), hard=True)
    tensor([0., 0., 1.])
    """
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    if not isinstance(logits, Tensor):
        refuse(gumbel_softmax, logits)
    array = logits._array
    stream = stream_of(None)
    with stream.lock:
        noise = fill_exponential(room(np.empty(array.shape, array.dtype)), 1.0, stream)
    soft = softmax((logits - wrap(noise).log()) / tau, dim)
    if not hard:
        return soft
    return wrap(_chosen(soft._array, dim, array.dtype)) - soft.detach() + soft


@one_step
def _chosen(values, dim, dtype):
    """1 at the first largest of the values along `dim`, 0 elsewhere."""
    if values.dtype == dt.BFLOAT16:
        values = dt.from_bfloat16(values)
    chosen = np.zeros(values.shape, values.dtype)
    np.put_along_axis(chosen, values.argmax(dim, keepdims=True), 1, dim)
    return dt.cast(chosen, dtype)
