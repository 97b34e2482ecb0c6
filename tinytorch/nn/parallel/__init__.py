"""Models on several devices: here there is one, the CPU, on which each of these does what it does in torch then. And
in several processes: DistributedDataParallel, which is loaded when it is asked for."""
from ...missing import namespace as _namespace
from .data_parallel import DataParallel, data_parallel
from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import gather, scatter

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate",
           "scatter"]

__getattr__ = _namespace(__name__, ("distributed",), {"DistributedDataParallel": "distributed"})
