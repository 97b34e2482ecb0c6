"""torch._C._functorch: questions about the tensors inside a function under vmap."""
from ..func.batched import Batched
from ..func.stages import add_batch_dim as _add_batch_dim, remove_batch_dim as _remove_batch_dim
from ..tensor import Tensor, wrap

__all__ = ["_add_batch_dim", "_remove_batch_dim", "get_unwrapped", "is_batchedtensor", "is_functorch_wrapped_tensor",
           "maybe_get_bdim", "maybe_get_level"]


def is_batchedtensor(tensor: Tensor) -> bool:
    """Whether a tensor stands for one sample of a batch.

    >>> import tinytorch as torch
    >>> found = []
    >>> _ = torch.vmap(lambda x: found.append(is_batchedtensor(x)) or x)(torch.ones(3))
    >>> found, is_batchedtensor(torch.ones(3))
    ([True], False)
    """
    return type(tensor._array) is Batched


is_functorch_wrapped_tensor = is_batchedtensor


def is_legacy_batchedtensor(tensor: Tensor) -> bool:
    """False: there is only one kind of batched tensors."""
    return False


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
