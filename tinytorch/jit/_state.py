"""torch.jit._state: whether TorchScript is at work."""
__all__: list[str] = []


class EnabledProxy:
    """Whether functions are scripted: they are not."""

    def __init__(self) -> None:
        self.enabled = False

    def __bool__(self) -> bool:
        return self.enabled


_enabled = EnabledProxy()


def disable() -> None:
    """Nothing: no function is scripted."""


enable = disable


def _get_script_class(python_class: type) -> None:
    """None: no class is scripted."""
