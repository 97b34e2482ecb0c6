"""What torch calls the classes and functions of this package, for what is pickled and for who stands in for torch."""
from __future__ import annotations

import sys
from typing import Any

_PACKAGE = __package__
#: Files of classes that torch has in another one.
_ELSEWHERE = {".autograd.hooks": ".utils.hooks", ".nn.modules.multihead_attention": ".nn.modules.activation",
              ".nn.modules.softmax": ".nn.modules.activation", ".nn.modules.rectifier": ".nn.modules.activation",
              ".nn.modules.margin_loss": ".nn.modules.loss", ".nn.modules.reduced": ".nn.modules.loss",
              ".nn.modules.state": ".nn.modules.module", ".autograd.tensor_methods": ".autograd.variable",
              ".optim._adafactor": ".optim", ".optim._muon": ".optim", ".sparse.functions": ".sparse",
              ".sparse.legacy": ".sparse", ".distributions.base_transforms": ".distributions.transforms",
              ".distributions.elementwise_transforms": ".distributions.transforms",
              ".distributions.joint_transforms": ".distributions.transforms"}


def torch_name(obj: Any, name: str | None = None) -> tuple[str, str] | None:
    """(module, name) under which torch knows one of our classes or functions, or None if not ours."""
    module = getattr(obj, "__module__", None) or ""
    name = name or getattr(obj, "__qualname__", None)
    if module != _PACKAGE and not module.startswith(_PACKAGE + "."):
        return None
    if module.startswith(_PACKAGE + ".ops."):  # torch has its functions elsewhere
        functional = sys.modules.get(_PACKAGE + ".nn.functional")
        return ("torch.nn.functional" if hasattr(functional, name) else "torch"), name
    inner = module[len(_PACKAGE):]
    return "torch" + _ELSEWHERE.get(inner, inner), name
