"""precise_tails, which makes derivatives right where a function is nearly flat."""
from __future__ import annotations

import threading

from ..autograd import deep
from ..autograd.grad_mode import all_threads, mode, unwatch, watch
from ..ops.nn.tails import replace
from ..utils._contextlib import _DecoratorContextManager
from .dispatch import install

__all__ = ["precise_tails"]


class _Here(threading.local):
    enabled = False


_here = _Here()
deep.OWN.append(_here)


class precise_tails(_DecoratorContextManager):
    """Makes derivatives right to the last places where PyTorch's are zero or lose digits: in the tails of sigmoid,
    tanh, softplus, logsigmoid, softmax, log_softmax, cross_entropy, binary_cross_entropy and
    binary_cross_entropy_with_logits. This holds for first, second and further derivatives, backward and forward. A
    call switches the thread at once. A context manager or decorator switches it for a block or function. Values stay
    the same.

    enabled    False: PyTorch's derivatives, which are the default

    The setting counts when an operation runs, and backward may run later. Each operation keeps a copy of its input.
    Derivatives for complex numbers, and those of binary_cross_entropy_with_logits in half precision, stay PyTorch's.

    >>> import tinytorch as torch
    >>> x = torch.tensor([3., 20.], requires_grad=True)
    >>> torch.autograd.grad(x.sigmoid().sum(), x)
    (tensor([0.0452, 0.0000]),)
    >>> with torch.precise_tails():
    ...     torch.autograd.grad(x.sigmoid().sum(), x)
    (tensor([4.5177e-02, 2.0612e-09]),)
    """

    __slots__ = ("enabled",)

    def __init__(self, enabled: bool = True) -> None:
        self.enabled, self._before = bool(enabled), _here.enabled
        _switch(self.enabled)

    def clone(self) -> precise_tails:
        return type(self)(self.enabled)

    def __call__(self, function):
        _switch(self._before)                  # the setting is for calls of the function, not for this thread now
        return super().__call__(function)

    def __enter__(self) -> None:
        _switch(self.enabled)

    def __exit__(self, *exc_info: object) -> None:
        _switch(self._before)


def _switch(enabled):
    """Switches this thread. A second call has no effect."""
    if enabled:
        if mode.vmap_levels:                   # operations of precise tails were loaded after `install`
            install()
        watch(replace, first=True)             # `replace` must run before saved tensors are packed
    elif mode.watchers or all_threads.in_special_mode:
        unwatch(replace)
    _here.enabled = enabled
