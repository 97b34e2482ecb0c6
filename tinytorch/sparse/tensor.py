"""SparseTensor, a Tensor whose `_array` is a SparseArray, and how operations on it are recorded."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..autograd.grad_mode import all_threads, mode
from ..autograd.node import ANS, Op, new_node
from ..autograd.outputs import NOTHING
from ..autograd.promotion import write_out
from ..autograd.torch_function import disabled
from ..autograd.views import refresh
from ..errors import SparseOperandError, refuse_sparse
from ..kinds.table import Kind
from ..memory_format import sparse_coo, sparse_csr
from ..seam import UNSEEN
from ..tensor import Tensor, as_torch_does, new_instance, new_tensor_state, wrap
from .array import SparseArray


class SparseTensor(Tensor):
    """A tensor that holds only its non-zero elements: the result of `torch.sparse_coo_tensor` and its like.

    Functions without a sparse form raise NotImplementedError.
    """

    __torch_function__ = disabled              # the library's own class, not a user's

    @property
    def layout(self):
        return self._array.layout

    @property
    def is_sparse(self):
        return self._array.layout is sparse_coo

    @property
    def is_sparse_csr(self):
        return self._array.layout is sparse_csr

    @property
    def nbytes(self):
        raise RuntimeError("nbytes is not defined for sparse tensors.  If you want the size of the constituent "
                           "tensors, add the nbytes of the indices and values.  If you want the size of the  "
                           "equivalent dense tensor, multiply numel() by element_size()")

    def stride(self, dim=None):
        if not self.is_sparse:
            raise RuntimeError("Sparse CSR tensors do not have strides")
        steps = (0,) * self._array.ndim
        return steps if dim is None else steps[dim]

    def storage_offset(self):
        return 0

    def data_ptr(self):
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def numpy(self, *, force=False):
        kind = "Sparse" if self.is_sparse else "SparseCsr"
        raise TypeError(f"can't convert {kind} layout tensor to numpy. Use Tensor.to_dense() first.")

    def tolist(self):
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def item(self):
        if self._array.size != 1:
            raise RuntimeError(f"a Tensor with {self._array.size} elements cannot be converted to Scalar")
        return wrap(self._array.dense()).item()

    def is_contiguous(self, memory_format=None):
        return False

    def __len__(self):
        if not self._array.shape:
            raise TypeError("len() of a 0-d tensor")
        return self._array.shape[0]

    def _copied_array(self, memo):
        return self._array.duplicate()

    def __reduce_ex__(self, protocol):
        array = self._array                     # requires_grad is not kept, as in torch
        return as_torch_does(self) or (_rebuilt, (array.layout, array.plan, array.values, array.shape, array.coalesced))


def _rebuilt(*parts):
    return wrap_sparse(SparseArray(*parts))


def wrap_sparse(array: SparseArray) -> SparseTensor:
    """A leaf around a SparseArray that requires no gradient."""
    tensor = new_instance(SparseTensor)
    tensor._array, tensor._node, tensor._requires_grad, tensor._view_info = array, None, False, None
    tensor._version_counter = [0] if new_tensor_state.cell is None else new_tensor_state.cell()
    return tensor


SparseArray.tensor = wrap_sparse    # autograd calls g.tensor(): it cannot import SparseTensor


def as_tensor(array: np.ndarray | SparseArray) -> Tensor:
    """A leaf around an ndarray or a SparseArray."""
    return wrap_sparse(array) if isinstance(array, SparseArray) else wrap(array)


def sparse_op(name: str, first: int = 0, joint: Callable | None = None, **rules: Callable) -> Callable:
    """Decorator: like autograd's `op`, for operations that take or return sparse arrays."""
    def decorate(forward):
        o = Op(forward, name, first, rules=rules, joint=joint)
        o.converts = o.one_by_one = True       # the rules accept record arrays (bfloat16) unchanged

        def call(*args: Any) -> Any:
            places = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
            arrays, edges, mask = list(args), [None] * (len(args) - first), 0
            for i in places:
                arrays[i] = args[i]._array
                refresh(args[i])
                if args[i]._requires_grad:
                    mask |= 1 << i - first
                    edges[i - first] = args[i]._node or args[i]
            result = forward(*arrays)
            if not places:                     # a derivative rule computes with arrays
                return result
            tensor = as_tensor(result)
            recorder = mask and o.differentiable and result.dtype.kind in dt.DIFFERENTIABLE and (
                not all_threads.in_special_mode or mode.grad_now)
            if not recorder:
                return tensor
            kept, versions = o.kept(mask), []
            for i in places:
                if i in kept:
                    versions += (args[i]._version_counter, args[i]._version_counter[0])
                else:
                    arrays[i] = None
            saved = [*arrays, result if ANS in kept else None, None]
            if ANS in kept:
                versions += (tensor._version_counter, 0)
            tensor._node = new_node(o, edges, saved, versions or NOTHING, result.shape)
            tensor._requires_grad = True
            if recorder is not True:
                recorder(tensor._node, result, args)
            return tensor
        call.__name__ = call.__qualname__ = forward.__name__
        call.__doc__, call.__wrapped__, call.op = forward.__doc__, forward, o
        return call
    return decorate


def array_of(x: Any) -> Any:
    """The array of a tensor; an array is returned unchanged."""
    return x._array if isinstance(x, Tensor) else x


def refuse_out(out: Any, function: str) -> None:
    """NotImplementedError if `out` is given to a function without out=."""
    if out is not None:
        raise NotImplementedError(f"tinytorch has no out= of {function}")


def is_sparse(x: Any) -> bool:
    """Whether a Tensor or an array is sparse."""
    return isinstance(x, (SparseTensor, SparseArray))


# ------------------------------------------------------------------ torch's functions of sparse tensors
#: The name of a public function or method -> the function called instead if an argument is sparse.
FUNCTIONS: dict[str, Callable] = {}


def of_sparse(*names: str, in_place: bool | str = True) -> Callable[[Callable], Callable]:
    """Decorator: the function replaces the public functions of these names if an argument is sparse.

    `in_place`: whether torch has their in-place forms for sparse tensors. "turns": it has them for sparse_coo alone,
    and they change the shape."""
    def decorate(function):
        function.in_place = in_place
        for name in names:
            FUNCTIONS[name] = function
        return function
    return decorate


#: The name of the forward of a primitive that public functions call without a check (and the op's name, or "" for any
#: op of that forward) -> the function called instead if an argument is sparse.
_PRIMITIVES: dict[tuple[str, str], Callable] = {}


def of_primitive(forward: str, name: str = "") -> Callable[[Callable], Callable]:
    """Decorator: the function replaces the primitive with this forward if an argument is sparse. `name`: the op's name,
    where several ops share the forward."""
    def decorate(function):
        _PRIMITIVES[forward, name] = function
        return function
    return decorate


def dispatch(name: str, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Calls the sparse form of the public function `name`. NotImplementedError if there is none."""
    function = FUNCTIONS.get(name)
    if function is None:
        refuse_sparse(name, _first_sparse((args, kwargs)))
    out = kwargs.pop("out", None)
    return write_out(out, function(*args, **kwargs))


def _first_sparse(x):
    """The first sparse tensor in nested containers, or None."""
    if isinstance(x, SparseTensor):
        return x
    if isinstance(x, dict):
        x = x.values()
    elif not isinstance(x, (tuple, list)):
        return None
    return next((found for found in map(_first_sparse, x) if found is not None), None)


class Sparse(Kind):
    """The handler of primitives with sparse arguments. It calls the sparse form of the public function of the
    operation's name, or of its forward (`of_primitive`)."""

    def run(self, o: Op, call: Callable, args: tuple, error: Exception | None) -> Any:
        if not isinstance(error, SparseOperandError):
            return UNSEEN
        forward = o.forward.__name__
        function = _PRIMITIVES.get((forward, o.name)) or _PRIMITIVES.get((forward, ""))
        return UNSEEN if function is None else function(*args)

    def run_unary(self, o: Op, call: Callable, args: tuple, error: Exception | None) -> Any:
        return dispatch(o.name, args, {}) if isinstance(error, SparseOperandError) else UNSEEN

    def run_binary(self, o: Op, call: Callable, args: tuple, error: Exception | None) -> Any:
        is_ours = isinstance(error, SparseOperandError) or args[0]._array.__class__ is SparseArray
        return dispatch(o.name, args, {}) if is_ours else UNSEEN
