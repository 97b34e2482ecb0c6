"""torch.onnx.symbolic_opset11, and every other version: a name to import."""
