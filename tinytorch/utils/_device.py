"""The device on which functions that make tensors put them unless told: `with torch.device("meta")`, and what
torch.set_default_device sets."""
import threading

from ..autograd.deep import OWN
from ..autograd.torch_function import note_modes, state
from ..device import CPU
from ..overrides import TorchFunctionMode

__all__ = ["DeviceContext"]


class DeviceContext(TorchFunctionMode):
    """A mode in which functions that make tensors are told a device, where nothing tells them one."""

    def __init__(self, device):
        self.device = device

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        record = getattr(func, "record", None)
        if record is not None and kwargs.get("device") is None and record.on_default_device():
            kwargs["device"] = self.device
        return func(*args, **kwargs)


class _Entered(threading.local):
    """Of this thread: for each `with device` the device and the modes around it, and the default."""

    def __init__(self):
        self.contexts, self.default = [], None


_entered = _Entered()
OWN.append(_entered)                           # a backward that goes on in another thread takes it there


def _at_work():
    return [mode for mode in state.modes if isinstance(mode, DeviceContext)]


def enter(device):
    """Begin `with device:`."""
    context = None if device == CPU and not _at_work() else DeviceContext(device)
    _entered.contexts.append((device, list(state.modes)))
    if context is not None:
        state.modes.append(context)            # late: there is no `__exit__` after an interrupt
        note_modes()


def leave(device):
    """End the `with device:` of that device that was begun last, and what an interrupt has left of later ones."""
    while _entered.contexts:
        begun, around = _entered.contexts.pop()
        if begun is device:
            state.modes[:] = around
            note_modes()
            break


def current():
    """The device of the innermost context, else the default one."""
    contexts = _at_work()
    return contexts[-1].device if contexts else CPU


def set_default(device):
    """Make a device the default of this thread, below every context; the CPU or None: no device is told."""
    if _entered.default is not None:
        state.modes.remove(_entered.default)
        _entered.default = None
    if device is not None and device != CPU:
        _entered.default = DeviceContext(device)
        state.modes.insert(0, _entered.default)
    note_modes()
