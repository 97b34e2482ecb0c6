"""torchvision.ops.misc: layers that other libraries take from there."""
from ... import ones, zeros
from ...missing import namespace as _namespace
from ...nn import Module

__all__ = ["FrozenBatchNorm2d"]


class FrozenBatchNorm2d(Module):
    """BatchNorm2d with statistics, weights and bias that do not change.

    >>> import tinytorch as torch
    >>> from tinytorch.vision import ops
    >>> ops.FrozenBatchNorm2d(3)(torch.ones(1, 3, 2, 2)).shape
    torch.Size([1, 3, 2, 2])
    """

    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps
        for name, value in (("weight", ones), ("bias", zeros), ("running_mean", zeros), ("running_var", ones)):
            self.register_buffer(name, value(num_features))

    def _load_from_state_dict(self, state_dict, prefix, *args):
        state_dict.pop(f"{prefix}num_batches_tracked", None)       # of a BatchNorm2d
        super()._load_from_state_dict(state_dict, prefix, *args)

    def forward(self, x):
        weight, bias, mean, var = (t.reshape(1, -1, 1, 1) for t in (self.weight, self.bias, self.running_mean,
                                                                   self.running_var))
        scale = weight * (var + self.eps).rsqrt()
        return x * scale + (bias - mean * scale)

    def __repr__(self):
        return f"{type(self).__name__}({len(self.weight)}, eps={self.eps})"


__getattr__ = _namespace(__name__)
