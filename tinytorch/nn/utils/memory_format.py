"""Weights of convolutions in another memory format."""
from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _convert(module, kinds, memory_format):
    for layer in module.modules():
        if isinstance(layer, kinds):
            layer.weight.data = layer.weight.detach().clone(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module, memory_format):
    """Put the weights of every Conv2d and ConvTranspose2d in `module` into a memory format. Returns `module`.

    >>> import tinytorch as torch
    >>> layer = torch.nn.Conv2d(2, 3, 2)
    >>> torch.nn.utils.convert_conv2d_weight_memory_format(layer, torch.channels_last).weight.stride()
    (8, 1, 4, 2)
    """
    return _convert(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module, memory_format):
    """Put the weights of every Conv3d and ConvTranspose3d in `module` into a memory format. Returns `module`."""
    return _convert(module, (Conv3d, ConvTranspose3d), memory_format)
