"""Helpers for the sizes of layers and for the state dicts of wrapped models."""
import numbers

from .conv import _repeated

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n, name="parse"):
    """A function that returns an iterable as a tuple, and any other value as a tuple of n times this value."""
    def parse(x):
        return _repeated(x, n)
    parse.__name__ = name
    return parse


_single, _pair, _triple, _quadruple = (
    _ntuple(n, name) for n, name in enumerate(("_single", "_pair", "_triple", "_quadruple"), 1))


def _reverse_repeat_tuple(t, n):
    """The elements of `t` in reverse, each n times: padding in the form of `nn.functional.pad`."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size, defaults):
    """`out_size` with None replaced by the size from the end of `defaults`. ValueError unless `defaults` is longer."""
    if isinstance(out_size, numbers.Integral):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [d if v is None else v for v, d in zip(out_size, defaults[-len(out_size):])]


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Remove `prefix` in place from all keys of a state_dict that begin with it, and from those of its metadata.

    >>> import tinytorch as torch
    >>> state = torch.nn.DataParallel(torch.nn.Linear(1, 1)).state_dict()
    >>> torch.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    >>> list(state)
    ['weight', 'bias']
    """
    for key in [k for k in state_dict if k.startswith(prefix)]:
        state_dict[key[len(prefix):]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", {})
    whole = prefix.replace(".", "")            # the key of the wrapped model itself has no dot
    for key in [k for k in metadata if k and (k == whole or k.startswith(prefix))]:
        metadata[key[len(prefix):]] = metadata.pop(key)
