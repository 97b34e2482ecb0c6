"""replicate."""

__all__ = ["replicate"]


def replicate(network, devices, detach=False):
    """Copy a module to accelerators. AssertionError, since it is on the CPU."""
    raise AssertionError("Broadcast function not implemented for CPU tensors")
