"""torch.utils.data.datapipes: datasets made of one another, step by step. A DataLoader takes one as any dataset."""
from ....missing import namespace as _namespace
from . import datapipe, iter, map

__getattr__ = _namespace(__name__)
