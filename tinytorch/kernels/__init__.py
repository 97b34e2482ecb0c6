"""Routines from ndarrays to ndarrays, on which the ops are built. Apart from expressions.py no file knows a Tensor."""
from .later import namespace as _namespace

__getattr__ = _namespace(
    __name__, "fourier grid_sample incomplete_gamma modified_bessel norm norm_steps order pool softmax")
