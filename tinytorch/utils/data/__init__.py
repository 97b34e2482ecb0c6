"""torch.utils.data: datasets, samplers and the DataLoader."""
from ...missing import namespace as _namespace
from ._utils.collate import default_collate, default_convert
from .dataloader import DataLoader, _DatasetKind
from .dataset import (ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset, Subset, TensorDataset,
                      random_split)
from .distributed import DistributedSampler
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler
from ._utils.worker import get_worker_info

__all__ = ["BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler",
           "IterableDataset", "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset",
           "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "default_collate", "default_convert",
           "get_worker_info", "random_split"]

#: Names of datapipes, which few programs use: imported at their first use.
_PIPES = ("DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe", "argument_validation", "functional_datapipe",
          "guaranteed_datapipes_determinism", "non_deterministic", "runtime_validation", "runtime_validation_disabled")

__getattr__ = _namespace(__name__, ("datapipes",), dict.fromkeys(_PIPES, "datapipes.datapipe"))
