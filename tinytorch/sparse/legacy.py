"""torch.sparse.FloatTensor and its like, the constructors from before `torch.sparse_coo_tensor`."""
from .. import dtypes as dt
from ..errors import kind_of
from ..tensor import Size, Tensor
from .construction import coo
from .tensor import SparseTensor

__all__ = ["BFloat16Tensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor",
           "LongTensor", "ShortTensor"]


class sparsetype(type):
    """The metaclass of these names: FloatTensor(indices, values, size), or FloatTensor(2, 3) for a tensor without
    elements. The dtype of given values wins over the dtype in the name."""

    def __call__(cls, *args, device=None):
        if len(args) in (2, 3) and isinstance(args[0], Tensor) and isinstance(args[1], Tensor):
            if args[0].dtype is not dt.int64:
                raise RuntimeError("indices must be an int64 tensor")
            return coo(*args, device=device)
        if len(args) == 1 and isinstance(args[0], (tuple, list)) and not isinstance(args[0], Size):
            raise TypeError("torch.sparse.SparseTensor(sequence) only accepts sizes.  Please use "
                            "torch.sparse_coo_tensor() or construct a strided tensor and convert it to sparse via "
                            "to_sparse.")
        size = args[0] if args and isinstance(args[0], Size) else args or (0,)
        if not all([type(n) is int for n in size]):
            raise TypeError("new() received an invalid combination of arguments - got "
                            f"({', '.join(map(kind_of, args))})")
        return coo(size, dtype=cls.dtype, device=device)

    def __instancecheck__(cls, x):
        return isinstance(x, SparseTensor) and x.is_sparse and x.dtype is cls.dtype

    def __repr__(cls):
        return f"<class 'torch.sparse.{cls.__name__}'>"


_DTYPES = {d.tensor_type: d for d in dt.ALL}
FloatTensor, DoubleTensor, HalfTensor, BFloat16Tensor, ByteTensor, CharTensor, ShortTensor, IntTensor, LongTensor = [
    sparsetype(name, (), {"dtype": _DTYPES[name], "is_sparse": True,
                          "__doc__": f"Sparse tensors of dtype {_DTYPES[name]!r}, and their constructor."})
    for name in ("FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor", "ByteTensor", "CharTensor",
                 "ShortTensor", "IntTensor", "LongTensor")]
