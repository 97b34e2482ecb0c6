"""The default device of functions that make tensors: `with torch.device("meta")` and torch.set_default_device."""
import threading

from ..autograd.deep import OWN
from ..autograd.torch_function import note_modes, state
from ..device import CPU
from ..overrides import TorchFunctionMode

__all__ = ["DeviceContext"]


class DeviceContext(TorchFunctionMode):
    """A mode that passes a device to functions that make tensors, unless the call names a device."""

    def __init__(self, device):
        self.device = device

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        record = getattr(func, "record", None)
        if record is not None and kwargs.get("device") is None and record.on_default_device():
            kwargs["device"] = self.device
        return func(*args, **kwargs)


class _Entered(threading.local):
    """The state of a thread: (device, modes around it) for each open `with device`, and the default device."""

    def __init__(self):
        self.contexts, self.default = [], None


_entered = _Entered()
OWN.append(_entered)                           # a backward in another thread gets a copy


def _at_work():
    return [mode for mode in state.modes if isinstance(mode, DeviceContext)]


def enter(device):
    """Begins a `with device:`."""
    context = None if device == CPU and not _at_work() else DeviceContext(device)
    _entered.contexts.append((device, list(state.modes)))
    if context is not None:
        state.modes.append(context)            # last: `__exit__` does not run if an interrupt comes before
        note_modes()


def leave(device):
    """Ends the last open `with device:` of this device, and later ones that an interrupt has left open."""
    while _entered.contexts:
        begun, around = _entered.contexts.pop()
        if begun is device:
            state.modes[:] = around
            note_modes()
            break


def current():
    """The device of the innermost context, or else the default device."""
    contexts = _at_work()
    return contexts[-1].device if contexts else CPU


def set_default(device):
    """Sets the default device of this thread, which every context overrides. The CPU or None: no device is passed."""
    if _entered.default is not None:
        state.modes.remove(_entered.default)
        _entered.default = None
    if device is not None and device != CPU:
        _entered.default = DeviceContext(device)
        state.modes.insert(0, _entered.default)
    note_modes()
