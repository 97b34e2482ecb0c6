"""Normalisations with the signatures of torch's kernels, which return their statistics too."""
from __future__ import annotations

import math
from typing import Any

from ... import dtypes as dt
from ...autograd.grad_mode import mode
from ...autograd.op import op
from ...autograd.public import public
from ...kernels.errstate import ignored
from ...kernels.layout import channels_last
from ...tensor import Tensor, wrap
from ...types import Extent, Extents
from ..creation.factories import empty
from .group_norm import _group_norm, check_groups
from .norm import _batch_norm, _by_batch, _kept_in, _layer_norm, layer_norm, wide

__all__ = ["_native_batch_norm_legit", "native_batch_norm", "native_group_norm", "native_layer_norm"]


def _arrays(*tensors):
    return [None if x is None else x._array for x in tensors]


def _shaped(statistics, shape, dtype):
    return tuple([dt.cast(x, dtype).reshape(shape) for x in statistics])


def _with_statistics(input, weight, bias, running_mean, running_var, training, momentum, eps):
    if not input._array.size:
        raise RuntimeError("input tensor must have at least one element, but got input_sizes = "
                           f"{list(input._array.shape)}")
    arrays = _arrays(input, weight, bias, running_mean, running_var)
    kept = _kept_in(*arrays)
    # The forward at the end changes copies, so that the running statistics change once.
    copies = [x if x is None else x.copy() for x in arrays[3:]]
    result = _by_batch(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if not training:
        return result, *[empty(0, dtype=dt.BY_NUMPY[kept]) for _ in range(2)]
    with ignored():
        _, statistics = _batch_norm.op.forward(*arrays[:3], *copies, momentum, eps)
    return result, *map(wrap, _shaped(statistics[:2], (-1,), kept))


@public(dtypes=dt.FLOATING, kernel="batch_norm", out="expected scalar type {Want} but found {Have}",
        writes="running_mean running_var")
def native_batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
                      running_var: Tensor | None, training: bool, momentum: float, eps: float, *,
                      out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """`torch.nn.functional.batch_norm`, the means and 1 / deviations that it divides by, empty if not `training`.

    >>> import tinytorch as torch
    >>> torch.native_batch_norm(torch.tensor([[1.], [3.]]), None, None, None, None, True, 0.1, 0.)[1:]
    (tensor([2.]), tensor([1.]))
    """
    return _with_statistics(input, weight, bias, running_mean, running_var, training, momentum, eps)


@public(out="expected scalar type {Want} but found {Have}", writes="args")
def _native_batch_norm_legit(input: Tensor, weight: Tensor | None, bias: Tensor | None, *args: Any,
                             out: Any = None, **kwargs: Any) -> tuple[Tensor, Tensor, Tensor]:
    """`native_batch_norm`; running_mean and running_var may be left out.

    >>> import tinytorch as torch
    >>> torch._native_batch_norm_legit(torch.tensor([[1.], [3.]]), None, None, True, 0.1, 0.)[0]
    tensor([[-1.],
            [ 1.]])
    """
    without = len(args) + len(kwargs) == 3
    result = native_batch_norm(input, weight, bias, *((None, None) if without else ()), *args, **kwargs)
    if result[0]._node is not None:
        result[0]._node.op = result[0]._node.op.renamed("native_batch_norm_legit" + ".1" * without)
    return result


@public()
def native_layer_norm(input: Tensor, normalized_shape: Extents, weight: Tensor | None, bias: Tensor | None,
                      eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """`torch.nn.functional.layer_norm`, the means and 1 / deviations that it divides by.

    >>> import tinytorch as torch
    >>> torch.native_layer_norm(torch.tensor([[1., 3.]]), (2,), None, None, 0.)
    (tensor([[-1.,  1.]]), tensor([[2.]]), tensor([[1.]]))
    """
    result = layer_norm(input, normalized_shape, weight, bias, eps)
    arrays, n = _arrays(input, weight, bias), len(normalized_shape)
    with ignored():
        _, statistics = _layer_norm.op.forward(*arrays, tuple(normalized_shape), eps, True)
    shape = input._array.shape[:-n] + (1,) * n
    return result, *map(wrap, _shaped(statistics, shape, _kept_in(*arrays)))


def _in_single(x):
    """An array or Tensor of half precision in single precision, anything else as it is."""
    if isinstance(x, Tensor):
        return x.float() if x._array.itemsize == 2 else x
    return wide(x)


def _native_group_norm_gradient(g, wanted, input, weight, groups, eps, ans, aux):
    of_result, of_mean, of_rate = g
    _, mean, rate = ans
    run = _group_norm.op.run_of_batches or _group_norm.op.run
    grads = [None, None, None] if of_result is None else list(run(
        of_result, (input, weight, None, groups, eps, None, aux), [edge or None for edge in wanted]))
    given = [of_mean is not None, of_rate is not None]
    if not wanted[0] or not input.shape[0] or not (any if mode.computing_jvp else all)(given):
        return grads                           # in torch both statistics have gradients, or neither
    dtype = input.dtype
    x, mean, rate, of_mean, of_rate = map(_in_single, (input, mean, rate, of_mean, of_rate))
    size, total = math.prod(input.shape[1:]) // groups, 0
    x = x.reshape((input.shape[0], groups, size))
    if of_mean is not None:
        total = x * 0 + of_mean[:, :, None] / size
    if of_rate is not None:
        total = total - (x - mean[:, :, None]) * (of_rate * rate ** 3 / size)[:, :, None]
    total = total.reshape(input.shape)
    if grads[0] is not None:
        total = total + _in_single(grads[0])
    grads[0] = total.to(dtype) if isinstance(total, Tensor) else dt.cast(total, dtype)
    return grads


@op(name="native_group_norm", inputs=3, aux=True, multi=True, joint=_native_group_norm_gradient,
    converts=True, saved_outputs=(1, 2), called={"input": "input"})
def _native_group_norm(input, weight, bias, groups, eps):
    result, statistics = _group_norm.op.forward(input, weight, bias, groups, eps)
    shaped = _shaped(statistics[:2], (len(input), groups), _kept_in(input, weight, bias))
    return (result, *shaped), statistics


_UNMET = ("Expected {} to be true, but got false.  (Could this error message be improved?  If so, please report an "
          "enhancement request to PyTorch.)")


@public()
def native_group_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, N: Extent, C: Extent, HxW: Extent,
                      group: int, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """`torch.nn.functional.group_norm`, the means and 1 / deviations (N, group) that it divides by. RuntimeError unless
    `input` has N examples of C channels with HxW elements each, without gaps.

    >>> import tinytorch as torch
    >>> torch.native_group_norm(torch.tensor([[1., 3.]]), None, None, 1, 2, 1, 1, 0.)
    (tensor([[-1.,  1.]]), tensor([[2.]]), tensor([[1.]]))
    """
    check_groups(input, group, weight, bias)
    if not input._array.flags.c_contiguous and not channels_last(input._array):
        raise RuntimeError(_UNMET.format("X.is_contiguous(memory_format)"))
    if input._array.size != N * C * HxW:
        raise RuntimeError(_UNMET.format("X.numel() == N * C * HxW"))
    return _native_group_norm(input, weight, bias, group, eps)
