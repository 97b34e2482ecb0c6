"""torch.utils.module_tracker: which modules are at work."""
from __future__ import annotations

from .._refused import refused_class

__all__ = ["ModuleTracker"]

ModuleTracker = refused_class(__name__, "ModuleTracker", "there are no hooks of all modules that it could stand on")
