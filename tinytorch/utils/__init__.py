"""torch.utils: data loading, checkpointing, hook handles, DLPack."""
from ..missing import namespace as _namespace
from . import hooks

__getattr__ = _namespace(__name__, ("_contextlib", "_foreach_utils", "_python_dispatch", "_pytree", "benchmark",
                                     "checkpoint", "collect_env", "cpp_extension", "data", "deterministic", "dlpack",
                                     "flop_counter", "model_zoo", "module_tracker", "tensorboard", "weak"))
