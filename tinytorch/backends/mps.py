"""Apple's GPU, which is not used."""


def is_available():
    """False."""
    return False


def is_built():
    """False."""
    return False


def is_macos_or_newer(major, minor):
    """RuntimeError: there is no such device."""
    raise RuntimeError("Cannot execute isOnMacOSorNewer() without MPS backend.")


def is_macos13_or_newer(minor=0):
    """RuntimeError: there is no such device."""
    is_macos_or_newer(13, minor)


def get_name():
    """RuntimeError: there is no such device."""
    raise RuntimeError("MPS is not available")


get_core_count = get_name
