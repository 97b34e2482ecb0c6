"""cuSPARSELt, which is not available."""

__all__ = ["get_max_alg_id", "is_available", "version"]


def is_available():
    """False."""
    return False


def version():
    """None."""
    return None


def get_max_alg_id():
    """None."""
    return None
