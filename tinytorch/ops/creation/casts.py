"""The methods that convert to the dtype they are named after: float long bool ..."""
from ... import dtypes as dt
from ...autograd.public import method
from .conversion import to


@method()
def bool(self, *, memory_format=None):
    """`self.to(torch.bool)`."""
    return to(self, dtype=dt.bool, memory_format=memory_format)


@method()
def byte(self, *, memory_format=None):
    """`self.to(torch.uint8)`."""
    return to(self, dtype=dt.uint8, memory_format=memory_format)


@method()
def char(self, *, memory_format=None):
    """`self.to(torch.int8)`."""
    return to(self, dtype=dt.int8, memory_format=memory_format)


@method()
def short(self, *, memory_format=None):
    """`self.to(torch.int16)`."""
    return to(self, dtype=dt.int16, memory_format=memory_format)


@method()
def int(self, *, memory_format=None):
    """`self.to(torch.int32)`."""
    return to(self, dtype=dt.int32, memory_format=memory_format)


@method()
def long(self, *, memory_format=None):
    """`self.to(torch.int64)`."""
    return to(self, dtype=dt.int64, memory_format=memory_format)


@method()
def half(self, *, memory_format=None):
    """`self.to(torch.float16)`."""
    return to(self, dtype=dt.float16, memory_format=memory_format)


@method()
def bfloat16(self, *, memory_format=None):
    """`self.to(torch.bfloat16)`."""
    return to(self, dtype=dt.bfloat16, memory_format=memory_format)


@method()
def float(self, *, memory_format=None):
    """`self.to(torch.float32)`."""
    return to(self, dtype=dt.float32, memory_format=memory_format)


@method()
def double(self, *, memory_format=None):
    """`self.to(torch.float64)`."""
    return to(self, dtype=dt.float64, memory_format=memory_format)


@method()
def chalf(self, *, memory_format=None):
    """`self.to(torch.complex32)`."""
    return to(self, dtype=dt.complex32, memory_format=memory_format)


@method()
def cfloat(self, *, memory_format=None):
    """`self.to(torch.complex64)`."""
    return to(self, dtype=dt.complex64, memory_format=memory_format)


@method()
def cdouble(self, *, memory_format=None):
    """`self.to(torch.complex128)`."""
    return to(self, dtype=dt.complex128, memory_format=memory_format)
