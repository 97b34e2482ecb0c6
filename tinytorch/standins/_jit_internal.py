"""torch._jit_internal: internal names of torch.jit that libraries use."""
import weakref
from typing import Any, Dict, Final, List, Optional, Tuple, Union  # noqa: UP035  (these are the names)

from .futures import Future
from .jit import (  # noqa: F401
    _overload,
    _overload_method,
    export,
    ignore,
    is_scripting,
    is_tracing,
    unused,
)
from .missing import namespace as _namespace
from .nn.functional import boolean_dispatch

__all__ = ["Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "Final", "Future", "List",
           "Optional", "Tuple", "Union", "boolean_dispatch", "export", "ignore", "is_scripting", "is_tracing", "unused"]

#: In torch, {function of boolean_dispatch: its two functions}. Here it is empty.
boolean_dispatched: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


class _BroadcastingList:
    """BroadcastingList2[int] in annotations: one int, or a list of two."""

    def __getitem__(self, types):
        """List[types], as in a script."""
        return List[types]                     # noqa: UP006


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = BroadcastingList4 = BroadcastingList5 = \
    BroadcastingList6 = _BroadcastingList()


def _copy_to_script_wrapper(fn):
    return fn


def _is_exception(obj):
    return isinstance(obj, type) and issubclass(obj, Exception)


__getattr__ = _namespace(__name__)
