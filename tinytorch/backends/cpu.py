"""The instruction set of the CPU."""


def get_cpu_capability():
    """'DEFAULT', because NumPy chooses its instructions itself."""
    return "DEFAULT"
