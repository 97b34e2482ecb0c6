"""torch.utils._contextlib: context managers that decorate too."""
from ..autograd.grad_mode import _GradContext


class _DecoratorContextManager(_GradContext):
    """A class of contexts, to derive from, whose instances decorate functions too: each call is in a `clone()`."""

    def __enter__(self):
        raise NotImplementedError

    def __exit__(self, exc_type, exc_value, traceback):
        raise NotImplementedError

    def clone(self):
        return self.__class__()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """The same for classes that may decorate without parentheses."""

    def __new__(cls, orig_func=None):
        self = super().__new__(cls)
        return self if orig_func is None else self(orig_func)
