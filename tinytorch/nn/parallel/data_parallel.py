"""DataParallel and data_parallel."""
from ..modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """Holds `module` and calls it; its state_dict has the prefix "module.".

    >>> import tinytorch as torch
    >>> list(torch.nn.DataParallel(torch.nn.Linear(1, 1)).state_dict())
    ['module.weight', 'module.bias']
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module, self.device_ids = module, []

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """RuntimeError: tinytorch has no accelerator."""
    raise RuntimeError("device type could not be determined")
