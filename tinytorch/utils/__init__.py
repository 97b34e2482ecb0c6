"""torch.utils: data loading, checkpointing, hook handles."""
from . import checkpoint, data, hooks
