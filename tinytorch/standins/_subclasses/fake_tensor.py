"""torch._subclasses.fake_tensor: tensors without memory. tinytorch has them on the device meta alone."""
import contextlib

from .._refused import refused_class

__all__ = ["FakeTensor", "FakeTensorMode", "is_fake", "unset_fake_temporarily"]

FakeTensor, FakeTensorMode = [refused_class(__name__, name, "tensors without memory are those on the device meta")
                              for name in ("FakeTensor", "FakeTensorMode")]


def is_fake(x):
    """False."""
    return False


@contextlib.contextmanager
def unset_fake_temporarily():
    """Context manager: nothing, for there is no mode to leave; it gives None."""
    yield None
