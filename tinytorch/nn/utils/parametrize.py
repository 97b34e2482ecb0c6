"""Parametrizations: `module.weight` is computed from other tensors whenever it is read.

`register_parametrization` gives the module another class (`ParametrizedLinear`) with a property in place of the tensor.
Modules of the same class share it if the same tensors are computed. `module.parametrizations.weight`, a
ParametrizationList, holds the original tensors and the modules that compute the tensor.
"""
import copy
from collections.abc import Sequence
from contextlib import contextmanager

from ...autograd.grad_mode import no_grad
from ...tensor import Tensor
from ..modules.container import ModuleDict, ModuleList
from ..parameter import Parameter

__all__ = ["ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
           "transfer_parametrizations_and_params", "type_before_parametrizations"]


class _Cache:
    """The values computed inside `cached()`, by (id of the module, name), and the depth of nested `cached()` blocks."""

    depth, values = 0, {}


@contextmanager
def cached():
    """Context manager: inside, each parametrized tensor is computed once, when it is first read, and then kept.

    >>> import tinytorch as torch
    >>> from tinytorch.nn.utils import parametrizations, parametrize
    >>> m = parametrizations.weight_norm(torch.nn.Linear(2, 2))
    >>> with parametrize.cached():
    ...     m.weight is m.weight
    True
    >>> m.weight is m.weight
    False
    """
    _Cache.depth += 1
    try:
        yield
    finally:
        _Cache.depth -= 1
        if not _Cache.depth:
            _Cache.values = {}


def _register(module, name, tensor):
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _check_unchanged(before, after, first, second, flag):
    """ValueError unless a parametrization returns a tensor with the dtype and shape of the tensor it replaces."""
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    for kind in ("dtype", "shape"):
        if getattr(after, kind) != getattr(before, kind):
            raise ValueError(f"Registering a parametrization may not change the {kind} of the tensor, unless {flag} "
                             f"flag is enabled.\n{first.format(kind)}: {getattr(before, kind)}\n"
                             f"{second.format(kind)}: {getattr(after, kind)}")


class _Like:
    """The dtype and shape of a former tensor."""

    def __init__(self, tensor):
        self.dtype, self.shape = tensor.dtype, tensor.shape


class ParametrizationList(ModuleList):
    """The modules that compute a tensor, each from the result of the one before, and the original tensors.

    The original is `original`, or `original0`, `original1` ... if the first module's `right_inverse` returns several
    tensors. `register_parametrization` makes this list.
    """

    def __init__(self, modules, original, unsafe=False):
        if not len(modules):
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        like = _Like(original)
        new = original
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        pass                   # then right_inverse is the identity
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                             f"Got {type(new).__name__}")
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            self._keep_one(original, new)
        else:
            self._keep_many(original, new)
        if not unsafe:
            _check_unchanged(like, self(), "unparametrized {}", "parametrized {}", "`unsafe`")

    def _keep_one(self, original, new):
        if original.dtype != new.dtype:
            raise ValueError("When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                             f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}")
        with no_grad():
            original.set_(new)                 # the same object, which optimizers hold
        _register(self, "original", original)

    def _keep_many(self, original, new):
        for i, tensor in enumerate(new):
            if not isinstance(tensor, Tensor):
                raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                                 f"Got element {i} of the sequence with type {type(tensor).__name__}.")
            if isinstance(original, Parameter):
                tensor = Parameter(tensor, original.requires_grad)
            tensor.requires_grad_(original.requires_grad)
            _register(self, f"original{i}", tensor)

    def right_inverse(self, value):
        """Set the originals by the modules' `right_inverse`, so that the tensor becomes `value`."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, Tensor):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
                if value.dtype != self.original.dtype:
                    raise ValueError(f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` "
                                     f"has dtype {self.original.dtype}")
                self.original.set_(value)
                return
            if not isinstance(value, Sequence):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
            if len(value) != self.ntensors:
                raise ValueError(f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a "
                                 f"sequence of length {len(value)}.")
            for i, tensor in enumerate(value):
                original = getattr(self, f"original{i}")
                if not isinstance(tensor, Tensor):
                    raise ValueError("'right_inverse' must return a sequence of tensors or reference-type opaques. Got "
                                     f"element {i} of type {type(tensor).__name__}.")
                if original.dtype != tensor.dtype:
                    raise ValueError(f"Tensor {i} returned by `right_inverse` has dtype {tensor.dtype} while "
                                     f"`original{i}` has dtype {original.dtype}")
                original.set_(tensor)

    def forward(self):
        """The tensor, computed from the originals."""
        first, *others = self
        if self.is_tensor:
            value = first(self.original)
        else:
            value = first(*[getattr(self, f"original{i}") for i in range(self.ntensors)])
        for module in others:
            value = module(value)
        return value


# ------------------------------------------------------------------ the module's class
def _refuse_pickling(self):
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training")


def _deepcopy(self, memo):
    if id(self) not in memo:
        memo[id(self)] = twin = type(self).__new__(type(self))
        # Not another dict in its place: a free-threaded Python would leave the twin's first one to the collector.
        twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return memo[id(self)]


def _class_for(base, names):
    """The subclass of `base` in which the tensors `names` are computed.

    All modules share it, since only the garbage collector frees a class. `base` holds it; both are freed together."""
    classes = vars(base).get("_parametrized_classes")
    if classes is None:
        classes = base._parametrized_classes = {}
    key = frozenset(names)
    if key not in classes:
        members = {"__getstate__": _refuse_pickling, **{name: _computed(name) for name in names}}
        if not hasattr(base, "__deepcopy__"):
            members["__deepcopy__"] = _deepcopy            # without it, copy would call __getstate__
        classes[key] = type(f"Parametrized{base.__name__}", (base,), members)
    return classes[key]


def _computed(name):
    """The property in place of the parametrized tensor `name`."""

    def read(self):
        parametrization = self.parametrizations[name]
        if not _Cache.depth:
            return parametrization()
        key = id(self), name
        if _Cache.values.get(key) is None:
            _Cache.values[key] = parametrization()
        return _Cache.values[key]

    def write(self, value):
        self.parametrizations[name].right_inverse(value)
    return property(read, write)


# ------------------------------------------------------------------ registering
def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Make `module.<tensor_name>` the result of parametrization(original), computed whenever it is read.

    Several may be registered on one tensor; each is applied to the result of the one before. If `parametrization` has a
    method `right_inverse(tensor)`, the original is its result for the present tensor (it may return several tensors),
    and the tensor can be assigned to.

    unsafe    whether the parametrization may change dtype or shape

    ValueError if there is no such tensor, or if dtype or shape change. Returns the module.

    >>> import tinytorch as torch
    >>> class Symmetric(torch.nn.Module):
    ...     def forward(self, X):
    ...         return X.triu() + X.triu(1).T
    >>> m = torch.nn.utils.parametrize.register_parametrization(torch.nn.Linear(3, 3), "weight", Symmetric())
    >>> bool((m.weight == m.weight.T).all()), [name for name, _ in m.named_parameters()]
    (True, ['bias', 'parametrizations.weight.original'])
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_next(module, tensor_name, parametrization)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        chain = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        base = type_before_parametrizations(module)
        if not is_parametrized(module):
            module.parametrizations = ModuleDict()
        module.parametrizations[tensor_name] = chain
        module.__class__ = _class_for(base, module.parametrizations)
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
                         f"'{tensor_name}'")
    return module


def _check_next(module, name, parametrization):
    """ValueError if an additional parametrization, or its right_inverse, changes dtype or shape."""
    before = getattr(module, name)
    after = parametrization(before)
    _check_unchanged(before, after, f"module.{name}.{{}}", f"parametrization(module.{name}).{{}}", "the `unsafe`")
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for kind in ("dtype", "shape"):
        if getattr(back, kind) != getattr(before, kind):
            raise ValueError(f"The tensor returned by parametrization.right_inverse must have the same {kind} as "
                             f"module.{name}, unless the `unsafe` flag is enabled.\n"
                             f"module.{name}.{kind}: {getattr(before, kind)}\nreturned {kind}: {getattr(back, kind)}")


def is_parametrized(module, tensor_name=None):
    """Whether the module has a parametrization: of the tensor `tensor_name`, or with None of any tensor."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Make a parametrized tensor an ordinary one again. It gets its present value or, with leave_parametrized=False,
    the value of its original.

    ValueError if it is not parametrized, or if it has several originals and `leave_parametrized` is False. Returns the
    module.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    chain = module.parametrizations[tensor_name]
    if chain.is_tensor:
        tensor = chain.original
        if leave_parametrized:
            with no_grad():
                tensor.set_(getattr(module, tensor_name))
    elif leave_parametrized:
        tensor = getattr(module, tensor_name)
        tensor = Parameter(tensor) if tensor.requires_grad else tensor
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in "
                         "terms of a sequence of tensors.")
    base = type_before_parametrizations(module)
    del module.parametrizations[tensor_name]
    if is_parametrized(module):
        module.__class__ = _class_for(base, module.parametrizations)
    else:
        del module.parametrizations
        module.__class__ = base
    _register(module, tensor_name, tensor)
    return module


def type_before_parametrizations(module):
    """The class of the module before its first parametrization."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Register one module's parametrizations (all, or those of one tensor) on another module, with the originals.

    Returns to_module.
    """
    if not is_parametrized(from_module):
        return to_module
    for name in from_module.parametrizations if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        source = from_module.parametrizations[name]
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        for key in ["original"] if source.is_tensor else [f"original{i}" for i in range(source.ntensors)]:
            setattr(to_module.parametrizations[name], key, getattr(source, key))
    return to_module
