"""The switch for the fast path of attention layers at inference."""
_enabled = [True]


def get_fastpath_enabled():
    """Whether MultiheadAttention and TransformerEncoder may use their fast path at inference.

    >>> import tinytorch as torch
    >>> torch.backends.mha.get_fastpath_enabled()
    True
    """
    return _enabled[0]


def set_fastpath_enabled(value):
    """Allows or forbids the fast path."""
    _enabled[0] = value
