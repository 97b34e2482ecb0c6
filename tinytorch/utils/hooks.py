"""torch.utils.hooks: the handle of a registered hook, and warnings for hooks that pickles lose."""

from ..autograd.hooks import RemovableHandle
from ..errors import warn

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f):
    """Decorator of a hook: pickling a tensor loses the hook without a warning."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor):
    """Warns for each hook of `tensor` that a pickle loses, unless it is marked as unserializable."""
    for hook in (tensor._hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warn(f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can "
                 "decorate the function with @torch.utils.hooks.unserializable_hook to suppress this warning")
