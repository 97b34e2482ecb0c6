"""Learning rate schedules: call `scheduler.step()` after `optimizer.step()`, once an epoch (or batch).

Schedules are chainable, as in torch: each multiplies or moves the rate that it finds in the group, so several can
act on one optimiser. `step(epoch)` uses the closed form if there is one.
"""
from ...missing import namespace as _namespace
from .base import LRScheduler, _LRScheduler
from .composed import ChainedScheduler, SequentialLR
from .cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from .cycles import CyclicLR, OneCycleLR
from .factors import (ConstantLR, ExponentialLR, LambdaLR, LinearLR, MultiplicativeLR, MultiStepLR, PolynomialLR,
                      StepLR)
from .plateau import ReduceLROnPlateau

__all__ = ["ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR",
           "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR",
           "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR"]

for _name in (*__all__, "_LRScheduler"):
    globals()[_name].__module__ = __name__     # pickles hold this module's name, not the file's

__getattr__ = _namespace(__name__)
