"""opt_einsum, a library that torch.einsum would ask for the order of its products. It is not asked here."""

enabled, strategy = False, None


def is_available():
    """False."""
    return False


def get_opt_einsum():
    """None."""
    return None
