"""Methods of layers as scripts have them, where the layer's method is not in the language of scripts. Only their texts
are used, as those of functional.py.
"""
# ruff: noqa: UP006, UP007, UP035, UP045 (as scripts are written)
from __future__ import annotations

from collections.abc import Callable
from typing import List, Optional, Tuple

from .._ops import ops
from ..nn import functional as F
from ..tensor import Tensor

__all__ = ["METHODS"]

aten = ops.aten


class Sequential:
    def forward(self, input: Tensor) -> Tensor:
        for module in self:
            input = module(input)
        return input


class Linear:
    def forward(self, input: Tensor) -> Tensor:
        return aten.linear(input, self.weight, self.bias)


class LayerNorm:
    def forward(self, input: Tensor) -> Tensor:
        return aten.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class GroupNorm:
    def forward(self, input: Tensor) -> Tensor:
        return aten.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class _BatchNorm:
    def forward(self, input: Tensor) -> Tensor:
        momentum = 0.0
        if self.momentum is not None:
            momentum = self.momentum
        if self.num_batches_tracked is not None:
            if self.training and self.track_running_stats:
                self.num_batches_tracked.add_(1)
                if self.momentum is None:
                    momentum = 1.0 / float(self.num_batches_tracked)
        if self.running_mean is None:
            return aten.batch_norm(input, self.weight, self.bias, None, None, True, momentum, self.eps, True)
        if self.training and not self.track_running_stats:
            return aten.batch_norm(input, self.weight, self.bias, None, None, True, momentum, self.eps, True)
        return aten.batch_norm(input, self.weight, self.bias, self.running_mean, self.running_var, self.training,
                               momentum, self.eps, True)


class _InstanceNorm:
    def forward(self, input: Tensor) -> Tensor:
        unbatched = input.dim() == self._dims[0]
        if unbatched:
            input = input.unsqueeze(0)
        use = self.training or not self.track_running_stats
        momentum = 0.0 if self.momentum is None else self.momentum
        out = aten.instance_norm(input, self.weight, self.bias, self.running_mean, self.running_var, use, momentum,
                                 self.eps, True)
        return out.squeeze(0) if unbatched else out


class Conv1d:
    def forward(self, input: Tensor) -> Tensor:
        if self.padding_mode != "zeros":
            padded = aten.pad(input, self._reversed_padding_repeated_twice, self.padding_mode)
            return aten.conv1d(padded, self.weight, self.bias, self.stride, [0], self.dilation, self.groups)
        return aten.conv1d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv2d:
    def forward(self, input: Tensor) -> Tensor:
        if self.padding_mode != "zeros":
            padded = aten.pad(input, self._reversed_padding_repeated_twice, self.padding_mode)
            return aten.conv2d(padded, self.weight, self.bias, self.stride, [0, 0], self.dilation, self.groups)
        return aten.conv2d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv3d:
    def forward(self, input: Tensor) -> Tensor:
        if self.padding_mode != "zeros":
            padded = aten.pad(input, self._reversed_padding_repeated_twice, self.padding_mode)
            return aten.conv3d(padded, self.weight, self.bias, self.stride, [0, 0, 0], self.dilation, self.groups)
        return aten.conv3d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


def missing_rows(input: Tensor, output_size: Optional[List[int]], stride: List[int], padding: List[int],
                 kernel_size: List[int], dilation: List[int], output_padding: List[int]) -> List[int]:
    """The output padding with which a transposed convolution has a given output size."""
    if output_size is None:
        return output_padding
    dims = len(kernel_size)
    if len(output_size) == dims + 2:
        output_size = output_size[2:]
    made: List[int] = []
    for i in range(dims):
        least = (input.size(input.dim() - dims + i) - 1) * stride[i] - 2 * padding[i] + dilation[i] * (
            kernel_size[i] - 1) + 1
        if output_size[i] < least or output_size[i] > least + stride[i] - 1:
            raise ValueError(f"requested an output size of {output_size}, which {input.size()} cannot give")
        made.append(output_size[i] - least)
    return made


class ConvTranspose1d:
    def forward(self, input: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        rows = missing_rows(input, output_size, self.stride, self.padding, self.kernel_size, self.dilation,
                            self.output_padding)
        return aten.conv_transpose1d(input, self.weight, self.bias, self.stride, self.padding, rows, self.groups,
                                     self.dilation)


class ConvTranspose2d:
    def forward(self, input: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        rows = missing_rows(input, output_size, self.stride, self.padding, self.kernel_size, self.dilation,
                            self.output_padding)
        return aten.conv_transpose2d(input, self.weight, self.bias, self.stride, self.padding, rows, self.groups,
                                     self.dilation)


class ConvTranspose3d:
    def forward(self, input: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        rows = missing_rows(input, output_size, self.stride, self.padding, self.kernel_size, self.dilation,
                            self.output_padding)
        return aten.conv_transpose3d(input, self.weight, self.bias, self.stride, self.padding, rows, self.groups,
                                     self.dilation)


class _CircularPadNd:
    def forward(self, input: Tensor) -> Tensor:
        return aten.pad(input, self.padding, "circular")


class Upsample:
    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(input, self.size_of_result(), self.factors(), self.mode, self.align_corners)

    def size_of_result(self) -> Optional[List[int]]:
        if self.size is None:
            return None
        if isinstance(self.size, int):
            return [self.size]
        return list(self.size)

    def factors(self) -> Optional[List[float]]:
        if self.scale_factor is None:
            return None
        if isinstance(self.scale_factor, float):
            return [self.scale_factor]
        return list(self.scale_factor)


class EmbeddingBag:
    def forward(self, input: Tensor, offsets: Optional[Tensor] = None,
                per_sample_weights: Optional[Tensor] = None) -> Tensor:
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                               self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx)


class MultiheadAttention:
    def forward(self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Optional[Tensor] = None,
                need_weights: bool = True, attn_mask: Optional[Tensor] = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> Tuple[Tensor, Optional[Tensor]]:
        turned = self.batch_first and query.dim() == 3
        if turned:
            query, key, value = query.transpose(1, 0), key.transpose(1, 0), value.transpose(1, 0)
        out, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training,
            key_padding_mask, need_weights, attn_mask, False, self.q_proj_weight, self.k_proj_weight,
            self.v_proj_weight, None, None, average_attn_weights, is_causal)
        if turned:
            return out.transpose(1, 0), weights
        return out, weights


class TransformerEncoderLayer:
    def forward(self, src: Tensor, src_mask: Optional[Tensor] = None, src_key_padding_mask: Optional[Tensor] = None,
                is_causal: bool = False) -> Tensor:
        x = src
        if self.norm_first:
            y = self.norm1(x)
            x = x + self.dropout1(self.self_attn(y, y, y, src_key_padding_mask, False, src_mask)[0])
            return x + self._feed(self.norm2(x))
        x = self.norm1(x + self.dropout1(self.self_attn(x, x, x, src_key_padding_mask, False, src_mask)[0]))
        return self.norm2(x + self._feed(x))

    def _feed(self, x: Tensor) -> Tensor:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoder:
    def forward(self, src: Tensor, mask: Optional[Tensor] = None, src_key_padding_mask: Optional[Tensor] = None,
                is_causal: Optional[bool] = None) -> Tensor:
        output = src
        for layer in self.layers:
            output = layer(output, mask, src_key_padding_mask)
        if self.norm is not None:
            output = self.norm(output)
        return output


class TransformerDecoderLayer:
    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Optional[Tensor] = None,
                memory_mask: Optional[Tensor] = None, tgt_key_padding_mask: Optional[Tensor] = None,
                memory_key_padding_mask: Optional[Tensor] = None, tgt_is_causal: bool = False,
                memory_is_causal: bool = False) -> Tensor:
        x = tgt
        if self.norm_first:
            y = self.norm1(x)
            x = x + self.dropout1(self.self_attn(y, y, y, tgt_key_padding_mask, False, tgt_mask)[0])
            y = self.norm2(x)
            x = x + self.dropout2(self.multihead_attn(y, memory, memory, memory_key_padding_mask, False,
                                                      memory_mask)[0])
            return x + self._feed(self.norm3(x))
        x = self.norm1(x + self.dropout1(self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask)[0]))
        x = self.norm2(x + self.dropout2(self.multihead_attn(x, memory, memory, memory_key_padding_mask, False,
                                                             memory_mask)[0]))
        return self.norm3(x + self._feed(x))

    def _feed(self, x: Tensor) -> Tensor:
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoder:
    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Optional[Tensor] = None,
                memory_mask: Optional[Tensor] = None, tgt_key_padding_mask: Optional[Tensor] = None,
                memory_key_padding_mask: Optional[Tensor] = None, tgt_is_causal: Optional[bool] = None,
                memory_is_causal: bool = False) -> Tensor:
        output = tgt
        for layer in self.layers:
            output = layer(output, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        if self.norm is not None:
            output = self.norm(output)
        return output


class Transformer:
    def forward(self, src: Tensor, tgt: Tensor, src_mask: Optional[Tensor] = None, tgt_mask: Optional[Tensor] = None,
                memory_mask: Optional[Tensor] = None, src_key_padding_mask: Optional[Tensor] = None,
                tgt_key_padding_mask: Optional[Tensor] = None, memory_key_padding_mask: Optional[Tensor] = None,
                src_is_causal: Optional[bool] = None, tgt_is_causal: Optional[bool] = None,
                memory_is_causal: bool = False) -> Tensor:
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)


class LSTM:
    def forward(self, input: Tensor, hx: Optional[Tuple[Tensor, Tensor]] = None) -> Tuple[Tensor,
                                                                                          Tuple[Tensor, Tensor]]:
        batched = input.dim() == 3
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        batch = input.size(0) if self.batch_first else input.size(1)
        layers = self.num_layers * (2 if self.bidirectional else 1)
        if hx is None:
            width = self.proj_size if self.proj_size > 0 else self.hidden_size
            h = aten.zeros([layers, batch, width], dtype=input.dtype)
            c = aten.zeros([layers, batch, self.hidden_size], dtype=input.dtype)
        else:
            h, c = hx
            if not batched:
                h, c = h.unsqueeze(1), c.unsqueeze(1)
        weights = [getattr(self, name) for name in self._flat_weights_names]
        output, h, c = aten.lstm(input, [h, c], weights, self.bias, self.num_layers, self.dropout,
                                 self.training, self.bidirectional, self.batch_first)
        if not batched:
            output = output.squeeze(0 if self.batch_first else 1)
            h, c = h.squeeze(1), c.squeeze(1)
        return output, (h, c)


class GRU:
    def forward(self, input: Tensor, hx: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        batched = input.dim() == 3
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        batch = input.size(0) if self.batch_first else input.size(1)
        layers = self.num_layers * (2 if self.bidirectional else 1)
        if hx is None:
            h = aten.zeros([layers, batch, self.hidden_size], dtype=input.dtype)
        else:
            h = hx if batched else hx.unsqueeze(1)
        weights = [getattr(self, name) for name in self._flat_weights_names]
        if self.mode == "GRU":
            output, h = aten.gru(input, h, weights, self.bias, self.num_layers, self.dropout, self.training,
                                 self.bidirectional, self.batch_first)
        elif self.mode == "RNN_TANH":
            output, h = aten.rnn_tanh(input, h, weights, self.bias, self.num_layers, self.dropout,
                                      self.training, self.bidirectional, self.batch_first)
        else:
            output, h = aten.rnn_relu(input, h, weights, self.bias, self.num_layers, self.dropout,
                                      self.training, self.bidirectional, self.batch_first)
        if not batched:
            output, h = output.squeeze(0 if self.batch_first else 1), h.squeeze(1)
        return output, h


class LSTMCell:
    def forward(self, input: Tensor, hx: Optional[Tuple[Tensor, Tensor]] = None) -> Tuple[Tensor, Tensor]:
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            h = aten.zeros([input.size(0), self.hidden_size], dtype=input.dtype)
            c = h
        else:
            h, c = hx
            if not batched:
                h, c = h.unsqueeze(0), c.unsqueeze(0)
        h, c = aten.lstm_cell(input, [h, c], self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return (h, c) if batched else (h.squeeze(0), c.squeeze(0))


class GRUCell:
    def forward(self, input: Tensor, hx: Optional[Tensor] = None) -> Tensor:
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            h = aten.zeros([input.size(0), self.hidden_size], dtype=input.dtype)
        else:
            h = hx if batched else hx.unsqueeze(0)
        h = aten.gru_cell(input, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return h if batched else h.squeeze(0)


class RNNCell:
    def forward(self, input: Tensor, hx: Optional[Tensor] = None) -> Tensor:
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            h = aten.zeros([input.size(0), self.hidden_size], dtype=input.dtype)
        else:
            h = hx if batched else hx.unsqueeze(0)
        if self.nonlinearity == "tanh":
            h = aten.rnn_tanh_cell(input, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        else:
            h = aten.rnn_relu_cell(input, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return h if batched else h.squeeze(0)


_LAYERS = (Sequential, Linear, LayerNorm, GroupNorm, _BatchNorm, _InstanceNorm, Conv1d, Conv2d, Conv3d, ConvTranspose1d,
           ConvTranspose2d, ConvTranspose3d, _CircularPadNd, Upsample, EmbeddingBag, MultiheadAttention,
           TransformerEncoderLayer, TransformerEncoder, TransformerDecoderLayer, TransformerDecoder, Transformer, LSTM,
           GRU, LSTMCell, GRUCell, RNNCell)
#: {(name of the layer's class, method): the method in a script}.
METHODS: dict[tuple[str, str], Callable] = {
    (layer.__name__, name): method for layer in _LAYERS for name, method in vars(layer).items() if callable(method)}
METHODS["RNN", "forward"] = GRU.forward
