"""MultiheadAttention."""
from __future__ import annotations

from ...autograd.grad_mode import is_grad_enabled
from ...ops.creation.factories import empty, zeros_like
from ...ops.nn.multi_head_attention import as_added
from ...tensor import Tensor
from .. import functional as F, init
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Module

__all__ = ["MultiheadAttention"]


def recorded(tensors):
    """Whether autograd records operations on one of the tensors."""
    return is_grad_enabled() and any([x.requires_grad for x in tensors if x is not None])


def fast_path_enabled():
    """torch.backends.mha.get_fastpath_enabled(). The import is here since it loads all backends."""
    from ...backends.mha import get_fastpath_enabled
    return get_fastpath_enabled()


class MultiheadAttention(Module):
    """Attention of `num_heads` heads (Vaswani et al. 2017), each of embed_dim / num_heads features. Returns (output,
    weights). See torch.nn.functional.multi_head_attention_forward.

    query          (L, N, embed_dim), or (N, L, embed_dim) with `batch_first`, or (L, embed_dim)
    key, value     (S, N, kdim) and (S, N, vdim), in the order of `query`

    The output has the shape of the query. The weights have the shape (N, L, S), or (N, num_heads, L, S) with
    average_attn_weights=False; they are None with need_weights=False. The masks `key_padding_mask` (N, S) and
    `attn_mask` (L, S) or (N num_heads, L, S) are bools, True where attention is forbidden, or numbers that are added to
    the scores. `is_causal` says that `attn_mask` is the causal mask. With `add_bias_kv` the layer learns one more key
    and value; `add_zero_attn` adds a key and a value of zeros.

    ValueError for sizes below 1, AssertionError if num_heads does not divide embed_dim.

    >>> import tinytorch as torch
    >>> x = torch.ones(5, 2, 8)
    >>> y, weights = torch.nn.MultiheadAttention(8, 4)(x, x, x)
    >>> y.shape, weights.shape
    (torch.Size([5, 2, 8]), torch.Size([2, 5, 5]))
    """

    __constants__ = ["batch_first"]
    bias_k: Tensor | None
    bias_v: Tensor | None

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None,
                 vdim=None, batch_first=False, device=None, dtype=None):
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                             f"num_heads={num_heads} instead")
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim, self.vdim = (embed_dim if dim is None else dim for dim in (kdim, vdim))
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.num_heads, self.dropout, self.batch_first = num_heads, dropout, batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")

        def new(*size):
            return Parameter(empty(size, device=device, dtype=dtype))
        if self._qkv_same_embed_dim:
            self.in_proj_weight = new(3 * embed_dim, embed_dim)
        else:
            self.q_proj_weight, self.k_proj_weight = new(embed_dim, embed_dim), new(embed_dim, self.kdim)
            self.v_proj_weight = new(embed_dim, self.vdim)
        for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight") if self._qkv_same_embed_dim else (
                "in_proj_weight",):
            self.register_parameter(name, None)
        self.register_parameter("in_proj_bias", new(3 * embed_dim) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        self.bias_k, self.bias_v = (new(1, 1, embed_dim) if add_bias_kv else None for _ in range(2))
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self):
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
                average_attn_weights=True, is_causal=False):
        numbers = any([mask is not None and mask.is_floating_point() for mask in (attn_mask, key_padding_mask)])
        batched = query.dim() == 3
        key_padding_mask = as_added(key_padding_mask, "key_padding_mask", query.dtype, attn_mask, "attn_mask")
        attn_mask = as_added(attn_mask, "attn_mask", query.dtype)
        if batched and query is key is value and not numbers and self._infers(query):
            return self._inferred(query, attn_mask, key_padding_mask, need_weights, average_attn_weights)
        turned = self.batch_first and batched
        if turned and query is key is value:   # they stay one tensor, so that one product projects them
            query = key = value = query.transpose(1, 0)
        elif turned:
            same, query, key = key is value, query.transpose(1, 0), key.transpose(1, 0)
            value = key if same else value.transpose(1, 0)
        output, weights = self._attended(query, key, value, attn_mask, key_padding_mask, need_weights,
                                         average_attn_weights, is_causal)
        return output.transpose(1, 0) if turned else output, weights

    def _attended(self, query, key, value, attn_mask, key_padding_mask, need_weights, average, is_causal):
        separate = {} if self._qkv_same_embed_dim else {
            "use_separate_proj_weight": True, "q_proj_weight": self.q_proj_weight,
            "k_proj_weight": self.k_proj_weight, "v_proj_weight": self.v_proj_weight}
        return F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training,
            key_padding_mask, need_weights, attn_mask, average_attn_weights=average, is_causal=is_causal, **separate)

    # -------------------------------------------------------------- inference
    def _infers(self, query):
        """Whether torch would use its inference kernel. Its results differ where a query may attend to no key."""
        weight, bias = self.in_proj_weight, self.in_proj_bias
        if not fast_path_enabled() or self.training or not self.batch_first or weight is None or bias is None:
            return False
        if self.num_heads % 2 or self.bias_k is not None or self.add_zero_attn:
            return False
        return query.dtype == weight.dtype == bias.dtype and not recorded(
            (query, weight, bias, self.out_proj.weight, self.out_proj.bias))

    def _inferred(self, query, attn_mask, key_padding_mask, need_weights=False, average=True):
        """The result of the inference kernel. It forbids each place whose mask is not zero, and ignores `is_causal`."""
        batch, length, size = query.shape
        if size != self.embed_dim:
            raise RuntimeError(f"passed-in embed_dim {self.embed_dim} didn't match last dim of query {size}")
        if not need_weights and attn_mask is key_padding_mask is None and query.dtype.itemsize > 2:
            projected = F.linear(query, self.in_proj_weight, self.in_proj_bias)
            heads = projected.view(batch, length, 3, self.num_heads, self.head_dim).transpose(1, 3).unbind(2)
            output = F.scaled_dot_product_attention(*heads).transpose(1, 2).reshape(batch, length, size)
            return F.linear(output, self.out_proj.weight, self.out_proj.bias), None
        merged, _ = self.merge_masks(attn_mask, key_padding_mask, query)
        if merged is not None:
            if attn_mask is None:
                if merged.shape != (batch, length):
                    raise RuntimeError("For mask_type == 1 mask shape should be (B, L)")
                merged = merged.view(batch, 1, 1, length).expand(-1, self.num_heads, length, -1)
            merged = merged.reshape(-1, length, length)
            merged = zeros_like(merged).masked_fill_(merged != 0, float("-inf"))
        x = query.transpose(1, 0)
        output, weights = self._attended(x, x, x, merged, None, True, average, False)
        return output.transpose(1, 0).contiguous(), weights if need_weights else None

    def merge_masks(self, attn_mask, key_padding_mask, query):
        """(mask, type) for the masks of a `query` (N, L, E). With an `attn_mask`, it is one mask (N, num_heads, L, L)
        and type 2; with the `key_padding_mask` alone, this mask and type 1; without masks, (None, None)."""
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, length, _ = query.shape
        if attn_mask.dim() == 3:
            merged = attn_mask.view(batch, -1, length, length)
        else:
            merged = attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged, 2
