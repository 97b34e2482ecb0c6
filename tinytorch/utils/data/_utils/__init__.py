"""The parts of loaders and workers, in files with PyTorch's names."""
from . import collate, fetch, pin_memory, signal_handling, worker

#: Seconds that a worker has to end by itself before it is killed.
MP_STATUS_CHECK_INTERVAL = 5.0
