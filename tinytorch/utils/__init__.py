"""torch.utils: data loading, checkpointing, hook handles."""
from . import data, hooks


def __getattr__(name):
    """Loads `checkpoint` when it is first asked for."""
    if name == "checkpoint":
        import importlib
        return importlib.import_module(f"{__name__}.checkpoint")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
