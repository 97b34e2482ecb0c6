"""Rules that write ATen's operators in terms of core operators: one for each operator that is not a core operator
itself (decompositions.py)."""
from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import dtypes as dt
from .._ops import ops
from ..fx.node import Node
from ..memory_format import contiguous_format
from .symbols import Expression

if TYPE_CHECKING:
    from .decompositions import Emitter

__all__ = ["RULES"]

_aten = ops.aten
#: {name of an operator: its rule}
RULES: dict[str, Callable] = {}


def _rule(*names):
    def register(function):
        RULES.update(dict.fromkeys(names, function))
        return function
    return register


# ------------------------------------------------------------------ rules: shapes
@_rule("view", "_unsafe_view")
def _view(e, x, size):
    """A view. Where a rule has given the memory another order, a copy is made first."""
    try:
        return e.call(_aten.view.default, x, size)
    except RuntimeError:
        return e.call(_aten.view.default, e.call(_aten.clone.default, x, memory_format=contiguous_format), size)


@_rule("reshape", "flatten", "unflatten", "view_as", "reshape_as")
def _reshape(e, x, *args, **kwargs):
    return _view(e, x, _target_size(e, x, args))


def _target_size(e, x, args):
    shape = e.shape(x)
    if args and isinstance(args[0], Node):     # another tensor's shape
        return e.sizes(args[0])
    if args and isinstance(args[0], (list, tuple)):
        return list(args[0])
    rank = len(shape)
    if len(args) == 2 and isinstance(args[1], (list, tuple)):      # unflatten
        d = args[0] % rank
        return [*[e.size(x, i) for i in range(d)], *args[1], *[e.size(x, i) for i in range(d + 1, rank)]]
    first = (args[0] if args else 0) % max(rank, 1)
    last = (args[1] if len(args) > 1 else -1) % max(rank, 1)
    whole = e.times(*[e.size(x, i) for i in range(first, last + 1)])
    return [*[e.size(x, i) for i in range(first)], whole, *[e.size(x, i) for i in range(last + 1, rank)]]


@_rule("t", "transpose", "mT", "numpy_T", "swapaxes")
def _transpose(e, x, first=-2, second=-1):
    dims = list(range(len(e.shape(x))))
    if len(dims) > 1:
        dims[first], dims[second] = dims[second], dims[first]
    return e.call(_aten.permute.default, x, dims)


@_rule("movedim")
def _movedim(e, x, source, destination):
    source, destination = [[d] if isinstance(d, int) else list(d) for d in (source, destination)]
    rank = len(e.shape(x))
    dims, taken = [None] * rank, [d % rank for d in source]
    for s, d in zip(taken, destination):
        dims[d % rank] = s
    left = iter([d for d in range(rank) if d not in taken])
    return e.call(_aten.permute.default, x, [next(left) if d is None else d for d in dims])


@_rule("squeeze")
def _squeeze(e, x, dim=None):
    shape = e.shape(x)
    dims = [dim] if isinstance(dim, int) else dim
    if dim is None:
        dims = range(len(shape))
    return e.call(_aten.squeeze.dims, x, [d % len(shape) for d in dims if shape[d] == 1])


@_rule("narrow")
def _narrow(e, x, dim, start, length):
    end = e.call(operator.add, start, length) if isinstance(start, Node) or isinstance(length, Node) else start + length
    return e.call(_aten.slice.Tensor, x, dim, start, end)


@_rule("expand_as")
def _expand_as(e, x, other):
    return e.call(_aten.expand.default, x, e.sizes(other))


@_rule("contiguous")
def _contiguous(e, x, *, memory_format=None):
    if all([v.is_contiguous() for v in e.values[x]]):
        return x
    return e.call(_aten.clone.default, x, memory_format=contiguous_format)


@_rule("detach", "lift_fresh", "alias")
def _same(e, x):
    return e.call(_aten.alias.default, x)


@_rule("lift_fresh_copy", "clone")
def _clone(e, x, *, memory_format=None):
    return e.call(_aten.clone.default, x)


@_rule("to", "type_as")
def _to(e, x, dtype=None, *rest, **kwargs):
    dtype = kwargs.get("dtype", dtype)
    if isinstance(dtype, Node):
        dtype = e.dtype(dtype)
    if not isinstance(dtype, dt.dtype):
        dtype = next((a for a in rest if isinstance(a, dt.dtype)), None)
    if dtype is None or dtype is e.dtype(x):
        return x
    return e.call(_aten._to_copy.default, x, dtype=dtype)


@_rule("stack")
def _stack(e, tensors, dim=0):
    rank = len(e.shape(tensors[0])) + 1
    return e.call(_aten.cat.default, [e.call(_aten.unsqueeze.default, x, dim % rank) for x in tensors], dim % rank)


@_rule("split", "chunk", "unbind")
def _split(e, x, size=None, dim=0):
    parts = e.values[x][0]
    if size is None or dim == 0 and not isinstance(size, (int, list)):     # unbind(dim)
        size = 0 if size is None else size
    n = parts.shape[dim]
    sizes = list(size) if isinstance(size, (list, tuple)) else [min(size, n - k) for k in range(0, n, size)]
    whole = e.call(_aten.split_with_sizes.default, x, sizes, dim)
    return [e.item(whole, k) for k in range(len(sizes))]


def _unbind(e, x, dim=0):
    return [e.call(_aten.select.int, x, dim, k) for k in range(e.values[x][0].shape[dim])]


def _chunk(e, x, chunks, dim=0):
    return _split(e, x, -(-e.values[x][0].shape[dim] // chunks), dim)


RULES.update({"unbind": _unbind, "chunk": _chunk})


@_rule("pad")
def _pad(e, x, pad, mode="constant", value=None):
    if mode != "constant":
        target = {"reflect": "reflection", "replicate": "replication"}.get(mode)
        if target is None:
            raise NotImplementedError(f"run_decompositions: padding of mode {mode!r}")
        return e.call(getattr(_aten, f"{target}_pad{len(pad) // 2}d").default, x, pad)
    return e.call(_aten.constant_pad_nd.default, x, pad, value if value is not None else 0.0)


# ------------------------------------------------------------------ rules: new tensors
def _filled(value):
    def write(e, size, **kwargs):
        return e.call(_aten.full.default, size, value, **kwargs)
    return write


def _filled_like(value):
    def write(e, x, size=None, **kwargs):
        kwargs.pop("memory_format", None)
        kwargs.setdefault("dtype", e.dtype(x))
        return e.call(_aten.full.default, e.sizes(x) if size is None else size, value, **kwargs)
    return write


RULES.update({"zeros": _filled(0), "ones": _filled(1), "zeros_like": _filled_like(0), "ones_like": _filled_like(1),
               "new_zeros": _filled_like(0), "new_ones": _filled_like(1)})


@_rule("arange")
def _arange(e, *args, **kwargs):
    start, end, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
    return e.call(_aten.arange.start_step, start, end, step, **kwargs)


# ------------------------------------------------------------------ rules: products
@_rule("linear")
def _linear(e, x, weight, bias=None):
    turned = e.call(_aten.permute.default, weight, [1, 0])
    shape = e.shape(x)
    flat = x
    if len(shape) != 2:
        flat = _reshape(e, x, [-1, shape[-1]])
    if bias is not None:
        result = e.call(_aten.addmm.default, bias, flat, turned)
    else:
        result = e.call(_aten.mm.default, flat, turned)
    if len(shape) == 2:
        return result
    return e.call(_aten.view.default, result, [*e.sizes(x)[:-1], e.shape(weight)[0]])


@_rule("matmul")
def _matmul(e, x, y):
    a, b = len(e.shape(x)), len(e.shape(y))
    if a == b == 2:
        return e.call(_aten.mm.default, x, y)
    if a == 1 or b == 1:
        first = e.call(_aten.unsqueeze.default, x, 0) if a == 1 else x
        second = e.call(_aten.unsqueeze.default, y, -1) if b == 1 else y
        result = _matmul(e, first, second)
        gone = [d for d, one in ((-2, a == 1), (-1, b == 1)) if one]
        rank = len(e.shape(result))
        return e.call(_aten.squeeze.dims, result, [d % rank for d in gone])
    shapes = [e.sizes(x)[:-2], e.sizes(y)[:-2]]
    longest = max(map(len, shapes))
    rows = [[1] * (longest - len(s)) + s for s in shapes]
    batch = [m if n == 1 and not isinstance(n, Node) else n for n, m in zip(*rows)]
    whole = e.times(*batch)
    flat = []
    for z in (x, y):
        rest = e.sizes(z)[-2:]
        wide = e.call(_aten.expand.default, z, [*batch, *rest])
        flat.append(_reshape(e, wide, [whole, *rest]))
    result = e.call(_aten.bmm.default, *flat)
    return e.call(_aten.view.default, result, [*batch, e.size(x, -2), e.size(y, -1)])


def _convolution(dims, transposed):
    def write(e, x, weight, bias=None, stride=1, padding=0, *rest, **kwargs):
        if transposed:
            output_padding, groups, dilation = (*rest, *(0, 1, 1)[len(rest):])
        else:
            dilation, groups = (*rest, *(1, 1)[len(rest):])
            output_padding = 0
        stride, dilation, output_padding = [_many(n, dims) for n in (stride, dilation, output_padding)]
        kernel = e.shape(weight)[2:]
        if padding == "same":
            padding = [d * (k - 1) // 2 for d, k in zip(dilation, kernel)]
            if any([d * (k - 1) % 2 for d, k in zip(dilation, kernel)]):
                raise NotImplementedError("run_decompositions: padding='same' of a kernel of even size")
        padding = [0] * dims if padding == "valid" else _many(padding, dims)
        return e.call(_aten.convolution.default, x, weight, bias, stride, padding, dilation, transposed, output_padding,
                      groups)
    return write


def _many(n, dims):
    n = [n] * dims if isinstance(n, int) else list(n)
    return n * dims if len(n) == 1 else n


for _dims in (1, 2, 3):
    RULES[f"conv{_dims}d"] = _convolution(_dims, False)
    RULES[f"conv_transpose{_dims}d"] = _convolution(_dims, True)


@_rule("scaled_dot_product_attention")
def _attention(e, q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    if dropout_p or enable_gqa:
        raise NotImplementedError("run_decompositions: attention with dropout, or with fewer key heads than "
                                  "query heads")
    scale = scale if scale is not None else 1 / math.sqrt(e.shape(q)[-1])
    scores = e.call(_aten.mul.Tensor, _matmul(e, q, _transpose(e, k)), scale)
    if is_causal:
        if any([isinstance(n, Expression) for n in (e.shape(q)[-2], e.shape(k)[-2])]):
            raise NotImplementedError("run_decompositions: causal attention over a length that varies")
        rows = e.call(_aten.unsqueeze.default, _arange(e, e.shape(q)[-2]), -1)
        attn_mask = e.call(_aten.ge.Tensor, rows, _arange(e, e.shape(k)[-2]))
    if attn_mask is not None and e.dtype(attn_mask) is dt.bool:
        least = e.call(_aten.scalar_tensor.default, -math.inf, dtype=e.dtype(scores))
        scores = e.call(_aten.where.self, attn_mask, scores, least)
    elif attn_mask is not None:
        scores = e.call(_aten.add.Tensor, scores, attn_mask)
    return _matmul(e, e.call(_aten._softmax.default, scores, -1, False), v)


# ------------------------------------------------------------------ rules: layers
@_rule("batch_norm")
def _batch_norm(e, x, weight, bias, mean, var, training, momentum, eps, *rest):
    if training or mean is None:
        dims = [d for d in range(len(e.shape(x))) if d != 1]
        return _normalized(e, x, weight, bias, dims, eps)
    result = e.call(_aten._native_batch_norm_legit_no_training.default, x, weight, bias, mean, var, momentum, eps)
    return e.item(result, 0)


def _normalized(e, x, weight, bias, dims, eps):
    mean = e.call(_aten.mean.dim, x, dims, True)
    var = e.call(_aten.var.correction, x, dims, correction=0, keepdim=True)
    result = e.call(_aten.mul.Tensor, e.call(_aten.sub.Tensor, x, mean), e.call(
        _aten.rsqrt.default, e.call(_aten.add.Tensor, var, eps)))
    shape = [1, -1] + [1] * (len(e.shape(x)) - 2)
    if weight is not None:
        result = e.call(_aten.mul.Tensor, result, e.call(_aten.view.default, weight, shape))
    return result if bias is None else e.call(_aten.add.Tensor, result, e.call(_aten.view.default, bias, shape))


@_rule("layer_norm")
def _layer_norm(e, x, normalized_shape, weight=None, bias=None, eps=1e-5, *rest):
    return e.item(e.call(_aten.native_layer_norm.default, x, list(normalized_shape), weight, bias, eps), 0)


@_rule("group_norm")
def _group_norm(e, x, groups, weight=None, bias=None, eps=1e-5, *rest):
    sizes = e.sizes(x)
    return e.item(e.call(_aten.native_group_norm.default, x, weight, bias, sizes[0], sizes[1], e.times(*sizes[2:]),
                         groups, eps), 0)


@_rule("dropout", "feature_dropout")
def _dropout(e, x, p, train):
    if not train or not p:
        return e.call(_aten.clone.default, x)
    return e.item(e.call(_aten.native_dropout.default, x, p, True), 0)


@_rule("max_pool1d", "max_pool2d", "max_pool3d")
def _max_pool(e, x, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    dims = len(e.shape(x)) - 2 if len(e.shape(x)) > 3 else 1
    dims = max(dims, len(kernel_size) if isinstance(kernel_size, (list, tuple)) else 1)
    kernel, padding, dilation = [_many(n, dims) for n in (kernel_size, padding, dilation)]
    stride = _many(stride, dims) if stride else kernel
    if dims > 1:
        target = getattr(_aten, f"max_pool{dims}d_with_indices").default
        return e.item(e.call(target, x, kernel, stride, padding, dilation, ceil_mode), 0)
    wide = e.call(_aten.unsqueeze.default, x, -2)
    pooled = e.item(e.call(_aten.max_pool2d_with_indices.default, wide, [1, *kernel], [1, *stride], [0, *padding],
                           [1, *dilation], ceil_mode), 0)
    return e.call(_aten.squeeze.dims, pooled, [len(e.shape(pooled)) - 2])


@_rule("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d")
def _adaptive_avg_pool(e, x, output_size):
    shape = e.shape(x)
    size = list(output_size) if isinstance(output_size, (list, tuple)) else [output_size]
    size = [n if n is not None else shape[len(shape) - len(size) + k] for k, n in enumerate(size)]
    if all([n == 1 for n in size]):
        return e.call(_aten.mean.dim, x, list(range(len(shape) - len(size), len(shape))), True)
    if len(size) > 1:
        return e.call(getattr(_aten, f"_adaptive_avg_pool{len(size)}d").default, x, size)
    wide = e.call(_aten.unsqueeze.default, x, -2)
    pooled = e.call(_aten._adaptive_avg_pool2d.default, wide, [1, *size])
    return e.call(_aten.squeeze.dims, pooled, [len(e.shape(pooled)) - 2])


@_rule("softmax")
def _softmax(e, x, dim, dtype=None, **kwargs):
    return e.call(_aten._softmax.default, _to(e, x, dtype), dim, False)


@_rule("log_softmax")
def _log_softmax(e, x, dim, dtype=None, **kwargs):
    return e.call(_aten._log_softmax.default, _to(e, x, dtype), dim, False)


@_rule("upsample_nearest2d", "upsample_bilinear2d")
def _upsample(e, x, size, *rest):
    name = "upsample_bilinear2d" if rest and isinstance(rest[0], bool) else "upsample_nearest2d"
    return e.call(getattr(_aten, name).vec, x, size, *rest)


@_rule("embedding_bag")
def _bag(e, weight, indices, offsets, scale=False, mode=0, sparse=False, weights=None, last=False, padding_idx=None):
    result = e.call(_aten._embedding_bag_forward_only.default, weight, indices, offsets, scale, mode, sparse, weights,
                    last, -1 if padding_idx is None else padding_idx)
    return [e.item(result, 0), None, None, None]


# ------------------------------------------------------------------ rules: elementwise, of core operators
def _text(function):
    """Makes a rule of a formula of operators on tensors."""
    def write(e, *args, **kwargs):
        return function(_Formula(e), *args, **kwargs)
    return write


class _Formula:
    """The operators as methods, which take nodes and numbers."""

    def __init__(self, emitter: Emitter) -> None:
        self.e = emitter

    def __getattr__(self, name: str) -> Callable:
        packet = getattr(_aten, name)

        def call(x, y=None, *rest):
            if y is None:
                return self.e.call(packet.default, x)
            tensor = isinstance(y, Node) or name in ("add", "sub", "mul", "div")
            return self.e.call(packet.Tensor if tensor else packet.Scalar, x, y, *rest)
        return call

    def pick(self, condition: Node, x: Any, y: Any) -> Node:
        """x where the condition holds, y elsewhere; numbers become tensors."""
        node = x if isinstance(x, Node) else y
        x, y = [z if isinstance(z, Node) else self.e.call(_aten.scalar_tensor.default, float(z),
                                                          dtype=self.e.dtype(node)) for z in (x, y)]
        return self.e.call(_aten.where.self, condition, x, y)

    def limit(self, x: Node, low: float, high: float) -> Node:
        return self.e.call(_aten.clamp.default, x, low, high)


@_rule("silu")
@_text
def _silu(f, x):
    return f.mul(x, f.sigmoid(x))


@_rule("softplus")
@_text
def _softplus(f, x, beta=1, threshold=20):
    scaled = f.mul(x, beta)
    return f.pick(f.gt(scaled, threshold), x, f.div(f.log1p(f.exp(scaled)), beta))


@_rule("mish")
def _mish(e, x):
    return e.call(_aten.mul.Tensor, x, e.call(_aten.tanh.default, _softplus(e, x)))


@_rule("hardsigmoid")
@_text
def _hardsigmoid(f, x):
    return f.div(f.limit(f.add(x, 3), 0, 6), 6)


@_rule("hardswish")
@_text
def _hardswish(f, x):
    return f.div(f.mul(x, f.limit(f.add(x, 3), 0, 6)), 6)


@_rule("relu6")
@_text
def _relu6(f, x):
    return f.limit(x, 0, 6)


@_rule("log_sigmoid")
@_text
def _log_sigmoid(f, x):
    return f.sub(f.limit(x, None, 0), f.log1p(f.exp(f.neg(f.abs(x)))))


@_rule("selu")
@_text
def _selu(f, x):
    return f.e.call(_aten.elu.default, x, 1.6732632423543772, 1.0507009873554805)


@_rule("celu")
@_text
def _celu(f, x, alpha=1.0):
    return f.e.call(_aten.elu.default, x, alpha, 1, 1 / alpha)


@_rule("prelu")
@_text
def _prelu(f, x, weight):
    rank = len(f.e.shape(x))
    if rank > 1:
        weight = f.e.call(_aten.view.default, weight, [1, -1] + [1] * (rank - 2))
    return f.pick(f.gt(x, 0), x, f.mul(weight, x))


@_rule("threshold")
@_text
def _threshold(f, x, threshold, value):
    return f.pick(f.le(x, threshold), value, x)


@_rule("square")
@_text
def _square(f, x):
    return f.mul(x, x)


@_rule("rsub")
def _rsub(e, x, y, alpha=1):
    scaled = x if alpha == 1 else e.call(_aten.mul.Tensor, x, alpha)
    if isinstance(y, Node):
        return e.call(_aten.sub.Tensor, y, scaled)
    return e.call(_aten.add.Tensor, e.call(_aten.neg.default, scaled), y)


@_rule("masked_fill")
@_text
def _masked_fill(f, x, mask, value):
    return f.pick(mask, value, x)


@_rule("sum")
def _sum(e, x, dim=None, keepdim=False, *, dtype=None):
    return e.call(_aten.sum.dim_IntList, x, [] if dim is None else dim, keepdim, dtype=dtype)


def _triangle(name):
    def write(e, x, diagonal=0):
        rows = e.call(_aten.unsqueeze.default, _arange(e, e.size(x, -2)), -1)
        columns = e.call(_aten.sub.Tensor, _arange(e, e.size(x, -1)), diagonal)
        kept = e.call(getattr(_aten, name).Tensor, rows, columns)
        zero = e.call(_aten.scalar_tensor.default, 0, dtype=e.dtype(x))
        return e.call(_aten.where.self, kept, x, zero)
    return write


RULES.update({"tril": _triangle("ge"), "triu": _triangle("le")})


@_rule("cosine_similarity")
def _cosine_similarity(e, x, y, dim=1, eps=1e-8):
    def total(z):
        return e.call(_aten.sum.dim_IntList, z, [dim])

    def length(z):
        squares = e.call(_aten.mul.Tensor, z, z)
        return e.call(_aten.clamp.default, e.call(_aten.sqrt.default, total(squares)), eps)
    product = total(e.call(_aten.mul.Tensor, x, y))
    return e.call(_aten.div.Tensor, e.call(_aten.div.Tensor, product, length(x)), length(y))


@_rule("std")
def _std(e, x, *args, **kwargs):
    form = _aten.var.correction
    return e.call(_aten.sqrt.default, e.call(form, x, *args, **kwargs))


@_rule("where")
def _where(e, condition, x, y):
    return _Formula(e).pick(condition, x, y)


@_rule("clamp_min")
def _clamp_min(e, x, low):
    return e.call(_aten.clamp.default, x, low)


@_rule("clamp_max")
def _clamp_max(e, x, high):
    return e.call(_aten.clamp.default, x, None, high)


@_rule("bilinear")
def _bilinear(e, x, y, weight, bias=None):
    outputs, first, second = e.shape(weight)
    turned = e.call(_aten.permute.default, weight, [1, 0, 2])
    turned = _reshape(e, turned, [first, outputs * second])
    left = e.call(_aten.mm.default, x, turned)
    left = e.call(_aten.view.default, left, [e.size(x, 0), outputs, second])
    product = e.call(_aten.mul.Tensor, left, e.call(_aten.unsqueeze.default, y, 1))
    result = e.call(_aten.sum.dim_IntList, product, [-1])
    return result if bias is None else e.call(_aten.add.Tensor, result, bias)
