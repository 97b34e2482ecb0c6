"""Writes tests/torch_names.txt: the public names of torch, and what its own test tables say of them.

    python -m tests.torch_names

A line is a name, the table that holds it (op_db, module_db, optim_db; "-": none), the kinds of dtypes that the
operator takes on CPUs, and its derivatives (1 first, 2 second, f forward).
"""
import importlib
import types
from pathlib import Path

PATH = Path(__file__).with_suffix(".txt")
SPACES = ("torch", "torch.Tensor", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils",
          "torch.nn.utils.parametrizations", "torch.nn.utils.parametrize", "torch.nn.utils.rnn", "torch.linalg",
          "torch.fft", "torch.special", "torch.masked", "torch.signal.windows", "torch.optim",
          "torch.optim.lr_scheduler", "torch.optim.swa_utils", "torch.autograd", "torch.autograd.functional",
          "torch.autograd.forward_ad",
          "torch.autograd.graph", "torch.func", "torch.distributions", "torch.sparse", "torch.nested",
          "torch.overrides", "torch.quasirandom", "torch.random", "torch.testing", "torch.types", "torch.utils",
          "torch.utils.checkpoint", "torch.utils.data", "torch.utils.dlpack")
#: Kind of dtypes -> one of its dtypes.
_KINDS = {"b": "bool", "i": "int64", "h": "float16", "f": "float32", "c": "complex64"}


def space(name, root):
    """The namespace of that name of a package, None if it has none."""
    for part in name.split(".")[1:]:
        path = f"{root.__name__}.{part}"
        try:
            root = getattr(root, part)
        except AttributeError:
            try:
                root = importlib.import_module(path)
            except ImportError:
                return None
    return root


def public_names(module):
    """What stands in `__all__`, if there is one, but for the types of torch's compiler; of a class all that it has;
    elsewhere the functions and classes of torch's own."""
    if isinstance(module, type):
        return [n for n in dir(module) if not n.startswith("_")]
    if hasattr(module, "__all__"):
        return sorted({n for n in module.__all__ if not n.startswith("_") and hasattr(module, n)
                       and (n in _OF_THE_CORE or not _is_inner(getattr(module, n)))})
    return [n for n, value in sorted(vars(module).items()) if not n.startswith("_") and
            callable(value) and
            (getattr(value, "__module__", None) or "torch").split(".")[0] == "torch"]


#: Of the classes and constants of the core, those that users know.
_OF_THE_CORE = {"Event", "Generator", "OutOfMemoryError", "Size", "Stream", "Tag", "default_generator", "device",
                "dtype", "finfo", "iinfo", "layout", "memory_format"}


def _is_inner(value):
    """Whether it is a class of torch's core, or one of those, or a routine of a backend that NumPy has not."""
    import torch
    kind = value if isinstance(value, type) else type(value)
    name = getattr(value, "__name__", "")
    return (getattr(torch._C, kind.__name__, None) is kind and kind.__name__ not in ("dtype", "layout", "memory_format")
            or name.startswith(("cudnn_", "miopen_", "mkldnn_", "fbgemm_", "quantized_")))


def _tables():
    """{name: what follows it on its line}."""
    import torch

    from .parity.adapter import MODULES, OPTIMIZERS, op_db
    found = {}
    for o in op_db:
        kinds = "".join(k for k, dtype in _KINDS.items() if o.supports_dtype(getattr(torch, dtype), "cpu"))
        orders = "1" * o.supports_autograd + "2" * o.supports_gradgrad + "f" * o.supports_forward_ad
        said = f"op_db {kinds or '-'} {orders or '-'}"
        for name in (o.name, *[alias.name for alias in o.aliases]):
            found.setdefault("torch." + name, said)
        for method in (o.method_variant, o.inplace_variant):
            if isinstance(method, (types.MethodDescriptorType, types.FunctionType)):
                found.setdefault("torch.Tensor." + method.__name__, said)
    found.update({f"torch.{name}": "module_db - -" for name in MODULES})
    found.update({f"torch.optim.{name}": "optim_db - -" for name in OPTIMIZERS})
    return found


def text():
    import torch
    tables, lines = _tables(), [f"# torch {torch.__version__.split('+')[0]}. Written by tests/torch_names.py."]
    for name in SPACES:
        lines += [f"{name}.{n} {tables.get(f'{name}.{n}', '- - -')}" for n in public_names(space(name, torch))]
    return "\n".join(lines) + "\n"


def read():
    """{space: {name: [table, kinds of dtypes, derivatives]}} as written, "" for "-"."""
    found = {name: {} for name in SPACES}
    for line in PATH.read_text(encoding="utf-8").splitlines()[1:]:
        path, *said = line.split(" ")
        where, _, name = path.rpartition(".")
        found[where][name] = [word if word != "-" else "" for word in said]
    return found


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
