"""All parameters as one vector, and back."""
from ...ops.layout.join import cat
from ...runtime import typename
from ...tensor import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters):
    """The elements of all `parameters` in one 1-dim tensor. Autograd records it.

    >>> import tinytorch as torch
    >>> torch.nn.utils.parameters_to_vector([torch.ones(2), torch.zeros(1, 1)])
    tensor([1., 1., 0.])
    """
    return cat([param.view(-1) for param in parameters])


def vector_to_parameters(vec, parameters):
    """Make consecutive parts of the vector `vec` the data of `parameters`. They share its memory.

    >>> import tinytorch as torch
    >>> p = torch.zeros(1, 2); torch.nn.utils.vector_to_parameters(torch.tensor([3., 4.]), [p]); p
    tensor([[3., 4.]])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for param in parameters:
        param.data = vec[start:start + param.numel()].view(param.shape).data
        start += param.numel()
