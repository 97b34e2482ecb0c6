"""torch.onnx.utils: the state of an export, and the registration of symbolic functions."""
import importlib
import re
import threading
from contextlib import contextmanager

from ._types import TrainingMode
from .errors import OnnxExporterError

__all__ = ["is_in_onnx_export", "register_custom_op_symbolic", "select_model_mode_for_export",
           "unregister_custom_op_symbolic"]

_state = threading.local()


def is_in_onnx_export():
    """Whether an export is running in this thread."""
    return getattr(_state, "depth", 0) > 0


@contextmanager
def exporting():
    """A context in which `is_in_onnx_export` is True."""
    _state.depth = getattr(_state, "depth", 0) + 1
    try:
        yield
    finally:
        _state.depth -= 1


def __getattr__(name):
    if name == "export":                       # imported at its first use, with all modules that it needs
        return importlib.import_module(f"{__package__}.exporting").export
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)


def _check_name(name):
    if not re.fullmatch("[a-zA-Z0-9_-]+::[a-zA-Z_-]+[a-zA-Z0-9_-]*", name):
        raise OnnxExporterError(f"Failed to register operator {name}. The symbolic name must match the format "
                                "domain::name, and should start with a letter and contain only alphanumeric characters")


def register_custom_op_symbolic(symbolic_name, symbolic_fn, opset_version):
    """Makes exports to this opset and later ones call symbolic_fn(g, *arguments) for one of ATen's operators.
    g.op(name, *inputs, **attributes) writes a node and returns its result. OnnxExporterError for a name that is not
    domain::name."""
    _check_name(symbolic_name)
    from .registry import register
    register(symbolic_name, symbolic_fn, opset_version)


def unregister_custom_op_symbolic(symbolic_name, opset_version):
    """Removes the function of `register_custom_op_symbolic`. OnnxExporterError for a name that is not domain::name."""
    _check_name(symbolic_name)
    from .registry import unregister
    unregister(symbolic_name, opset_version)


@contextmanager
def select_model_mode_for_export(model, mode):
    """A context in which a module is in the mode `mode`, a TrainingMode; PRESERVE keeps its mode. TypeError for other
    values."""
    if not isinstance(mode, TrainingMode):
        raise TypeError(f"'mode' should be a torch.onnx.TrainingMode enum, but got '{type(mode)}'.")
    changes = mode is not TrainingMode.PRESERVE and hasattr(model, "training")
    before = getattr(model, "training", None)
    if changes:
        model.train(mode is TrainingMode.TRAINING)
    try:
        yield
    finally:
        if changes:
            model.train(before)
