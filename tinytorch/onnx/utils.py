"""torch.onnx.utils: what surrounds an export."""
import re
from contextlib import contextmanager

from .._refused import refused
from ._types import TrainingMode
from .errors import OnnxExporterError

__all__ = ["export", "register_custom_op_symbolic", "select_model_mode_for_export", "unregister_custom_op_symbolic"]

export = refused(__package__, "export", "a graph of ONNX operators cannot be made; save the state_dict")


def _check_name(name):
    if not re.fullmatch("[a-zA-Z0-9_-]+::[a-zA-Z_-]+[a-zA-Z0-9_-]*", name):
        raise OnnxExporterError(f"Failed to register operator {name}. The symbolic name must match the format "
                                "domain::name, and should start with a letter and contain only alphanumeric characters")


def register_custom_op_symbolic(symbolic_name, symbolic_fn, opset_version):
    """Nothing: nothing is exported. OnnxExporterError for a name that is not domain::name."""
    _check_name(symbolic_name)


def unregister_custom_op_symbolic(symbolic_name, opset_version):
    """Nothing: nothing is exported. OnnxExporterError for a name that is not domain::name."""
    _check_name(symbolic_name)


@contextmanager
def select_model_mode_for_export(model, mode):
    """A context in which a module trains or evaluates as `mode`, a TrainingMode, says; PRESERVE: as it did before.
    TypeError for anything else."""
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
