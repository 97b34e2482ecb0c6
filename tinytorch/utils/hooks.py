"""torch.utils.hooks: the handle that registering a hook returns, and what becomes of hooks in pickles."""

from ..autograd.hooks import RemovableHandle
from ..errors import warn

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f):
    """Decorator: no warning when a tensor with the hook `f` is pickled without it."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor):
    """Warn of each hook of `tensor` that a pickle would lose, unless it is marked as unserializable."""
    for hook in (tensor._hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warn(f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can "
                 "decorate the function with @torch.utils.hooks.unserializable_hook to suppress this warning")
