"""torch.cuda.amp: the older names of torch.amp for "cuda"."""
import warnings

from ...errors import warn
from ... import amp, dtypes as dt
from ...missing import namespace as _namespace

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

__getattr__ = _namespace(__name__, ("autocast_mode", "common", "grad_scaler"))


def _warn(name, instead):
    warn(f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use `torch.amp.{instead})` instead.",
         FutureWarning)


class autocast(amp.autocast):
    """torch.autocast("cuda"), which warns that there is no CUDA and does nothing."""

    def __init__(self, enabled=True, dtype=dt.float16, cache_enabled=True):
        _warn("autocast", "autocast('cuda', args...")
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """torch.amp.GradScaler("cuda"), which warns that there is no CUDA and does nothing."""

    def __init__(self, init_scale=2.0 ** 16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        _warn("GradScaler", "GradScaler('cuda', args...")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd=None, *, cast_inputs=None):
    """torch.amp.custom_fwd for "cuda"."""
    _warn("custom_fwd", "custom_fwd(args..., device_type='cuda'")
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd):
    """torch.amp.custom_bwd for "cuda"."""
    _warn("custom_bwd", "custom_bwd(args..., device_type='cuda'")
    return amp.custom_bwd(bwd, device_type="cuda")
