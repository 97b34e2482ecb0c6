"""torch.backends: what the machine can do. The settings of GPU libraries can be set, and change nothing."""
from . import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, openmp
