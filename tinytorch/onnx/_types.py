"""The options of an export, and ONNX's numbers of types."""
from enum import Enum

__all__ = ["OperatorExportTypes", "TensorProtoDataType", "TrainingMode"]


class _Numbered(Enum):
    """Members with numbers, which int() returns."""

    def __int__(self):
        return self.value


TrainingMode = _Numbered("TrainingMode", ["EVAL", "PRESERVE", "TRAINING"], start=0, module=__name__)
OperatorExportTypes = _Numbered("OperatorExportTypes", ["ONNX", "ONNX_ATEN", "ONNX_ATEN_FALLBACK", "ONNX_FALLTHROUGH"],
                                start=0, module=__name__)
TensorProtoDataType = _Numbered("TensorProtoDataType", """UNDEFINED FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 STRING
    BOOL FLOAT16 DOUBLE UINT32 UINT64 COMPLEX64 COMPLEX128 BFLOAT16 FLOAT8E4M3FN FLOAT8E4M3FNUZ FLOAT8E5M2
    FLOAT8E5M2FNUZ""", start=0, module=__name__)
TrainingMode.__doc__ = "The mode of the exported model: evaluation, training, or as it is."
OperatorExportTypes.__doc__ = "The operators that the exported model may contain."
TensorProtoDataType.__doc__ = "ONNX's numbers of dtypes."
