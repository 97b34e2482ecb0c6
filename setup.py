"""Builds the native kernels where there is a compiler; what else the project is stands in pyproject.toml.

They are no extension modules: plain libraries of C that are built without Python's headers, one for each set of
instructions, which tinytorch/kernels/native loads. One build serves every Python. Without a compiler, and with
TINYTORCH_NATIVE=0 in the environment, there are none, and NumPy does what they would; TINYTORCH_NATIVE=1 demands them.
"""
import os
import platform
import re
import runpy
import shlex
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

FOLDER = Path("tinytorch/kernels/native")
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
GNU = ["-std=gnu11", "-O3", "-g0", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden",
       "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Wno-pass-failed"]


def target():
    """The processor that the compiler compiles for: another one than the machine's where it is a cross compiler, and
    where programs of 32 bits run on a kernel of 64."""
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    try:
        told = subprocess.check_output([*shlex.split(compiler), "-dumpmachine"], stderr=subprocess.DEVNULL, text=True)
    except (OSError, subprocess.CalledProcessError):
        return platform.machine().lower()
    return told.partition("-")[0].strip()


#: Sets of instructions by the names in `LEVELS` there: what GCC and Clang are told, and what MSVC is.
LEVELS = {"baseline": ([], [])}
if target() in ("x86_64", "amd64"):
    LEVELS["avx2"] = ["-mavx2", "-mfma", "-mf16c"], ["/arch:AVX2"]
    LEVELS["avx512"] = ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mfma", "-mprefer-vector-width=512"], [
        "/arch:AVX512"]
elif re.fullmatch("i[3-6]86|x86", target()):   # else it rounds to 80 bits, and where it likes
    LEVELS["baseline"] = ["-msse2", "-mfpmath=sse"], []


class build_libraries(build_ext):
    """Compiles and links without Python's headers and libraries."""

    def build_extension(self, ext):
        level = ext.name.rpartition("_")[2]
        microsoft = self.compiler.compiler_type == "msvc"
        arguments = ["/O2", "/std:c11", *LEVELS[level][1]] if microsoft else [*GNU, *LEVELS[level][0]]
        made = Path(self.build_temp, level, "entries.c")
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(runpy.run_path(str(FOLDER / "table.py"))["entries"]())

        def compiled(source):
            return self.compiler.compile([source], output_dir=f"{self.build_temp}/{level}", depends=ext.depends,
                                         include_dirs=[str(FOLDER)], extra_postargs=arguments)
        # Several files at once; those first that take longest, as their sizes tell.
        sources = sorted([*ext.sources, str(made)], key=lambda path: -Path(path).stat().st_size)
        with ThreadPoolExecutor(1 if microsoft else CORES) as pool:
            objects = sorted(sum(pool.map(compiled, sources), []))
        self.compiler.link_shared_object(objects, self.get_ext_fullpath(ext.name),
                                         libraries=[] if microsoft else ["m", "pthread"])

    def get_ext_filename(self, name):
        return name.replace(".", os.sep) + (".dll" if os.name == "nt" else ".so")


try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:                            # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel


class any_python(bdist_wheel):
    """A wheel for every Python 3 of the platform; of any platform (py3-none-any) if there are no kernels in it, whether
    none were wanted or none could be built."""

    def run(self):
        self.run_command("build")
        built = Path(self.get_finalized_command("build").build_lib, *FOLDER.parts)
        if not any(built.glob("library_*")):
            self.distribution.ext_modules, self.root_is_pure = None, True
        super().run()

    def get_tag(self):
        _, _, system = super().get_tag()
        return "py3", "none", "any" if self.root_is_pure else system


setting = os.environ.get("TINYTORCH_NATIVE")
sources, depends = [sorted(map(str, FOLDER.glob(kind))) for kind in ("*.c", "*.[hp]*")]
native = [] if setting == "0" else [
    Extension(f"tinytorch.kernels.native.library_{level}", sources, depends=depends, optional=setting != "1")
    for level in LEVELS]
setup(ext_modules=native, cmdclass={"build_ext": build_libraries, "bdist_wheel": any_python})
