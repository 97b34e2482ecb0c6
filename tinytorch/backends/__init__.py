"""torch.backends: the libraries that PyTorch may use. Settings of libraries that are not used here have no effect."""
from contextlib import contextmanager as _contextmanager

from ..missing import namespace as _namespace
from . import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, openmp


@_contextmanager
def __allow_nonbracketed_mutation():
    """A context in which torch allows assignments to settings. Here they are allowed everywhere."""
    yield


__getattr__ = _namespace(__name__, ("cusparselt", "kleidiai", "miopen", "nnpack", "opt_einsum", "quantized", "xnnpack"))
