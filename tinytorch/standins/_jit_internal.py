"""torch._jit_internal: what libraries take from below torch.jit. Nothing is compiled."""
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
from .nn.functional import boolean_dispatch

__all__ = ["Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "Final", "Future", "List",
           "Optional", "Tuple", "Union", "boolean_dispatch", "export", "ignore", "is_scripting", "is_tracing", "unused"]


class _BroadcastingList:
    """BroadcastingList2[int] for a compiler: one int, or a list of them."""

    def __getitem__(self, types):
        """List[types], which is what a script makes of one, too."""
        return List[types]                     # noqa: UP006


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = BroadcastingList4 = BroadcastingList5 = \
    BroadcastingList6 = _BroadcastingList()


def _copy_to_script_wrapper(fn):
    return fn


def _is_exception(obj):
    return isinstance(obj, type) and issubclass(obj, Exception)
