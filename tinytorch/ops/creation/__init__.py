"""Functions that make new tensors or convert tensors."""
