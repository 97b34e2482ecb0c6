"""What instructions the CPU offers."""


def get_cpu_capability():
    """'DEFAULT': NumPy picks its instructions itself."""
    return "DEFAULT"
