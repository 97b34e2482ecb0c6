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
from ..kernels.ufuncs import FEW, shared
from ..kinds.lazy import NoValues
from ..seam import UNSEEN, seam
from ..tensor import Tensor, wrap
from .grad_mode import all_threads, mode, unrecorded
from .node import ANS
from .overridable import Repeats, answer, has_override
from .places import note_place
from .promotion import FLOATS, NUMBERS, check_broadcast, result_dtype
from .saved import PACKED
from .views import assign, check_fits, check_in_place, check_overlap, check_written, may_share, overlaps_itself

_PLAIN = dt.NATIVE + dt.COMPLEX               # kinds of dtypes that NumPy itself computes in


def _check_first(self, compute, args, kwargs):
    """Raise the errors that torch raises before it refuses to write to `self`: a TypeError for arguments of the wrong
    type and, if `self` is an inference tensor, any error of the computation."""
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
    hold. torch checks this before it looks for a kernel for the dtype."""
    if isinstance(other, (Tensor, *NUMBERS)):
        shape = np.shape(other)
        check_broadcast(self._array.shape, shape)
        dtype = result_dtype((self, other)) if common else self.dtype
        check_fits(self._array, np.broadcast_shapes(self._array.shape, shape), dtype)


def _records(self, tensors):
    """Whether an in-place operation on `self` with these operands is recorded, or runs inside of vmap."""
    return (not all_threads.in_special_mode or mode.grad_now) and (
        any([x._requires_grad for x in (self, *tensors)])
        or self._view_info is not None and self._view_info.base._requires_grad) or mode.vmap_levels


def _rows_apart(array):
    """The indices of the largest parts of an array, in order, that do not overlap themselves."""
    if not overlaps_itself(array):
        return [()]
    return [(i, *rest) for i in range(len(array)) for rest in _rows_apart(array[i])]


def by_rows(method: Callable, self: Tensor, args: tuple = (), kwargs: Mapping[str, Any] | None = None) -> bool:
    """Run `method` on one row of `self` after the other, and return whether that was done. Where rows share memory, as
    those of `unfold` do, each row then reads the values that earlier rows wrote, as in torch. Recorded operations are
    not run by rows."""
    array, kwargs = self._array, kwargs or {}
    tensors = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
    if not overlaps_itself(array) or _records(self, tensors) or not all([type(x) is Tensor for x in tensors]):
        return False
    try:
        spread = {id(x): np.broadcast_to(x._array, array.shape) for x in tensors}
    except ValueError:                         # the method itself raises for shapes that do not broadcast
        return False
    spread[id(self)] = array
    for row in _rows_apart(array):
        def part(x):
            return wrap(spread[id(x)][row]) if id(x) in spread else x
        method(wrap(array[row]), *map(part, args), **{key: part(x) for key, x in kwargs.items()})
    self._version_counter[0] += 1
    if all_threads.noting_writes:
        note_place(self._version_counter)
    return True


def _lie_alike(self, tensors):
    """Whether every operand has the shape of `self` and a contiguous array; None if an operand is no plain tensor, or
    shares memory with `self`."""
    array, alike = self._array, True
    for x in (self, *tensors):
        if type(x) is not Tensor or type(x._array) is not np.ndarray:
            return None
        if x is not self and x._array.ndim:
            if may_share(array, x._array):
                return None
            alike = alike and x._array.shape == array.shape and x._array.flags.c_contiguous
    return alike


def by_pieces(method: Callable, self: Tensor, args: tuple = (), kwargs: Mapping[str, Any] | None = None) -> bool:
    """Run `method` on one piece of `self` after the other, and return whether that was done. It is not done where the
    operation is recorded, nor where an operand shares memory with `self`.

    If all operands lie alike, pieces are taken of their elements in order, else along the first axis.
    """
    array, kwargs = self._array, kwargs or {}
    tensors = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
    if _records(self, tensors):
        return False
    alike = _lie_alike(self, tensors)
    if alike is None:
        return False
    whole = _parts(array, alike)
    if len(whole) < 2:
        return False
    try:
        spread = {id(x): x._array if alike else np.broadcast_to(x._array, array.shape)
                  for x in tensors if x._array.ndim}
    except ValueError:                         # the method itself raises for shapes that do not broadcast
        return False
    spread.pop(id(self), None)

    def part(x, k):
        operand = spread.get(id(x))
        if operand is None:
            return x
        return wrap((operand.reshape(-1) if alike else operand)[whole[k]])
    divisors = [x for x in tensors if id(x) in spread and x._array.dtype.kind in dt.INTEGER]
    # Pieces that hold an integer zero come first: a division that refuses it does so before anything is written.
    order = sorted(range(len(whole)), key=lambda k: all([part(x, k)._array.all() for x in divisors]))
    for k in order:
        piece = wrap((array.reshape(-1) if alike else array)[whole[k]])
        operands = [piece if x is self else part(x, k) for x in args]
        method(piece, *operands, **{key: piece if x is self else part(x, k) for key, x in kwargs.items()})
    self._version_counter[0] += 1
    if all_threads.noting_writes:
        note_place(self._version_counter)
    return True


def _parts(array, flat):
    """The slices of an array's pieces: of all its elements in order if `flat`, else along its first axis."""
    if not array.flags.c_contiguous or not flat and array.ndim < 2:
        return []
    if flat:
        ends = np.cumsum([piece.size for piece in pieces(array)]).tolist()
    else:
        step = max(1, PIECE * len(array) // array.size)
        ends = [*range(step, len(array), step), len(array)]
    return [slice(start, end) for start, end in zip([0, *ends], ends)]


def _straight(self):
    """Whether something may be written straight to the memory of `self`: it has no gaps, nothing is recorded, and torch
    refuses nothing."""
    array, view = self._array, self._view_info
    if type(self) is not Tensor or type(array) is not np.ndarray or mode.vmap_levels:
        return False
    if not all_threads.in_special_mode or mode.grad_now:
        if self._requires_grad or view is not None and view.base._requires_grad:
            return False
        try:
            check_in_place(self)
        except RuntimeError:
            return False
    elif self._version_counter.__class__ is not list:          # of inference
        return False
    flags = array.flags
    return flags.c_contiguous and flags.writeable and 0 not in array.strides


def in_place(function: Callable, expanded: Callable | None = None, common: bool = True,
             number: int | None = None, into: Callable | None = None) -> Callable:
    """The method `f_` of a function `f`: computes, then writes the result into its first argument.

    `expanded(memory, values, *args, **kwargs)` writes where several elements of the argument lie at the same place.
    `common`: the result has the common dtype of the operands. `number`: the index of the argument after the first that
    is read as a number before anything is written, so that it may lie in the tensor itself. `into(array, *args,
    **kwargs)` computes what `function` does, writes it straight to a dense array, and returns whether it has done so.
    Then calls like earlier ones are answered by what is kept of these (repeats.py).

    A call of the method goes through these cases in order: the seam answers, or what is kept of earlier calls; `self`
    is no tensor; nothing is recorded and `into` writes; `self` must not be written to (`check_in_place`); operands that
    share memory with `self` are refused or copied; a large tensor is written in pieces, and a tensor whose rows overlap
    row by row; else `function` computes and `assign` writes.
    """
    public: Any = None
    repeats = None if into is None else Repeats()
    quietly = quiet()

    @functools.wraps(function)
    def method(self, *args, **kwargs):
        if seam.up:
            if public is not None and (seen := seam.see(public, (self, *args), kwargs)) is not UNSEEN:
                return seen
        elif repeats is not None:
            key = (len(args), self, *args, *kwargs, *kwargs.values()) if kwargs else (self, *args)
            if (found := repeats.again(key)) is not None:
                return repeats.learn(key, method, (self, *args), kwargs) if found is True else found
        if not isinstance(self, Tensor):
            raise not_a_tensor(name + "_", "input", 1, self)
        if into is not None and _straight(self):
            run = quietly
            while True:
                try:
                    written = run(into, self._array, *args, **kwargs)
                    break
                except TypeError:              # the function itself says what is wrong with its arguments
                    written = False
                    break
                except RuntimeError as error:
                    run = another(error)
            if written:
                self._version_counter[0] += 1
                if all_threads.noting_writes:
                    note_place(self._version_counter)
                return self
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
        if shared and "index" in inspect.signature(function).parameters:       # an index reads while it writes
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
        except TypeError as error:             # torch names the in-place method in the message
            raise TypeError(re.sub(rf"^{name}(?=\(\))", name + "_", str(error))) from None
        except NotImplementedError as error:
            if len(args) == 1 and not kwargs and str(error).startswith('"'):     # the message names a kernel
                _check_operand(self, args[0], common)
                check_written(self._array)
            raise

    def as_operator(self, other):
        if seam.up and public is not None and (seen := seam.see(public, (self, other), {})) is not UNSEEN:
            return seen
        if isinstance(other, (Tensor, *NUMBERS)) or has_override(None, (other,)):
            return method(self, other)
        return NotImplemented
    vars(method).pop("record", None)           # functools.wraps copied the record of `function`
    name, elementwise = function.__name__, getattr(function, "elementwise", False)
    method.as_operator = as_operator           # type: ignore[attr-defined]
    method.__name__ = method.__qualname__ = name + "_"
    method.__doc__ = f"In-place form of `{function.__name__}`: writes the result into `self` and returns it."
    return method


def _by_output(result):
    """Let the node of `result`, which is about to overwrite the op's input, save the result instead of the input."""
    node = result._node
    if node.versions is not PACKED:
        over = node.op.over
        node.op = over.widened() if result._array.dtype == dt.BFLOAT16 else over
        node.saved = (None, *node.saved[1:ANS], result._array, None)
        node.versions = (*node.versions[2:], result._version_counter, result._version_counter[0])


#: The least int that is too large for int64: ints from here on take the path that checks them.
_LONG = 1 << 63


def updates(ufunc: np.ufunc, function: Callable) -> Callable:
    """The in-place form of a function of two operands: `ufunc` writes into the tensor where nothing is recorded."""
    recorded: Any = in_place(function)
    method = _updating(ufunc, recorded)
    method.as_operator = _updating(ufunc, recorded.as_operator)
    method.__name__ = method.__qualname__ = recorded.__name__
    method.__doc__ = recorded.__doc__
    return method


def _updating(ufunc, recorded):
    # The short path (`ufunc` writes into the tensor) needs all of: no option, nothing to record, an operand of the same
    # dtype or a number that fits it, and elements that lie apart. Any other call goes to `recorded`, which also raises
    # the errors. The checks stand in one function, because a call of a helper is a tenth of a small operation.
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
                return recorded(self, other)   # raises this error, unless torch reports another one first
            tracked = self._requires_grad or (self._view_info is not None and self._view_info.base._requires_grad)
        else:
            tracked = False
        if isinstance(other, Tensor):
            operand = other._array
            fits = operand.dtype is array.dtype and array.dtype.kind in _PLAIN and (
                other is self or not may_share(array, operand))     # `recorded` checks operands that share memory
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
                if array.size < FEW:
                    run(ufunc, array, operand, array)
                else:
                    run(shared, ufunc, array, operand, array)
                break
            except (ValueError, OverflowError):              # shapes that do not broadcast, a number that is too large
                return recorded(self, other)
            except RuntimeError as error:
                run = another(error)
        self._version_counter[0] += 1
        if all_threads.noting_writes:
            note_place(self._version_counter)
        return self
    return method
