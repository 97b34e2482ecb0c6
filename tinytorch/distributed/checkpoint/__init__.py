"""torch.distributed.checkpoint: names that libraries import. `torch.save` writes what a process has."""
from ..._refused import refused_names
from ...missing import namespace as _namespace

globals().update(refused_names(__name__, "there is one file for each torch.save", "load save async_save",
                               "FileSystemReader FileSystemWriter"))

__getattr__ = _namespace(__name__, ("_consolidate_hf_safetensors", "default_planner", "hf_storage", "state_dict"))
