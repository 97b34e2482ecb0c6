"""torch.onnx.verification: names to import."""
from .._refused import refused, refused_class

__all__ = ["VerificationInfo", "verify_onnx_program"]

_REASON = "torch.onnx.export(verify=True) compares the results of a file with those of its model"
VerificationInfo = refused_class(__name__, "VerificationInfo", _REASON)
verify_onnx_program = refused(__name__, "verify_onnx_program", _REASON)
