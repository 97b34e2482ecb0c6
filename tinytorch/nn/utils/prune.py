"""Pruning: masks that set some elements of a parameter to zero.

A pruned parameter `name` of a module is the product of its parameter `name_orig` and its buffer `name_mask`, computed
before each call of the module. If it is pruned again, a PruningContainer holds all methods and finds the next mask.
"""
import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable

from ...memory_format import contiguous_format
from ...ops.creation.factories import ones_like, zeros_like
from ...ops.linalg.distance import norm
from ...ops.random.factories import rand, rand_like
from ...ops.reduction.sorting import kthvalue, topk
from .convert_parameters import parameters_to_vector

__all__ = ["BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
           "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity",
           "is_pruned", "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove"]


# ------------------------------------------------------------------ shared by all methods
class BasePruningMethod(ABC):
    """Base class of pruning methods. A subclass has `compute_mask(t, default_mask)` and a PRUNING_TYPE.

    The PRUNING_TYPE determines from which part the mask of an already pruned parameter is computed: "unstructured" from
    the elements that are left, "structured" from the channels of dimension `dim` that are left, "global" from all.
    """

    _tensor_name = None                        # set by `apply`

    def __call__(self, module, inputs):
        """The hook before the module's call: compute the pruned parameter."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t, default_mask):
        """The mask for the importance scores `t`, of the same shape. Zeros of `default_mask` must stay zeros."""

    def apply_mask(self, module):
        """The module's pruned parameter. AssertionError before `apply`."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask, orig = (getattr(module, f"{self._tensor_name}_{part}") for part in ("mask", "orig"))
        return mask.to(dtype=orig.dtype) * orig

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prune the parameter `name` of a module by cls(*args, **kwargs). Returns the method.

        importance_scores    the scores from which the mask is found, in the parameter's shape; by default the parameter
        """
        method = _together(cls(*args, **kwargs), module, name)
        orig = getattr(module, name)
        scores = orig if importance_scores is None else importance_scores
        if scores.shape != orig.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}, got "
                                 f"{scores.shape} vs {orig.shape}")
        first = not isinstance(method, PruningContainer)
        if first:
            module.register_parameter(name + "_orig", orig)
            del module._parameters[name]
            before = ones_like(orig)
        else:
            before = getattr(module, name + "_mask").detach().clone(memory_format=contiguous_format)
        try:
            module.register_buffer(name + "_mask", method.compute_mask(scores, default_mask=before))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if first:
                module.register_parameter(name, orig)
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """`t` times its mask. The mask is found from `importance_scores`, by default `t`."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t, got "
                                 f"{scores.shape} vs {t.shape}")
        return t * self.compute_mask(scores, default_mask=ones_like(t) if default_mask is None else default_mask)

    def remove(self, module):
        """Make the pruned parameter an ordinary one. Its zeros stay."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        name = self._tensor_name
        pruned = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        orig = module._parameters.pop(name + "_orig")
        orig.data = pruned.data
        del module._buffers[name + "_mask"]
        setattr(module, name, orig)


def _together(method, module, name):
    """`method` for the parameter `name`. If it is already pruned, a container with the earlier method and `method`."""
    method._tensor_name = name
    hooks = module._forward_pre_hooks
    before = [key for key, hook in hooks.items() if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
    if len(before) > 1:
        raise AssertionError(f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a "
                             "PruningContainer.")
    if not before:
        return method
    old = hooks.pop(before[0])
    container = old if isinstance(old, PruningContainer) else PruningContainer(old)
    container.add_pruning_method(method)
    return container


class PruningContainer(BasePruningMethod):
    """Several methods in a row. The last of them finds the next mask."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """Add a method (or None). TypeError for anything else, ValueError for a method of another parameter."""
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError("Can only add pruning methods acting on the parameter named "
                             f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        """`default_mask`, with the last method's mask in the part that its PRUNING_TYPE names. ValueError for an
        unknown PRUNING_TYPE."""
        method = self._pruning_methods[-1]
        kind = method.PRUNING_TYPE
        if kind == "unstructured":
            part = default_mask == 1
        elif kind == "structured":
            part = _channels_left(method, t, default_mask)
        elif kind == "global":
            part = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
        mask = default_mask.to(dtype=t.dtype)
        mask[part] = method.compute_mask(t[part], default_mask=default_mask[part]).to(dtype=mask.dtype)
        return mask


def _channels_left(method, t, mask):
    """Index of the channels of `method.dim` that are not all zero."""
    if not hasattr(method, "dim"):
        raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
    dims = t.dim()
    dim = method.dim + dims if method.dim < 0 else method.dim
    if dim < 0:
        raise IndexError(f"Index is out of bounds for tensor with dimensions {dims}")
    left = mask.sum(dim=[d for d in range(dims) if d != dim]) != 0
    return _channels(t, dim, left)


def _channels(t, dim, which):
    index = [slice(None)] * t.dim()
    index[dim] = which
    return tuple(index)


# ------------------------------------------------------------------ amounts
def _check_amount(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or not isinstance(amount, numbers.Integral) and amount > 1:
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _number(amount, size):
    """`amount` as a number of elements out of `size`."""
    if not isinstance(amount, numbers.Integral):
        return round(amount * size)
    if amount > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return amount


def _number_of_channels(t, amount, dim):
    if t.dim() <= 1:
        raise ValueError("Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                         f"{t.shape} with {t.dim()} dims")
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")
    return _number(amount, t.shape[dim])


# ------------------------------------------------------------------ methods
class Identity(BasePruningMethod):
    """A mask of ones."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask

    @classmethod
    def apply(cls, module, name):
        return super().apply(module, name)


class _OfAmount(BasePruningMethod):
    """Base of methods that prune a number of elements or channels, or with a float in [0, 1] this part of them."""

    def __init__(self, amount):
        _check_amount(amount)
        self.amount = amount


class _Unstructured(_OfAmount):
    """Base of methods that prune the elements `_first(t, count)`."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        count = _number(self.amount, t.nelement())
        mask = default_mask.clone(memory_format=contiguous_format)
        if count:
            mask.view(-1)[self._first(t, count)] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes random elements."""

    def _first(self, t, count):
        return topk(rand_like(t).view(-1), k=count).indices

    @classmethod
    def apply(cls, module, name, amount):
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Unstructured):
    """Prunes the elements with the smallest absolute values."""

    def _first(self, t, count):
        return topk(t.abs().view(-1), k=count, largest=False).indices

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _Structured(_OfAmount):
    """Base of methods that keep the channels `_left(t, count)` of dimension `dim`."""

    PRUNING_TYPE = "structured"

    def compute_mask(self, t, default_mask):
        count = _number_of_channels(t, self.amount, self.dim)
        left = self._left(t, count)
        if not count:
            return default_mask
        mask = zeros_like(t)
        mask[_channels(t, self.dim, left)] = 1
        mask *= default_mask.to(dtype=mask.dtype)
        return mask


class RandomStructured(_Structured):
    """Prunes random channels."""

    def __init__(self, amount, dim=-1):
        super().__init__(amount)
        self.dim = dim

    def _left(self, t, count):
        if not count:
            return None
        draws = rand(t.shape[self.dim])
        return draws > kthvalue(draws, k=count).values

    @classmethod
    def apply(cls, module, name, amount, dim=-1):
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Structured):
    """Prunes the channels of the smallest norms of order `n`."""

    def __init__(self, amount, n, dim=-1):
        super().__init__(amount)
        self.n, self.dim = n, dim

    def _left(self, t, count):
        dims = list(range(t.dim()))
        del dims[self.dim]
        return topk(norm(t, p=self.n, dim=dims), k=t.shape[self.dim] - count, largest=True).indices

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask shape "
                                 f"{self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        return super().apply(module, name, mask=mask)


# ------------------------------------------------------------------ functions
def identity(module, name):
    """Prune the parameter `name` by a mask of ones. Like the functions below, it returns `module`."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prune random elements. `amount` is their number, or a float in [0, 1] for a part of all. TypeError and ValueError
    for other amounts."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prune the `amount` elements with the smallest absolute values, or with the smallest `importance_scores`.

    >>> import tinytorch as torch
    >>> layer = torch.nn.utils.prune.l1_unstructured(torch.nn.Linear(2, 3), "weight", 0.5)
    >>> sorted(layer.state_dict()), int((layer.weight == 0).sum())
    (['bias', 'weight_mask', 'weight_orig'], 3)
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prune `amount` random channels of dimension `dim`."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prune the `amount` channels of dimension `dim` that have the smallest norms of order `n`."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prune several parameters as if they were one.

    parameters           pairs (module, name)
    pruning_method       a class of PRUNING_TYPE "unstructured", called with `kwargs`
    importance_scores    {(module, name): scores}
    TypeError for anything else.

    >>> import tinytorch as torch
    >>> prune = torch.nn.utils.prune
    >>> layers = [torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)]
    >>> prune.global_unstructured([(layer, "weight") for layer in layers], prune.L1Unstructured, amount=4)
    >>> int(sum((layer.weight == 0).sum() for layer in layers))
    4
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    given = {} if importance_scores is None else importance_scores
    if not isinstance(given, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    scores = parameters_to_vector([given.get((module, name), getattr(module, name)) for module, name in parameters])
    masks = parameters_to_vector([getattr(module, name + "_mask", ones_like(getattr(module, name)))
                                  for module, name in parameters])
    method, container = pruning_method(**kwargs), PruningContainer()
    method._tensor_name = container._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
                        f"{pruning_method} of type {method.PRUNING_TYPE}")
    container.add_pruning_method(method)
    mask = container.compute_mask(scores, masks)
    begin = 0
    for module, name in parameters:
        param = getattr(module, name)
        custom_from_mask(module, name, mask=mask[begin:begin + param.numel()].view_as(param))
        begin += param.numel()


def custom_from_mask(module, name, mask):
    """Prune by `mask`, which has the parameter's shape."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module, name):
    """Make the pruned parameter `name` an ordinary one. Its zeros stay. ValueError if it is not pruned."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module):
    """Whether a parameter of the module or of a descendant is pruned."""
    return any(isinstance(hook, BasePruningMethod) for m in module.modules() for hook in m._forward_pre_hooks.values())
