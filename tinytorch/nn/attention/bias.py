"""Causal masks that know their kind."""
from enum import IntEnum

from ...autograd.torch_function import DisableTorchFunction
from ...device import check_device
from ...errors import warn
from ...ops.creation.factories import ones
from ...tensor import Tensor
from .. import functional as F

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """The corner of a mask that is not square through which its diagonal goes: UPPER_LEFT or LOWER_RIGHT."""

    UPPER_LEFT, LOWER_RIGHT = 1, 2


class CausalBias(Tensor):
    """A causal mask (seq_len_q, seq_len_kv) for `scaled_dot_product_attention`. With UPPER_LEFT, query i attends to
    keys 0 .. i; with LOWER_RIGHT, the last query attends to all keys, and each query before it to one key less.

    >>> from tinytorch.nn.attention.bias import causal_lower_right, causal_upper_left
    >>> causal_upper_left(2, 3)
    tensor([[ True, False, False],
            [ True,  True, False]])
    >>> causal_lower_right(2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """

    def __new__(cls, variant, seq_len_q, seq_len_kv):
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        offset = 0 if variant == CausalVariant.UPPER_LEFT else seq_len_kv - seq_len_q
        return ones(seq_len_q, seq_len_kv).bool().tril(offset).as_subclass(cls)

    def __init__(self, variant, seq_len_q, seq_len_kv):
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv
        if seq_len_q > seq_len_kv and variant == CausalVariant.LOWER_RIGHT:
            warn("Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!")

    def _materialize(self, device=None):
        """The mask as bools: True where a query may attend."""
        check_device(device)
        with DisableTorchFunction():
            return self.as_subclass(Tensor)

    @staticmethod
    def _dispatch(query, key, value, attn_mask, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        if is_causal:
            raise ValueError("CausalBias should not be used with causal=True")
        plain = attn_mask.seq_len_q == attn_mask.seq_len_kv or attn_mask.variant == CausalVariant.UPPER_LEFT
        return F.scaled_dot_product_attention(
            query, key, value, None if plain else attn_mask._materialize(query.device), dropout_p, plain, scale=scale,
            enable_gqa=enable_gqa)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """Attention uses the mask's kind; any other function treats it like another tensor."""
        if func is F.scaled_dot_product_attention:
            return cls._dispatch(*args, **kwargs or {})
        return super().__torch_function__(func, types, args, kwargs)

    def __repr__(self):
        return repr(self._materialize())


def _of_two_sizes(name, variant, size):
    if len(size) != 2:
        raise AssertionError(f"{name} only supports 2D tensors")
    return CausalBias(variant, *size)


def causal_upper_left(*size):
    """The mask (seq_len_q, seq_len_kv) in which query i attends to keys 0 .. i. AssertionError unless two sizes."""
    return _of_two_sizes("causal_upper_left", CausalVariant.UPPER_LEFT, size)


def causal_lower_right(*size):
    """The mask (seq_len_q, seq_len_kv) in which the last query attends to all keys, and each query before it to one key
    less. AssertionError unless two sizes are given."""
    return _of_two_sizes("causal_lower_right", CausalVariant.LOWER_RIGHT, size)
