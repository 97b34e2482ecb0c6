"""KleidiAI, which is not available."""


def is_available():
    """False."""
    return False
