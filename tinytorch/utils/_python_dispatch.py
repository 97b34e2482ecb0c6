"""torch.utils._python_dispatch: modes below the public functions, which are not supported."""
import contextlib

from .._refused import refused
from ..missing import namespace as _namespace

_REASON = "there is no __torch_dispatch__"
return_and_correct_aliasing, transform_subclass = [
    refused(__name__, name, _REASON) for name in ("return_and_correct_aliasing", "transform_subclass")]


class TorchDispatchMode:
    """Not supported: `__torch_dispatch__` gets the operations inside functions, and these are NumPy's here.
    `torch.overrides.TorchFunctionMode` gets the public functions.

    NotImplementedError when it is entered.
    """

    def __enter__(self):
        raise NotImplementedError("TorchDispatchMode is not supported: use torch.overrides.TorchFunctionMode, which "
                                  "sees every public function")

    def __exit__(self, exc_type, exc_val, exc_tb):
        """Does nothing: the mode cannot be entered."""


def is_in_torch_dispatch_mode(include_infra_modes=True):
    """False."""
    return False


def is_traceable_wrapper_subclass(t):
    """False: no tensor wraps others."""
    return False


def _get_current_dispatch_mode():
    """None."""
    return None


def _get_current_dispatch_mode_stack():
    """The empty list."""
    return []


@contextlib.contextmanager
def _disable_current_modes():
    """A context that changes nothing. Its value is the list of the modes that it ends, which is empty."""
    yield []


__getattr__ = _namespace(__name__)
