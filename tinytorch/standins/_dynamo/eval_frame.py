"""torch._dynamo.eval_frame."""
from . import OptimizedModule

__all__ = ["OptimizedModule", "is_dynamo_supported"]


def is_dynamo_supported():
    """False: there is no compiler of Python's bytecode."""
    return False
