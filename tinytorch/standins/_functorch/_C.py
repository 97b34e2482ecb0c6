"""torch._C._functorch: what to ask of the tensors that a function sees under vmap."""
from .._refused import refused
from ..func.batched import Batched
from ..tensor import Tensor, wrap

__all__ = ["get_unwrapped", "is_batchedtensor", "is_functorch_wrapped_tensor", "maybe_get_bdim", "maybe_get_level"]

_REASON = "a tensor enters and leaves the levels of vmap by torch.func.vmap alone"

_add_batch_dim, _remove_batch_dim, _unwrap_batched = [
    refused(__name__, name, _REASON) for name in ("_add_batch_dim", "_remove_batch_dim", "_unwrap_batched")]


def is_batchedtensor(tensor: Tensor) -> bool:
    """Whether it stands for one sample of a batch.

    >>> import tinytorch as torch
    >>> found = []
    >>> _ = torch.vmap(lambda x: found.append(is_batchedtensor(x)) or x)(torch.ones(3))
    >>> found, is_batchedtensor(torch.ones(3))
    ([True], False)
    """
    return type(tensor._array) is Batched


is_functorch_wrapped_tensor = is_batchedtensor


def get_unwrapped(tensor: Tensor) -> Tensor:
    """All samples of the innermost batch, in the first dimension. RuntimeError for any other tensor."""
    if not is_batchedtensor(tensor):
        raise RuntimeError("No wrappers present!")
    return wrap(tensor._array.physical)


def maybe_get_bdim(tensor: Tensor) -> int:
    """The dimension of the innermost batch: 0, the first; -1 for any other tensor."""
    return 0 if is_batchedtensor(tensor) else -1


def maybe_get_level(tensor: Tensor) -> int:
    """The number of the innermost vmap; -1 for any other tensor."""
    return tensor._array.level if is_batchedtensor(tensor) else -1
