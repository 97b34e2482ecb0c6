"""Complex numbers: real imag conj resolve_conj resolve_neg angle complex polar view_as_real view_as_complex."""
from __future__ import annotations

import math

import numpy as np

from ... import dtypes as dt
from ...autograd.op import op, renamed, single, unary
from ...autograd.places import count_write
from ...autograd.promotion import FOUND, as_scalar_tensor, check_broadcast
from ...autograd.public import public
from ...autograd.record_dtypes import of_source
from ...autograd.views import assign, check_in_place, check_written
from ...errors import not_a_tensor, not_implemented, type_name
from ...kernels import native
from ...kernels.copies import beside
from ...kernels.layout import as_array, operand_order
from ...kinds.lazy import UNRESOLVED, bits_of, raw, seen, toggled
from ...tensor import Tensor, wrap
from ..layout.index import _select
from .arithmetic import _conj as _conj_copy, conj as conjugated, conjugate, is_complex, zeros_like
from .rounding import abs, sgn
from .where import pick

__all__ = ["angle", "complex", "conj", "conj_physical", "imag", "is_conj", "is_neg", "polar", "real", "resolve_conj",
           "resolve_neg", "view_as_complex", "view_as_real"]


@public(hot=True, shares=True, repeats=True)
def real(input: Tensor) -> Tensor:
    """The real part, as a view. A real tensor is returned itself.

    >>> import tinytorch as torch
    >>> torch.real(torch.tensor([1 + 2j]))
    tensor([1.])
    """
    return _part(input, 0) if is_complex(input) else input


@public(hot=True, shares=True, repeats=True)
def imag(input: Tensor) -> Tensor:
    """The imaginary part, as a view. RuntimeError for real tensors.

    >>> import tinytorch as torch
    >>> torch.imag(torch.tensor([1 + 2j]))
    tensor([2.])
    """
    if not is_complex(input):
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _part(input, 1)


def _part(input, k):
    """The real (k = 0) or imaginary (k = 1) part of complex numbers, by the same views as in torch."""
    if not bits_of(input._array)[0]:
        return _select(_parts(input), (..., k))
    parts = _parts(_conj_view(input))
    return _select(_negative(parts) if k else parts, (..., k))


def _parts(input):
    return of_source(_view_as_real(input), input._array.dtype)


def _set_part(part, value):
    check_written(part._array)
    part.copy_(value if isinstance(value, Tensor) else wrap(as_scalar_tensor(value, part._array.dtype)))


@single(name="conj", view=True, input=lambda g: _conj_view(g))
def _conj_view(input):
    return toggled(input if input.__class__ is np.ndarray else np.asarray(input), conj=True)


@single(name="neg_view", view=True, input=lambda g: -g)
def _negative(input):
    return toggled(input, neg=True)


@op(name="view_as_real", view=True, input=lambda g: _view_as_complex(_packed(g)))
def _view_as_real(input):
    conj, neg = bits_of(input)
    memory = np.asarray(input) if conj else raw(input)   # a gradient may be a conjugate view, or a NumPy scalar
    parts = memory[..., None].view(_PARTS[memory.itemsize])
    return seen(parts, False, True) if neg and not conj else parts


#: The dtype of the real and imaginary parts of complex numbers, by itemsize.
_PARTS = {4: np.dtype(np.float16), 8: np.dtype(np.float32), 16: np.dtype(np.float64)}
_OF_PARTS = {part: dt.BY_NUMPY[part].to_complex().numpy for part in _PARTS.values()}


@op(name="view_as_complex", view=True, input=lambda g: _view_as_real(g))
def _view_as_complex(input):
    return input.view(_OF_PARTS[input.dtype])[..., 0]


def _packed(g):
    """A gradient in C order."""
    if isinstance(g, Tensor):
        return g.contiguous()
    g = as_array(g)
    return g if g.flags.c_contiguous else g.copy()


@public(shares=True)
def view_as_real(input: Tensor) -> Tensor:
    """Real and imaginary parts side by side in a new last dimension of size 2, as a view.

    RuntimeError for real tensors.

    >>> import tinytorch as torch
    >>> torch.view_as_real(torch.tensor([1 + 2j]))
    tensor([[1., 2.]])
    """
    if not is_complex(input):
        raise RuntimeError("view_as_real is only supported for complex tensors")
    if bits_of(input._array)[0]:
        raise RuntimeError(UNRESOLVED)
    return _parts(input)


@public(autocast="up", shares=True)
def view_as_complex(input: Tensor) -> Tensor:
    """The numbers of a real tensor whose last dimension has size 2 as complex numbers, as a view.

    >>> import tinytorch as torch
    >>> torch.view_as_complex(torch.tensor([[1., 2.]]))
    tensor([1.+2.j])
    """
    array = input._array
    if array.dtype.kind not in dt.NATIVE:
        raise RuntimeError("view_as_complex is only supported for half, float and double tensors, but got a tensor "
                           f"of scalar type: {type_name(input)}")
    if array.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if array.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if array.strides[-1] != array.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(s % (2 * array.itemsize) for s, n in zip(array.strides[:-1], array.shape) if n != 1):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if input.storage_offset() % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return _view_as_complex(input)


@public(hot=True, method=True, shares=True)
def conj(input: Tensor) -> Tensor:
    """The complex conjugate, as a view whose numbers are computed when they are read. A real tensor is returned itself.

    >>> import tinytorch as torch
    >>> x = torch.tensor([1 + 2j])
    >>> y = x.conj(); y
    tensor([1.-2.j])
    >>> y.is_conj(), y.data_ptr() == x.data_ptr()
    (True, True)
    """
    return _conj_view(input) if is_complex(input) else input


@public(method=True, shares=True)
def _conj(input: Tensor) -> Tensor:
    """The complex conjugate as a view. RuntimeError for a real tensor."""
    if not is_complex(input):
        raise RuntimeError("_conj is only supported for complex tensors")
    return _conj_view(input)


@public(method=True, shares=True)
def _neg_view(input: Tensor) -> Tensor:
    """The negative, as a view whose numbers are computed when they are read.

    >>> import tinytorch as torch
    >>> torch._neg_view(torch.tensor([1., 2.])).is_neg()
    True
    """
    return _negative(input)


@public(method=True)
def is_conj(input: Tensor) -> bool:
    """Whether the tensor is a view that shows the conjugates of the numbers in memory.

    >>> import tinytorch as torch
    >>> torch.is_conj(torch.tensor(1j).conj())
    True
    """
    return bits_of(input._array)[0]


@public(method=True)
def is_neg(input: Tensor) -> bool:
    """Whether the tensor is a view that shows the negatives of the numbers in memory.

    >>> import tinytorch as torch
    >>> torch.is_neg(torch.tensor(1j).conj().imag)
    True
    """
    return bits_of(input._array)[1]


_conj_in_memory = renamed(_conj_copy, "conj_physical.1")


def _conj_in_place(function):
    def conj_physical_(self):
        """In-place form of `conj_physical`."""
        if not isinstance(self, Tensor):
            raise not_a_tensor("conj_physical_", "input", 1, self)
        check_in_place(self)
        if is_complex(self):
            return assign(self, _conj_in_memory(self))
        if self.requires_grad:
            return assign(self, _conj_in_memory(self), lambda memory, values: None)
        count_write(self)                   # torch counts a write, although nothing changes
        return self
    return conj_physical_


@public(out=FOUND, method=True, inplace=_conj_in_place, elementwise=True, shares=True)
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The complex conjugate in new memory. A real tensor is returned itself.

    >>> import tinytorch as torch
    >>> torch.conj_physical(torch.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    return conjugate(input)


@public(method=True, shares=True)
def resolve_conj(input: Tensor) -> Tensor:
    """A copy of a view of conjugates, with the conjugates in memory. Any other tensor is returned itself.

    >>> import tinytorch as torch
    >>> torch.resolve_conj(torch.tensor([1 + 2j]).conj())
    tensor([1.-2.j])
    """
    return input.clone() if is_conj(input) else input


@public(method=True, shares=True)
def resolve_neg(input: Tensor) -> Tensor:
    """A copy of a view of negatives, with the negatives in memory. Any other tensor is returned itself.

    >>> import tinytorch as torch
    >>> torch.resolve_neg(torch.tensor([1j]).conj().imag)
    tensor([-1.])
    """
    return input.clone() if is_neg(input) else input


def _angle_slope(g, input):
    if not is_complex(input):
        return zeros_like(g)
    size = abs(input)
    return pick(size == 0, 0.0, g * (input * 1j) / (size * size))


@unary(_angle_slope, to_float=True, inplace=False, own_order=True)
def angle(input):
    """The angle of complex numbers in radians. For real numbers it is 0, or pi if they are negative.

    >>> import tinytorch as torch
    >>> torch.angle(torch.tensor([1j, -1 + 0j]))
    tensor([1.5708, 3.1416])
    """
    if input.dtype.kind in dt.COMPLEX:
        return np.asarray(np.angle(input), order="C")
    angles = np.where(input < 0, math.pi, 0.0).astype(input.dtype)
    return operand_order(np.where(np.isnan(input), input, angles), input)


@op(name="complex", batches="elements", elementwise=True, real=lambda g, real: g.real, imag=lambda g, imag: g.imag)
def _complex(real, imag):
    if real.dtype == np.float16:
        return operand_order(dt.joined(real, imag), real, imag)
    shape = real.shape
    if imag.shape != shape:
        shape = np.broadcast_shapes(shape, imag.shape)
    if real.size >= native.LEAST and (pairs := beside(real, imag, real.ndim, True)) is not None:
        return pairs.reshape(-1).view(_OF_PARTS[real.dtype]).reshape(shape)
    result = np.empty(shape, _OF_PARTS[real.dtype])
    if not (real.flags.c_contiguous and imag.flags.c_contiguous):
        result = operand_order(result, real, imag)
    result.real, result.imag = real, imag
    return result


def _check_parts(first, second):
    a, b = first._array, second._array
    if a.dtype == b.dtype and a.shape == b.shape and a.dtype.char in "efd":
        return
    names = [type_name(x) for x in (first, second)]
    if any(n not in ("Half", "Float", "Double") for n in names):
        raise RuntimeError("Expected both inputs to be Half, Float or Double tensors but got "
                           f"{names[0]} and {names[1]}")
    if names[0] != names[1]:
        raise RuntimeError(f"Expected object of scalar type {names[0]} but got scalar type {names[1]} "
                           "for second argument")
    check_broadcast(first._array.shape, second._array.shape)


@public(out="Expected object of scalar type {Want} but got scalar type {Have} for argument 'out'", repeats=True)
def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Complex numbers from their real and imaginary parts. RuntimeError unless both are half, float or double.

    >>> import tinytorch as torch
    >>> torch.complex(torch.tensor([1.]), torch.tensor([2.]))
    tensor([1.+2.j])
    """
    _check_parts(real, imag)
    return _complex(real, imag)


@op(name="polar", elementwise=True, abs=lambda g, ans: (conjugated(g) * sgn(ans)).real,
    angle=lambda g, ans: (conjugated(g) * (ans * 1j)).real)
def _polar(abs, angle):
    return _complex.op.forward(abs * np.cos(angle), abs * np.sin(angle))


@public(out="Expected object of scalar type {Want} but got scalar type {Have} for argument 'out'", autocast="up")
def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Complex numbers from their absolute values and angles. RuntimeError unless both are float or both double.

    >>> import tinytorch as torch
    >>> torch.polar(torch.tensor([2.]), torch.tensor([0.]))
    tensor([2.+0.j])
    """
    _check_parts(abs, angle)
    if abs._array.dtype == np.float16:
        raise not_implemented("polar_cpu", abs)
    return _polar(abs, angle)


Tensor.real = property(real, lambda self, value: _set_part(real(self), value))
Tensor.imag = property(imag, lambda self, value: _set_part(imag(self), value))
