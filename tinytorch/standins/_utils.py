"""torch._utils: exceptions from another process or thread, and helpers that libraries use."""
import importlib
import sys
import traceback
from collections import defaultdict

from .device import device as _device

__all__ = ["ExceptionWrapper", "KeyErrorMessage", "classproperty", "is_compiling"]


class KeyErrorMessage(str):
    """A message for a KeyError, whose text has the repr of its argument. The repr of this message is the message."""

    __slots__ = ()

    def __repr__(self):
        return self


class ExceptionWrapper:
    """The exception that is being handled (or `exc_info`): its type, and its traceback as text, which can be pickled.

    >>> from tinytorch._utils import ExceptionWrapper
    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError:
    ...     wrapped = ExceptionWrapper(where="in a worker")
    >>> try:
    ...     wrapped.reraise()
    ... except ZeroDivisionError as error:
    ...     print(str(error).splitlines()[0])
    Caught ZeroDivisionError in a worker.
    """

    def __init__(self, exc_info=None, where="in background"):
        if exc_info is None:
            exc_info = sys.exc_info()
        self.exc_type = exc_info[0]
        self.exc_msg = "".join(traceback.format_exception(*exc_info))
        self.where = where

    def reraise(self):
        """Raises an exception of this type with the traceback as its message; RuntimeError if the type needs more
        than a message.
        """
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = KeyErrorMessage(message)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=message)
        try:
            exception = self.exc_type(message)
        except Exception:
            raise RuntimeError(message) from None
        try:
            raise exception
        finally:
            del exception                      # otherwise only the garbage collector frees its traceback


class classproperty:
    """A property of a class."""

    def __init__(self, func):
        self.func = func

    def __get__(self, instance, owner):
        return self.func(owner)


def is_compiling():
    """False."""
    return False


def _get_device_module(device_type):
    """The module of a kind of devices: torch.cpu. RuntimeError if there is none of this name."""
    module = getattr(importlib.import_module(__package__), device_type, None)
    if module is None:
        raise RuntimeError(f"Device '{device_type}' does not have a corresponding module registered as "
                           f"'torch.{device_type}'.")
    return module


def _flatten_dense_tensors(tensors):
    """The elements of all tensors, one after the other."""
    return importlib.import_module(__package__).cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat, tensors):
    """The parts of a result of `_flatten_dense_tensors`, with the shapes of `tensors`."""
    parts, start = [], 0
    for t in tensors:
        parts.append(flat.narrow(0, start, t.numel()).view_as(t))
        start += t.numel()
    return tuple(parts)


def _take_tensors(tensors, size_limit):
    """Lists of tensors with the same type, each of at most `size_limit` bytes unless a single tensor is larger."""
    waiting = defaultdict(lambda: [[], 0])
    for t in tensors:
        size, group = t.numel() * t.element_size(), waiting[t.type()]
        if group[1] + size > size_limit and group[1]:
            yield group[0]
            group = waiting[t.type()] = [[], 0]
        group[0].append(t)
        group[1] += size
    yield from [group for group, size in waiting.values() if group]


def _get_device_index(device, optional=False, allow_cpu=False):
    """The index of a device; -1 for the CPU with `allow_cpu`. ValueError for a device without an index."""
    if isinstance(device, str):
        device = _device(device)
    if isinstance(device, int):
        return device
    if isinstance(device, _device) and device.type == "cpu" and allow_cpu:
        return -1
    if device is None and optional:
        return -1
    raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")


def _get_available_device_type():
    return None


def _get_all_device_indices():
    return []


def _element_size(dtype):
    """The size of an element in bytes."""
    return dtype.itemsize


def __getattr__(name):
    """The functions that pickles of tensors name."""
    if name.startswith("_rebuild_"):
        return getattr(importlib.import_module(f"{__package__}.checkpoint.rebuild"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
