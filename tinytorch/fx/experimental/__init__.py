"""torch.fx.experimental: names to import."""
from ...missing import namespace as _namespace

__getattr__ = _namespace(__name__, ("const_fold", "optimization", "proxy_tensor", "rewriter"))
