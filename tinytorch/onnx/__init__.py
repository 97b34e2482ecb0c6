"""torch.onnx: names to import, and settings of exports. Nothing is exported: what would raises."""
from .. import version as _version
from .._refused import refused as _refused, refused_class as _refused_class
from ..missing import namespace as _namespace
from . import errors, operators, ops, symbolic_helper, symbolic_opset11, utils
from ._types import OperatorExportTypes, TensorProtoDataType, TrainingMode
from .errors import OnnxExporterError
from .utils import export, register_custom_op_symbolic, select_model_mode_for_export, unregister_custom_op_symbolic

__all__ = ["ExportableModule", "InputObserver", "ONNXProgram", "OnnxExporterError", "OperatorExportTypes",
           "TensorProtoDataType", "TrainingMode", "errors", "export", "is_in_onnx_export", "operators", "ops",
           "register_custom_op_symbolic", "select_model_mode_for_export", "symbolic_helper",
           "unregister_custom_op_symbolic", "utils"]

producer_name, producer_version = "pytorch", _version.__version__.partition("+")[0]
ExportableModule, InputObserver, JitScalarType, ONNXProgram = [
    _refused_class(__name__, _name, "a graph of ONNX operators cannot be made")
    for _name in ("ExportableModule", "InputObserver", "JitScalarType", "ONNXProgram")]
#: What torch knows of each version of ONNX's operators is one empty module here.
globals().update({f"symbolic_opset{_version_of_onnx}": symbolic_opset11 for _version_of_onnx in range(7, 21)})


def is_in_onnx_export():
    """False."""
    return False


__getattr__ = _namespace(__name__, ("verification",))
