"""torch.onnx.errors: the errors and warnings of exports."""

__all__ = ["OnnxExporterError", "OnnxExporterWarning", "SymbolicValueError", "UnsupportedOperatorError"]


class OnnxExporterWarning(UserWarning):
    """A warning of an export."""


class OnnxExporterError(RuntimeError):
    """An error of an export."""


class UnsupportedOperatorError(OnnxExporterError):
    """An operator has no counterpart in the opset. The message has its name, and the line of the model that calls
    it."""

    def __init__(self, name: str, version: int, supported_version: int | None, where: str = "") -> None:
        if not name.startswith("aten::"):
            text = (f"ONNX export failed on an operator with unrecognized namespace {name}. If you are trying to "
                    "export a custom operator, make sure you registered it with the right domain and version.")
        else:
            text = f"Exporting the operator '{name}' to ONNX opset version {version} is not supported"
        if supported_version is not None:
            text += (f". Support for this operator was added in version {supported_version}, try exporting with this "
                     "version")
        super().__init__(text + where)


class SymbolicValueError(OnnxExporterError):
    """A value of the graph is not of the expected kind."""
