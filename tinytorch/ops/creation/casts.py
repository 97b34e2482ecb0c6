"""The methods that convert to the dtype of their name: float long bool ..."""
from ... import dtypes as dt
from ...autograd.op import unwatched
from ...autograd.public import method
from ...kernels.errstate import quiet
from ...kernels.layout import as_array
from ...tensor import Tensor, wrap
from .conversion import recast, to

#: Method -> dtype.
CASTS = {"bool": dt.bool, "byte": dt.uint8, "char": dt.int8, "bfloat16": dt.bfloat16, **dt.ALIASES}


_quietly = quiet()


def _cast(name, dtype):
    target = dtype.numpy

    def convert(self, *, memory_format=None):
        if memory_format is None and isinstance(self, Tensor) and unwatched(self):
            array = self._array
            own = array.dtype
            if own is not target and own != target and own.kind not in dt.COMPLEX and array.flags.c_contiguous:
                return wrap(as_array(_quietly(recast, array, target)))
        return to(self, dtype=dtype, memory_format=memory_format)
    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"`self.to({dtype})`."
    method(repeats=True)(convert)


for _name, _dtype in CASTS.items():
    _cast(_name, _dtype)
