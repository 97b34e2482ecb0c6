"""torch.__future__: switches for future behaviour of modules."""

__all__ = ["get_overwrite_module_params_on_conversion", "get_swap_module_params_on_conversion",
           "set_overwrite_module_params_on_conversion", "set_swap_module_params_on_conversion"]

_overwrite = False


def set_overwrite_module_params_on_conversion(value):
    """Sets whether `Module.to` and similar methods replace the Parameters of a module, instead of their data.

    >>> import tinytorch as torch
    >>> layer = torch.nn.Linear(1, 1)
    >>> before = layer.weight
    >>> torch.__future__.set_overwrite_module_params_on_conversion(True)
    >>> layer.double().weight is before
    False
    >>> torch.__future__.set_overwrite_module_params_on_conversion(False)
    """
    global _overwrite
    _overwrite = value


def get_overwrite_module_params_on_conversion():
    """The value that `set_overwrite_module_params_on_conversion` has set; False by default."""
    return _overwrite


def set_swap_module_params_on_conversion(value):
    """NotImplementedError for True: parameters cannot be swapped with others here."""
    if value:
        raise NotImplementedError("swapping the parameters of modules with converted ones is not supported")


def get_swap_module_params_on_conversion():
    """False."""
    return False
