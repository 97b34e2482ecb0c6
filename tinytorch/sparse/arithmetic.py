"""Elementwise arithmetic of sparse tensors, and operations that change no number: transposes, copies, dtypes."""
from __future__ import annotations

import numpy as np

from .. import dtypes as dt
from ..autograd.grad_mode import mode
from ..autograd.places import count_write
from ..autograd.promotion import NUMBERS, check_broadcast
from ..autograd.public import TABLE
from ..errors import refuse_sparse
from ..memory_format import LAYOUT_NAMES, sparse_coo
from ..ops.elementwise.arithmetic import zeros_like as no_slope
from ..tensor import Tensor, check_dim, wrap
from .array import SparseArray, added
from .tensor import array_of, as_tensor, is_sparse, of_primitive, of_sparse, sparse_op, wrap_sparse


def _of_values(array, function):
    """A sparse array whose values are function(the values of `array` as a tensor)."""
    return array.with_values(function(wrap(array.values))._array)


# ------------------------------------------------------------------ products
def times(a, b):
    """a * b, where each is an array, a tensor or a number."""
    if is_sparse(a) or is_sparse(b):
        return _mul(a, b)
    return plain_times(a, b) if isinstance(a, np.ndarray) and not isinstance(b, np.ndarray) else a * b


def plain_times(a, number):
    """An array times a number, in its dtype."""
    return _of_values(a, lambda v: v * number) if isinstance(a, SparseArray) else (wrap(a) * number)._array


@sparse_op("mul", input=lambda g, other: times(g, conjugate(other)),
           other=lambda g, input: times(g, conjugate(input)))
def _mul(input, other):
    if not isinstance(input, SparseArray):
        return _mul.__wrapped__(other, input)
    if isinstance(other, SparseArray):
        return _of_both(input, other)
    if not isinstance(other, np.ndarray):
        return _of_values(input, lambda v: v * other)
    if not other.ndim:
        return _of_values(input, lambda v: v * wrap(other))
    if not input.shape:                        # a sparse tensor without dimensions times a dense tensor
        raise NotImplementedError("tinytorch has no product of a sparse tensor without dimensions and a dense one")
    check_broadcast(input.shape, other.shape)
    if np.broadcast_shapes(input.shape, other.shape) != input.shape:
        raise NotImplementedError("tinytorch has no product of a sparse tensor and a larger dense one")
    at = np.broadcast_to(other, input.shape)[tuple(input.indices)]
    return _of_values(input, lambda v: v * wrap(at))


def _of_both(a, b):
    """The product of two sparse arrays. It has elements where `a` and `b` both have one."""
    if a.shape != b.shape:
        raise RuntimeError(f"mul: expected 'self' and 'other' to have same sizes when both are sparse, but {a.shape} "
                           f"!= {b.shape}" if 0 in (a.ndim, b.ndim) else
                           "tinytorch has no product of sparse tensors of different shapes")
    # torch keeps all places of the array that is not coalesced, also where the other array has no element.
    if not b.coalesced and a.coalesced:
        a, b = b, a
    values, there = b.at(a.keys())
    if a.coalesced and not there.all():
        indices = a.indices[:, there]
        found = SparseArray(sparse_coo, indices, a.values[there], a.shape, a.coalesced)
        a, values = found if a.layout is sparse_coo else found.as_layout(a.layout), values[there]
    return _of_values(a, lambda v: v * wrap(values))


def conjugate(x):
    """The complex conjugate of a factor, which is an array, a tensor or a number."""
    if not isinstance(x, (np.ndarray, SparseArray, Tensor)):
        return x.conjugate()                   # a number
    if not dt.is_complex(array_of(x).dtype):
        return x
    return _conj_physical(x) if is_sparse(x) else x.conj()


@sparse_op("conj_physical", input=lambda g: conjugate(g))
def _conj_physical(input):
    return input.with_values(input.values.conj())


@of_sparse("conj", "conj_physical")
def conj(input):
    return conjugate(input)


@of_sparse("positive", "__pos__", "resolve_conj", "resolve_neg")
def identity(input):
    return input


@of_sparse("is_conj", "is_neg")
def is_lazy(input):
    """False: a sparse tensor has no conjugate bit, its conjugate is computed at once."""
    return False


@of_sparse("mul", "multiply", "__mul__", "__rmul__")
def mul(input, other):
    if not isinstance(other, (Tensor, *NUMBERS)) or not isinstance(input, (Tensor, *NUMBERS)):
        return NotImplemented
    return _mul(input, other)


@sparse_op("div", input=lambda g, other: _div(g, other) if is_sparse(g) else g / other)
def _div(input, other):
    return _of_values(input, lambda v: v / (wrap(other) if isinstance(other, np.ndarray) else other))


@of_sparse("div", "divide", "true_divide", "__truediv__", "__div__")
def div(input, other, *, rounding_mode=None):
    if not isinstance(other, (Tensor, *NUMBERS)):
        return NotImplemented
    if not is_sparse(input) or isinstance(other, Tensor) and (is_sparse(other) or other._array.ndim):
        shape = list(other._array.shape) if isinstance(other, Tensor) else []
        raise RuntimeError("Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
                           f"{shape} for divisor)")
    return _div(input, other) if rounding_mode is None else _rounded(input, other, rounding_mode)


def _rounded(input, other, rounding_mode):
    if not input.is_sparse:
        raise _unsupported(input)
    return _elementwise("div", input, other, rounding_mode=rounding_mode)


@of_sparse("floor_divide", "__floordiv__")
def floor_divide(input, other):
    if not is_sparse(input) or not input.is_sparse:
        refuse_sparse("floor_divide", input if is_sparse(input) else other)
    return div(input, other, rounding_mode="floor")


@of_sparse("__rtruediv__")
def rdiv(self, other):
    if not isinstance(other, (Tensor, *NUMBERS)):
        return NotImplemented
    if isinstance(other, Tensor):
        return div(other, self)
    raise NotImplementedError("Could not run 'aten::reciprocal' with arguments from the 'SparseCPU' backend: tinytorch "
                              "has no reciprocal of sparse tensors")


@of_sparse("neg", "negative", "__neg__")
@sparse_op("neg", input=lambda g: -g if not is_sparse(g) else times(g, -1))
def neg(input):
    return _of_values(input, lambda v: -v)


# ------------------------------------------------------------------ sums
def plus(a, b):
    """The sum of arrays of which at least one is sparse. It is dense unless both are sparse."""
    return added(a, b) if isinstance(a, SparseArray) and isinstance(b, SparseArray) else a + b


def scaled(x, number):
    """x * number, and `x` itself if `number` is 1."""
    return x if number == 1 else times(x, number)


def _sum_of(input, other, alpha):
    if input is other:                         # the same places: they need not be compared
        return _of_values(input, lambda v: v + v * alpha if alpha != 1 else v + v)
    return plus(input, other if alpha == 1 else plain_times(other, alpha))


_add = sparse_op("add", input=lambda g: g, other=lambda g, alpha: scaled(g, alpha))(_sum_of)
_sub = sparse_op("sub", input=lambda g: g, other=lambda g, alpha: scaled(g, alpha))(_sum_of)


def _unsupported(x):
    return RuntimeError(f"unsupported tensor layout: {LAYOUT_NAMES[x.layout]}")


def _sum(primitive, name, input, other, alpha):
    if is_sparse(input) and not is_sparse(other):
        if primitive is _add and isinstance(other, Tensor) and other._array.ndim and not input.is_sparse:
            return _sum(primitive, name, other, input, alpha)      # torch multiplies the sparse one by alpha
        if isinstance(other, (Tensor, *NUMBERS)):
            raise RuntimeError(f"{name}(sparse, dense) is not supported. Use add(dense, sparse) instead.")
        return NotImplemented
    if not isinstance(input, Tensor):
        raise RuntimeError(f"{name}(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if input._array.shape != other._array.shape:
        raise RuntimeError(f"add: expected sizes of 'self' and 'other' to match, but {list(input._array.shape)} != "
                           f"{list(other._array.shape)}" if is_sparse(input) else
                           f"add: expected 'self' to have same size as 'other', but self has size "
                           f"{list(input._array.shape)} while other has size {list(other._array.shape)} (FYI: dense-"
                           "sparse addition does not currently support broadcasting)")
    return primitive(input, other, alpha)


@of_sparse("add", "__add__")
def add(input, other, *, alpha=1):
    return _sum(_add, "add", input, other, alpha)


@of_sparse("sub", "subtract", "__sub__")
def sub(input, other, *, alpha=1):
    if is_sparse(input) and not input.is_sparse:
        raise _unsupported(input)
    return _sum(_sub, "add", input, other, -alpha)


@of_sparse("__radd__")
def radd(self, other):
    return add(other, self) if isinstance(other, (Tensor, *NUMBERS)) else NotImplemented


@of_sparse("__rsub__")
def rsub(self, other):
    return sub(other, self) if isinstance(other, (Tensor, *NUMBERS)) else NotImplemented


# ------------------------------------------------------------------ functions that are zero at zero
def _zero_gradient(g):
    """A gradient of zeros like `g`. If `g` is sparse, the result has no elements."""
    array = array_of(g)
    found = empty_array(array.layout, array.shape, array.dtype, array.sparse_dim) if isinstance(
        array, SparseArray) else np.zeros_like(array)
    return as_tensor(found) if isinstance(g, Tensor) else found


def _with_values_of(x, function):
    """A sparse tensor or array like `x` whose values are function(the coalesced values of `x`)."""
    array = array_of(x)
    found = _of_values(array.as_coalesced() if array.layout is sparse_coo else array, function)
    return as_tensor(found) if isinstance(x, Tensor) else found


#: Functions made by `_of_zero` -> their derivative rule. Functions whose derivative is zero are registered below.
_RULES = {
    "deg2rad": lambda g: times(g, np.pi / 180), "rad2deg": lambda g: times(g, 180 / np.pi), "frac": lambda g: g,
    "log1p": lambda g, input: times(g, _with_values_of(input, lambda v: (v + 1).reciprocal())),
}


def _elementwise(name, input, *args, **kwargs):
    """The result of a Tensor method called on the values."""
    array = input._array.as_coalesced() if input.is_sparse else input._array
    result = _of_values(array, lambda v: getattr(v, name)(*args, **kwargs))
    if mode.grad_now and input._requires_grad and result.dtype.kind in dt.DIFFERENTIABLE:
        raise NotImplementedError(f"tinytorch has no derivative of {name} of sparse tensors")
    return wrap_sparse(result)


def _of_zero(name, *aliases, rule=None):
    if rule is not None:
        @sparse_op(name, input=rule)
        def recorded(input):
            return _with_values_of(input, lambda v: getattr(v, name)())

    @of_sparse(name, *aliases)
    def function(input):
        return recorded(input) if rule is not None and input._requires_grad else _elementwise(name, input)


@of_sparse("nan_to_num")
def nan_to_num(input, nan=None, posinf=None, neginf=None):
    if not input.is_sparse:
        refuse_sparse("nan_to_num", input)
    return _elementwise("nan_to_num", input, nan, posinf, neginf)


@of_sparse("angle")
def angle(input):
    if input.is_sparse:
        refuse_sparse("angle", input)
    return _elementwise("angle", input)


for _function in [f for f in TABLE if hasattr(f, "op") and f.op.of_zero]:
    _of_zero(_function.__name__, rule=_zero_gradient if _function.op.rules.get("input") is no_slope else _RULES.get(
        _function.__name__))
_of_zero("round", rule=_zero_gradient)
_of_zero("relu", rule=lambda g, ans: times(g, _with_values_of(ans, lambda v: (v > 0).to(v.dtype))))
_of_zero("abs", "absolute", "__abs__", rule=lambda g, input: times(g, _with_values_of(input, lambda v: v.sgn())))


@sparse_op("pow", input=lambda g, input, exponent: times(g, times(_pow(input, exponent - 1), exponent)))
def _pow(input, exponent):
    return _with_values_of(input, lambda v: v ** exponent)


@of_sparse("pow", "__pow__", in_place=False)
def power(input, exponent):
    if not isinstance(exponent, NUMBERS) or not is_sparse(input):
        raise NotImplementedError("tinytorch has powers of sparse tensors with a number as exponent only")
    if exponent == 0:
        raise RuntimeError("pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense")
    return _pow(input, exponent)


@of_sparse("square", in_place=False)
def square(input):
    return _pow(input, 2) if input.is_sparse else _elementwise("square", input)


@of_sparse("float_power")
def float_power(input, exponent):
    if is_sparse(input) and not input.is_sparse:
        raise _unsupported(input)
    return power(input.to(dt.complex128 if dt.is_complex(input._array.dtype) else dt.float64), exponent)


# ------------------------------------------------------------------ transposes
def _inverse(dims):
    return tuple(np.argsort(dims).tolist())


def _transposed(input, dims):
    return input.transposed(dims)


def _swapped(input, dims):
    """torch keeps an empty tensor coalesced here, but not in `permute`."""
    found = input.transposed(dims)
    found.coalesced = found.coalesced or input.coalesced and not input.nnz
    return found


transposed = sparse_op("transpose", input=lambda g, dims: unpermuted(g, dims))(_swapped)
_t = sparse_op("t", input=lambda g, dims: unpermuted(g, dims))(_swapped)
_permuted = sparse_op("permute", input=lambda g, dims: unpermuted(g, dims))(_transposed)


def unpermuted(g, dims):
    """`g` with its dimensions in the order before the permutation `dims`."""
    if is_sparse(g):
        return transposed(g, _inverse(dims))
    return g.transpose(_inverse(dims)) if isinstance(g, np.ndarray) else g.permute(_inverse(dims))


def _checked_order(input, dims):
    dims, k = tuple(dims), input._array.sparse_dim
    if sorted(dims[:k]) != list(range(k)):
        raise RuntimeError("permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed."
                           "Only transpositions within sparse and dense dimensions are supported.")
    return dims


@of_primitive("_swapped")
@of_sparse("transpose", "swapaxes", "swapdims", in_place="turns")
def transpose(input, dim0, dim1):
    a, b = check_dim(dim0, input._array.ndim), check_dim(dim1, input._array.ndim)
    if a != b and max(a, b) >= input._array.sparse_dim:
        raise RuntimeError("sparse transpose: transposed dimensions must be sparse Got sparse_dim: "
                           f"{input._array.sparse_dim}, d0: {a}, d1: {b}")
    dims = list(range(input._array.ndim))
    dims[a], dims[b] = dims[b], dims[a]
    return transposed(input, _checked_order(input, dims))


@of_primitive("_swapped", "t")
def _t_of_op(input, dim0, dim1):
    return t(input)


@of_sparse("t", in_place="turns")
def t(input):
    if input._array.sparse_dim > 2 or input._array.dense_dim:
        raise RuntimeError(f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got "
                           f"{input._array.sparse_dim} sparse and {input._array.dense_dim} dense dimensions")
    return _t(input, tuple(range(input._array.ndim))[::-1])


@of_primitive("_permute")
def _permute_of_op(input, dims):
    return permute(input, *dims)


@of_sparse("permute")
def permute(input, *dims):
    if not input.is_sparse:
        refuse_sparse("as_strided", input)
    dims = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    dims = [check_dim(d, input._array.ndim) for d in dims]
    if len(dims) != input._array.ndim:
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not match the length of "
                           f"the desired ordering of dimensions i.e. input.dim() = {input._array.ndim} is not equal to "
                           f"len(dims) = {len(dims)}")
    if len(set(dims)) != len(dims):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return _permuted(input, _checked_order(input, dims))


# ------------------------------------------------------------------ copies and dtypes
@sparse_op("clone", input=lambda g: g)
def _clone(input):
    return input.duplicate()


@of_primitive("_clone")
def _clone_of_op(input, order):
    return _clone(input)


@of_sparse("clone")
def clone(input, *, memory_format=None):
    return _clone(input)


@of_sparse("detach")
def detach(input):
    tensor = wrap_sparse(input._array)
    tensor._version_counter = input._version_counter
    return tensor


def _in_dtype(g, dtype):
    if isinstance(g, Tensor):
        return g.to(dt.BY_NUMPY[dtype])
    return _cast(g, dtype, g.dtype) if is_sparse(g) else dt.cast(g, dtype)


@sparse_op("_to_copy", input=lambda g, before: _in_dtype(g, before))
def _cast(input, numpy_dtype, before):
    return input.with_values(dt.cast(input.values, numpy_dtype))


def to(self, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None):
    """`self` in another dtype, or itself. The device argument is checked as for dense tensors."""
    plain = wrap(np.empty((0,), self._array.dtype)).to(*args, dtype=dtype, device=device)
    if plain._array.dtype == self._array.dtype:
        return _clone(self) if copy or any([x is True for x in args[1:]]) else self
    return _cast(self, plain._array.dtype, self._array.dtype)


@of_sparse("zeros_like", "empty_like")
def zeros_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False,
               memory_format=None):
    like = wrap(np.empty((0,), input._array.dtype)).to(dtype=dtype, device=device)._array.dtype
    array = input._array
    if layout not in (None, array.layout):
        raise NotImplementedError(f"tinytorch has no zeros_like of layout {array.layout} in layout {layout}")
    result = wrap_sparse(empty_array(array.layout, array.shape, like, array.sparse_dim))
    return result.requires_grad_() if requires_grad else result


def empty_array(layout, shape, dtype, sparse_dim):
    """A sparse array without elements."""
    values = np.empty((0,) + tuple(shape[sparse_dim:]), dtype)
    if layout is sparse_coo:
        return SparseArray(layout, np.empty((sparse_dim, 0), np.int64), values, shape, True)
    n = shape[0] if LAYOUT_NAMES[layout] == "SparseCsr" else shape[1]
    return SparseArray(layout, (np.zeros(n + 1, np.int64), np.empty(0, np.int64)), values, shape)


# ------------------------------------------------------------------ in place
def written(self, array):
    """`self` after its numbers are replaced by a sparse array. RuntimeError if its dtype cannot hold them."""
    dtype, own = dt.of(array), self.dtype
    if not dt.can_cast(dtype, own):
        raise RuntimeError(f"result type {dtype.type_name} can't be cast to the desired output type {own.type_name}")
    if self.requires_grad and self.is_leaf:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if self._requires_grad:
        raise NotImplementedError("tinytorch has no recorded writes to sparse tensors")
    self._array = array.with_values(dt.cast(array.values, own.numpy))
    count_write(self)
    return self


def written_out(out, result):
    """`out`, a sparse tensor, after a sparse `result` is written to it. RuntimeError if their layouts differ."""
    if out.layout is not result.layout:
        raise RuntimeError(f"a result of layout {result.layout} cannot be written to an out of layout {out.layout}")
    return written(out, result._array)


@of_sparse("detach_")
def detach_(self):
    self._node, self._requires_grad = None, False
    return self


@of_sparse("zero_")
def zero_(self):
    return written(self, empty_array(self._array.layout, self._array.shape, self._array.dtype, self._array.sparse_dim))


@of_sparse("mul_", "multiply_", "__imul__")
def mul_(self, other):
    array = _mul(self.detach(), other)._array
    if not is_sparse(other):
        array.coalesced = array.nnz < 2        # torch marks the result as not coalesced
    return written(self, array)


@of_sparse("add_", "__iadd__")
def add_(self, other, *, alpha=1):
    if not is_sparse(self):                    # the elements are added into the dense tensor's memory
        if self._requires_grad or other._requires_grad:
            raise NotImplementedError("tinytorch has no recorded writes of sparse tensors")
        array = other._array if alpha == 1 else plain_times(other._array, alpha)
        array.added_to(self._array)
        count_write(self)
        return self
    return written(self, add(self.detach(), other, alpha=alpha)._array)


def _written_by(function, *names):
    @of_sparse(*names)
    def compute(self, other, **options):
        return written(self, function(self.detach(), other, **options)._array)


_written_by(div, "div_", "__itruediv__", "__idiv__")
_written_by(sub, "sub_", "subtract_", "__isub__")
_written_by(floor_divide, "floor_divide_", "__ifloordiv__")


@of_sparse("copy_")
def copy_(self, src, non_blocking=False):
    if not is_sparse(self) or not is_sparse(src):
        raise RuntimeError("copy_() between dense and sparse Tensors is not implemented! Found self type = "
                           f"{self.type()} and src type = {src.type()}")
    array = src._array.as_layout(self._array.layout).duplicate()
    return written(self, array.with_values(dt.cast(array.values, self._array.dtype)))
