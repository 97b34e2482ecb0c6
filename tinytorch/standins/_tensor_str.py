"""torch._tensor_str: the text of tensors, under internal names of torch that libraries use."""
import contextlib
from types import SimpleNamespace

from .printing import array_text, get_printoptions, set_printoptions, tensor_text, with_suffixes

__all__ = ["get_printoptions", "printoptions", "set_printoptions"]


class _Options(SimpleNamespace):
    """The present options as attributes."""

    def __getattribute__(self, name):
        return get_printoptions()[name] if name in get_printoptions() else super().__getattribute__(name)


PRINT_OPTS = _Options()


@contextlib.contextmanager
def printoptions(**kwargs):
    """A context in which tensors print with other options."""
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


def _str(self, *, tensor_contents=None):
    """The text of a tensor, with `tensor_contents` in place of its numbers if given."""
    return tensor_text(self, tensor_contents)


def _str_intern(inp, *, tensor_contents=None):
    """The same as `_str`."""
    return tensor_text(inp, tensor_contents)


def _tensor_str(self, indent):
    """The text of the numbers of a tensor."""
    return array_text(self._array, indent)


def _add_suffixes(tensor_str, suffixes, indent, force_newline):
    """The text of a tensor with suffixes and the closing bracket."""
    return with_suffixes(tensor_str, suffixes, indent, force_newline)
