"""torch.utils.flop_counter: operations are not counted."""
from .._refused import refused

__all__ = ["FlopCounterMode", "register_flop_formula"]

_REASON = "there is no __torch_dispatch__, which counts operations in torch"
register_flop_formula = refused(__name__, "register_flop_formula", _REASON)


class FlopCounterMode:
    """A counter that counts nothing. NotImplementedError when it is entered."""

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        self.mods, self.depth, self.display = mods, depth, display

    def get_total_flops(self):
        """0: nothing was counted."""
        return 0

    def get_flop_counts(self):
        """None for any module: nothing was counted."""
        return {"Global": {}}

    def __enter__(self):
        raise NotImplementedError(f"torch.utils.flop_counter.FlopCounterMode is not supported: {_REASON}")

    def __exit__(self, *error):
        """Nothing."""
