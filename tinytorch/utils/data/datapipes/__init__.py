"""torch.utils.data.datapipes: datasets made from other datasets, step by step. A DataLoader takes them as datasets."""
from ....missing import namespace as _namespace
from . import datapipe, iter, map

__getattr__ = _namespace(__name__)
