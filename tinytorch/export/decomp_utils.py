"""torch.export.decomp_utils: what operators are made of, a name to import."""
from .._refused import refused_class

__all__ = ["CustomDecompTable"]

CustomDecompTable = refused_class(__name__, "CustomDecompTable", "operators of graphs are not made of others here",
                                  (dict,))
