"""Modules as functions of their parameters and buffers: functional_call, stack_module_state."""
from collections.abc import Sequence

from ..nn.modules.batchnorm import _BatchNorm
from ..nn.utils.stateless import call
from ..ops.layout.join import stack


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with other tensors in the place of its parameters and buffers, given by name.

    parameter_and_buffer_dicts  a dict {name: tensor}, or a sequence of dicts without a name in common
    args                        a tuple of arguments, or the single argument
    tie_weights                 a tensor with several names in the module stays one tensor: ValueError for two values
    strict                      RuntimeError for missing or unexpected names

    >>> import tinytorch as torch
    >>> model = torch.nn.Linear(2, 1)
    >>> torch.func.functional_call(model, {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}, torch.ones(3, 2))
    tensor([[2.],
            [2.],
            [2.]])
    """
    dicts = parameter_and_buffer_dicts
    if isinstance(dicts, dict):
        tensors = dicts
    elif isinstance(dicts, Sequence):
        if not all(isinstance(d, dict) for d in dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        names = [name for d in dicts for name in d]
        repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        tensors = {name: tensor for d in dicts for name, tensor in d.items()}
    else:
        raise ValueError("Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
                         f"{type(dicts)}")
    return call(module, tensors, args, kwargs, tie_weights, strict)


def stack_module_state(models):
    """(parameters, buffers) of modules of one class, each a dict {name: the tensors of all models, stacked}.

    The stacked parameters are new leaves. RuntimeError for no models, or models that differ in class or
    training mode.

    >>> import tinytorch as torch
    >>> parameters, buffers = torch.func.stack_module_state([torch.nn.Linear(3, 2) for _ in range(4)])
    >>> parameters["weight"].shape
    torch.Size([4, 2, 3])
    """
    if not len(models):
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return _stacked([dict(m.named_parameters()) for m in models]), _stacked([dict(m.named_buffers()) for m in models])


def _stacked(dicts):
    return {name: _stacked_leaf(name, [d[name] for d in dicts]) for name in dicts[0]}


def _stacked_leaf(name, tensors):
    if len({t.requires_grad for t in tensors}) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    result = stack(tensors)
    return result.detach().requires_grad_() if tensors[0].requires_grad else result


def replace_all_batch_norm_modules_(root):
    """Makes all batch norms in `root` stop keeping running statistics, and returns `root`. Under vmap each sample
    would have statistics of its own.

    >>> import tinytorch as torch
    >>> net = torch.nn.Sequential(torch.nn.BatchNorm1d(2))
    >>> torch.func.replace_all_batch_norm_modules_(net)[0].running_mean is None
    True
    """
    for module in root.modules():
        if isinstance(module, _BatchNorm) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
