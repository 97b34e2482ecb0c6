"""Containers: Sequential ModuleList ModuleDict ParameterList ParameterDict."""
from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from ...errors import warn
from ...runtime import typename
from ...tensor import Tensor
from ..parameter import Parameter
from .module import Module, _addindent

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


def _checked_index(index, length):
    """`index` counted from the front. IndexError if it is out of range."""
    index = operator.index(index)
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of range")
    return index % length


def _named_only(names):
    return [name for name in names if not name.isdigit()]


class Container(Module):
    """Deprecated (FutureWarning): a Module of the submodules given by name. Derive a class of your own from Module.

    >>> import tinytorch as torch
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     print(torch.nn.Container(act=torch.nn.ReLU()))
    Container(
      (act): ReLU()
    )
    """

    def __init__(self, **kwargs):
        warn("`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. "
             "Subclass that instead.", FutureWarning)
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class _Modules(Module):
    """Base of Sequential and ModuleList: submodules in order."""

    if TYPE_CHECKING:
        __getitem__: Callable                  # each class defines it

    def _key(self, index):
        return list(self._modules)[_checked_index(index, len(self))]

    def __setitem__(self, idx, module):
        setattr(self, self._key(idx), module)

    def __delitem__(self, idx):
        for key in list(self._modules)[idx] if isinstance(idx, slice) else [self._key(idx)]:
            delattr(self, key)
        self.__dict__["_modules"] = {str(i): module for i, module in enumerate(self._modules.values())}

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __dir__(self):
        return _named_only(super().__dir__())

    def append(self, module):
        """Add `module` at the end. Returns self."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key):
        """Remove the module at index `key` (or those of a slice) and return it."""
        module = self[key]
        del self[key]
        return module

    def _insert(self, index, module):
        for i in range(len(self), index, -1):
            self._modules[str(i)] = self._modules[str(i - 1)]
        self._modules[str(index)] = module


class Sequential(_Modules):
    """A chain of modules: each is called on the result of the module before it.

    Takes the modules, or an OrderedDict of names and modules. Indexing with a slice gives a Sequential.

    >>> import tinytorch as torch
    >>> torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Identity())(torch.ones(2, 3, 4)).shape
    torch.Size([2, 12])
    """

    _modules: dict[str, Module]                # type: ignore[assignment]

    def __init__(self, *args):
        super().__init__()
        named: Iterable[tuple[str, Module]]
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named = args[0].items()
        else:
            named = ((str(i), module) for i, module in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[self._key(idx)]

    def insert(self, index, module):
        """Put `module` before the one at `index`. Returns self."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        self._insert(index + len(self) if index < 0 else index, module)
        return self

    def extend(self, sequential):
        """Append all modules of an iterable. Returns self."""
        for module in sequential:
            self.append(module)
        return self

    def __add__(self, other):
        return Sequential(*self).__iadd__(other)

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(list(other))

    def __mul__(self, other):
        self._check_times(other)
        return Sequential(*list(self) * other)

    __rmul__ = __mul__

    def __imul__(self, other):
        self._check_times(other)
        return self.extend(list(self) * (other - 1))

    def _check_times(self, times):
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")


class ModuleList(_Modules):
    """A list whose modules are registered as submodules. It has no `forward`.

    >>> import tinytorch as torch
    >>> torch.nn.ModuleList([torch.nn.Identity() for i in range(3)])
    ModuleList(
      (0-2): 3 x Identity()
    )
    """

    _modules: dict[str, Module]                # type: ignore[assignment]

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return type(self)(list(self)[idx])
        return self._modules[self._key(idx)]

    def insert(self, index, module):
        """Put `module` before the one at `index`."""
        self._insert(index, module)

    def extend(self, modules):
        """Append all modules of an iterable. Returns self."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    __iadd__ = extend

    def __add__(self, other):
        return ModuleList(chain(self, other))

    def __repr__(self):
        runs: list[list] = []                  # [first, last, text] of equal neighbours
        for i, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        lines = [f"({a}): {text}" if a == b else f"({a}-{b}): {b - a + 1} x {text}" for a, b, text in runs]
        if not lines:
            return f"{self._get_name()}()"
        return f"{self._get_name()}(\n  " + "\n  ".join(_addindent(line, 2) for line in lines) + "\n)"


class ModuleDict(Module):
    """A dict whose modules are registered as submodules. It has no `forward`.

    >>> import tinytorch as torch
    >>> torch.nn.ModuleDict({"a": torch.nn.Identity()})["a"]
    Identity()
    """

    _modules: dict[str, Module]                # type: ignore[assignment]

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key):
        """Remove the module `key` and return it."""
        return self._modules.pop(key)

    def keys(self):
        """The names."""
        return self._modules.keys()

    def values(self):
        """The modules."""
        return self._modules.values()

    def items(self):
        """(name, module) pairs."""
        return self._modules.items()

    def update(self, modules):
        """Add the modules of a mapping or of an iterable of (name, module) pairs."""
        _update(self, modules, "ModuleDict", "ModuleDict", (Mapping, ModuleDict))


def _update(target, source, name, element_name, mappings):
    """Set target[key] = value for all pairs of `source`: a mapping or an iterable of pairs."""
    if not isinstance(source, Iterable):
        raise TypeError(f"{name}.update should be called with an iterable of key/value pairs, "
                        f"but got {type(source).__name__}")
    if isinstance(source, mappings):
        source = source.items()
    for j, element in enumerate(source):
        if not isinstance(element, Iterable):
            raise TypeError(f"{element_name} update sequence element #{j} should be Iterable; "
                            f"is{type(element).__name__}")
        pair: Any = element                    # without len() and items, the next lines raise TypeError
        if len(pair) != 2:
            raise ValueError(f"{element_name} update sequence element #{j} has length {len(pair)}; 2 is required")
        target[pair[0]] = pair[1]


def _parameter(value):
    """`value` as a Parameter if it is a Tensor; any other value as it is."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _entry(key, value, type_text):
    """The line that shows an entry of a parameter list or dict. It begins with two spaces, as in torch."""
    if not isinstance(value, Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({key}): {kind} containing: [{type_text} of size {'x'.join(map(str, value.shape))}]"


class ParameterList(Module):
    """A list whose parameters are registered. Tensors put into it become Parameters.

    >>> import tinytorch as torch
    >>> torch.nn.ParameterList([torch.ones(2, 3)])
    ParameterList(  (0): Parameter containing: [torch.float32 of size 2x3])
    """

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return type(self)(self[i] for i in range(*idx.indices(len(self))))
        return getattr(self, str(_checked_index(idx, len(self))))

    def __setitem__(self, idx, param):
        setattr(self, str(_checked_index(idx, len(self))), _parameter(param))

    def __len__(self):
        return self._size

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __dir__(self):
        return _named_only(super().__dir__())

    def append(self, value):
        """Add `value` at the end. Returns self."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        """Append all values of an iterable. Returns self."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    __iadd__ = extend

    def extra_repr(self):
        return "\n".join(_entry(i, p, getattr(p, "dtype", "")) for i, p in enumerate(self))

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict whose parameters are registered. Tensors put into it become Parameters.

    >>> import tinytorch as torch
    >>> torch.nn.ParameterDict({"a": torch.ones(2)})
    ParameterDict(  (a): Parameter containing: [torch.FloatTensor of size 2])
    """

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def _attribute(self, key):
        if not isinstance(key, str):
            raise TypeError("Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                            f"'{type(key).__name__}'). Open an issue on github if you need non-string keys.")
        return key

    def __getitem__(self, key):
        return getattr(self, self._attribute(key))

    def __setitem__(self, key, value):
        self._keys[key] = None
        setattr(self, self._attribute(key), _parameter(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._attribute(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(self._keys)

    def __contains__(self, key):
        return key in self._keys

    def copy(self):
        """A new ParameterDict with the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key, default=None):
        """self[key]. If the key is missing, self[key] = `default` first."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self):
        """Remove all entries."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key):
        """Remove the entry `key` and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        """Remove the last entry and return (key, value)."""
        key, _ = self._keys.popitem()          # KeyError if there is none
        self._keys[key] = None
        return key, self.pop(key)

    def get(self, key, default=None):
        """self[key], or `default` if it is missing."""
        return self[key] if key in self else default

    def fromkeys(self, keys, default=None):
        """A ParameterDict with `default` under each of `keys`."""
        return ParameterDict((key, default) for key in keys)

    def keys(self):
        """The names."""
        return self._keys.keys()

    def values(self):
        """The parameters."""
        return (self[key] for key in self._keys)

    def items(self):
        """(name, parameter) pairs."""
        return ((key, self[key]) for key in self._keys)

    def update(self, parameters):
        """Add the entries of a mapping (a plain dict in the order of its keys) or of an iterable of pairs."""
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            parameters = sorted(parameters.items())
        _update(self, parameters, "ParametersDict", "ParameterDict", (Mapping, ParameterDict))

    def extra_repr(self):
        return "\n".join(_entry(key, p, typename(p)) for key, p in self.items())

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other):
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other):
        joined = other.copy()
        joined.update(self)
        return joined

    def __ior__(self, other):
        self.update(other)
        return self
