"""Gradients of convolutions, given the size of the tensor to differentiate by."""
from ..autograd.grad_mode import enable_grad, is_grad_enabled
from ..autograd.tensor_methods import grad
from . import functional as F

__all__ = []


def _gradient(convolution, of, input, weight, grad_output, settings):
    """The gradient of a convolution by its input (of=0) or weight (of=1), for which a size is given. Autograd records
    the computation if the grad mode is on."""
    recorded = is_grad_enabled()
    tensors = [input, weight]
    tensors[of] = grad_output.new_zeros(tensors[of]).requires_grad_()
    with enable_grad():
        return grad(convolution(*tensors, None, *settings), tensors[of], grad_output, create_graph=recorded)[0]


def conv1d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of conv1d by its input (N, C, L), given as a size.

    >>> import tinytorch as torch
    >>> torch.nn.grad.conv1d_input((1, 1, 4), torch.tensor([[[1., 2.]]]), torch.ones(1, 1, 3))
    tensor([[[1., 3., 3., 2.]]])
    """
    return _gradient(F.conv1d, 0, input_size, weight, grad_output, (stride, padding, dilation, groups))


def conv1d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of conv1d by its weight (out_channels, C / groups, K), given as a size.

    >>> import tinytorch as torch
    >>> torch.nn.grad.conv1d_weight(torch.tensor([[[1., 2., 3., 4.]]]), (1, 1, 2), torch.ones(1, 1, 3))
    tensor([[[6., 9.]]])
    """
    return _gradient(F.conv1d, 1, input, weight_size, grad_output, (stride, padding, dilation, groups))


def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of conv2d by its input (N, C, H, W), given as a size.

    >>> import tinytorch as torch
    >>> torch.nn.grad.conv2d_input((1, 1, 2, 2), torch.ones(1, 1, 1, 1), torch.ones(1, 1, 2, 2)).shape
    torch.Size([1, 1, 2, 2])
    """
    return _gradient(F.conv2d, 0, input_size, weight, grad_output, (stride, padding, dilation, groups))


def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of conv2d by its weight (out_channels, C / groups, K, K), given as a size.

    >>> import tinytorch as torch
    >>> torch.nn.grad.conv2d_weight(torch.ones(1, 1, 2, 2), (1, 1, 1, 1), torch.ones(1, 1, 2, 2))
    tensor([[[[4.]]]])
    """
    return _gradient(F.conv2d, 1, input, weight_size, grad_output, (stride, padding, dilation, groups))


def conv3d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of conv3d by its input (N, C, D, H, W), given as a size.

    >>> import tinytorch as torch
    >>> torch.nn.grad.conv3d_input((1, 1, 2, 2, 2), torch.ones(1, 1, 1, 1, 1), torch.ones(1, 1, 2, 2, 2)).sum()
    tensor(8.)
    """
    return _gradient(F.conv3d, 0, input_size, weight, grad_output, (stride, padding, dilation, groups))


def conv3d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of conv3d by its weight (out_channels, C / groups, K, K, K), given as a size.

    >>> import tinytorch as torch
    >>> torch.nn.grad.conv3d_weight(torch.ones(1, 1, 2, 2, 2), (1, 1, 1, 1, 1), torch.ones(1, 1, 2, 2, 2))
    tensor([[[[[8.]]]]])
    """
    return _gradient(F.conv3d, 1, input, weight_size, grad_output, (stride, padding, dilation, groups))
