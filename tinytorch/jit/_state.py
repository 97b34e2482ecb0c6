"""torch.jit._state: whether functions are scripted."""
import os

__all__: list[str] = []


class EnabledProxy:
    """Whether functions are scripted: unless the environment says PYTORCH_JIT=0."""

    def __init__(self) -> None:
        self.enabled = os.environ.get("PYTORCH_JIT", "1") != "0"

    def __bool__(self) -> bool:
        return self.enabled


_enabled = EnabledProxy()


def disable() -> None:
    """Makes `torch.jit.script` return its argument."""
    _enabled.enabled = False


def enable() -> None:
    """Makes `torch.jit.script` compile its argument."""
    _enabled.enabled = True


def _get_script_class(python_class: type) -> None:
    """None: compiled classes are not registered."""
