"""parallel_apply."""
from ...tensor import Tensor

__all__ = ["get_a_var", "parallel_apply"]


def get_a_var(obj):
    """The first tensor in nested tuples, lists and dicts, or None.

    >>> import tinytorch as torch
    >>> from tinytorch.nn.parallel.parallel_apply import get_a_var
    >>> get_a_var([1, {"x": torch.ones(1)}])
    tensor([1.])
    """
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, dict):
        return _first(obj.items())
    return _first(obj) if isinstance(obj, (list, tuple)) else None


def _first(items):
    return next((found for found in map(get_a_var, items) if found is not None), None)


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """Run each module on another accelerator. RuntimeError, since there is no accelerator."""
    for name, given in (("inputs", inputs), ("kwargs_tup", kwargs_tup), ("devices", devices)):
        if given is not None and len(given) != len(modules):
            raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of {name} "
                                 f"{len(given)}")
    raise RuntimeError("Cannot access accelerator device when none is available.")
