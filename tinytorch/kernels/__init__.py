"""Routines from ndarrays to ndarrays, on which the ops are built. Apart from expressions.py no file knows a Tensor."""
from .later import namespace as _namespace

__getattr__ = _namespace(
    __name__, "arrange erf fourier gamma grid_sample halves incomplete_gamma masks modified_bessel norm norm_steps"
              " order pool scan softmax")
