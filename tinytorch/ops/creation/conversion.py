"""Conversions of dtype and device, copies: to, float, long, clone, contiguous ..."""
import numpy as np

from ... import dtypes as dt
from ...autograd.op import op, renamed, single
from ...autograd.promotion import check_broadcast, stored_as
from ...autograd.public import attach, methods
from ...autograd.views import assign, check_in_place, check_overlap, may_share
from ...device import check_device, device as Device
from ...errors import not_a_tensor
from ...kernels.layout import dense_copy
from ...memory_format import contiguous_format, memory_order, preserve_format
from ...tensor import Tensor, wrap
from ..layout.shape import inverse

_PYTHON_TYPES = {float: dt.float64, int: dt.int64, bool: dt.bool, complex: dt.complex128}


def _converted_back(g, numpy_dtype, source):
    """The gradient of a conversion: rounded as the output was, then in the dtype of the source."""
    have = g.array.dtype if isinstance(g, Tensor) else g.dtype
    if numpy_dtype == dt.BFLOAT16 and have != numpy_dtype:
        g = _to_copy(g, numpy_dtype, have)
    return _to_copy(g, source, numpy_dtype)


@single(name="to_copy", input=lambda g, numpy_dtype, source: _converted_back(g, numpy_dtype, source))
def _to_copy(input, numpy_dtype, source):
    return dt.cast(input, numpy_dtype)


@single(name="to_copy")
def _to_discrete(input, numpy_dtype, source):
    """To integers or bools, which have no gradient."""
    return dt.cast(input, numpy_dtype)


@single(name="clone", input=lambda g: g)
def _clone(input, order):
    """A copy laid out as the input ("K"), in C order ("C"), or with its dimensions in the order given."""
    if order == "K":
        return dense_copy(input)
    if order == "C":
        return input.copy("C")
    return input.transpose(order).copy("C").transpose(inverse(order))


_copied = renamed(_clone, "to_copy")


@single(name="alias", view=True, input=lambda g: g)
def alias(input):
    """A view of all of it."""
    return input[...]


def to(self, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None):
    """`self` in another dtype (recorded), or itself if nothing changes: to(dtype), to(device), to(device,
    dtype), to(other).

    >>> import tinytorch as torch
    >>> torch.tensor([1.7, -2.2]).to(torch.int64)
    tensor([ 1, -2])
    """
    for arg in args:
        if isinstance(arg, dt.dtype):
            dtype = arg
        elif isinstance(arg, Tensor):
            dtype = arg.dtype
        elif isinstance(arg, bool):
            copy = copy or (arg and arg is args[-1] and len(args) > 2)   # (.., non_blocking, copy)
        elif arg is not None:
            device = arg
    if device is not None:
        check_device(device)
    target = self.array.dtype if dtype is None else _PYTHON_TYPES.get(dtype, dtype).numpy
    order = "K" if memory_format is None else memory_order(memory_format, self.array.ndim)
    if target != self.array.dtype:
        result = (_to_copy if target.kind in "fcV" else _to_discrete)(self, target, self.array.dtype)
        return result if order == "K" or laid_out(result.array, order) else _copied(result, order)
    return _copied(self, order) if copy or (order != "K" and not laid_out(self.array, order)) else self


def laid_out(array, order):
    """Whether the array's dimensions lie densely in memory in the given order ("C" or dimensions)."""
    return array.flags.c_contiguous if order == "C" else array.transpose(order).flags.c_contiguous


def clone(input, *, memory_format=None):
    """A copy that gradients pass through, in the same memory layout unless told.

    >>> import tinytorch as torch
    >>> x = torch.tensor([1, 2]); y = x.clone(); y[0] = 5; x
    tensor([1, 2])
    """
    return _clone(input, memory_order(memory_format, input.array.ndim))


def contiguous(self, memory_format=contiguous_format):
    """Itself if it lies in memory in C order (or in that of `memory_format`), else such a copy."""
    if memory_format is preserve_format:
        if self.array.flags.c_contiguous:
            return self
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    order = memory_order(memory_format, self.array.ndim)
    return self if laid_out(self.array, order) else _clone(self, order)


def is_contiguous(self, memory_format=contiguous_format):
    """Whether the elements lie densely in C order (or in that of `memory_format`)."""
    if memory_format is contiguous_format:
        return self.array.flags.c_contiguous
    if self.array.ndim != len(memory_format.order):
        return False
    return laid_out(self.array, memory_format.order)


def _conversion(name, target):
    def convert(self, memory_format=None):
        return to(self, target)
    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"`self.to({target!r})`."
    return convert


def type_as(self, other):
    """`self` in the dtype of `other`."""
    return to(self, other.dtype)


def type_(self, dtype=None, non_blocking=False):
    """The type's name without arguments, else the tensor converted to it (a dtype or a name).

    >>> import tinytorch as torch
    >>> torch.ones(1).type()
    'torch.FloatTensor'
    """
    if dtype is None:
        return f"torch.{self.dtype.tensor_type}"
    if isinstance(dtype, str):
        for d in dt.ALL:
            if dtype in (f"torch.{d.tensor_type}", f"torch.cuda.{d.tensor_type}"):
                return to(self, d)
        raise ValueError(f"invalid type: '{dtype}'")
    if not isinstance(dtype, dt.dtype):
        dtype = getattr(dtype, "dtype", None)             # a legacy type such as torch.FloatTensor
    return to(self, dtype)


def cpu(self, memory_format=None):
    """Itself: every tensor is on the CPU."""
    return self


def cuda(self, device=None, non_blocking=False, memory_format=None):
    """AssertionError: there is no CUDA here."""
    check_device(Device("cuda"))


def copy_values(self, src, non_blocking=False):
    """Write `src`, broadcast and converted to this dtype, into `self`.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 2).copy_(torch.tensor([1, 2]))
    tensor([[1., 2.],
            [1., 2.]])
    """
    if isinstance(src, (bool, int, float, complex)):
        src = wrap(np.asarray(src) if isinstance(src, complex) else stored_as(src, self.array.dtype))
    if not isinstance(src, Tensor):
        raise not_a_tensor("copy_", "other", 1, src)
    check_in_place(self, src)
    if src is not self and may_share(self.array, src.array):
        check_overlap(self, src)
    return assign(self, _copy(self, to(src, self.dtype)), np.copyto if src is self else None)


def _no_part(g):
    """The gradient of what was overwritten: not g * 0, which would be nan where g is infinite."""
    return g.new_zeros(g.shape) if isinstance(g, Tensor) else np.zeros(g.shape, g.dtype)


@op(name="copy", input=lambda g: _no_part(g), src=lambda g: g)
def _copy(input, src):
    """What is to be written: `src` itself, broadcast."""
    if src.shape == input.shape:
        return src
    try:
        return np.broadcast_to(src, input.shape)
    except ValueError:
        check_broadcast(input.shape, src.shape)
        raise RuntimeError(f"output with shape {list(input.shape)} doesn't match the broadcast shape "
                           f"{list(np.broadcast_shapes(input.shape, src.shape))}") from None


_copy.op.backward_name = "torch::autograd::CopyBackwards"


@op(name="fill.2", input=lambda g: _no_part(g), value=lambda g: g)
def _fill(input, value):
    return np.full_like(input, value)


_fill_tensor, _zero = renamed(_fill, "fill.3"), renamed(_fill, "zero")
_filled, _filled_tensor = renamed(_fill, "fill"), renamed(_fill, "fill.1")


def fill(input, value):
    """A copy of `input` with `value` (a number or a 0-dim tensor) everywhere.

    >>> import tinytorch as torch
    >>> torch.fill(torch.zeros(2), 3)
    tensor([3., 3.])
    """
    _check_value(value, "fill", 2)
    return _filled_with(input, value, _filled, _filled_tensor)


def fill_(self, value):
    """Write `value` (a number or a 0-dim tensor) everywhere."""
    _check_value(value, "fill_", 1)
    check_in_place(self, value)
    result = _filled_with(self, value, _fill, _fill_tensor)
    return assign(self, result, None if isinstance(value, Tensor) else np.copyto)


def _check_value(value, name, position):
    if not isinstance(value, (Tensor, bool, int, float, complex, np.generic)):
        raise TypeError(f"{name}(): argument 'value' (position {position}) must be Number, not {type(value).__name__}")


def _filled_with(input, value, of_number, of_tensor):
    if isinstance(value, Tensor):
        if value.array.ndim:
            raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.array.ndim} "
                               "dimensions.")
        return of_tensor(input, to(value, input.dtype))
    return of_number(input, stored_as(value, input.array.dtype))


def zero_(self):
    """Write zeros everywhere."""
    check_in_place(self)
    return assign(self, _zero(self, stored_as(0, self.array.dtype)), np.copyto)


for _name, _dtype in [("bool", dt.bool), ("byte", dt.uint8), ("char", dt.int8), ("short", dt.int16),
                      ("int", dt.int32), ("long", dt.int64), ("half", dt.float16), ("bfloat16", dt.bfloat16),
                      ("float", dt.float32), ("double", dt.float64), ("cfloat", dt.complex64),
                      ("cdouble", dt.complex128)]:
    attach(_conversion(_name, _dtype))
methods(fill_, zero_, to, clone, contiguous, is_contiguous, type_as, cpu, cuda, alias)
Tensor.type = type_
Tensor.copy_ = copy_values
