"""The C code for the layers of networks: calls of the functions in functions.c."""
from __future__ import annotations

import math

from .operators import Refused, Wanted, _add, _elementwise, _permuted, _reduced, all_dims, given_dims, writer
from .values import Value, dense_strides


# ------------------------------------------------------------------ products
@writer("linear")
def _linear(program, wanted, x, weight, bias=None):
    x, out = program.dense(x), program.new(wanted.name, wanted.shape)
    program.call("linear", x.size // x.shape[-1], x.shape[-1], weight.shape[0], x, program.dense(weight), bias, out)
    return out


@writer("matmul", "mm", "bmm")
def _matmul(program, wanted, x, y):
    if len(x.shape) == 1 and len(y.shape) == 1:
        return _product(program, wanted, x.viewed((1, *x.shape), (0, *x.strides)),
                        y.viewed((*y.shape, 1), (*y.strides, 0)))
    if len(x.shape) == 1:
        return _product(program, wanted, x.viewed((1, *x.shape), (0, *x.strides)), y)
    if len(y.shape) == 1:
        return _product(program, wanted, x, y.viewed((*y.shape, 1), (*y.strides, 0)))
    return _product(program, wanted, x, y)


def _product(program, wanted, x, y):
    """The product of two tensors with two dimensions or more; their batches are broadcast."""
    rows, inner, columns = x.shape[-2], x.shape[-1], y.shape[-1]
    out = program.new(wanted.name, wanted.shape)
    batch = out.size // (rows * columns)
    broadcast = out.shape[:-2] if batch > 1 else ()
    places = []
    for value, size in ((x, rows * inner), (y, inner * columns)):
        own = math.prod(value.shape[:-2])
        if own not in (1, batch):
            value = value.expanded((*broadcast, *value.shape[-2:]))
            own = batch
        places.append((program.dense(value), 0 if own == 1 else size))
    (x, xb), (y, yb) = places
    program.call("matmul", batch, rows, inner, columns, xb, yb, x, y, out)
    return out


@writer("addmm", "baddbmm")
def _addmm(program, wanted, bias, x, y, *, beta=1, alpha=1):
    if beta != 1 or alpha != 1:
        raise Refused(f"{wanted.name} with beta={beta} and alpha={alpha}")
    product = _matmul(program, Wanted("mm", wanted.shape, "f"), x, y)
    return _add(program, Wanted("add", wanted.shape, "f"), product, bias)


@writer("embedding")
def _embedding(program, wanted, weight, indices, *args, **options):
    indices, weight = program.dense(indices), program.dense(weight)
    out = program.new(wanted.name, wanted.shape)
    size = weight.shape[1]
    program.line(f"for (int i = 0; i < {indices.size}; i++)\n"
                 f"        for (int j = 0; j < {size}; j++)\n"
                 f"            {out.storage.name}[i * {size} + j] = {weight.storage.name}["
                 f"{indices.storage.name}[{indices.offset} + i] * {size} + j];", out, weight, indices)
    return out


# ------------------------------------------------------------------ convolution and pooling
def _picture(x, dims):
    """(batch, channels, height, width) of an input with `dims` spatial dimensions, 1 or 2, with or without a batch."""
    shape = x.shape if len(x.shape) == dims + 2 else (1, *x.shape)
    return (*shape[:2], *([1] if dims == 1 else []), *shape[2:])


def _windows(numbers, dims, one):
    """Two numbers, the number of the rows first, from an argument for one dimension or two."""
    numbers = [numbers] * dims if isinstance(numbers, int) else list(numbers)
    numbers = numbers * dims if len(numbers) == 1 else numbers
    return numbers if dims == 2 else [one, *numbers]


@writer("conv1d", "conv2d")
def _conv(program, wanted, x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    dims = len(weight.shape) - 2
    (sh, sw), (dh, dw) = _windows(stride, dims, 1), _windows(dilation, dims, 1)
    kh, kw = _windows(weight.shape[2:], dims, 1)
    batch, channels, height, width = _picture(x, dims)
    _, _, oh, ow = _picture(Value(x.storage, wanted.shape), dims)
    if padding == "same":
        if (dh * (kh - 1)) % 2 or (dw * (kw - 1)) % 2:
            raise Refused("padding='same' of a kernel of even size")
        padding = [dh * (kh - 1) // 2, dw * (kw - 1) // 2][2 - dims:]
    ph, pw = _windows(0 if padding == "valid" else padding, dims, 0)
    out = program.new(wanted.name, wanted.shape)
    program.call("conv2d", batch, channels, height, width, weight.shape[0], kh, kw, sh, sw, ph, pw, dh, dw, groups, oh,
                 ow, program.dense(x), program.dense(weight), bias, out)
    return out


@writer("conv_transpose1d", "conv_transpose2d")
def _conv_transpose(program, wanted, x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    dims = len(weight.shape) - 2
    (sh, sw), (ph, pw) = _windows(stride, dims, 1), _windows(padding, dims, 0)
    (dh, dw), (kh, kw) = _windows(dilation, dims, 1), _windows(weight.shape[2:], dims, 1)
    batch, channels, height, width = _picture(x, dims)
    _, outputs, oh, ow = _picture(Value(x.storage, wanted.shape), dims)
    out = program.new(wanted.name, wanted.shape)
    program.call("conv_transpose2d", batch, channels, height, width, outputs, kh, kw, sh, sw, ph, pw, dh, dw, groups,
                 oh, ow, program.dense(x), program.dense(weight), bias, out)
    return out


@writer("max_pool1d", "max_pool2d")
def _max_pool(program, wanted, x, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    dims = int(wanted.name[8])
    stride = kernel_size if stride is None or stride == [] or stride == () else stride
    (kh, kw), (sh, sw) = _windows(kernel_size, dims, 1), _windows(stride, dims, 1)
    (ph, pw), (dh, dw) = _windows(padding, dims, 0), _windows(dilation, dims, 1)
    batch, channels, height, width = _picture(x, dims)
    _, _, oh, ow = _picture(Value(x.storage, wanted.shape), dims)
    out = program.new(wanted.name, wanted.shape)
    program.call("max_pool2d", batch * channels, height, width, kh, kw, sh, sw, ph, pw, dh, dw, oh, ow,
                 program.dense(x), out)
    return out


@writer("avg_pool1d", "avg_pool2d")
def _avg_pool(program, wanted, x, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True,
              divisor_override=None):
    dims = int(wanted.name[8])
    stride = kernel_size if stride is None or stride == [] or stride == () else stride
    (kh, kw), (sh, sw), (ph, pw) = _windows(kernel_size, dims, 1), _windows(stride, dims, 1), _windows(padding, dims, 0)
    batch, channels, height, width = _picture(x, dims)
    _, _, oh, ow = _picture(Value(x.storage, wanted.shape), dims)
    out = program.new(wanted.name, wanted.shape)
    program.call("avg_pool2d", batch * channels, height, width, kh, kw, sh, sw, ph, pw, count_include_pad,
                 divisor_override or 0, oh, ow, program.dense(x), out)
    return out


@writer("adaptive_avg_pool1d", "adaptive_avg_pool2d")
def _adaptive_avg_pool(program, wanted, x, output_size):
    dims = int(wanted.name[17])
    batch, channels, height, width = _picture(x, dims)
    _, _, oh, ow = _picture(Value(x.storage, wanted.shape), dims)
    out = program.new(wanted.name, wanted.shape)
    program.call("adaptive_avg_pool2d", batch * channels, height, width, oh, ow, program.dense(x), out)
    return out


@writer("upsample_nearest1d", "upsample_nearest2d")
def _upsample_nearest(program, wanted, x, output_size, *scales):
    dims = int(wanted.name[16])
    batch, channels, height, width = _picture(x, dims)
    _, _, oh, ow = _picture(Value(x.storage, wanted.shape), dims)
    if oh % height or ow % width:
        raise Refused(f"interpolation from {height}x{width} to {oh}x{ow}, which is not a whole multiple")
    rows, columns = oh // height, ow // width
    x = program.dense(x)
    shape = (batch * channels, height, rows, width, columns)
    repeated = x.viewed(shape, (height * width, width, 0, 1, 0))
    out = program.new(wanted.name, wanted.shape)
    program.loop(out.viewed(shape, dense_strides(shape)), "{0}", repeated)
    return out


# ------------------------------------------------------------------ normalization
@writer("batch_norm")
def _batch_norm(program, wanted, x, weight, bias, running_mean, running_var, training, momentum, eps, *rest):
    if training or running_mean is None:
        raise Refused("batch_norm by the statistics of the batch: call model.eval()")
    out = program.new(wanted.name, wanted.shape)
    program.call("batch_norm", x.shape[0], x.shape[1], math.prod(x.shape[2:]), float(eps), program.dense(x), weight,
                 bias, running_mean, running_var, out)
    return out


@writer("layer_norm")
def _layer_norm(program, wanted, x, normalized_shape, weight=None, bias=None, eps=1e-5, *rest):
    size = math.prod(normalized_shape)
    out = program.new(wanted.name, wanted.shape)
    program.call("normalize_rows", x.size // size, size, 1, size, float(eps), program.dense(x), weight, bias, out)
    return out


@writer("group_norm")
def _group_norm(program, wanted, x, num_groups, weight=None, bias=None, eps=1e-5, *rest):
    channels, pixels = x.shape[1], math.prod(x.shape[2:])
    out = program.new(wanted.name, wanted.shape)
    program.call("normalize_rows", x.shape[0] * num_groups, channels // num_groups * pixels, pixels, channels,
                 float(eps), program.dense(x), weight, bias, out)
    return out


@writer("softmax", "_softmax", "log_softmax", "_log_softmax")
def _softmax(program, wanted, x, dim, *rest, **options):
    x, out = program.dense(x), program.new(wanted.name, wanted.shape)
    dim = dim + len(x.shape) if dim < 0 else dim
    outer, inner = math.prod(x.shape[:dim]), math.prod(x.shape[dim + 1:])
    program.call("softmax", outer, x.shape[dim] if x.shape else 1, inner, "log" in wanted.name, x, out)
    return out


# ------------------------------------------------------------------ attention
@writer("scaled_dot_product_attention")
def _attention(program, wanted, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None,
               enable_gqa=False):
    if dropout_p or enable_gqa or query.shape[:-2] != key.shape[:-2]:
        raise Refused("attention with dropout, or with fewer key heads than query heads")
    (queries, size), keys = query.shape[-2:], key.shape[-2]
    heads, mask_heads = math.prod(query.shape[:-2]), 1
    if attn_mask is not None:
        own = math.prod(attn_mask.shape[:-2])
        shape = (*query.shape[:-2], queries, keys) if own != 1 else (queries, keys)
        mask_heads = heads if own != 1 else 1
        attn_mask = attn_mask if len(attn_mask.shape) <= len(shape) else attn_mask.viewed(
            attn_mask.shape[-len(shape):], attn_mask.strides[-len(shape):])
        text = "{0} ? 0.0f : -INFINITY" if attn_mask.kind == "b" else "{0}"
        attn_mask = program.loop(program.new("mask", shape), text, attn_mask)
    scores, out = program.new("scores", (keys,)), program.new(wanted.name, wanted.shape)
    program.call("attention", heads, queries, keys, size, value.shape[-1],
                 float(scale if scale is not None else 1 / math.sqrt(size)), is_causal, mask_heads,
                 program.dense(query), program.dense(key), program.dense(value), attn_mask, scores, out)
    return out


# ------------------------------------------------------------------ recurrent layers
_GATES = {"lstm": 4, "gru": 6, "rnn_tanh": 1, "rnn_relu": 1}


@writer("lstm", "gru", "rnn_tanh", "rnn_relu")
def _recurrent(program, wanted, x, states, weights, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    name = next(n for n in _GATES if wanted.name.startswith(n))
    directions = 2 if bidirectional else 1
    each = 4 if has_biases else 2              # the number of weights of a layer in one direction
    _check_recurrent(name, has_biases, dropout and train, len(weights) != each * num_layers * directions)
    states = list(states) if isinstance(states, (list, tuple)) else [states]
    hidden = states[0].shape[-1]
    states = [program.loop(program.new(text, s.shape), "{0}", s) for text, s in zip(("h", "c"), states)]
    gates = program.new("gates", (_GATES[name] * hidden,))
    order = slice(1, None, -1) if batch_first else slice(2)    # of the dimensions (steps, batch)
    options = {"rnn_tanh": [0], "rnn_relu": [1]}.get(name, [])
    steps, batch = x.shape[order]
    for layer in range(num_layers):
        x = program.dense(x)
        out = program.new(wanted.name, (*x.shape[:2], hidden * directions))
        for direction in range(directions):
            k = layer * directions + direction
            own = [program.dense(w) for w in weights[k * each:(k + 1) * each]]
            own += [None] * (4 - len(own))
            state = [s.viewed(s.shape[1:], s.strides[1:], k * batch * hidden) for s in states]
            target = out.viewed(out.shape, out.strides, direction * hidden)
            program.call(name.partition("_")[0], steps, batch, x.shape[-1], hidden, direction, *options,
                         *x.strides[order], *out.strides[order], x, *own, gates, *state, target)
        x = out
    return [x, *states]


def _check_recurrent(name, has_biases, drops, other_weights):
    if drops:
        raise Refused("elements are dropped at random, which a program does not do: call model.eval()")
    if not isinstance(has_biases, bool):
        raise Refused(f"{name} of a packed sequence")
    if name == "lstm" and other_weights:
        raise Refused("an LSTM with projections")


# ------------------------------------------------------------------ distances between rows, and norms
@writer("linalg_vector_norm", "norm")
def _norm(program, wanted, x, ord=2, dim=None, keepdim=False, *, dtype=None):
    if ord not in (None, 2, 1):
        raise Refused(f"a norm of order {ord}")
    text = "fabsf({0})" if ord == 1 else "{0} * {0}"
    powers = _elementwise(program, Wanted("powers", x.shape, "f"), text, x)
    total = _reduced(program, Wanted("sum", wanted.shape, "f"), "sum", powers, dim)
    return total if ord == 1 else _elementwise(program, wanted, "sqrtf({0})", total)


@writer("var", "std")
def _var(program, wanted, x, dim=None, *rest, correction=1, keepdim=False):
    dims = all_dims(x) if dim is None else given_dims(dim)
    dims = [d % len(x.shape) for d in dims]
    if rest or isinstance(dim, bool):
        raise Refused(f"{wanted.name} with unbiased as its second argument")
    kept = tuple([1 if d in dims else n for d, n in enumerate(x.shape)])
    mean = _reduced(program, Wanted("mean", kept, "f"), "mean", x, dims)
    squares = _elementwise(program, Wanted("squares", x.shape, "f"), "({0} - {1}) * ({0} - {1})", x, mean)
    total = _reduced(program, Wanted("sum", wanted.shape, "f"), "sum", squares, dims)
    correction = 1 if correction is None else correction
    count = float(math.prod([x.shape[d] for d in dims]) - correction)
    text = "sqrtf({0} / {1})" if wanted.name.startswith("std") else "{0} / {1}"
    return _elementwise(program, wanted, text, total, count)


@writer("logsumexp")
def _logsumexp(program, wanted, x, dim, keepdim=False):
    dims = [d % len(x.shape) for d in ([dim] if isinstance(dim, int) else dim)]
    kept = tuple([1 if d in dims else n for d, n in enumerate(x.shape)])
    most = _reduced(program, Wanted("most", kept, "f"), "amax", x, dims)
    powers = _elementwise(program, Wanted("powers", x.shape, "f"), "expf({0} - {1})", x, most)
    total = _reduced(program, Wanted("sum", wanted.shape, "f"), "sum", powers, dims)
    most = most.viewed(wanted.shape, dense_strides(wanted.shape))
    return _elementwise(program, wanted, "logf({0}) + {1}", total, most)


@writer("movedim")
def _movedim(program, wanted, x, source, destination):
    source, destination = [[d] if isinstance(d, int) else list(d) for d in (source, destination)]
    count = len(x.shape)
    rest = [d for d in range(count) if d not in [s % count for s in source]]
    dims = [None] * count
    for s, d in zip(source, destination):
        dims[d % count] = s % count
    left = iter(rest)
    return _permuted(x, [next(left) if d is None else d for d in dims])
