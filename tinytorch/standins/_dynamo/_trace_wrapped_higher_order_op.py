"""torch._dynamo._trace_wrapped_higher_order_op: the mode in which transformers makes masks under vmap."""
from ..overrides import BaseTorchFunctionMode

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex(BaseTorchFunctionMode):
    """A mode that changes nothing: a tensor without dimensions is an index here without it."""
