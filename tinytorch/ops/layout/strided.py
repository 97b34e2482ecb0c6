"""Operations on the whole memory that a tensor views: as_strided, the gradients between layouts of one memory, and the
memory read as another dtype."""
import numpy as np

from ...autograd import late_bound
from ...autograd.grad_mode import mode
from ...autograd.op import op
from ...autograd.views import to_base
from ...kernels import layout
from ...kinds.lazy import StandIn, bits_of, resolved, root_of, seen
from ...tensor import wrap


@op(name="as_strided", view=True, input=lambda g, size, stride, offset, whole: to_base(
    g, layout_of(size, stride, offset, *whole[3:]), whole))
def _as_strided(input, size, stride, offset, whole):
    """`offset` counts from the first element of the memory. `whole` is the layout of `input`."""
    return seen(layout.strided(_memory(input), size, stride, offset), *bits_of(input))


@op(name="as_strided_backward", g=lambda g, source, target: relaid(g, target, source))
def relaid(g, source, target):
    """The elements of `g`, moved from the layout `source` to `target` by their place: see kernels/layout.py."""
    return layout.relaid(g, source, target)


@op(name="without_part", g=lambda g, part, whole: without_part(g, part, whole))
def without_part(g, part, whole):
    """`g`, in the layout `whole`, with zeros in the part that the layout `part` covers."""
    return layout.split_off(g, part, whole)[0]


def _replaced_grad(g, part, whole):
    """In backward, torch gives `input` the gradient of the replaced elements. In forward mode its tangent is that of
    the other elements."""
    return without_part(g, part, whole) if mode.computing_jvp else relaid(relaid(g, whole, part), part, whole)


@op(name="as_strided_scatter", input=lambda g, part, whole: _replaced_grad(g, part, whole),
    src=lambda g, part, whole: relaid(g, whole, part))
def _as_strided_scatter(input, src, part, whole):
    memory = _memory(input).copy()
    size, stride, offset = part[0], [s // input.itemsize for s in part[1]], part[2] // input.itemsize
    target = seen(layout.strided(memory, size, stride, offset), *bits_of(input))
    if target.shape != src.shape:
        raise size_mismatch(src, target)
    target[...] = src
    return resolved(layout.at(memory, whole))


def layout_of(size, stride, offset, dtype, bits):
    """The layout of a view, in bytes. Its strides and offset are given in elements."""
    return size, [n * dtype.itemsize for n in stride], offset * dtype.itemsize, dtype, bits


def _memory(array):
    """The whole memory that `array` views, as one dimension of its dtype."""
    root = root_of(array)
    if not root.flags.forc:
        count = 1 + sum((n - 1) * s for n, s in zip(root.shape, root.strides)) // root.itemsize if root.size else 0
        flat = np.lib.stride_tricks.as_strided(root, (count,), (root.itemsize,))
    else:
        flat = root.reshape(-1, order="A")
    flat = flat if flat.dtype == array.dtype else flat.view(array.dtype)
    return array.over(flat) if isinstance(array, StandIn) else flat


def size_mismatch(src, target):
    return RuntimeError(f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, "
                        f"slice size = {list(target.shape)}")


def view_as_dtype(self, dtype):
    """The memory of `self` read as another dtype."""
    conjugated, negated = bits_of(self._array)
    if conjugated or negated:
        kind = "conjugate view tensors" if conjugated else "tensors with negative bit set"
        raise RuntimeError(f"torch.Tensor.view is not supported for {kind} when converting to a different dtype.")
    array, want = self._array, dtype.numpy
    have = array.dtype.itemsize
    if have != want.itemsize:
        if not array.ndim:
            raise RuntimeError(f"self.dim() cannot be 0 to view {self.dtype.type_name} as "
                               f"{dtype.type_name} (different element sizes)")
        ratio = want.itemsize // have
        if ratio and array.shape[-1] % ratio:
            raise RuntimeError(f"self.size(-1) must be divisible by {ratio} to view {self.dtype.type_name} as "
                               f"{dtype.type_name} (different element sizes), but got {array.shape[-1]}")
        if self.stride(-1) != 1 and array.shape[-1] != 1:
            raise RuntimeError(f"self.stride(-1) must be 1 to view {self.dtype.type_name} as "
                               f"{dtype.type_name} (different element sizes), but got {self.stride(-1)}")
        if ratio and self.storage_offset() % ratio:
            raise RuntimeError(f"self.storage_offset() must be divisible by {ratio} to view "
                               f"{self.dtype.type_name} as {dtype.type_name} (different element sizes), "
                               f"but got {self.storage_offset()}")
        for i, step in enumerate(self.stride()[:-1] if ratio else ()):
            if step % ratio:
                raise RuntimeError(f"self.stride({i}) must be divisible by {ratio} to view "
                                   f"{self.dtype.type_name} as {dtype.type_name} (different element "
                                   f"sizes), but got {step}")
    result = wrap(array.view(want))
    result._version_counter = self._version_counter
    return result


def empty_slice(array, index, result):
    """`result`, which is array[index] for a basic index and has no elements, moved to the place in memory where torch's
    result begins. NumPy does not keep the start of a slice without elements."""
    if not array.size or not result.ndim:
        return result
    offset, dims = 0, iter(zip(array.shape, array.strides))
    for item in index[:-1]:
        if item is not None:
            n, step = next(dims)
            offset += step * (item.indices(n)[0] if item.__class__ is slice else item % n)
    return empty_view_at(array, result, offset)


def empty_view_at(array, result, offset):
    """`result`, a view of `array` without elements, moved to `offset` bytes after the start of `array`. It stays where
    it is if the memory ends before that."""
    if isinstance(array, StandIn):
        return result
    root = root_of(array)
    start = array.__array_interface__["data"][0] - root.__array_interface__["data"][0] + offset
    if not root.flags.c_contiguous or not 0 <= start <= root.nbytes:
        return result
    return np.ndarray(result.shape, result.dtype, root, start, result.strides)


late_bound.relaid = relaid
late_bound.without_part = without_part
