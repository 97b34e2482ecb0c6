"""Softmax and log_softmax: one node each, which saves its output alone."""
from ...autograd.op import single
from ...autograd.promotion import EXACT, converted, in_float32, write_out
from ...autograd.public import methods
from ...errors import not_implemented
from ...kernels import softmax as kernels
from ...tensor import Tensor, check_dim
from ..reduction.reductions import numpy_names

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


def _along(primitive, input, dim, dtype, out):
    dim = check_dim(dim, input.array.ndim)
    if dtype is not None:
        input = converted(input, dtype.numpy)
    kind = input.array.dtype.kind
    if kind == "V":
        return write_out(out, in_float32(lambda x: _along(primitive, x, dim, None, None), input), exact=EXACT)
    if kind != "f":
        last = "lastdim_" if dim == input.array.ndim - 1 else ""
        name = primitive.op.name
        if kind == "c":
            last = ""
        raise not_implemented(f"{name}_{last}kernel_impl", input)
    if input.array.ndim == 0:
        return write_out(out, primitive(input.reshape(1), 0).sum(), exact=EXACT)
    return write_out(out, primitive(input, dim), exact=EXACT)


@numpy_names
def softmax(input, dim, dtype=None, *, out=None):
    """exp(input) / sum(exp(input)) along `dim`, computed without overflow.

    `dtype`: converted to it first. NotImplementedError for integers without it.

    >>> import tinytorch as torch
    >>> torch.softmax(torch.tensor([0., 0.]), 0)
    tensor([0.5000, 0.5000])
    """
    return _along(_softmax, input, dim, dtype, out)


@numpy_names
def log_softmax(input, dim, dtype=None, *, out=None):
    """log(softmax(input, dim)), computed without overflow and with small numbers kept.

    >>> import tinytorch as torch
    >>> torch.log_softmax(torch.tensor([0., 0.]), 0)
    tensor([-0.6931, -0.6931])
    """
    return _along(_log_softmax, input, dim, dtype, out)


methods(softmax, log_softmax)
