"""torch._subclasses.fake_tensor: tensors without memory. Here only tensors on the meta device have no memory."""
import contextlib

from .._refused import refused_class

__all__ = ["FakeTensor", "FakeTensorMode", "is_fake", "unset_fake_temporarily"]

FakeTensor, FakeTensorMode = [refused_class(__name__, name, "only tensors on the meta device have no memory")
                              for name in ("FakeTensor", "FakeTensorMode")]


def is_fake(x):
    """False."""
    return False


@contextlib.contextmanager
def unset_fake_temporarily():
    """A context manager that changes nothing, since there is no mode to leave. Its value is None."""
    yield None
