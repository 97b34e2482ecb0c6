"""torch.fx.passes.graph_drawer: names to import."""
from ..._refused import refused_class

__all__ = ["FxGraphDrawer"]

FxGraphDrawer = refused_class(__name__, "FxGraphDrawer", "tinytorch.viz draws graphs of fx")
