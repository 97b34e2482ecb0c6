"""torch._dynamo.utils."""

__all__ = ["is_compile_supported"]


def is_compile_supported(device_type):
    """False."""
    return False
