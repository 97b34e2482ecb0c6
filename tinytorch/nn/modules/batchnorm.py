"""Batch normalisation as layers."""
from __future__ import annotations

from typing import TYPE_CHECKING

from ...dtypes import int64
from ...ops.creation.factories import empty, ones, tensor, zeros
from .. import functional as F, init
from ..parameter import Parameter, UninitializedBuffer, UninitializedParameter
from . import _functions
from .lazy import LazyModuleMixin
from .module import Module

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d",
           "SyncBatchNorm"]


class _NormBase(Module):
    """Base of norms: weight and bias (if affine), and the running statistics (if tracked)."""

    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]
    if TYPE_CHECKING:
        _dims: tuple[int, ...]                 # numbers of dimensions that the input may have
    _dims = ()

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
        seen = tensor(0, dtype=int64, device=device) if track_running_stats else None
        self.register_buffer("num_batches_tracked", seen)
        self.reset_parameters()

    def reset_running_stats(self):
        """Set the running mean to 0, the running variance to 1 and the count of batches to 0."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """Set weight to 1 and bias to 0, and reset the running statistics."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input):
        if input.dim() not in self._dims:
            if not self._dims:
                raise NotImplementedError
            allowed = " or ".join(f"{d}D" for d in self._dims)
            raise ValueError(f"expected {allowed} input (got {input.dim()}D input)")

    def extra_repr(self):
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}")

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *args):
        key = prefix + "num_batches_tracked"
        if (local_metadata.get("version") or 1) < 2 and self.track_running_stats and key not in state_dict:
            seen = self.num_batches_tracked                    # older files do not hold it
            state_dict[key] = tensor(0, dtype=int64) if seen is None or seen.is_meta else seen
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
        if self.training and not self.track_running_stats:
            return self._normalised(input, None, None, by_batch, momentum)
        return self._normalised(input, self.running_mean, self.running_var, by_batch, momentum)

    def _normalised(self, input, running_mean, running_var, by_batch, momentum):
        return F.batch_norm(input, running_mean, running_var, self.weight, self.bias, by_batch, momentum, self.eps)


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L) by channel. See torch.nn.functional.batch_norm.

    With momentum None, the running statistics are averages over all batches. Evaluation uses the running statistics.

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


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over the batches of all processes of `process_group` (None: all processes). They must call it
    together. Without an initialised torch.distributed, and in evaluation, each process normalises its own batch.

    input (N, C, ...) of at least 2 dimensions; the other arguments are those of BatchNorm1d. Processes may have
    different numbers of samples. ValueError for other inputs, or without channels. torch's class needs an accelerator.

    >>> import tinytorch as torch
    >>> torch.nn.SyncBatchNorm.convert_sync_batchnorm(torch.nn.Sequential(torch.nn.BatchNorm2d(3)))
    Sequential(
      (0): SyncBatchNorm(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    )
    """

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, process_group=None,
                 device=None, dtype=None, *, bias=True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        self._check_non_zero_input_channels(input)

    def _check_non_zero_input_channels(self, input):
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    def _normalised(self, input, running_mean, running_var, by_batch, momentum):
        if self.training:
            from ... import distributed  # imported on use: it imports this package
            if distributed.is_initialized() and distributed.get_world_size(self.process_group) > 1:
                return _functions.SyncBatchNorm.apply(input, self.weight, self.bias, running_mean, running_var,
                                                      self.eps, momentum, self.process_group)
        return super()._normalised(input, running_mean, running_var, by_batch, momentum)

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """`module` with every batch norm in it replaced by a SyncBatchNorm with the same tensors. If `module` itself is
        a batch norm, the result is the SyncBatchNorm."""
        result = module
        if isinstance(module, _BatchNorm):
            result = SyncBatchNorm(module.num_features, module.eps, module.momentum, module.affine,
                                   module.track_running_stats, process_group, bias=module.bias is not None)
            if module.affine:
                result.weight, result.bias = module.weight, module.bias
            for name in ("running_mean", "running_var", "num_batches_tracked", "training"):
                setattr(result, name, getattr(module, name))
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """A norm that takes num_features from the first input."""

    weight: UninitializedParameter
    bias: UninitializedParameter

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
        """Reset the parameters like the final class, once they have shapes."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Set num_features to the size of dimension 1 of `input`."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for value in (self.weight, self.bias, self.running_mean, self.running_var):
                if value is not None:
                    value.materialize((self.num_features,))
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """BatchNorm1d that takes num_features from the first input.

    >>> import tinytorch as torch
    >>> layer = torch.nn.LazyBatchNorm1d(); y = layer(torch.randn(4, 3)); layer.num_features
    3
    """

    cls_to_become, _dims = BatchNorm1d, (2, 3)


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """BatchNorm2d that takes num_features from the first input. See BatchNorm2d.

    >>> import tinytorch as torch
    >>> layer = torch.nn.LazyBatchNorm2d(); y = layer(torch.randn(4, 3, 2, 3)); layer.num_features
    3
    """

    cls_to_become, _dims = BatchNorm2d, (4,)


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """BatchNorm3d that takes num_features from the first input. See BatchNorm3d.

    >>> import tinytorch as torch
    >>> layer = torch.nn.LazyBatchNorm3d(); y = layer(torch.randn(4, 3, 2, 3, 4)); layer.num_features
    3
    """

    cls_to_become, _dims = BatchNorm3d, (5,)
