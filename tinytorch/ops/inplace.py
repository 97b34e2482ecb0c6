"""The in-place methods that torch offers as functions too: torch.exp_(x) is x.exp_()."""
from ..tensor import Tensor

# These imports put the methods on Tensor.
from .creation import conversion  # noqa: F401
from .elementwise import arithmetic, bessel, bitwise, complex, limits, math, power, rounding, special, ternary  # noqa
from .layout import index  # noqa: F401
from .linalg import products  # noqa: F401

__all__ = [
    "abs_", "acos_", "acosh_", "arccos_", "arccosh_", "arcsin_", "arcsinh_", "arctan_", "arctanh_", "asin_",
    "asinh_", "atan_", "atanh_", "ceil_", "clamp_", "clamp_max_", "clamp_min_", "clip_", "conj_physical_",
    "cos_", "cosh_", "deg2rad_", "detach_", "erf_", "erfc_", "exp2_", "exp_", "expm1_", "fill_", "fix_", "floor_",
    "frac_", "gcd_", "i0_", "index_put_", "lcm_", "ldexp_", "log10_", "log1p_", "log2_", "log_", "logit_",
    "nan_to_num_", "neg_", "negative_", "rad2deg_", "reciprocal_", "round_", "rsqrt_", "sigmoid_", "sin_", "sinc_",
    "sinh_", "sqrt_", "square_", "tan_", "tanh_", "trunc_", "xlogy_", "zero_"]

globals().update({name: getattr(Tensor, name) for name in __all__})
