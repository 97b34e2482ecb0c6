"""oneDNN, which is not used; its switch can be set, and changes nothing."""

enabled = True


def is_available():
    """False."""
    return False
