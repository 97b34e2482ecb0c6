"""torch.ao.quantization.fx._decomposed: what quantising looks at first."""
from ....missing import namespace as _namespace
from ....tensor import Tensor

__all__: list[str] = []


def _per_token_quant_qparam_dim_check(input: Tensor, scales: Tensor, zero_points: Tensor) -> None:
    """AssertionError unless there is one scale and one zero point for each row of `input`."""
    num_tokens = input.shape[:-1].numel()
    if num_tokens != scales.numel():
        raise AssertionError(f"num_tokens: {num_tokens} scales: {scales.size()}")
    if num_tokens != zero_points.numel():
        raise AssertionError(f"num_tokens: {num_tokens} zero_points: {zero_points.size()}")


__getattr__ = _namespace(__name__)
