"""relu and its variants: leaky_relu prelu rrelu. (relu6 is a hardtanh, in activation.py.)"""
from __future__ import annotations

from functools import partial

import numpy as np

from ... import dtypes as dt
from ...autograd.grad_mode import mode
from ...autograd.in_place import in_place
from ...autograd.op import binary, op, renamed, unary
from ...autograd.promotion import fit_every_float, scalar_of
from ...autograd.public import public
from ...errors import not_implemented
from ...kernels import native
from ...kernels.expressions import expression, maximum, where
from ...kernels.random import samplers
from ...random import Generator, stream_of
from ...tensor import Tensor, wrap
from ...types import Number
from ..elementwise.arithmetic import zeros_like

__all__ = ["prelu", "relu", "relu_", "rrelu", "rrelu_"]


#: Below so many elements one call of np.where takes less time than the three calls of NumPy in `_let_through`.
_SHORT = 512


def refuse_clamp(name, array):
    """torch's errors for bools and complex numbers in functions that torch computes as a clamp."""
    if array.dtype.kind in dt.BOOL:
        raise RuntimeError(f"{name[0]} inputs not supported for {name[1]}")
    if dt.is_complex(array.dtype):
        raise NotImplementedError("clamp is not supported for complex types")


#: Zeros for comparisons: NumPy takes longer to convert a Python number than to compare a small array.
_ZERO = {d.numpy: np.zeros((), d.numpy) for d in dt.ALL if d.category in (1, 2)}
#: Zeros of the dtypes in which NumPy computes. NumPy takes a record for true if any of its bits is set, so that -0. in
#: bfloat16 would be true.
_NO_GRADIENT = {d: zero for d, zero in _ZERO.items() if d.kind != dt.WIDENED}

#: max(0, x) by dtype. Of two zeros NumPy returns the second one, but for float16 the first one. The result must be the
#: zero of x, so that -0. stays -0. as in torch.
_AT_LEAST_ZERO = {d: partial(np.maximum, zero) for d, zero in _ZERO.items()}
_relu_of_halves = expression(lambda x: maximum(0.0, x))
_AT_LEAST_ZERO.update({np.dtype(np.float16): _relu_of_halves, dt.BFLOAT16: _relu_of_halves})


@binary(name="threshold_backward", method=False, inplace=False, grad=lambda g, output: _relu_backward(g, output),
        output=zeros_like)
def _relu_backward(grad, output):
    return _relu_slope(grad, output)


def _relu_slope(grad, output):
    if output.size >= _SHORT:
        return _let_through(grad, output)
    try:
        return np.where(output, grad, _NO_GRADIENT[output.dtype])
    except KeyError:
        raise TypeError(f"NumPy does not compute in {output.dtype}") from None


@native.by_element("relu_backward")
def _let_through(grad, output):
    # A bitwise "and" with all ones or zeros: np.where is slow where the branches alternate, and a product with 0 is NaN
    # for inf, and -0. below 0.
    bits = f"i{output.itemsize}"
    kept = np.negative(np.not_equal(output, _ZERO[output.dtype]).view(np.int8)).astype(bits)
    kept &= grad.view(bits)
    return kept.view(output.dtype)


@native.by_element("relu")
def _clipped_in_rows(x):
    """max(0, x) of a contiguous array. NumPy compares two arrays with vector instructions, but an array and a number
    one element at a time: with an array of zeros the comparison takes half the time."""
    result, zero = np.empty_like(x), _ZERO[x.dtype]
    flat, out, whole = x.reshape(-1), result.reshape(-1), x.size - x.size % 1024
    rows, zeros = flat[:whole].reshape(-1, 1024), np.zeros(1024, x.dtype)
    pairs = ((zeros, rows), (zero, flat[whole:])) if x.dtype != np.float16 else ((rows, zeros), (flat[whole:], zero))
    np.maximum(*pairs[0], out=out[:whole].reshape(-1, 1024))
    np.maximum(*pairs[1], out=out[whole:])
    return result


def _relu_into(array):
    if array.dtype.char == "f":
        if not native.done("relu", array.size, array, array):
            np.maximum(_ZERO[array.dtype], array, out=array)
        return True
    return array.dtype.char == "e" and _relu_of_halves.into(array)


@unary(lambda g, ans: (_relu_slope if g.__class__ is np.ndarray else _relu_backward)(g, ans),
       kernel="clamp_min_scalar_cpu", in_bfloat16=_relu_of_halves, inplace=partial(in_place, into=_relu_into))
def relu(input):
    """max(input, 0); its derivative at 0 is 0, at NaN 1. RuntimeError for bool.

    >>> import tinytorch as torch
    >>> torch.relu(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """
    try:
        if input.size >= 16384 and input.flags.c_contiguous and input.dtype.kind != "V" and input.dtype.char != "e":
            return _clipped_in_rows(input)
        return _AT_LEAST_ZERO[input.dtype](input)
    except KeyError:                           # `_AT_LEAST_ZERO` lacks this dtype
        refuse_clamp(("Boolean", "relu"), input)
        raise


relu_ = Tensor.relu_


_leaky = expression(lambda x, slope: where(x > 0.0, x, x * slope))
_leaky_slope = expression(lambda g, x, slope: where(x > 0.0, g, g * slope), 2)
_leaky_by_array = expression(lambda input, weight: where(input > 0.0, input, input * weight), 2)
_leaky_slope_by_array = expression(lambda g, x, slope: where(x > 0.0, g, g * slope), 3)


@op(name="leaky_relu_backward", batches="elements",
    grad=lambda g, input, slope: _leak(g, input, slope), input=lambda g: zeros_like(g),
    slope=lambda g, grad, input: g * grad * (input <= 0))
def _leak(grad, input, slope):
    """The gradient `grad`, times `slope` (a number or an array) where input is not positive."""
    return (_leaky_slope_by_array if isinstance(slope, np.ndarray) else _leaky_slope)(grad, input, slope)


@op(name="leaky_relu", elementwise=True, input=lambda g, input, slope: _leak(g, input, slope))
def _leaky_relu(input, slope):
    return (_leaky_by_array if isinstance(slope, np.ndarray) else _leaky)(input, slope)


def _leak_by_output(g, ans, slope):
    if slope.__class__ is float and slope < 0:
        raise RuntimeError("In-place leakyReLu backward calculation is triggered with a negative slope which is not "
                           "supported. This is caused by calling in-place forward function with a negative slope, "
                           "please call out-of-place version instead. File an issue at "
                           "https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu backward "
                           "calculation with negative slope")
    return _leak(g, ans, slope)


_leaky_relu_over = op(name="leaky_relu.1", elementwise=True, input=_leak_by_output)(_leaky_relu.op.forward)
_rrelu = renamed(_leaky_relu, "rrelu_with_noise")
_leaky_relu.op.over, _rrelu.op.over = _leaky_relu_over.op, _leaky_relu_over.op.renamed("rrelu_with_noise.1")


@public(dtypes=dt.FLOATING, kernel="leaky_relu_cpu", elementwise=True)
def leaky_relu(input: Tensor, negative_slope: Number = 0.01) -> Tensor:
    """`input` where positive, else input * negative_slope. NotImplementedError for integers.

    >>> import tinytorch as torch
    >>> torch.nn.functional.leaky_relu(torch.tensor([-1., 2.]))
    tensor([-0.0100,  2.0000])
    """
    return _leaky_relu(input, scalar_of(negative_slope, input._array.dtype))


@op(name="prelu_kernel_backward", grad=lambda g, input, weight: g * (~(input >= 0) * weight + (input >= 0)),
    input=lambda g: zeros_like(g), weight=lambda g, grad, input: g * grad * ~(input >= 0))
def _prelu_leak(grad, input, weight):
    """The gradient of the input. Its derivatives treat 0 as positive and NaN as negative, as torch's do."""
    return _leak.op.forward(grad, input, weight)


@op(name="prelu_kernel_backward", grad=lambda g, input: g * (input * ~(input >= 0)),
    input=lambda g, grad, input: g * grad * ~(input >= 0))
@expression(arrays=2)
def _prelu_slope(grad, input):
    return where(input > 0.0, 0.0, grad * input)


_prelu = op(name="prelu_kernel", input=lambda g, input, weight: _prelu_leak(g, input, weight),
            weight=lambda g, input, weight: _prelu_slope(g, input))(_leaky_by_array)


@public(method=True, autocast="down", repeats=True)
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`input` where positive, else input * weight. `weight` has one element, or one for each channel (dimension 1).

    RuntimeError if the numbers of channels differ or `weight` is no vector.

    >>> import tinytorch as torch
    >>> torch.prelu(torch.tensor([-4., 2.]), torch.tensor(0.25))
    tensor([-1.,  2.])
    """
    if input._array.dtype is not weight._array.dtype and input._array.dtype != weight._array.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {str(input.dtype)[6:].title()} "
                           f"and {str(weight.dtype)[6:].title()}")
    if weight._array.ndim > 1:
        raise RuntimeError("prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = "
                           f"{weight._array.ndim}")
    if weight._array.size != 1:
        if input._array.ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input._array.shape[1] if input._array.ndim > 1 else 1
        if channels != weight._array.size:
            raise RuntimeError("Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                               f"{weight._array.size} and channel size = {channels}.")
    if input._array.ndim == 0:
        weight = weight.reshape(())
    elif weight._array.shape == (1,) and (input._array.ndim == 1 or not weight._requires_grad):
        pass                                   # it broadcasts as it is, and no view is recorded
    elif weight._array.ndim:
        weight = weight.reshape((1, -1) + (1,) * (input._array.ndim - 2) if input._array.ndim > 1 else (1,))
    if input._array.dtype.kind not in dt.FLOATING:
        raise not_implemented("prelu_cpu", input)
    return _prelu(input, weight)


@public()
def rrelu(input: Tensor, lower: Number = 1.0 / 8, upper: Number = 1.0 / 3, training: bool = False,
          generator: Generator | None = None) -> Tensor:
    """leaky_relu whose slope is drawn from [lower, upper) for each element when training, else it is their mean.

    >>> import tinytorch as torch
    >>> torch.rrelu(torch.tensor([-16., 2.]), 0.25, 0.75)
    tensor([-8.,  2.])
    """
    lower, upper = scalar_of(lower), scalar_of(upper)
    for name, bound in (("lower", lower), ("upper", upper)):
        if not np.isfinite(bound):
            raise RuntimeError(f"rrelu: {name} bound must be finite, got {bound:g}")
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    kind, slopes = dt.kind(input._array.dtype), (lower + upper) / 2
    if kind not in dt.FLOATING or training and input._array.dtype == np.float16:
        raise not_implemented("rrelu_with_noise_out_cpu" if training else "leaky_relu_cpu", input)
    if mode.vmap_levels:
        raise RuntimeError("vmap: we do not yet support aten::rrelu. Please file an issue")
    if training:
        array, stream = input._array, stream_of(generator)
        slopes = np.empty_like(array, np.float32 if array.dtype == dt.BFLOAT16 else array.dtype, "C")
        with stream.lock:
            slopes = wrap(samplers.rrelu_slopes(slopes, array, lower, upper, stream))
    else:
        slopes = scalar_of(slopes, input._array.dtype)
    result = _rrelu(input, slopes)
    if training and not result._array.flags.c_contiguous and not input.is_meta:
        result._array = np.ascontiguousarray(result._array)      # torch returns C order when training
    return result


def _leaky_relu_into(array, negative_slope=0.01):
    return fit_every_float(negative_slope) and _leaky.into(array, float(negative_slope))


rrelu_, leaky_relu_ = in_place(rrelu), in_place(leaky_relu, into=_leaky_relu_into)
