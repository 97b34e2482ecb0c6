"""torch._lowrank: where torch has these functions."""
from .ops.linalg.lowrank import pca_lowrank, svd_lowrank

__all__ = ["pca_lowrank", "svd_lowrank"]
