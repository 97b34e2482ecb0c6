"""torch.utils: data loading, checkpointing, hook handles, DLPack."""
from ..missing import namespace as _namespace
from .._refused import refused as _refused
from . import hooks

cmake_prefix_path = ""                         # of torch's headers and libraries, which are not here
get_cpp_backtrace = _refused(__name__, "get_cpp_backtrace", "there is no C++ code whose calls it could list")
generate_methods_for_privateuse1_backend, rename_privateuse1_backend = [
    _refused(__name__, _name, "there are no devices of other makers")
    for _name in ("generate_methods_for_privateuse1_backend", "rename_privateuse1_backend")]
ThroughputBenchmark = _refused(__name__, "ThroughputBenchmark", "see torch.utils.benchmark.Timer")
swap_tensors = _refused(__name__, "swap_tensors", "references to a tensor cannot be exchanged; copy_ the numbers")


def set_module(obj, mod):
    """Sets the `__module__` of an object. TypeError if `mod` is not a string."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


__getattr__ = _namespace(__name__, ("_contextlib", "_foreach_utils", "_python_dispatch", "_pytree", "_triton",
                                     "benchmark", "checkpoint", "collect_env", "cpp_extension", "data", "deterministic",
                                     "dlpack", "flop_counter", "model_zoo", "module_tracker", "tensorboard", "weak"))
