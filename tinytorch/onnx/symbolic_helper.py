"""torch.onnx.symbolic_helper: what stands above functions that would export operators."""

__all__ = ["parse_args"]


def parse_args(*arg_descriptors):
    """A decorator that gives the function itself."""
    return lambda fn: fn
