"""torch._dynamo._trace_wrapped_higher_order_op: the mode in which the library transformers makes masks
under vmap."""
from ..overrides import BaseTorchFunctionMode

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex(BaseTorchFunctionMode):
    """A mode that changes nothing: without it, too, a tensor without dimensions is a valid index here."""
