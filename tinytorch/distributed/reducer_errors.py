"""The errors of Reducer for parameters that got no gradient, or two. They have torch's words."""
from __future__ import annotations

import logging
import os
from typing import Any

__all__ = ["CHANGED", "no_future", "twice", "unfinished", "warn_none_unused"]

_logger = logging.getLogger(__name__)

CHANGED = ("Your training graph has changed in this iteration, e.g., one parameter is unused in first iteration, but "
           "then got used in the second iteration. this is not compatible with static_graph set to True.")

_PRIOR = "Expected to have finished reduction in the prior iteration before starting a new one. "
_STATIC = ("This error indicates that your training graph has changed in this iteration, e.g., one parameter is used "
           "in first iteration, but then got unused in the second iteration. this is not compatible with static_graph "
           "set to True.")
_UNUSED = "This error indicates that your module has parameters that were not used in producing loss. "
_ENABLE = ("You can enable unused parameter detection by passing the keyword argument `find_unused_parameters=True` to "
           "`torch.nn.parallel.DistributedDataParallel`, and by \n")
_OUTPUTS = "making sure all `forward` function outputs participate in calculating loss. \n"
_STRUCTURE = ("the distributed data parallel module wasn't able to locate the output tensors in the return value of "
              "your module's `forward` function. Please include the loss function and the structure of the return "
              "value of `forward` of your module when reporting this issue (e.g. list, dict, iterable).")
_TWICE = (
    "Expected to mark a variable ready only once. This error is caused by one of the following reasons: 1) Use of a "
    "module parameter outside the `forward` function. Please make sure model parameters are not shared across multiple "
    "concurrent forward-backward passes. or try to use _set_static_graph() as a workaround if this module graph does "
    "not change during training loop.2) Reused parameters in multiple reentrant backward passes. For example, if you "
    "use multiple `checkpoint` functions to wrap the same part of your model, it would result in the same set of "
    "parameters been used by different reentrant backward passes multiple times, and hence marking a variable ready "
    "multiple times. DDP does not support such use cases in default. You can try to use _set_static_graph() as a "
    "workaround if your module graph does not change over iterations.\nParameter at index {} with name {} has been "
    "marked as ready twice. This means that multiple autograd engine  hooks have fired for this particular parameter "
    "during this iteration.")
_NONE_UNUSED = (
    "find_unused_parameters=True was specified in DDP constructor, but did not find any unused parameters in the "
    "forward pass. This flag results in an extra traversal of the autograd graph every iteration,  which can adversely "
    "affect performance. If your model indeed never has any unused parameters in the forward pass, consider turning "
    "this flag off. Note that this warning may be a false positive if your model has flow control causing later "
    "iterations to have unused parameters.")


def unfinished(reducer: Any, missing: list[int], rank: int) -> str:
    """The error for parameters `missing` that got no gradient."""
    if reducer.static:
        text = _PRIOR + _STATIC
    elif reducer.find_unused:
        text = (_PRIOR + _UNUSED + "Since `find_unused_parameters=True` is enabled, this likely  means that not all "
                "`forward` outputs participate in computing loss. You can fix this by " + _OUTPUTS
                + "If you already have done the above, then " + _STRUCTURE)
    else:
        text = _PRIOR + _UNUSED + _ENABLE + _OUTPUTS + "If you already have done the above, then " + _STRUCTURE
    indices = " ".join(map(str, missing))
    by_index = f"\nParameter indices which did not receive grad for rank {rank}: {indices}"
    if os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF") in ("INFO", "DETAIL"):
        names = ", ".join([reducer.names[i] for i in missing])
        return f"{text}\nParameters which did not receive grad for rank {rank}: {names}{by_index}"
    return (f"{text}{by_index}\n In addition, you can set the environment variable TORCH_DISTRIBUTED_DEBUG to either "
            "INFO or DETAIL to print out information about which particular parameters did not receive gradient on "
            "this rank as part of this error")


def twice(reducer: Any, index: int) -> str:
    """The error for a parameter whose gradient came a second time."""
    return _TWICE.format(index, reducer.names[index])


def no_future(given: object) -> str:
    """The error for a communication hook that did not return a Future."""
    kind = type(given)
    module = kind.__module__.replace("tinytorch.tensor", "torch").replace("tinytorch", "torch")
    name = kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"
    return ("DDP communication hook's callback must return a torch.futures.Future object, but got " + name)


def warn_none_unused(rank: int) -> None:
    """Logs that the search for unused parameters found none."""
    _logger.warning("[rank%d] Warning: %s", rank, _NONE_UNUSED)
