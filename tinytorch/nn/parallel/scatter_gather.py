"""scatter and gather: split inputs over several devices, and join outputs."""
from ...tensor import Tensor

__all__ = ["gather", "scatter", "scatter_kwargs"]


def _is_namedtuple(obj):
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def scatter(inputs, target_gpus, dim=0):
    """The parts of `inputs` for each device. Anything but a tensor is repeated. AssertionError for a tensor, since
    there is no accelerator.

    >>> import tinytorch as torch
    >>> torch.nn.parallel.scatter((1, [2]), [0, 1])
    [(1, [2]), (1, [2])]
    """
    if isinstance(inputs, Tensor):
        raise AssertionError("Torch not compiled with CUDA enabled")
    if not isinstance(inputs, (tuple, list, dict)) or not inputs and not _is_namedtuple(inputs):
        return [inputs for _ in target_gpus]
    items = inputs.items() if isinstance(inputs, dict) else inputs
    parts = zip(*[scatter(item, target_gpus, dim) for item in items])
    if _is_namedtuple(inputs):
        return [type(inputs)(*part) for part in parts]
    if isinstance(inputs, dict):
        return [type(inputs)(part) for part in parts]
    return [list(part) if isinstance(inputs, list) else part for part in parts]


def scatter_kwargs(inputs, kwargs, target_gpus, dim=0):
    """`scatter` for positional and keyword arguments. Returns equally many tuples and dicts."""
    positional = scatter(inputs, target_gpus, dim) if inputs else []
    named = scatter(kwargs, target_gpus, dim) if kwargs else []
    positional += [()] * (len(named) - len(positional))
    named += [{}] * (len(positional) - len(named))
    return tuple(positional), tuple(named)


def gather(outputs, target_device, dim=0):
    """Join the outputs of several devices into one object. AssertionError for tensors, since they are on the CPU.

    >>> import tinytorch as torch
    >>> torch.nn.parallel.gather([None, None], 0)
    """
    out = outputs[0]
    if isinstance(out, Tensor):
        raise AssertionError("Gather function not implemented for CPU tensors")
    if out is None:
        return None
    if isinstance(out, dict):
        if any(len(out) != len(d) for d in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(out)((k, gather([d[k] for d in outputs], target_device, dim)) for k in out)
    parts = [gather(part, target_device, dim) for part in zip(*outputs)]
    return type(out)(*parts) if _is_namedtuple(out) else type(out)(parts)
