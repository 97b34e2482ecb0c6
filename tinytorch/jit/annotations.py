"""torch.jit.annotations: Python's types for annotations."""
from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035  (these are the names)

from .._jit_internal import BroadcastingList1, BroadcastingList2, BroadcastingList3, Future

__all__ = ["Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "Future", "List", "Optional",
           "Tuple", "Union"]
