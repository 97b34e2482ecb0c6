"""Neural networks: modules, and the functions, initialisers and utilities that go with them."""
from ..missing import namespace as _namespace
from . import functional, init, parallel, parameter, utils
from .modules import *
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter


def factory_kwargs(kwargs: dict[str, object] | None) -> dict[str, object]:
    """The keywords of a layer that it passes on to `torch.empty` and similar functions: `device`, `dtype` and
    `memory_format`, given directly or in `factory_kwargs`. TypeError for other keywords, and for one given twice.

    >>> import tinytorch as torch
    >>> torch.nn.factory_kwargs({"dtype": torch.float64, "factory_kwargs": {"device": "cpu"}})
    {'device': 'cpu', 'dtype': torch.float64}
    """
    simple = {"device", "dtype", "memory_format"}
    unknown = set(kwargs or ()) - simple - {"factory_kwargs"}
    if unknown:
        raise TypeError(f"unexpected kwargs {unknown}")
    result = dict((kwargs or {}).get("factory_kwargs", {}))
    for name in sorted(simple & set(kwargs or ())):
        if name in result:
            raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
        result[name] = kwargs[name]
    return result


__getattr__ = _namespace(__name__, ["_reduction", "attention", "common_types", "grad", "quantized"])
