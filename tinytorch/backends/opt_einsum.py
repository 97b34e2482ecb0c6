"""opt_einsum, a library that torch.einsum uses to choose the order of products. It is not used here."""

enabled, strategy = False, None


def is_available():
    """False."""
    return False


def get_opt_einsum():
    """None."""
    return None
