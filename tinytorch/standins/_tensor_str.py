"""torch._tensor_str: how tensors print, by the names that libraries take from below torch."""
import contextlib
from types import SimpleNamespace

from .printing import array_text, get_printoptions, set_printoptions, tensor_text, with_suffixes

__all__ = ["get_printoptions", "printoptions", "set_printoptions"]


class _Options(SimpleNamespace):
    """The options, as attributes, as they are when they are read."""

    def __getattribute__(self, name):
        return get_printoptions()[name] if name in get_printoptions() else super().__getattribute__(name)


PRINT_OPTS = _Options()


@contextlib.contextmanager
def printoptions(**kwargs):
    """A context in which tensors print by other options."""
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


def _str(self, *, tensor_contents=None):
    """What a tensor prints as, or as what it prints with these contents."""
    return tensor_text(self, tensor_contents)


def _str_intern(inp, *, tensor_contents=None):
    """As `_str`."""
    return tensor_text(inp, tensor_contents)


def _tensor_str(self, indent):
    """The numbers of a tensor."""
    return array_text(self._array, indent)


def _add_suffixes(tensor_str, suffixes, indent, force_newline):
    """A text closed, with suffixes."""
    return with_suffixes(tensor_str, suffixes, indent, force_newline)
