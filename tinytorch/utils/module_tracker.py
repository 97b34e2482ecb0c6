"""torch.utils.module_tracker: the modules that are running."""
from __future__ import annotations

from .._refused import refused_class

__all__ = ["ModuleTracker"]

ModuleTracker = refused_class(__name__, "ModuleTracker", "there are no hooks for all modules, which it needs")
