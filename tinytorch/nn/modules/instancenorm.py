"""Instance normalisation as layers."""

from ...errors import warn
from .. import functional as F
from .batchnorm import _LazyNormBase, _NormBase

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d",
           "LazyInstanceNorm3d"]


class _InstanceNorm(_NormBase):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None,
                 dtype=None, *, bias=True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input):
        self._check_input_dim(input)
        dim = input.dim() - self._dims[0]
        if input.size(dim) != self.num_features:
            if self.affine:
                raise ValueError(f"expected input's size at dim={dim} to match num_features ({self.num_features}), "
                                 f"but got: {input.size(dim)}.")
            warn(f"input's size at dim={dim} does not match num_features. You can silence this warning by not "
                 "passing in num_features, which is not used because affine=False")
        if dim == 0:
            return self._normalized(input.unsqueeze(0)).squeeze(0)
        return self._normalized(input)

    def _normalized(self, input):
        momentum = 0.0 if self.momentum is None else self.momentum
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                               self.training or not self.track_running_stats, momentum, self.eps)


class InstanceNorm1d(_InstanceNorm):
    """Normalisation of each channel of each example: (N, C, L) or (C, L).

    >>> import tinytorch as torch
    >>> torch.nn.InstanceNorm1d(1)(torch.tensor([[[1., 3.]]]))
    tensor([[[-1.0000,  1.0000]]])
    """

    _dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Normalisation of each channel of each example: (N, C, H, W) or (C, H, W).

    >>> import tinytorch as torch
    >>> torch.nn.InstanceNorm2d(3)(torch.randn(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    _dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Normalisation of each channel of each example: (N, C, D, H, W) or (C, D, H, W).

    >>> import tinytorch as torch
    >>> torch.nn.InstanceNorm3d(3)(torch.randn(2, 3, 2, 2, 2)).shape
    torch.Size([2, 3, 2, 2, 2])
    """

    _dims = (4, 5)


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """InstanceNorm1d that takes num_features from the first input. See InstanceNorm1d.

    >>> import tinytorch as torch
    >>> layer = torch.nn.LazyInstanceNorm1d(); y = layer(torch.randn(4, 3, 5)); layer.num_features
    3
    """

    cls_to_become, _dims = InstanceNorm1d, (2, 3)


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """InstanceNorm2d that takes num_features from the first input. See InstanceNorm2d.

    >>> import tinytorch as torch
    >>> layer = torch.nn.LazyInstanceNorm2d(); y = layer(torch.randn(4, 3, 2, 3)); layer.num_features
    3
    """

    cls_to_become, _dims = InstanceNorm2d, (3, 4)


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """InstanceNorm3d that takes num_features from the first input. See InstanceNorm3d.

    >>> import tinytorch as torch
    >>> layer = torch.nn.LazyInstanceNorm3d(); y = layer(torch.randn(4, 3, 2, 3, 4)); layer.num_features
    3
    """

    cls_to_become, _dims = InstanceNorm3d, (4, 5)
