"""The in-place form of a function: it computes, then writes the result into its first argument."""
from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..errors import not_a_tensor
from ..kernels.errstate import another, quiet
from ..kernels.memory import PIECE, WHOLE, pieces
from ..kinds.lazy import NoValues
from ..seam import UNSEEN, seam
from ..tensor import Tensor, wrap
from .grad_mode import all_threads, mode, unrecorded
from .node import ANS
from .overridable import answer, has_override
from .places import note_place
from .promotion import FLOATS, NUMBERS, check_broadcast, result_dtype
from .saved import PACKED
from .views import assign, check_fits, check_in_place, check_overlap, check_written, may_share, overlaps_itself

_PLAIN = dt.NATIVE + dt.COMPLEX               # kinds that NumPy computes in itself


def _check_first(self, compute, args, kwargs):
    """Raise what torch finds before it refuses to write to `self`: arguments of the wrong type, or to an inference
    tensor anything."""
    try:
        with unrecorded():
            result = compute(self.detach(), *args, **kwargs)
    except TypeError:
        raise
    except Exception:
        if self.is_inference():
            raise
        return
    if self.is_inference():
        check_fits(self._array, result._array.shape, result.dtype)


def _check_operand(self, other, common):
    """RuntimeError if `self` and the other operand have a common shape or (with `common`) dtype that `self` cannot
    hold: what torch looks at before it looks for an implementation for that dtype."""
    if isinstance(other, (Tensor, *NUMBERS)):
        shape = np.shape(other)
        check_broadcast(self._array.shape, shape)
        dtype = result_dtype((self, other)) if common else self.dtype
        check_fits(self._array, np.broadcast_shapes(self._array.shape, shape), dtype)


def _records(self, tensors):
    """Whether an in-place operation on `self` with these operands is recorded, or each sample's own."""
    return (not all_threads.in_special_mode or mode.grad_now) and (
        any([x._requires_grad for x in (self, *tensors)])
        or self._view_info is not None and self._view_info.base._requires_grad) or mode.vmap_levels


def _rows_apart(array):
    """The indices of the largest parts of an array, in order, that do not overlap themselves."""
    if not overlaps_itself(array):
        return [()]
    return [(i, *rest) for i in range(len(array)) for rest in _rows_apart(array[i])]


def by_rows(method: Callable, self: Tensor, args: tuple = (), kwargs: Mapping[str, Any] | None = None) -> bool:
    """Whether `method` was done to one row of `self` after the other: where rows share memory, as those of `unfold` do,
    each reads what the ones before it wrote, as in torch. Not where something is recorded."""
    array, kwargs = self._array, kwargs or {}
    tensors = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
    if not overlaps_itself(array) or _records(self, tensors) or not all([type(x) is Tensor for x in tensors]):
        return False
    try:
        spread = {id(x): np.broadcast_to(x._array, array.shape) for x in tensors}
    except ValueError:                         # the method itself says so
        return False
    spread[id(self)] = array
    for row in _rows_apart(array):
        method(wrap(array[row]), *[wrap(spread[id(x)][row]) if id(x) in spread else x for x in args],
               **{key: wrap(spread[id(x)][row]) if id(x) in spread else x for key, x in kwargs.items()})
    self._version_counter[0] += 1
    if all_threads.noting_writes:
        note_place(self._version_counter)
    return True


def by_pieces(method: Callable, self: Tensor, args: tuple = (), kwargs: Mapping[str, Any] | None = None) -> bool:
    """Whether `method` was done to one piece of `self` after the other: not where something is recorded, nor where an
    operand shares memory with it."""
    array, kwargs = self._array, kwargs or {}
    tensors = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
    if _records(self, tensors):
        return False
    alike = True                               # every operand lies just as `self` does
    for x in (self, *tensors):
        if type(x) is not Tensor or type(x._array) is not np.ndarray:
            return False
        if x is not self and x._array.ndim:
            if may_share(array, x._array):
                return False
            alike = alike and x._array.shape == array.shape and x._array.flags.c_contiguous
    whole = _parts(array, alike)
    if len(whole) < 2:
        return False
    try:
        spread = {id(x): x._array if alike else np.broadcast_to(x._array, array.shape)
                  for x in tensors if x._array.ndim}
    except ValueError:                         # the method itself says so
        return False
    spread.pop(id(self), None)

    def part(x, k):
        operand = spread.get(id(x))
        return x if operand is None else wrap((operand.reshape(-1) if alike else operand)[whole[k]])
    divisors = [x for x in tensors if id(x) in spread and x._array.dtype.kind in dt.INTEGER]
    # Pieces that hold an integer zero come first: a division that refuses it does so before anything is written.
    order = sorted(range(len(whole)), key=lambda k: all([part(x, k)._array.all() for x in divisors]))
    for k in order:
        piece = wrap((array.reshape(-1) if alike else array)[whole[k]])
        method(piece, *[piece if x is self else part(x, k) for x in args],
               **{key: piece if x is self else part(x, k) for key, x in kwargs.items()})
    self._version_counter[0] += 1
    if all_threads.noting_writes:
        note_place(self._version_counter)
    return True


def _parts(array, flat):
    """Where the pieces of an array begin and end: among all elements if it is `flat`, else along its first axis."""
    if not array.flags.c_contiguous or not flat and array.ndim < 2:
        return []
    if flat:
        ends = np.cumsum([piece.size for piece in pieces(array)]).tolist()
    else:
        step = max(1, PIECE * len(array) // array.size)
        ends = [*range(step, len(array), step), len(array)]
    return [slice(start, end) for start, end in zip([0, *ends], ends)]


def in_place(function: Callable, expanded: Callable | None = None, common: bool = True,
             number: int | None = None) -> Callable:
    """The method `f_` of a function `f`: computes, then writes the result into its first argument.

    `expanded(memory, values, *args, **kwargs)` does so where elements of that lie at the same place. `common`: the
    result has the common dtype of the operands. `number`: which of the arguments after the first is read as a number,
    before anything is written, so that it may lie in the tensor itself.
    """
    public: Any = None

    @functools.wraps(function)
    def method(self, *args, **kwargs):
        if seam.up and public is not None and (seen := seam.see(public, (self, *args), kwargs)) is not UNSEEN:
            return seen
        if not isinstance(self, Tensor):
            raise not_a_tensor(name + "_", "input", 1, self)
        try:
            check_in_place(self, *args)
        except RuntimeError as refusal:
            _check_first(self, compute, args, kwargs)
            raise refusal
        shared = [x for x in args if isinstance(x, Tensor) and may_share(self._array, x._array)]
        if shared and number is not None and number < len(args) and any([x is args[number] for x in shared]):
            args = *args[:number], args[number].clone(), *args[number + 1:]
            shared = [x for x in args if isinstance(x, Tensor) and may_share(self._array, x._array)]
        for x in shared:
            if x is not self:
                check_overlap(self, x, aligned=len(args) == 1)
        if elementwise and self._array.size > WHOLE and by_pieces(method, self, args, kwargs):
            return self
        if elementwise and self._view_info is not None and by_rows(method, self, args, kwargs):
            return self
        write = None if expanded is None else lambda memory, values: expanded(memory, values, *args, **kwargs)
        try:
            result = compute(self, *args, **kwargs)
        except TypeError:
            if has_override(None, args, kwargs):
                return answer(public, (self, *args), kwargs)
            raise
        if shared and "index" in inspect.signature(function).parameters:       # what an index finds is not read first
            for x in shared:
                check_overlap(self, x, True)
        if result._node is not None and result._node.op.over is not None:
            _by_output(result)
        return assign(self, result, write)

    def compute(self, *args, **kwargs):
        try:
            return function(self, *args, **kwargs)
        except NoValues:
            raise
        except TypeError as error:             # what is no argument for it is told in the name of the method
            raise TypeError(re.sub(rf"^{name}(?=\(\))", name + "_", str(error))) from None
        except NotImplementedError as error:
            if len(args) == 1 and not kwargs and str(error).startswith('"'):     # it names a routine
                _check_operand(self, args[0], common)
                check_written(self._array)
            raise

    def as_operator(self, other):
        if seam.up and public is not None and (seen := seam.see(public, (self, other), {})) is not UNSEEN:
            return seen
        if isinstance(other, (Tensor, *NUMBERS)) or has_override(None, (other,)):
            return method(self, other)
        return NotImplemented
    vars(method).pop("record", None)           # of the function that it is the in-place form of
    name, elementwise = function.__name__, getattr(function, "elementwise", False)
    method.as_operator = as_operator           # type: ignore[attr-defined]
    method.__name__ = method.__qualname__ = name + "_"
    method.__doc__ = f"In-place form of `{function.__name__}`: writes the result into `self` and returns it."
    return method


def _by_output(result):
    """Let the node of `result`, about to overwrite the op's input, save that result instead."""
    node = result._node
    if node.versions is not PACKED:
        over = node.op.over
        node.op = over.widened() if result._array.dtype == dt.BFLOAT16 else over
        node.saved = (None, *node.saved[1:ANS], result._array, None)
        node.versions = (*node.versions[2:], result._version_counter, result._version_counter[0])


#: The least int that int64 does not hold: a larger one is looked at more closely.
_LONG = 1 << 63


def updates(ufunc: np.ufunc, function: Callable) -> Callable:
    """The in-place form of a function of two operands: `ufunc` straight into the tensor where nothing is recorded."""
    recorded: Any = in_place(function)
    method = _updating(ufunc, recorded)
    method.as_operator = _updating(ufunc, recorded.as_operator)
    method.__name__ = method.__qualname__ = recorded.__name__
    method.__doc__ = recorded.__doc__
    return method


def _updating(ufunc, recorded):
    quietly = quiet()
    public: Any = None

    def method(self, other, *older, **options):
        if seam.up and public is not None and (seen := seam.see(public, (self, other, *older), options)) is not UNSEEN:
            return seen
        if options or older:
            return recorded(self, other, *older, **options)
        array = self._array
        recording = not all_threads.in_special_mode or mode.grad_now
        if recording:
            try:
                check_in_place(self)
            except RuntimeError:
                return recorded(self, other)   # says so, unless there is something worse
            tracked = self._requires_grad or (self._view_info is not None and self._view_info.base._requires_grad)
        else:
            tracked = False
        if isinstance(other, Tensor):
            operand = other._array
            fits = operand.dtype is array.dtype and array.dtype.kind in _PLAIN and (
                other is self or not may_share(array, operand))     # those that share memory need a look
            tracked = tracked or recording and (
                other._requires_grad or other._view_info is not None and other._view_info.base._requires_grad)
        else:
            operand = other
            fits = array.dtype.char in FLOATS and (
                other.__class__ is float or other.__class__ is int and -_LONG <= other < _LONG)
        if not fits or tracked or 0 in array.strides or self._view_info is not None and overlaps_itself(array):
            return recorded(self, other)
        run = quietly
        while True:
            try:
                run(ufunc, array, operand, array)
                break
            except (ValueError, OverflowError):              # shapes that do not fit, a number too large
                return recorded(self, other)
            except RuntimeError as error:
                run = another(error)
        self._version_counter[0] += 1
        if all_threads.noting_writes:
            note_place(self._version_counter)
        return self
    return method
