"""Settings of CUDA, which is not available, and the switches for the ways to compute attention, also on CPUs."""
from contextlib import contextmanager
from enum import Enum
from types import SimpleNamespace

from .._absent import refusing
from ..errors import warn
from ..ops.nn.attention import SDP_ENABLED

matmul = SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=True,
                         allow_bf16_reduced_precision_reduction=True)
#: The cache of plans for Fourier transforms on GPUs, which is empty.
cufft_plan_cache = SimpleNamespace(size=0, max_size=0)


def is_built():
    """False."""
    return False


# ------------------------------------------------------------------ attention
def _setting(name, place, enable):
    def ask():
        return SDP_ENABLED[place]

    def change(enabled):
        if not isinstance(enabled, bool):
            raise RuntimeError(f"{enable} expects a bool, but got {type(enabled).__name__}")
        SDP_ENABLED[place] = enabled
    ask.__name__ = ask.__qualname__ = f"{name}_sdp_enabled"
    ask.__doc__ = "Whether scaled_dot_product_attention may take this computation."
    change.__name__ = change.__qualname__ = f"enable_{name}_sdp"
    change.__doc__ = "Lets scaled_dot_product_attention take this computation, or does not. RuntimeError for no bool."
    return ask, change


math_sdp_enabled, enable_math_sdp = _setting("math", 0, "set_sdp_use_math")
flash_sdp_enabled, enable_flash_sdp = _setting("flash", 1, "set_sdp_use_flash")
mem_efficient_sdp_enabled, enable_mem_efficient_sdp = _setting("mem_efficient", 2, "set_sdp_use_mem_efficient")
cudnn_sdp_enabled, enable_cudnn_sdp = _setting("cudnn", 3, "set_sdp_use_cudnn")


@contextmanager
def sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """The older form of torch.nn.attention.sdpa_kernel.

    >>> import tinytorch as torch, warnings
    >>> with warnings.catch_warnings(action="ignore"), torch.backends.cuda.sdp_kernel(enable_flash=False):
    ...     torch.backends.cuda.flash_sdp_enabled(), torch.backends.cuda.math_sdp_enabled()
    (False, True)
    """
    warn("`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be removed. "
         "Please see `torch.nn.attention.sdpa_kernel()` for the new context manager, with updated signature.",
         FutureWarning)
    before = dict(SDP_ENABLED)
    try:
        SDP_ENABLED.update({0: enable_math, 1: enable_flash, 2: enable_mem_efficient, 3: enable_cudnn, 4: False})
        yield {}
    finally:
        SDP_ENABLED.update(before)


def allow_fp16_bf16_reduction_math_sdp(enabled):
    """Keeps the setting for `fp16_bf16_reduction_math_sdp_allowed`. Here attention in half precision always adds up in
    float32."""
    if not isinstance(enabled, bool):
        raise RuntimeError(f"set_sdp_use_math expects a bool, but got {type(enabled).__name__}")
    _allowed[0] = enabled


def fp16_bf16_reduction_math_sdp_allowed():
    """The setting of `allow_fp16_bf16_reduction_math_sdp`, False at first."""
    return _allowed[0]


_allowed = [False]


def is_flash_attention_available():
    """False: it is about attention on GPUs."""
    return False


def is_ck_sdpa_available():
    """False."""
    return False


def can_use_flash_attention(params, debug=False):
    """False: it is about attention on GPUs."""
    return False


can_use_efficient_attention = can_use_cudnn_attention = can_use_flash_attention


# ------------------------------------------------------------------ libraries
_LinalgBackend = Enum("_LinalgBackend", "Default Cusolver Magma", start=0, module=__name__)
_BlasBackend = Enum("_BlasBackend", "Default Cublas Cublaslt Ck", start=0, module=__name__)
_ROCmFABackend = Enum("_ROCmFABackend", "Default AOTriton Ck", start=0, module=__name__)


def _preferred(name, kind, known, first):
    chosen = [first]

    def function(backend=None):
        if isinstance(backend, str):
            if backend not in known:
                raise RuntimeError(f"Unknown input value. Choose from: {', '.join(known)}.")
            chosen[0] = known[backend]
        elif backend is not None:
            if not isinstance(backend, kind):
                raise RuntimeError("Unknown input value type.")
            chosen[0] = backend
        return chosen[0]
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Which library of GPUs was asked for, and is from now on: it changes nothing."
    return function


preferred_linalg_library = _preferred("preferred_linalg_library", _LinalgBackend, {
    "default": _LinalgBackend.Default, "cusolver": _LinalgBackend.Cusolver, "magma": _LinalgBackend.Magma},
    _LinalgBackend.Default)
preferred_blas_library = _preferred("preferred_blas_library", _BlasBackend, {
    "default": _BlasBackend.Cublas, "cublas": _BlasBackend.Cublas, "hipblas": _BlasBackend.Cublas,
    "cublaslt": _BlasBackend.Cublaslt, "hipblaslt": _BlasBackend.Cublaslt, "ck": _BlasBackend.Ck}, _BlasBackend.Cublas)
preferred_rocm_fa_library = _preferred("preferred_rocm_fa_library", _ROCmFABackend, {
    "default": _ROCmFABackend.Default, "aotriton": _ROCmFABackend.AOTriton, "ck": _ROCmFABackend.Ck},
    _ROCmFABackend.Default)

globals().update(refusing(__name__, """SDPAParams blas_workspace_size cuBLASModule cuFFTPlanCache
    cuFFTPlanCacheAttrContextProp cuFFTPlanCacheManager cublas_workspace_size cublaslt_workspace_size""".split(),
    AssertionError, "Torch not compiled with CUDA enabled"))
