"""torch.cuda.nvtx: marks for NVIDIA's profiler. They raise an error when they are used."""
from contextlib import contextmanager

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


def _absent(name):
    def function(*args, **kwargs):
        raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "RuntimeError: there is no NVTX without CUDA."
    return function


mark, range_end, range_pop, range_push, range_start = map(_absent, ["mark", *__all__[2:]])


@contextmanager
def range(msg, *args, **kwargs):
    """RuntimeError on entry: there is no NVTX without CUDA."""
    range_push(msg.format(*args, **kwargs))
    yield
