"""torch's names for the classes and functions of this package, for pickles and for likeness.py."""
from __future__ import annotations

import sys
from typing import Any

_PACKAGE = __package__.partition(".")[0]
#: The modules of classes and functions that torch defines in C, or offers at the top alone.
_PLACES = {".random.Generator": "torch._C", ".ops.linalg.decompositions._LinAlgError": "torch._C",
            ".ops.creation.dlpack.DLDeviceType": "torch.utils.dlpack", ".cpu.Event": "torch", ".cpu.Stream": "torch",
            "._dynamo.eval_frame.compile": "torch", ".testing.file_check.FileCheck": "torch",
            **dict.fromkeys((".autograd.grad_mode.is_grad_enabled", ".autograd.grad_mode.is_inference",
                             ".autograd.grad_mode.is_inference_mode_enabled", ".autograd.promotion.result_type",
                             ".autograd.anomaly_mode.is_anomaly_enabled", ".storage.is_storage", "._C.SymBool",
                             ".autograd.anomaly_mode.is_anomaly_check_nan_enabled", "._C.SymFloat", "._C.SymInt"),
                            "torch"),
            **{f".utils.data.datapipes.datapipe.{name}": "torch.utils.data.datapipes._decorator" for name in """
               argument_validation functional_datapipe guaranteed_datapipes_determinism non_deterministic
               runtime_validation runtime_validation_disabled""".split()},
            **{f".storage.{kind}Storage": "torch" for kind in """BFloat16 Bool Byte Char ComplexDouble ComplexFloat
               Double Float Half Int Long Short""".split()}}
#: Module here -> the module in which torch has its classes.
ELSEWHERE = {".autograd.hooks": ".utils.hooks", ".nn.modules.multihead_attention": ".nn.modules.activation",
              ".nn.modules.softmax": ".nn.modules.activation", ".nn.modules.rectifier": ".nn.modules.activation",
              ".nn.modules.margin_loss": ".nn.modules.loss", ".nn.modules.reduced": ".nn.modules.loss",
              ".nn.modules.state": ".nn.modules.module", ".autograd.tensor_methods": ".autograd.variable",
              ".autograd.node": ".autograd.graph", ".autograd.saved": ".autograd.graph",
              ".func.modules": ".func", ".func.derivatives": ".func", ".func.batching": ".func",
              ".testing.comparison": ".testing", ".testing.creation": ".testing",
              ".nn.low_precision": ".nn.functional",
              ".optim._adafactor": ".optim", ".optim._muon": ".optim", ".sparse.functions": ".sparse",
              ".sparse.legacy": ".sparse", ".distributions.base_transforms": ".distributions.transforms",
              ".distributions.elementwise_transforms": ".distributions.transforms",
              ".distributions.joint_transforms": ".distributions.transforms"}


def torch_name(obj: Any, name: str | None = None) -> tuple[str, str] | None:
    """(module, name) under which torch knows one of our classes or functions, or None for another object."""
    module = getattr(obj, "__module__", None) or ""
    name = name or getattr(obj, "__qualname__", None)
    if module != _PACKAGE and not module.startswith(_PACKAGE + "."):
        return None
    known = _PLACES.get(f"{module[len(_PACKAGE):]}.{name}")
    if known is not None:
        return known, name
    if module.startswith(_PACKAGE + ".ops."):  # these functions are elsewhere in torch
        functional = sys.modules.get(_PACKAGE + ".nn.functional")
        return ("torch.nn.functional" if hasattr(functional, name) else "torch"), name
    inner = module[len(_PACKAGE):]
    return "torch" + ELSEWHERE.get(inner, inner), name
