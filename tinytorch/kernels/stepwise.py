"""bfloat16 arithmetic that rounds after every step, as NumPy's float16 does.

An op of bfloat16 is otherwise computed in float32 and rounded once. Some of torch's kernels compute in the dtype
itself: a formula for their arrays is one for `stepwise` arrays too.
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
    """An array to be put into a formula: a bfloat16 one rounds after every ufunc. Others are as they are."""
    return _Stepwise(dt.from_bfloat16(array)) if array.dtype == dt.BFLOAT16 else array


def plain(result):
    """The array that a formula gave."""
    return dt.to_bfloat16(result.wide) if isinstance(result, _Stepwise) else result
