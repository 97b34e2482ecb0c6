"""torch.fx.passes.reinplace: names to import."""
from ..._refused import refused

__all__ = ["reinplace"]

reinplace = refused(__name__, "reinplace", "graphs are run as they are, and memory is used again by the allocator")
