"""What datasets, loaders and workers are made of, under the names that PyTorch has for the files."""
from . import collate, fetch, pin_memory, signal_handling, worker

#: Seconds after which a worker that was told to end is ended.
MP_STATUS_CHECK_INTERVAL = 5.0
