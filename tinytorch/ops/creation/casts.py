"""The methods that convert to the dtype of their name: float long bool ..."""
from ... import dtypes as dt
from ...autograd.public import method
from .conversion import to

#: Method -> dtype.
CASTS = {"bool": dt.bool, "byte": dt.uint8, "char": dt.int8, "bfloat16": dt.bfloat16, **dt.ALIASES}


def _cast(name, dtype):
    def convert(self, *, memory_format=None):
        return to(self, dtype=dtype, memory_format=memory_format)
    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"`self.to({dtype})`."
    method()(convert)


for _name, _dtype in CASTS.items():
    _cast(_name, _dtype)
