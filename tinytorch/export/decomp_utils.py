"""torch.export.decomp_utils: the table of decompositions, as a name to import."""
from .._refused import refused_class

__all__ = ["CustomDecompTable"]

CustomDecompTable = refused_class(__name__, "CustomDecompTable", "operators of graphs are not made of others here",
                                  (dict,))
