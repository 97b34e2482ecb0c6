"""torch.onnx: models as graphs of ONNX's operators. The modules that write them are imported at the first export."""
from .. import version as _version
from .._refused import refused as _refused, refused_class as _refused_class
from ..missing import namespace as _namespace
from . import errors, operators, ops, symbolic_helper, symbolic_opset11, utils
from ._types import OperatorExportTypes, TensorProtoDataType, TrainingMode
from .errors import OnnxExporterError
from .utils import (
    is_in_onnx_export,
    register_custom_op_symbolic,
    select_model_mode_for_export,
    unregister_custom_op_symbolic,
)

__all__ = ["ExportableModule", "InputObserver", "ONNXProgram", "OnnxExporterError", "OperatorExportTypes",
           "TensorProtoDataType", "TrainingMode", "errors", "export", "is_in_onnx_export", "operators", "ops",
           "register_custom_op_symbolic", "select_model_mode_for_export", "symbolic_helper",
           "unregister_custom_op_symbolic", "utils"]

producer_name, producer_version = "pytorch", _version.__version__.partition("+")[0]
ExportableModule, InputObserver, JitScalarType = [
    _refused_class(__name__, _name, "torch.onnx.export makes graphs from recorded calls")
    for _name in ("ExportableModule", "InputObserver", "JitScalarType")]
#: torch has a module for each version of ONNX's operators. Here all of them are one empty module.
globals().update({f"symbolic_opset{_version_of_onnx}": symbolic_opset11 for _version_of_onnx in range(7, 21)})

__getattr__ = _namespace(__name__, ("verification",), {"export": "exporting", "ONNXProgram": "program"})
