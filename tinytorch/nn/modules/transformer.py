"""Transformer: encoder and decoder (Vaswani et al. 2017), and their layers."""
import copy
from typing import TYPE_CHECKING

from ...errors import warn
from ...ops.creation.factories import full
from ...ops.nn.multi_head_attention import as_added
from .. import functional as F, init
from .activation import GELU, ReLU
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .multihead_attention import MultiheadAttention, fast_path_enabled, recorded
from .normalization import LayerNorm

__all__ = ["Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
           "TransformerEncoderLayer"]


# ------------------------------------------------------------------ shared by the layers
def _get_activation_fn(activation):
    """The function of F that a string names; any other activation as it is."""
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


def _copies(layer, count):
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


def _causal(size, device=None, dtype=None):
    return full((size, size), float("-inf"), dtype=dtype, device=device).triu(1)


def _is_causal(mask, is_causal, x, batch_first):
    """Whether `mask` is the causal mask of the sequence `x`. `is_causal`, unless None, is the answer."""
    if is_causal is not None or mask is None:
        return is_causal is True
    size = x.shape[0 if x.dim() == 2 or not batch_first else 1]
    return mask.shape == (size, size) and bool((mask == _causal(size, mask.device, mask.dtype)).all())


class _Layer(Module):
    """Base of encoder and decoder layers: attention, then a network of two linear layers at each position."""

    __constants__ = ["norm_first"]
    if TYPE_CHECKING:
        _attentions: tuple[str, ...]           # names of the layers of attention
    _attentions = ("self_attn",)

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        made = {"bias": bias, "device": device, "dtype": dtype}
        for name in self._attentions:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, **made))
        self.linear1 = Linear(d_model, dim_feedforward, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **made)
        self.norm_first = norm_first
        numbers = range(1, len(self._attentions) + 2)
        for i in numbers:
            setattr(self, f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, **made))
        for i in numbers:
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _get_activation_fn(activation)

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        return self.dropout1(self.self_attn(x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask,
                                            need_weights=False, is_causal=is_causal)[0])

    def _network(self, x):
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def _after(self, x, norm, block):
        """`x` + block(x), normalised before the block or after the sum (Xiong et al. 2020, figure 1)."""
        return x + block(norm(x)) if self.norm_first else norm(x + block(x))


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, then a network of two linear layers at each position. The result of each is
    added to its input, and normalised.

    src (S, N, d_model), (N, S, d_model) with `batch_first`, or (S, d_model); the masks are those of MultiheadAttention.
    `activation` is "relu", "gelu" or a function. `norm_first` normalises the input of each part instead of the sum. In
    evaluation without gradients, masks of numbers count as True where they are not zero, as in torch's kernel.

    >>> import tinytorch as torch
    >>> torch.nn.TransformerEncoderLayer(8, 2, 16)(torch.ones(5, 3, 8)).shape
    torch.Size([5, 3, 8])
    """

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__(d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first,
                         bias, device, dtype)
        given = self.activation
        relu = given is F.relu or isinstance(given, ReLU)
        gelu = given is F.gelu or isinstance(given, GELU)
        if relu:
            self.activation_relu_or_gelu = 1
        else:
            self.activation_relu_or_gelu = 2 if gelu else 0

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        src_key_padding_mask = as_added(src_key_padding_mask, "src_key_padding_mask", src.dtype, src_mask, "src_mask")
        src_mask = as_added(src_mask, "src_mask", src.dtype)
        if self._infers(src):
            def attend(x):
                return self.self_attn._inferred(x, src_mask, src_key_padding_mask)[0]
        else:
            def attend(x):
                return self._sa_block(x, src_mask, src_key_padding_mask, is_causal=is_causal)
        return self._after(self._after(src, self.norm1, attend), self.norm2, self._ff_block)

    def _ff_block(self, x):
        return self.dropout2(self._network(x))

    def _infers(self, src):
        """Whether torch would use its inference kernel."""
        if self.training or src.dim() != 3 or not fast_path_enabled() or not self.activation_relu_or_gelu:
            return False
        attention = self.self_attn
        if (not attention.batch_first or attention.in_proj_bias is None or not attention._qkv_same_embed_dim
                or attention.num_heads % 2 or self.norm1.eps != self.norm2.eps):
            return False
        if any([m._forward_hooks or m._forward_pre_hooks for m in self.modules()]):
            return False
        return not recorded((src, *self.parameters()))


class TransformerEncoder(Module):
    """`num_layers` copies of an encoder layer in a row, then the layer `norm` if it is given.

    The arguments of forward are those of the layer. With is_causal=None, forward compares `mask` with the causal mask.
    In evaluation without gradients, the output is zero at places at the end of sequences that `src_key_padding_mask`
    hides (`enable_nested_tensor`), as in torch.

    >>> import tinytorch as torch
    >>> layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    >>> torch.nn.TransformerEncoder(layer, 2)(torch.ones(3, 5, 8)).shape
    torch.Size([3, 5, 8])
    """

    __constants__ = ["norm"]

    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers, self.num_layers, self.norm = _copies(encoder_layer, num_layers), num_layers, norm
        self.enable_nested_tensor = self.use_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        reason = _not_nested(encoder_layer)
        if enable_nested_tensor and reason:
            warn(f"enable_nested_tensor is True, but self.use_nested_tensor is False because {reason}")
            self.use_nested_tensor = False

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        src_key_padding_mask = as_added(src_key_padding_mask, "src_key_padding_mask", src.dtype, mask, "mask")
        mask = as_added(mask, "mask", src.dtype)
        first = self.layers[0]
        left_out = None
        if fast_path_enabled() and self.use_nested_tensor and not first.training and src.dim() == 3 and (
                src_key_padding_mask is not None):
            hidden = src_key_padding_mask != 0
            if (not self.mask_check or _at_the_end(hidden, src)) and mask is None and not recorded(
                    (src, *first.parameters())):
                left_out = hidden
        is_causal = _is_causal(mask, is_causal, src, first.self_attn.batch_first)
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=is_causal, src_key_padding_mask=src_key_padding_mask)
        if left_out is not None:
            output = output.masked_fill(left_out.unsqueeze(-1), 0.0)
        return output if self.norm is None else self.norm(output)


def _at_the_end(hidden, src):
    """Whether the hidden places of each sequence are at its end."""
    if hidden.shape != src.shape[:2]:
        raise RuntimeError("Mask size should match input size")
    return bool((hidden[:, 1:] | ~hidden[:, :-1]).all())


def _not_nested(layer):
    """The reason why torch's encoder would keep the padding, "" if it would drop it."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = [
        (layer.norm_first, "encoder_layer.norm_first was True"),
        (not attention.batch_first, "encoder_layer.self_attn.batch_first was not True(use batch_first for better "
                                    "inference performance)"),
        (not attention._qkv_same_embed_dim, "encoder_layer.self_attn._qkv_same_embed_dim was not True"),
        (attention.in_proj_bias is None, "encoder_layer.self_attn was passed bias=False"),
        (not layer.activation_relu_or_gelu, "encoder_layer.activation_relu_or_gelu was not True"),
        (layer.norm1.eps != layer.norm2.eps, "encoder_layer.norm1.eps was not equal to encoder_layer.norm2.eps"),
        (attention.num_heads % 2, "encoder_layer.self_attn.num_heads is odd")]
    return next((reason for holds, reason in reasons if holds), "")


class TransformerDecoderLayer(_Layer):
    """Attention of a sequence to itself, attention to an encoder's output, then a network of two linear layers at each
    position. The result of each is added to its input, and normalised.

    tgt (T, N, d_model) and memory (S, N, d_model), or (N, T, d_model) and (N, S, d_model) with `batch_first`, or
    without N; the masks are those of MultiheadAttention. The settings are those of TransformerEncoderLayer.

    >>> import tinytorch as torch
    >>> torch.nn.TransformerDecoderLayer(8, 2, 16)(torch.ones(4, 3, 8), torch.ones(5, 3, 8)).shape
    torch.Size([4, 3, 8])
    """

    _attentions = ("self_attn", "multihead_attn")

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, tgt_is_causal=False, memory_is_causal=False):
        x = self._after(tgt, self.norm1, lambda x: self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal))
        x = self._after(x, self.norm2, lambda x: self._mha_block(x, memory, memory_mask, memory_key_padding_mask,
                                                                 memory_is_causal))
        return self._after(x, self.norm3, self._ff_block)

    def _mha_block(self, x, mem, attn_mask, key_padding_mask, is_causal=False):
        return self.dropout2(self.multihead_attn(x, mem, mem, attn_mask=attn_mask, key_padding_mask=key_padding_mask,
                                                 is_causal=is_causal, need_weights=False)[0])

    def _ff_block(self, x):
        return self.dropout3(self._network(x))


class TransformerDecoder(Module):
    """`num_layers` copies of a decoder layer in a row, then the layer `norm` if it is given.

    The arguments of forward are those of the layer. With tgt_is_causal=None, forward compares `tgt_mask` with the
    causal mask.

    >>> import tinytorch as torch
    >>> layer = torch.nn.TransformerDecoderLayer(8, 2, 16)
    >>> torch.nn.TransformerDecoder(layer, 2)(torch.ones(4, 3, 8), torch.ones(5, 3, 8)).shape
    torch.Size([4, 3, 8])
    """

    __constants__ = ["norm"]

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers, self.num_layers, self.norm = _copies(decoder_layer, num_layers), num_layers, norm

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, tgt_is_causal=None, memory_is_causal=False):
        tgt_is_causal = _is_causal(tgt_mask, tgt_is_causal, tgt, self.layers[0].self_attn.batch_first)
        output = tgt
        for layer in self.layers:
            output = layer(output, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                           tgt_key_padding_mask=tgt_key_padding_mask,
                           memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
                           memory_is_causal=memory_is_causal)
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """An encoder of `num_encoder_layers` layers and a decoder of `num_decoder_layers` layers, each with a layer norm at
    the end, or `custom_encoder` and `custom_decoder`. Matrices are initialised by xavier_uniform_.

    src (S, N, d_model) and tgt (T, N, d_model), or (N, S, d_model) and (N, T, d_model) with `batch_first`, or without
    N. The output has the shape of tgt. RuntimeError for other sizes.

    >>> import tinytorch as torch
    >>> model = torch.nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    >>> causal = torch.nn.Transformer.generate_square_subsequent_mask(4)
    >>> model(torch.ones(3, 5, 8), torch.ones(3, 4, 8), tgt_mask=causal).shape
    torch.Size([3, 4, 8])
    """

    def __init__(self, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048,
                 dropout=0.1, activation=F.relu, custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()

        def stack(stack_of, layer, count):
            of_layer = layer(d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
                             norm_first, bias, device, dtype)
            return stack_of(of_layer, count, LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device,
                                                       dtype=dtype))
        self.encoder = custom_encoder if custom_encoder is not None else stack(
            TransformerEncoder, TransformerEncoderLayer, num_encoder_layers)
        self.decoder = custom_decoder if custom_decoder is not None else stack(
            TransformerDecoder, TransformerDecoderLayer, num_decoder_layers)
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None,
                tgt_key_padding_mask=None, memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None,
                memory_is_causal=False):
        of_batch = 0 if self.batch_first else 1
        if src.size(of_batch) != tgt.size(of_batch) and src.dim() == 3:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                            tgt_key_padding_mask=tgt_key_padding_mask,
                            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
                            memory_is_causal=memory_is_causal)

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        """The causal mask (sz, sz): 0 up to the diagonal, -inf above it.

        >>> import tinytorch as torch
        >>> torch.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        return _causal(sz, device, dtype)

    def _reset_parameters(self):
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)
