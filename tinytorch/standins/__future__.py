"""torch.__future__: behaviour that modules are to have one day."""

__all__ = ["get_overwrite_module_params_on_conversion", "get_swap_module_params_on_conversion",
           "set_overwrite_module_params_on_conversion", "set_swap_module_params_on_conversion"]

_overwrite = False


def set_overwrite_module_params_on_conversion(value):
    """Whether `Module.to` and its kin put new Parameters into a module instead of giving those that it has new data.

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
    """What was set; False if nothing was."""
    return _overwrite


def set_swap_module_params_on_conversion(value):
    """NotImplementedError for True: parameters cannot be swapped with others here."""
    if value:
        raise NotImplementedError("swapping the parameters of modules with converted ones is not supported")


def get_swap_module_params_on_conversion():
    """False."""
    return False
