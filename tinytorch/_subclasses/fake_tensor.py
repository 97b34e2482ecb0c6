"""torch._subclasses.fake_tensor: tensors without memory, of which there are none."""
from .._refused import refused_class

__all__ = ["FakeTensor", "FakeTensorMode", "is_fake"]

FakeTensor, FakeTensorMode = [refused_class(__name__, name, "every tensor has memory")
                              for name in ("FakeTensor", "FakeTensorMode")]


def is_fake(x):
    """False."""
    return False
