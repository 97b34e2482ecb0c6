"""torch.cpu: the CPU as a device."""

from ..missing import namespace as _namespace

__all__ = ["Event", "Stream", "StreamContext", "current_device", "current_stream", "device_count", "is_available",
           "is_initialized", "set_device", "stream", "synchronize"]


def is_available():
    """True."""
    return True


def is_initialized():
    """True."""
    return True


def device_count():
    """1."""
    return 1


def current_device():
    """'cpu'."""
    return "cpu"


def set_device(device):
    """Does nothing: there is one CPU."""


def synchronize(device=None):
    """Does nothing: every operation has finished when it returns."""


class Stream:
    """The only stream of operations. Every operation has finished when it returns."""

    def __init__(self, priority=-1):
        self.priority = priority

    def wait_stream(self, stream):
        """Nothing: there is nothing to wait for."""

    def synchronize(self):
        """Nothing: there is nothing to wait for."""


class Event:
    """A point in the stream of operations. It has passed as soon as it is recorded."""

    def record(self, stream=None):
        """Does nothing."""

    def query(self):
        """True: every operation has finished."""
        return True

    def synchronize(self):
        """Nothing: there is nothing to wait for."""

    def wait(self, stream=None):
        """Nothing: there is nothing to wait for."""


class StreamContext:
    """A context that changes nothing."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        """Nothing."""

    def __exit__(self, type, value, traceback):
        """Nothing."""


_STREAM = Stream()


def current_stream(device=None):
    """The only stream."""
    return _STREAM


def stream(stream):
    """A context that changes nothing."""
    return StreamContext(stream)


__getattr__ = _namespace(__name__, ("amp",))
