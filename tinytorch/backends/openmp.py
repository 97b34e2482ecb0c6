"""OpenMP, which is not used: the native kernels share work among threads of their own."""


def is_available():
    """False."""
    return False
