"""oneDNN, which is not used. Its setting has no effect."""

enabled = True


def is_available():
    """False."""
    return False
