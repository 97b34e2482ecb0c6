"""torch.utils.collect_env: information on the environment for reports of errors.

    python -m tinytorch -m torch.utils.collect_env
"""
import platform
import sys

import numpy as np

from ..runtime import get_num_threads
from ..version import __version__

__all__ = ["get_pretty_env_info", "main"]


def get_pretty_env_info():
    """The versions and the machine, one a line."""
    return "\n".join([f"PyTorch version: {__version__} (tinytorch on NumPy)", "Is debug build: False",
                      "CUDA used to build PyTorch: None", f"OS: {platform.platform()}",
                      f"Python version: {sys.version}", "Is CUDA available: False",
                      f"Threads: {get_num_threads()}", f"[pip3] numpy=={np.__version__}"])


def main():
    """Prints the information."""
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
