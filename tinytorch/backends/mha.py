"""Whether attention layers may leave out what only training needs."""
_enabled = [True]


def get_fastpath_enabled():
    """Whether MultiheadAttention and TransformerEncoder take their shorter way at inference.

    >>> import tinytorch as torch
    >>> torch.backends.mha.get_fastpath_enabled()
    True
    """
    return _enabled[0]


def set_fastpath_enabled(value):
    """Allow that way, or do not."""
    _enabled[0] = value
