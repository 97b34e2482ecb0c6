"""torch._lowrank: the module of these functions in torch."""
from .ops.linalg.lowrank import pca_lowrank, svd_lowrank

__all__ = ["pca_lowrank", "svd_lowrank"]
