"""OpenMP, which is not used: NumPy brings its own BLAS and threads."""


def is_available():
    """False."""
    return False
