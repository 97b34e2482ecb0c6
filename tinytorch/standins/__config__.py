"""torch.__config__: the configuration of this build."""
import os

import numpy as np

from .kernels import native
from .runtime import get_num_interop_threads, get_num_threads
from .version import __version__

__all__ = ["parallel_info", "show"]


def show():
    """A text with the versions and the native kernels."""
    level = native.level()
    absent = "" if level or os.environ.get("TINYTORCH_NATIVE") == "0" else f"    {native.ABSENT}\n"
    return f"tinytorch {__version__}\n  - NumPy {np.__version__}\n  - native kernels: {level}\n{absent}  - CPU alone\n"


def parallel_info():
    """A text with the numbers of threads."""
    return (f"at::get_num_threads() : {get_num_threads()}\n"
            f"at::get_num_interop_threads() : {get_num_interop_threads()}\n"
            f"native kernels : {native.level()}\n")


def _cxx_flags():
    return ""
