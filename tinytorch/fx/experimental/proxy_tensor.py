"""torch.fx.experimental.proxy_tensor: nothing is traced here."""
from ..._refused import refused

__all__ = ["get_proxy_mode", "make_fx", "maybe_disable_fake_tensor_mode"]

make_fx = refused(__name__, "make_fx", "graphs of symbolic operations are not built here")


def get_proxy_mode():
    """None: nothing is being traced."""


class maybe_disable_fake_tensor_mode:
    """A context that changes nothing."""

    def __enter__(self):
        """Nothing."""

    def __exit__(self, *error):
        """Nothing."""
