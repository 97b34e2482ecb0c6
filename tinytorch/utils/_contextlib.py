"""torch.utils._contextlib: context managers that are also decorators."""
from ..autograd.grad_mode import _GradContext


class _DecoratorContextManager(_GradContext):
    """Base class of contexts whose instances also decorate functions: each call runs in a `clone()`."""

    def __enter__(self):
        raise NotImplementedError

    def __exit__(self, exc_type, exc_value, traceback):
        raise NotImplementedError

    def clone(self):
        return self.__class__()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """Base class of contexts that also decorate functions without parentheses after their name."""

    def __new__(cls, orig_func=None):
        self = super().__new__(cls)
        return self if orig_func is None else self(orig_func)
