"""torch.optim: optimisers and learning rate schedules."""
import sys as _sys

from ..missing import namespace as _namespace
from . import lr_scheduler
from .adadelta import Adadelta
from .adagrad import Adagrad
from .adam import Adam
from .adamax import Adamax
from .adamw import AdamW
from .optimizer import Optimizer
from .rmsprop import RMSprop
from .sgd import SGD
from .sparse_adam import SparseAdam

#: Classes that are loaded when they are first used, and their files.
_LATER = {"ASGD": "asgd", "Adafactor": "_adafactor", "LBFGS": "lbfgs", "Muon": "_muon", "NAdam": "nadam",
          "RAdam": "radam", "Rprop": "rprop"}

__all__ = ["ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "Optimizer",
           "RAdam", "RMSprop", "Rprop", "SGD", "SparseAdam", "lr_scheduler", "swa_utils"]

__getattr__ = _namespace(__name__, ["swa_utils"], of=_LATER)

if _sys.modules[__package__.rpartition(".")[0]].__name__ == "torch":
    # The package is imported under torch's name, and libraries walk through vars(torch.optim).
    for _name in _LATER:
        __getattr__(_name)


def __dir__():
    return sorted({*globals(), *_LATER, "swa_utils"})
