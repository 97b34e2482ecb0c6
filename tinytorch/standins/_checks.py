"""torch._check and similar functions, with which libraries check conditions on their arguments."""
from __future__ import annotations

from collections.abc import Callable

from .autograd.torch_function import overrides
from .tensor import Tensor

_UNTOLD = ("Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
           "enhancement request to PyTorch.)")


def _check_with(error_type: type[Exception], cond: bool, message: Callable[[], object] | None) -> None:
    """Raises `error_type` with the text of `message()` unless `cond` holds. TypeError if `cond` is not a bool."""
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is not None and not callable(message):
        raise TypeError("message must be a callable")
    raise error_type(_UNTOLD if message is None else str(message()))


def _check(cond: bool, message: Callable[[], object] | None = None) -> None:
    """RuntimeError unless `cond` holds.

    >>> import tinytorch as torch
    >>> torch._check(1 < 2, lambda: "numbers are out of order")
    """
    _check_with(RuntimeError, cond, message)


def _check_index(cond: bool, message: Callable[[], object] | None = None) -> None:
    """IndexError unless `cond` holds."""
    _check_with(IndexError, cond, message)


def _check_value(cond: bool, message: Callable[[], object] | None = None) -> None:
    """ValueError unless `cond` holds."""
    _check_with(ValueError, cond, message)


def _check_type(cond: bool, message: Callable[[], object] | None = None) -> None:
    """TypeError unless `cond` holds."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: bool, message: Callable[[], object] | None = None) -> None:
    """NotImplementedError unless `cond` holds."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: int, message: Callable[[], object] | None = None, *, max: int | None = None) -> None:
    """RuntimeError unless `i` is a size: at least 0, and at most `max`."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all(cond: Tensor, message: Callable[[], object] | None = None) -> None:
    """RuntimeError unless all elements of a tensor of bools are true."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype.name != "bool":
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check(bool(cond.all()), message)


def _assert(condition: object, message: object) -> None:
    """AssertionError unless `condition` holds, which may be a tensor of one element."""
    kind = type(condition)
    if kind is not Tensor and overrides(condition):
        return kind.__torch_function__(_assert, (kind,), (condition, message), {})
    assert condition, message
