"""torch._dynamo.utils."""
from collections import Counter, defaultdict

from ..errors import warn
from ..missing import namespace as _namespace

__all__ = ["counters", "is_compile_supported", "warn_once"]

#: The counters of a compiler, by kind.
counters: defaultdict[str, Counter[str]] = defaultdict(Counter)
warn_once_cache: set[str] = set()


def is_compile_supported(device_type):
    """False."""
    return False


def warn_once(msg, stacklevel=1):
    """Emits a UserWarning, once for each text."""
    if msg not in warn_once_cache:
        warn_once_cache.add(msg)
        warn(msg)


__getattr__ = _namespace(__name__)
