"""A call of a module with other tensors in place of its parameters and buffers."""
import contextlib

from ...errors import warn
from ..modules.hooks import changes
from ._named_member_accessor import NamedMemberAccessor


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """The deprecated name of `torch.func.functional_call`."""
    warn("`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a "
         "future version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in "
         "replacement.", FutureWarning)
    return call(module, parameters_and_buffers, args, kwargs, tie_weights, strict)


def call(module, tensors, args, kwargs, tie_weights, strict):
    """module(*args, **kwargs) with `tensors` (by dotted name) in place of the module's own."""
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with _swapped(module, tensors, tie_weights, strict):
        return module(*args, **(kwargs or {}))


@contextlib.contextmanager
def _swapped(module, tensors, tie_weights, strict):
    wanted = _with_tied(module, tensors) if tie_weights else tensors
    if strict:
        _check_names(module, wanted)
    accessor, originals = NamedMemberAccessor(module), {}
    changes[0] += 1
    try:
        for name, tensor in wanted.items():
            originals[name] = accessor.swap_tensor(name, tensor, True)
        yield
    finally:
        changes[0] += 1
        for name, original in originals.items():
            now = accessor.swap_tensor(name, original, True)
            if name in tensors:
                tensors[name] = now            # the call may have assigned another tensor


def _with_tied(module, tensors):
    """`tensors`, each under all names of the module's tensor. ValueError if two names of one tensor get two values."""
    names = {}
    for named in (module.named_parameters, module.named_buffers):
        for name, tensor in named(remove_duplicate=False):
            names.setdefault(tensor, []).append(name)
    found = dict(tensors)
    for tied in names.values():
        given = [tensors[name] for name in tied if name in tensors]
        if len(set(given)) > 1:
            raise ValueError(f"functional_call got multiple values for keys {sorted(tied)}, which are tied. Consider "
                             "using tie_weights=False")
        if given:
            found.update(dict.fromkeys(tied, given[0]))
    return found


def _check_names(module, tensors):
    own = [name for name, _ in module.named_parameters(remove_duplicate=False)]
    own += [name for name, _ in module.named_buffers(remove_duplicate=False)]
    problems = []
    for what, names in (("Unexpected", [n for n in tensors if n not in own]),
                        ("Missing", [n for n in own if n not in tensors])):
        if names:
            problems.append(f"{what} key(s): {', '.join(map(repr, names))}.")
    if problems:
        problems.insert(0, f"Error(s) in reparametrizing for {type(module).__name__}:")
        raise RuntimeError("\n\t".join(problems))
