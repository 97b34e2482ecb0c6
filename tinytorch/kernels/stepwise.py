"""bfloat16 arithmetic that rounds after every step, as NumPy's float16 does.

Other ops of bfloat16 are computed in float32 and rounded once. Some of torch's kernels compute in the dtype itself:
their formulas are applied to `stepwise` arrays here.
"""
import numpy as np

from .. import dtypes as dt


class _Stepwise(np.lib.mixins.NDArrayOperatorsMixin):
    def __init__(self, wide):
        self.wide = wide

    def __array_ufunc__(self, ufunc, method, *inputs):
        result = ufunc(*[x.wide if isinstance(x, _Stepwise) else _rounded(np.float32(x)) for x in inputs])
        return _Stepwise(_rounded(result)) if result.dtype == np.float32 else result


def _rounded(x):
    return dt.from_bfloat16(dt.to_bfloat16(x))


def stepwise(array):
    """An operand for a formula: for a bfloat16 array an object that rounds after every ufunc, else the array itself."""
    return _Stepwise(dt.from_bfloat16(array)) if array.dtype == dt.BFLOAT16 else array


def plain(result):
    """The result of a formula as an array."""
    return dt.to_bfloat16(result.wide) if isinstance(result, _Stepwise) else result
