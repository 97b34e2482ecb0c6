"""softmax and log_softmax: one node each, which saves its output alone. And gumbel_softmax, which draws."""
from __future__ import annotations

import warnings

import numpy as np

from ... import dtypes as dt
from ...autograd.op import single
from ...autograd.promotion import EXACT, converted, in_float32, write_out
from ...autograd.public import public, refuse
from ...errors import not_implemented
from ...kernels import softmax as kernels
from ...random import stream_of
from ...tensor import Tensor, check_dim, wrap
from ..random.samplers import fill_exponential

__all__ = ["log_softmax", "softmax"]


def _softmax_gradient(g, ans, dim):
    if not isinstance(g, Tensor):
        return kernels.softmax_backward(g, ans, dim)
    return ans * (g - (g * ans).sum(dim, keepdim=True))


def _log_softmax_gradient(g, ans, dim):
    if not isinstance(g, Tensor):
        return kernels.log_softmax_backward(g, ans, dim)
    return g - ans.exp() * g.sum(dim, keepdim=True)


@single(name="softmax", input=_softmax_gradient)
def _softmax(input, dim):
    return kernels.softmax(input if input.flags.c_contiguous else input.copy("C"), dim)


@single(name="log_softmax", input=_log_softmax_gradient)
def _log_softmax(input, dim):
    return kernels.log_softmax(input if input.flags.c_contiguous else input.copy("C"), dim)


def _along(primitive, input, dim, dtype):
    dim = check_dim(dim, input.array.ndim)
    if dtype is not None:
        input = converted(input, dtype.numpy)
    kind = input.array.dtype.kind
    if kind in dt.WIDENED:                     # not by the door: `dtype` may be another
        return in_float32(lambda x: _along(primitive, x, dim, None), input)
    if kind not in dt.NATIVE:
        last = "lastdim_" if dim == input.array.ndim - 1 and kind not in dt.COMPLEX else ""
        raise not_implemented(f"{primitive.op.name}_{last}kernel_impl", input)
    if input.array.ndim == 0:
        return primitive(input.reshape(1), 0).sum()
    return primitive(input, dim)


@public(method=True)
def softmax(input: Tensor, dim: int, dtype: dt.dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """exp(input) / sum(exp(input)) along `dim`, computed without overflow.

    `dtype`: converted to it first. NotImplementedError for integers without it.

    >>> import tinytorch as torch
    >>> torch.softmax(torch.tensor([0., 0.]), 0)
    tensor([0.5000, 0.5000])
    """
    result = _along(_softmax, input, dim, dtype)
    return result if out is None else write_out(out, result, exact=EXACT)


@public(method=True)
def log_softmax(input: Tensor, dim: int, dtype: dt.dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(softmax(input, dim)), computed without overflow and with small numbers kept.

    >>> import tinytorch as torch
    >>> torch.log_softmax(torch.tensor([0., 0.]), 0)
    tensor([-0.6931, -0.6931])
    """
    result = _along(_log_softmax, input, dim, dtype)
    return result if out is None else write_out(out, result, exact=EXACT)


@public(python=True)
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A differentiable sample of the categories along `dim` that `logits` weigh (Jang et al., 2016).

    `hard`: one-hot, with the gradient of the soft sample. `eps` is deprecated and has no effect.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.functional.gumbel_softmax(torch.tensor([0., 1., 2.]), hard=True)
    tensor([0., 0., 1.])
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    if not isinstance(logits, Tensor):
        refuse(gumbel_softmax, logits)
    array = logits.array
    with stream_of(None) as stream:
        noise = fill_exponential(np.empty(array.shape, array.dtype), 1.0, stream)
    soft = softmax((logits - wrap(noise).log()) / tau, dim)
    if not hard:
        return soft
    values = soft.array
    if values.dtype == dt.BFLOAT16:
        values = dt.from_bfloat16(values)
    chosen = np.zeros(values.shape, values.dtype)
    np.put_along_axis(chosen, values.argmax(dim, keepdims=True), 1, dim)
    return wrap(dt.cast(chosen, array.dtype)) - soft.detach() + soft
