"""The libraries for quantised tensors, of which none is available."""

engine = "none"
supported_engines = ["none"]
