"""Settings of glibc's allocator, which provides the memory of arrays.

By default glibc gives every block over 128 KiB back to the kernel when it is freed, so that the pages of
each temporary array are faulted in again. Keeping freed blocks makes a small CNN's training step more
than twice as fast. Arrays over 32 MiB are still returned at once, and the free top of the heap
beyond 512 MiB is trimmed.

The thresholds are set once, at import, for the whole process. With TINYTORCH_MALLOC=0 in the environment,
or without glibc, they are left alone.
"""
import os

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3     # glibc's malloc.h
MMAP_THRESHOLD, TRIM_THRESHOLD = 32 << 20, 512 << 20


def keep_freed_memory():
    """Sets glibc's thresholds. Returns whether they were set."""
    if os.environ.get("TINYTORCH_MALLOC") == "0" or os.name != "posix":
        return False
    try:
        import ctypes
        libc = ctypes.CDLL(None)
        if not hasattr(libc, "gnu_get_libc_version"):          # another libc numbers these options differently
            return False
        return bool(libc.mallopt(_M_MMAP_THRESHOLD, MMAP_THRESHOLD) and libc.mallopt(_M_TRIM_THRESHOLD, TRIM_THRESHOLD))
    except (ImportError, OSError, AttributeError):
        return False
