"""Intel MKL, which is not used directly: matrix products call the BLAS of NumPy."""


def is_available():
    """False."""
    return False


VERBOSE_OFF, VERBOSE_ON = 0, 1


class verbose:
    """A context without effect, because there is no MKL whose calls could be printed."""

    def __init__(self, enable):
        self.enable = enable

    def __enter__(self):
        """The context."""
        return self

    def __exit__(self, *error):
        """False."""
        return False
