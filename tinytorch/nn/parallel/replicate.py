"""replicate."""

__all__ = ["replicate"]


def replicate(network, devices, detach=False):
    """Copies of a module on accelerators: AssertionError, since it is on the CPU."""
    raise AssertionError("Broadcast function not implemented for CPU tensors")
