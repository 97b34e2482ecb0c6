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
    """Has `torch.jit.script` give back what it is given."""
    _enabled.enabled = False


def enable() -> None:
    """Has `torch.jit.script` compile what it is given."""
    _enabled.enabled = True


def _get_script_class(python_class: type) -> None:
    """None: no class is scripted."""
