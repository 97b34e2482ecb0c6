"""The packages that write and run files of ONNX, imported when they are first used."""
import importlib
from typing import Any

from .errors import OnnxExporterError

__all__ = ["require"]


def require(name: str) -> Any:
    """The package `onnx` or `onnxruntime`. If it is not installed, an OnnxExporterError says how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        what = "`torch.onnx.export` writes" if name == "onnx" else "a call of an ONNXProgram computes"
        raise OnnxExporterError(f"Module {name} is not installed! {what} by it: pip install {name}") from error
