"""NumPy's functions of each element, for arrays whose elements several threads share."""
import numpy as np

from . import native
from .threads import number, split

#: Fewer elements than these are never shared.
FEW = 2 * native.ONE_PIECE
_NUMBERS = int, float, complex
_PLAIN = np.ndarray, *_NUMBERS
#: Without the library: from so many elements on a ufunc of some nanoseconds each is worth sharing.
_MANY = 1 << 18


def shared(ufunc, *operands):
    """ufunc(*operands), on several threads if the first array, or the one after a single number, is large. An array to
    write to may be the last operand. The ufunc must round an element in the same way at any position."""
    x = operands[0]
    if x.__class__ in _NUMBERS or not x.ndim and len(operands) > 1 and operands[1].__class__ is np.ndarray:
        x = operands[1]
    if x.size < FEW or number() == 1 or type(ufunc) is not np.ufunc or any([type(x) not in _PLAIN for x in operands]):
        return ufunc(*operands)
    if native.level() is not None:
        return native.divided(ufunc, *operands)(*operands)
    if len(operands) > 1 or x.size < _MANY or x.dtype.char not in "efd" or not x.flags.c_contiguous:
        return ufunc(*operands)
    flat = x.reshape(-1)
    result = np.empty(x.shape, ufunc(flat[:1]).dtype)
    out = result.reshape(-1)
    split(x.size, lambda first, last: ufunc(flat[first:last], out[first:last]))
    return result
