"""torch._utils: helpers that libraries take from below torch."""
import sys
import traceback
from collections import defaultdict

from ._rebuild import (  # noqa: F401  (the names in pickles)
    _rebuild_from_type_v2,
    _rebuild_parameter,
    _rebuild_sparse_tensor,
    _rebuild_tensor_v2,
    _rebuild_tensor_v3,
)
from .device import device as _device

__all__ = ["ExceptionWrapper", "KeyErrorMessage", "classproperty", "is_compiling"]


class KeyErrorMessage(str):
    """A message of a KeyError that prints as it is, not as the key that it would be."""

    __slots__ = ()

    def __repr__(self):
        return self


class ExceptionWrapper:
    """An exception of another thread or process, to be raised here with its traceback in its words."""

    def __init__(self, exc_info=None, where="in background"):
        kind, value, found = sys.exc_info() if exc_info is None else exc_info
        self.exc_type, self.where = kind, where
        self.exc_msg = "".join(traceback.format_exception(kind, value, found))

    def reraise(self):
        """Raises an exception of the same class; RuntimeError if it cannot be made of a message."""
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = KeyErrorMessage(message)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=message)
        try:
            exception = self.exc_type(message)
        except Exception:
            raise RuntimeError(message) from None
        raise exception


class classproperty:
    """A property of a class."""

    def __init__(self, func):
        self.func = func

    def __get__(self, instance, owner):
        return self.func(owner)


def is_compiling():
    """False."""
    return False


def _flatten_dense_tensors(tensors):
    """The elements of all, one after the other."""
    import importlib
    return importlib.import_module(__package__).cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat, tensors):
    """The parts of what `_flatten_dense_tensors` gave, in the shapes of these."""
    parts, start = [], 0
    for t in tensors:
        parts.append(flat.narrow(0, start, t.numel()).view_as(t))
        start += t.numel()
    return tuple(parts)


def _take_tensors(tensors, size_limit):
    """Lists of tensors of one type each, of at most so many bytes unless one is larger."""
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
    """The index of a device; -1 for the CPU with `allow_cpu`. ValueError where there is none."""
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
    """The bytes of an element."""
    return dtype.itemsize
