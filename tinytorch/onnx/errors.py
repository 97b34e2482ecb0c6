"""torch.onnx.errors: what exports raise and warn of."""

__all__ = ["OnnxExporterError", "OnnxExporterWarning", "SymbolicValueError", "UnsupportedOperatorError"]


class OnnxExporterWarning(UserWarning):
    """What exports warn of."""


class OnnxExporterError(RuntimeError):
    """What exports raise."""


class UnsupportedOperatorError(OnnxExporterError):
    """That an operator has no counterpart."""


class SymbolicValueError(OnnxExporterError):
    """That a value of the graph is not what was expected."""
