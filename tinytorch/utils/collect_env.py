"""torch.utils.collect_env: what somebody who reads a report of an error wants to know.

    python -m tinytorch -m torch.utils.collect_env
"""
import platform
import sys

import numpy as np

from ..runtime import get_num_threads
from ..version import __version__

__all__ = ["get_pretty_env_info", "main"]


def get_pretty_env_info():
    """Versions and the machine, a line each."""
    return "\n".join([f"PyTorch version: {__version__} (tinytorch on NumPy)", "Is debug build: False",
                      "CUDA used to build PyTorch: None", f"OS: {platform.platform()}",
                      f"Python version: {sys.version}", "Is CUDA available: False",
                      f"Threads: {get_num_threads()}", f"[pip3] numpy=={np.__version__}"])


def main():
    """Prints it."""
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
