"""Models on several devices or in several processes. tinytorch has one device, the CPU, on which these names do what
they do in torch without an accelerator. DistributedDataParallel (several processes) is loaded on first use."""
from ...missing import namespace as _namespace
from .data_parallel import DataParallel, data_parallel
from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import gather, scatter

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate",
           "scatter"]

__getattr__ = _namespace(__name__, ("distributed",), {"DistributedDataParallel": "distributed"})
