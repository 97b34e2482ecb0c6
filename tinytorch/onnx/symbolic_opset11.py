"""torch.onnx.symbolic_opset11: a name to import."""
