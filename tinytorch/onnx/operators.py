"""torch.onnx.operators: shapes as tensors."""
from ..ops.creation.factories import tensor

__all__ = ["reshape_from_tensor_shape", "shape_as_tensor"]


def shape_as_tensor(x):
    """The sizes of a tensor, int64.

    >>> import tinytorch as torch
    >>> torch.onnx.operators.shape_as_tensor(torch.ones(2, 3))
    tensor([2, 3])
    """
    return tensor([*x.shape])


def reshape_from_tensor_shape(x, shape):
    """`x` reshaped to a shape that is a tensor of ints."""
    return x.reshape(shape.tolist())
