"""torch.utils.cpp_extension: names to import. PyTorch's C++ library, which extensions need, is not here."""
from .._refused import refused, refused_class

__all__ = ["BuildExtension", "CUDAExtension", "CUDA_HOME", "CppExtension", "IS_WINDOWS", "ROCM_HOME",
           "get_default_build_root", "include_paths", "library_paths", "load", "load_inline",
           "verify_ninja_availability"]

_REASON = "extensions need PyTorch's C++ library"
CUDA_HOME = ROCM_HOME = None
IS_HIP_EXTENSION = IS_WINDOWS = False

load, load_inline, CUDAExtension, CppExtension, include_paths, library_paths, verify_ninja_availability, \
    get_default_build_root, check_compiler_ok_for_platform = [refused(__name__, name, _REASON) for name in (
        "load", "load_inline", "CUDAExtension", "CppExtension", "include_paths", "library_paths",
        "verify_ninja_availability", "get_default_build_root", "check_compiler_ok_for_platform")]


class BuildExtension(refused_class(__name__, "BuildExtension", _REASON)):
    """NotImplementedError when an instance is made."""

    @classmethod
    def with_options(cls, **options):
        """The class itself, whose instances cannot be made."""
        return cls


def is_ninja_available():
    """False: nothing is built."""
    return False
