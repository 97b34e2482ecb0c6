"""torchvision.models: none are here; torchvision's own, which are plain modules of torch's names, run where it is."""
import sys
from opcode import opname


def __getattr__(name):
    """Says where the model is to be had: ImportError in `from torchvision.models import name`, else AttributeError."""
    said = (f"tinytorch has no torchvision.models.{name}: torchvision's own models run on tinytorch after "
            "pip install --no-deps torchvision")
    asking = sys._getframe(1)
    if asking.f_lasti >= 0 and opname[asking.f_code.co_code[asking.f_lasti]] == "IMPORT_FROM":
        raise ImportError(said, name=__name__)
    raise AttributeError(said, name=name, obj=sys.modules[__name__])
