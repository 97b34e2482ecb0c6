"""torch.backends: what the machine can do. The settings of GPU libraries can be set, and change nothing."""
from contextlib import contextmanager as _contextmanager

from ..missing import namespace as _namespace
from . import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, openmp


@_contextmanager
def __allow_nonbracketed_mutation():
    """A context in which settings may be assigned to, which they may be everywhere here."""
    yield


__getattr__ = _namespace(__name__, ("cusparselt", "kleidiai", "miopen", "nnpack", "opt_einsum", "quantized", "xnnpack"))
