"""torch.onnx.verification: names to import."""
from .._refused import refused, refused_class

__all__ = ["VerificationInfo", "verify_onnx_program"]

_REASON = "a file is not run beside its model here, but by torch.onnx.export(verify=True)"
VerificationInfo = refused_class(__name__, "VerificationInfo", _REASON)
verify_onnx_program = refused(__name__, "verify_onnx_program", _REASON)
