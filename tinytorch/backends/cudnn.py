"""Settings of cuDNN, which is not available. They have no effect."""
from contextlib import contextmanager

enabled, deterministic, benchmark, allow_tf32, benchmark_limit = True, False, False, True, None


def is_available():
    """False."""
    return False


def version():
    """None."""
    return None


@contextmanager
def flags(enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True):
    """Context manager with these settings."""
    given = {"enabled": enabled, "benchmark": benchmark, "benchmark_limit": benchmark_limit,
             "deterministic": deterministic, "allow_tf32": allow_tf32}
    module = globals()
    before = {name: module[name] for name in given}
    module.update(given)
    try:
        yield
    finally:
        module.update(before)
