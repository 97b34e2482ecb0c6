"""Access to a module's tensors and submodules by dotted name: read, set and exchange."""
from ...tensor import Tensor
from ..modules.module import Module

#: Stands for an attribute that does not exist.
_MISSING = object()


def _check(module, kind, name, value, classes):
    if not isinstance(module, Module):
        raise TypeError(f"{module} is not an instance of torch.nn.Module")
    if not isinstance(value, classes) and value is not _MISSING and (value is not None or classes is Module):
        raise TypeError(f"{value} is not an instance of torch.{'nn.Module' if classes is Module else 'Tensor'}")
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain "."')
    if not name:
        raise KeyError(f'{kind} name can\'t be empty string ""')


def set_tensor(module, name, tensor):
    """Set the parameter, buffer or other attribute `name` to a tensor or None, in the registry that holds the name."""
    swap_tensor(module, name, tensor, allow_missing=True)


def swap_tensor(module, name, tensor, allow_missing=False):
    """Replace the tensor `name` by a tensor, by None, or by `_MISSING`, which deletes it. Returns the old tensor.

    AttributeError if there was none, unless `allow_missing`; TypeError for other objects.
    """
    _check(module, "tensor", name, tensor, Tensor)
    for registry in (module._parameters, module._buffers):
        if name in registry:
            before = registry.pop(name) if tensor is _MISSING else registry[name]
            if tensor is not _MISSING:
                registry[name] = tensor
            return before
    before = getattr(module, name, _MISSING)
    if before is _MISSING and not allow_missing:
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    if before is not _MISSING and before is not None and not isinstance(before, Tensor):
        raise TypeError(f"attribute `{name}`: {before} is not an instance of torch.Tensor")
    if tensor is not _MISSING:
        setattr(module, name, tensor)
    elif before is not _MISSING:
        delattr(module, name)
    return before


def swap_submodule(module, name, submodule):
    """Replace a child by another module. Returns the old child. KeyError if there is no such child."""
    _check(module, "submodule", name, submodule, Module)
    if name not in module._modules:
        raise KeyError(f"submodule {name} does not exist")
    before = module._modules[name]
    if not isinstance(before, Module):
        raise TypeError(f"{name} attribute is not an instance of torch.nn.Module")
    module._modules[name] = submodule
    return before


class NamedMemberAccessor:
    """The members of a module, by dotted names.

    >>> import tinytorch as torch
    >>> accessor = NamedMemberAccessor(torch.nn.Sequential(torch.nn.Linear(2, 3)))
    >>> accessor.swap_tensor("0.bias", torch.zeros(3)).shape
    torch.Size([3])
    >>> accessor.check_keys(["0.bias", "1.bias"])
    (['0.weight'], ['1.bias'])
    """

    def __init__(self, module):
        self.module = module

    def get_submodule(self, name):
        """The submodule `name`. AttributeError if there is none, TypeError if the name has another object."""
        found = self.module
        for part in filter(None, name.split(".")):
            if not hasattr(found, part):
                raise AttributeError(f"{type(found).__name__} has no attribute `{part}`")
            found = getattr(found, part)
            if not isinstance(found, Module):
                raise TypeError(f"submodule `{name}`: {found} is not an instance of torch.nn.Module")
        return found

    def _place(self, name):
        path, _, last = name.rpartition(".")
        return self.get_submodule(path), last

    def swap_submodule(self, path, value):
        """Replace a submodule. Returns the old one."""
        return swap_submodule(*self._place(path), value)

    def get_tensor(self, name):
        """The tensor `name`. AttributeError if there is none, TypeError if the name has another object."""
        module, last = self._place(name)
        if not hasattr(module, last):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        tensor = getattr(module, last)
        if not isinstance(tensor, Tensor) and tensor is not None:
            raise TypeError(f"{tensor} is not an instance of torch.Tensor")
        return tensor

    def set_tensor(self, name, value):
        """Set a tensor by the function of this name."""
        set_tensor(*self._place(name), value)

    def del_tensor(self, name):
        """Delete a tensor. AttributeError if there is none."""
        module, last = self._place(name)
        if not hasattr(module, last):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        delattr(module, last)

    def swap_tensor(self, name, value, allow_missing=False):
        """Replace a tensor by the function of this name."""
        return swap_tensor(*self._place(name), value, allow_missing)

    def get_tensors(self, names):
        """A list of the tensors with these names."""
        return [self.get_tensor(name) for name in names]

    def set_tensors(self, names, values):
        """Set several tensors. ValueError unless there are as many names as values."""
        for name, value in zip(names, values, strict=True):
            self.set_tensor(name, value)

    def set_tensors_dict(self, named_tensors):
        """Set the tensors of a dict {name: tensor}."""
        self.set_tensors(named_tensors, named_tensors.values())

    def del_tensors(self, names):
        """Delete several tensors."""
        for name in names:
            self.del_tensor(name)

    def swap_tensors(self, names, values, allow_missing=False):
        """Replace several tensors. Returns the old ones. ValueError unless there are as many names as values."""
        return [self.swap_tensor(name, value, allow_missing) for name, value in zip(names, values, strict=True)]

    def swap_tensors_dict(self, named_tensors, allow_missing=False):
        """Replace the tensors of a dict. Returns ({name: old tensor}, names without an old tensor). RuntimeError for
        such names, unless `allow_missing`. After an error the module is as before."""
        before, missing = {}, []
        try:
            for name, tensor in named_tensors.items():
                before[name] = self.swap_tensor(name, tensor, True)
                if before[name] is _MISSING:
                    missing.append(name)
            if missing and not allow_missing:
                raise RuntimeError(f"Missing key(s): {', '.join(map(repr, missing))}.")
        except Exception:
            for name, tensor in before.items():
                self.swap_tensor(name, tensor, True)
            raise
        return before, missing

    def check_keys(self, keys):
        """Two sorted lists: names of the module's tensors that are not in `keys`, and keys that are not among them."""
        keys, own = set(keys), {name for name, _ in self.named_tensors(remove_duplicate=False)}
        return sorted(own - keys), sorted(keys - own)

    def named_parameters(self, remove_duplicate=True):
        """See `Module.named_parameters`."""
        yield from self.module.named_parameters(remove_duplicate=remove_duplicate)

    def named_buffers(self, remove_duplicate=True):
        """See `Module.named_buffers`."""
        yield from self.module.named_buffers(remove_duplicate=remove_duplicate)

    def named_tensors(self, remove_duplicate=True):
        """(name, tensor) of the parameters, then of the buffers."""
        yield from self.named_parameters(remove_duplicate)
        yield from self.named_buffers(remove_duplicate)

    def named_modules(self, remove_duplicate=True):
        """See `Module.named_modules`."""
        yield from self.module.named_modules(remove_duplicate=remove_duplicate)
