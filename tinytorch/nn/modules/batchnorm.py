"""Batch and instance normalisation as layers."""
import warnings

from ...dtypes import int64
from ...ops.creation.factories import empty, ones, tensor, zeros
from .. import functional as F, init
from ..parameter import Parameter, UninitializedBuffer, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d",
           "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d",
           "LazyInstanceNorm3d"]


class _NormBase(Module):
    """weight and bias (if affine), and the running statistics (if tracked)."""

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]
    _dims = ()                                 # numbers of dimensions that the input may have

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None,
                 dtype=None, *, bias=True):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        size = {"device": device, "dtype": dtype}
        self.register_parameter("weight", Parameter(empty(num_features, **size)) if affine else None)
        self.register_parameter("bias", Parameter(empty(num_features, **size)) if affine and bias else None)
        self.register_buffer("running_mean", zeros(num_features, **size) if track_running_stats else None)
        self.register_buffer("running_var", ones(num_features, **size) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", tensor(0, dtype=int64) if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self):
        """Running mean 0, variance 1, no batches seen."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """weight 1, bias 0, and the running statistics afresh."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input):
        if input.dim() not in self._dims:
            allowed = " or ".join(f"{d}D" for d in self._dims)
            raise ValueError(f"expected {allowed} input (got {input.dim()}D input)")

    def extra_repr(self):
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}")

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *args):
        key = prefix + "num_batches_tracked"
        if (local_metadata.get("version") or 1) < 2 and self.track_running_stats and key not in state_dict:
            state_dict[key] = self.num_batches_tracked         # older files do not have it
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)


class _BatchNorm(_NormBase):
    def forward(self, input):
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)       # the average of all batches
        by_batch = self.training or self.running_mean is None and self.running_var is None
        keep = not self.training or self.track_running_stats
        return F.batch_norm(input, self.running_mean if keep else None, self.running_var if keep else None,
                            self.weight, self.bias, by_batch, momentum, self.eps)


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L) by channel. See torch.nn.functional.batch_norm.

    momentum None averages over all batches seen. When evaluating, the running statistics are used.

    >>> import tinytorch as torch
    >>> torch.nn.BatchNorm1d(1, affine=False)(torch.tensor([[1.], [3.]]))
    tensor([[-1.0000],
            [ 1.0000]])
    """

    _dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W) by channel. See BatchNorm1d.

    >>> import tinytorch as torch
    >>> torch.nn.BatchNorm2d(3)
    BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    _dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W) by channel. See BatchNorm1d.

    >>> import tinytorch as torch
    >>> torch.nn.BatchNorm3d(3)(torch.randn(2, 3, 1, 2, 2)).shape
    torch.Size([2, 3, 1, 2, 2])
    """

    _dims = (5,)


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
            warnings.warn(f"input's size at dim={dim} does not match num_features. You can silence this warning by not "
                          "passing in num_features, which is not used because affine=False", stacklevel=2)
        if dim == 0:
            return self._normalized(input.unsqueeze(0)).squeeze(0)
        return self._normalized(input)

    def _normalized(self, input):
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                               self.training or not self.track_running_stats, self.momentum or 0.0, self.eps)


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


class _LazyNorm(LazyModuleMixin, _NormBase):
    """A norm that takes num_features from the first input."""

    def __init__(self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *,
                 bias=True):
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = tensor(0, dtype=int64)

    def reset_parameters(self):
        """As in the norm it becomes, once there are shapes."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Take the size of dimension 1 for num_features."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for value in (self.weight, self.bias, self.running_mean, self.running_var):
                if value is not None:
                    value.materialize((self.num_features,))
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNorm, _BatchNorm):
    """BatchNorm1d that takes num_features from the first input.

    >>> import tinytorch as torch
    >>> layer = torch.nn.LazyBatchNorm1d(); y = layer(torch.randn(4, 3)); layer.num_features
    3
    """

    cls_to_become, _dims = BatchNorm1d, (2, 3)


class LazyBatchNorm2d(_LazyNorm, _BatchNorm):
    """BatchNorm2d that takes num_features from the first input."""

    cls_to_become, _dims = BatchNorm2d, (4,)


class LazyBatchNorm3d(_LazyNorm, _BatchNorm):
    """BatchNorm3d that takes num_features from the first input."""

    cls_to_become, _dims = BatchNorm3d, (5,)


class LazyInstanceNorm1d(_LazyNorm, _InstanceNorm):
    """InstanceNorm1d that takes num_features from the first input."""

    cls_to_become, _dims = InstanceNorm1d, (2, 3)


class LazyInstanceNorm2d(_LazyNorm, _InstanceNorm):
    """InstanceNorm2d that takes num_features from the first input."""

    cls_to_become, _dims = InstanceNorm2d, (3, 4)


class LazyInstanceNorm3d(_LazyNorm, _InstanceNorm):
    """InstanceNorm3d that takes num_features from the first input."""

    cls_to_become, _dims = InstanceNorm3d, (4, 5)
