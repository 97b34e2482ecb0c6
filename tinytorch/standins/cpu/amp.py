"""torch.cpu.amp: the former name of torch.amp for "cpu"."""

from .. import amp, dtypes as dt
from ..errors import warn

__all__ = ["GradScaler", "autocast"]


def _warn(name, instead):
    warn(f"`torch.cpu.amp.{name}(args...)` is deprecated. Please use `torch.amp.{instead}, args...)` instead.",
         FutureWarning)


class autocast(amp.autocast):
    """torch.autocast("cpu")."""

    def __init__(self, enabled=True, dtype=dt.bfloat16, cache_enabled=True):
        _warn("autocast", "autocast('cpu'")
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """torch.amp.GradScaler("cpu")."""

    def __init__(self, init_scale=2.0 ** 16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        _warn("GradScaler", "GradScaler('cpu'")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
