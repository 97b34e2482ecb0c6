"""ATen's operators as nodes of ONNX, a module for each family."""
