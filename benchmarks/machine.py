"""The machine on which figures were measured: it is printed above them, and stored with them in the JSON files."""
import ctypes
import os
import platform
import re
import sysconfig
from importlib.metadata import version
from pathlib import Path

import numpy


def processor():
    """The processor's name."""
    if os.path.exists("/proc/cpuinfo"):
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
        if found:
            return found.group(1)
    return platform.processor()


def blas_kernels():
    """The processor for which NumPy's OpenBLAS has chosen its kernels; "unknown" for another BLAS."""
    try:
        path = next(Path(numpy.__file__).parent.with_name("numpy.libs").glob("libscipy_openblas*"))
        name = ctypes.CDLL(str(path)).scipy_openblas_get_corename64_
        name.restype = ctypes.c_char_p
        return name().decode()
    except (StopIteration, OSError, AttributeError):
        return "unknown"


def facts(*libraries):
    """The facts about the machine as a dict of JSON values, with the versions of these libraries."""
    return {"processor": processor(), "cores": os.cpu_count(), "system": platform.system(),
            "python": platform.python_version(),
            "python optimised": "--enable-optimizations" in str(sysconfig.get_config_var("CONFIG_ARGS")),
            "blas kernels": blas_kernels(), "OPENBLAS_CORETYPE": os.environ.get("OPENBLAS_CORETYPE"),
            "versions": {name: version(name) for name in ("numpy", *libraries)}}


def sentence(facts):
    """`facts` in words."""
    built = "with" if facts["python optimised"] else "without"
    chosen = facts["OPENBLAS_CORETYPE"]
    chosen = f"set by OPENBLAS_CORETYPE={chosen}" if chosen else "its own choice, OPENBLAS_CORETYPE not set"
    others = dict(facts["versions"])
    return ", ".join([facts["processor"], f"{facts['cores']} cores", facts["system"],
                      f"Python {facts['python']} (built {built} --enable-optimizations)",
                      f"NumPy {others.pop('numpy')} (BLAS kernels: {facts['blas kernels']}, {chosen})",
                      *(f"{name} {number}" for name, number in others.items())])
