"""Gradient clipping, in place."""
import types

import numpy as np

from ... import dtypes as dt
from ...autograd.grad_mode import no_grad
from ...autograd.places import count_write
from ...errors import warn
from ...kernels.memory import refusal
from ...ops.creation.factories import tensor
from ...ops.layout.join import stack
from ...ops.linalg.norms import vector_norm
from ...tensor import Tensor

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


def _listed(tensors):
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _unnamed(tensors):
    """(tensors, names) of an iterable of tensors, or of (name, tensor) pairs like those of `named_parameters`. Without
    names, the second is None."""
    listed = _listed(tensors)
    if listed and listed[0].__class__ is tuple:
        return [tensor for _, tensor in listed], [name for name, _ in listed]
    return listed, None


def _gradients(parameters):
    return [p.grad for p in parameters if p.grad is not None]


def _not_finite(gradients, names, what):
    """Lines for an error message that name the gradients with infinite or nan elements. None is not a gradient."""
    from ...autograd.reports import numbers  # imported on use: few programs need it
    found = [(i, numbers(g)) for i, g in enumerate(gradients) if g is not None]
    bad = [(i, told) for i, told in found if told is not None and (told.nan or told.inf)]
    if not bad:
        return "\nEvery gradient is finite: their norm is too large for the dtype."
    lines = [f"\n  {what} {i}{'' if names is None else f' ({names[i]})'}: {told}" for i, told in bad[:_SHOWN]]
    more = f"\n  and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
    return f"\nNot finite are {len(bad)} of {len(found)} gradients:" + "".join(lines) + more


#: The number of gradients that a message names.
_SHOWN = 10


def _write(grad, ufunc, number):
    """grad = ufunc(grad, number) in place, without autograd, since every training step runs it."""
    array = grad._array
    try:
        if array.dtype == dt.BFLOAT16:
            array[...] = dt.to_bfloat16(ufunc(dt.from_bfloat16(array), number))
        else:
            ufunc(array, number, out=array)
    except ValueError as error:
        raise refusal(error) from None
    count_write(grad)


@no_grad()
def _get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all `tensors` together, as if they were one vector: a 0-dim tensor.

    norm_type             the order p; inf for the greatest absolute value
    error_if_nonfinite    whether a norm that is nan or infinite is a RuntimeError
    foreach               has no effect

    The error lists the tensors that are not finite by number, and by name if `tensors` are (name, tensor) pairs.

    >>> import tinytorch as torch
    >>> torch.nn.utils.get_total_norm([torch.tensor([3.]), torch.tensor([4.])])
    tensor(5.)
    """
    tensors, names = _unnamed(tensors)
    total = _norm(tensors, float(norm_type))
    if error_if_nonfinite and not total.isfinite():
        raise _refusal(float(norm_type), _not_finite(tensors, names, "tensor"))
    return total


def _norm(tensors, norm_type):
    if not tensors:
        return tensor(0.0)
    return vector_norm(stack([vector_norm(t, norm_type) for t in tensors]), norm_type)


def _refusal(norm_type, told):
    return RuntimeError(f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it "
                        "cannot be clipped. To disable this error and scale the gradients by the non-finite norm "
                        f"anyway, set `error_if_nonfinite=False`{told}")


@no_grad()
def _clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scale the gradients of `parameters` so that their norm is at most `max_norm`. `total_norm` (a tensor) is their
    present norm."""
    scale = float(max_norm) / (total_norm + 1e-6)
    if type(scale._array) is not np.ndarray:   # a recording or compilation has no Python number
        for grad in _gradients(_unnamed(parameters)[0]):
            grad.mul_(scale.clamp(max=1.0))
        return
    scale = min(scale.item(), 1.0)             # nan stays nan
    if scale != 1.0:
        for grad in _gradients(_unnamed(parameters)[0]):
            _write(grad, np.multiply, scale)


get_total_norm, clip_grads_with_norm_ = _get_total_norm, _clip_grads_with_norm_      # torch's functions are called so


@no_grad()
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None, *,
                    skip_if_nonfinite=False):
    """Scale the gradients of `parameters` so that their norm together is at most `max_norm`.

    error_if_nonfinite    whether a norm that is nan or infinite is a RuntimeError. The error lists the parameters
                          whose gradients are not finite by number, and by name if `parameters` are pairs like those of
                          `named_parameters()`
    skip_if_nonfinite     whether the gradients stay unchanged if their norm is nan or infinite. Scaled by such a norm,
                          all of them would be nan or zero

    Returns the norm before scaling (see `get_total_norm` for the other arguments).

    >>> import tinytorch as torch
    >>> p = torch.zeros(2, requires_grad=True); p.grad = torch.tensor([3., 4.])
    >>> torch.nn.utils.clip_grad_norm_(p, 1.0), p.grad
    (tensor(5.), tensor([0.6000, 0.8000]))
    >>> p.grad[1] = torch.nan
    >>> torch.nn.utils.clip_grad_norm_(p, 0.1, skip_if_nonfinite=True), p.grad
    (tensor(nan), tensor([0.6000,    nan]))
    >>> torch.nn.utils.clip_grad_norm_([("weight", p)], 0.1, error_if_nonfinite=True)
    Traceback (most recent call last):
    ...
    RuntimeError: The total norm of order 2.0 for gradients from `parameters` is non-finite, so it ...
    Not finite are 1 of 1 gradients:
      parameter 0 (weight): torch.float32 [2], finite values from 0.6 to 0.6, 1 NaN
    """
    listed, names = _unnamed(parameters)
    if isinstance(parameters, types.GeneratorType) and not listed:
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    total = _norm(_gradients(listed), float(norm_type))
    if (error_if_nonfinite or skip_if_nonfinite) and not total.isfinite():
        if error_if_nonfinite:
            raise _refusal(float(norm_type), _not_finite([p.grad for p in listed], names, "parameter"))
        return total
    _clip_grads_with_norm_(listed, max_norm, total, foreach)
    return total


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The old name of `clip_grad_norm_`."""
    warn("`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
         FutureWarning)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@no_grad()
def clip_grad_value_(parameters, clip_value, foreach=None):
    """Limit every element of the gradients of `parameters` to +-clip_value.

    >>> import tinytorch as torch
    >>> p = torch.zeros(2, requires_grad=True); p.grad = torch.tensor([3., -4.])
    >>> torch.nn.utils.clip_grad_value_(p, 1.0); p.grad
    tensor([ 1., -1.])
    """
    limit, grads = float(clip_value), _gradients(_unnamed(parameters)[0])
    if not grads:
        raise RuntimeError("Expected !nested_tensorlist[0].empty() to be true, but got false.  (Could this error "
                           "message be improved?  If so, please report an enhancement request to PyTorch.)")
    for grad in grads:
        if grad.is_complex():
            raise NotImplementedError("clamp is not supported for complex types")
        _write(grad, np.maximum, -limit)
        _write(grad, np.minimum, limit)
