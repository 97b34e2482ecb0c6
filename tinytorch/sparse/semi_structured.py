"""torch.sparse.semi_structured: tensors with two zeros in every four elements. Only GPUs multiply them faster."""
from .._refused import refused, refused_class
from ..tensor import Tensor

__all__ = ["SparseSemiStructuredTensor", "SparseSemiStructuredTensorCUSPARSELT", "SparseSemiStructuredTensorCUTLASS",
           "to_sparse_semi_structured"]

_REASON = "such tensors are for GPUs"
SparseSemiStructuredTensor = refused_class(__name__, "SparseSemiStructuredTensor", _REASON, (Tensor,))
SparseSemiStructuredTensorCUTLASS, SparseSemiStructuredTensorCUSPARSELT = [
    refused_class(__name__, f"SparseSemiStructuredTensor{maker}", _REASON, (SparseSemiStructuredTensor,))
    for maker in ("CUTLASS", "CUSPARSELT")]
to_sparse_semi_structured = refused(__name__, "to_sparse_semi_structured", _REASON)
