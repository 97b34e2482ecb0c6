"""skip_init."""
import inspect

from ...random import get_rng_state, set_rng_state
from ..modules.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls, *args, **kwargs):
    """module_cls(*args, **kwargs) that leaves the random number generator as it was. Its initial values are arbitrary.

    RuntimeError for anything but a Module class, and for a class without the argument `device`.

    >>> import tinytorch as torch
    >>> torch.nn.utils.skip_init(torch.nn.Linear, 5, 1)
    Linear(in_features=5, out_features=1, bias=True)
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    state = get_rng_state()
    try:
        return module_cls(*args, **kwargs)
    finally:
        set_rng_state(state)
