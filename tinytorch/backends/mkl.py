"""Intel MKL, which is not used: NumPy brings its own BLAS and threads."""


def is_available():
    """False."""
    return False


VERBOSE_OFF, VERBOSE_ON = 0, 1


class verbose:
    """A context that changes nothing: there is no MKL to tell what it does."""

    def __init__(self, enable):
        self.enable = enable

    def __enter__(self):
        """The context."""
        return self

    def __exit__(self, *error):
        """False."""
        return False
