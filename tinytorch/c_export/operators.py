"""The C code for ATen's operators: elementwise operators, views and reductions. layers.py has the others.

A writer is called with the program, a description of the result (Wanted) and the arguments of the operator, with Values
in place of tensors. It returns the Value of the result, or a list of Values.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import dtypes as dt
from .program import literal
from .values import Value, dense_strides

__all__ = ["WRITERS", "Refused", "Wanted", "all_dims", "given_dims", "result_kind", "writer"]

#: {name of an operator, without its form: writer}
WRITERS = {}


class Refused(NotImplementedError):
    """The model cannot be written in C."""


class Wanted(NamedTuple):
    """A result: the name of its node, its shape, and its kind: "f", "i" or "b" for floating-point numbers, integers and
    conditions."""

    name: str
    shape: tuple[int, ...]
    kind: str


def writer(*names: str) -> Callable[[Callable], Callable]:
    """Registers a function as the writer of operators."""
    def register(function):
        WRITERS.update(dict.fromkeys(names, function))
        return function
    return register


# ------------------------------------------------------------------ elementwise
#: Functions of one operand, {0}. Comparisons are written so that NaN takes the branch that returns the operand.
_UNARY = {
    "relu": "{0} < 0.0f ? 0.0f : {0}", "neg": "-{0}", "exp": "expf({0})", "exp2": "exp2f({0})", "expm1": "expm1f({0})",
    "log": "logf({0})", "log2": "log2f({0})", "log10": "log10f({0})", "log1p": "log1pf({0})", "sqrt": "sqrtf({0})",
    "rsqrt": "1.0f / sqrtf({0})", "reciprocal": "1.0f / {0}", "sin": "sinf({0})", "cos": "cosf({0})",
    "tan": "tanf({0})", "asin": "asinf({0})", "acos": "acosf({0})", "atan": "atanf({0})", "sinh": "sinhf({0})",
    "cosh": "coshf({0})", "tanh": "tanhf({0})", "sigmoid": "sigmoid({0})", "erf": "erff({0})", "erfc": "erfcf({0})",
    "floor": "floorf({0})", "ceil": "ceilf({0})", "trunc": "truncf({0})", "round": "rintf({0})",
    "square": "{0} * {0}", "silu": "{0} * sigmoid({0})", "mish": "{0} * tanhf({0} > 20.0f ? {0} : log1pf(expf({0})))",
    "relu6": "{0} < 0.0f ? 0.0f : {0} > 6.0f ? 6.0f : {0}",
    "hardswish": "{0} * ({0} < -3.0f ? 0.0f : {0} > 3.0f ? 6.0f : {0} + 3.0f) / 6.0f",
    "hardsigmoid": "({0} < -3.0f ? 0.0f : {0} > 3.0f ? 6.0f : {0} + 3.0f) / 6.0f",
    "log_sigmoid": "({0} < 0.0f ? {0} : 0.0f) - log1pf(expf(-fabsf({0})))",
    "selu": "1.05070099f * ({0} > 0.0f ? {0} : 1.67326324f * expm1f({0}))",
    "logical_not": "!{0}", "isnan": "{0} != {0}", "sign": "({0} > 0) - ({0} < 0)",
}
_BINARY = {"mul": "{0} * {1}", "div": "(float){0} / (float){1}", "maximum": "{0} > {1} || {0} != {0} ? {0} : {1}",
           "minimum": "{0} < {1} || {0} != {0} ? {0} : {1}", "eq": "{0} == {1}", "ne": "{0} != {1}", "lt": "{0} < {1}",
           "le": "{0} <= {1}", "gt": "{0} > {1}", "ge": "{0} >= {1}", "atan2": "atan2f({0}, {1})",
           "fmod": "fmodf({0}, {1})", "logical_and": "{0} && {1}", "logical_or": "{0} || {1}",
           "bitwise_and": "{0} & {1}", "bitwise_or": "{0} | {1}"}


def _elementwise(program, wanted, text, *operands):
    """A loop over tensors and numbers. The numbers are written into the text."""
    if "sigmoid(" in text:
        program.need("sigmoid")
    values, words = [], []
    floating = wanted.kind == "f" or any([isinstance(x, Value) and x.kind == "f" for x in operands]) or any(
        [isinstance(x, float) for x in operands])
    for x in operands:
        if isinstance(x, Value):
            words.append(f"{{{len(values)}}}")
            values.append(x)
        else:
            words.append(literal(x, "f" if floating else "i"))
    return program.loop(program.new(wanted.name, wanted.shape, wanted.kind), text.format(*words), *values)


def _unary(text):
    return lambda program, wanted, x: _elementwise(program, wanted, text, x)


def _binary(text):
    def write(program, wanted, x, y, **options):
        if options:
            raise Refused(f"{', '.join(options)} of {wanted.name}")
        return _elementwise(program, wanted, text, x, y)
    return write


for _name, _text in _UNARY.items():
    writer(_name)(_unary(_text))
for _name, _text in _BINARY.items():
    writer(_name)(_binary(_text))


@writer("bitwise_not")
def _bitwise_not(program, wanted, x):
    return _elementwise(program, wanted, "!{0}" if wanted.kind == "b" else "~{0}", x)


@writer("abs")
def _abs(program, wanted, x):
    return _elementwise(program, wanted, "fabsf({0})" if wanted.kind == "f" else "({0} < 0 ? -{0} : {0})", x)


@writer("add", "sub", "rsub")
def _add(program, wanted, x, y, *, alpha=1):
    sign = "+" if wanted.name.startswith("add") else "-"
    if wanted.name.startswith("rsub"):
        x, y = y, x
    if alpha == 1:
        return _elementwise(program, wanted, f"{{0}} {sign} {{1}}", x, y)
    return _elementwise(program, wanted, f"{{0}} {sign} {{2}} * {{1}}", x, y, alpha)


@writer("pow")
def _pow(program, wanted, x, exponent):
    texts = {2: "{0} * {0}", 3: "{0} * {0} * {0}", .5: "sqrtf({0})", -1: "1.0f / {0}", 1: "{0}"}
    if not isinstance(exponent, Value) and exponent in texts:
        return _elementwise(program, wanted, texts[exponent], x)
    return _elementwise(program, wanted, "powf({0}, {1})", x, exponent)


@writer("gelu")
def _gelu(program, wanted, x, *, approximate="none"):
    if approximate == "tanh":
        text = "0.5f * {0} * (1.0f + tanhf(0.797884561f * ({0} + 0.044715f * {0} * {0} * {0})))"
    else:
        text = "0.5f * {0} * (1.0f + erff({0} * 0.707106781f))"
    return _elementwise(program, wanted, text, x)


@writer("leaky_relu")
def _leaky_relu(program, wanted, x, negative_slope=.01):
    return _elementwise(program, wanted, "{0} > 0.0f ? {0} : {0} * {1}", x, negative_slope)


@writer("prelu")
def _prelu(program, wanted, x, weight):
    more = len(x.shape) - 2
    weight = weight.viewed((*weight.shape, *[1] * more), (*weight.strides, *[0] * more)) if weight.size > 1 else weight
    return _elementwise(program, wanted, "{0} > 0.0f ? {0} : {0} * {1}", x, weight)


@writer("elu")
def _elu(program, wanted, x, alpha=1, scale=1, input_scale=1):
    return _elementwise(program, wanted, "{2} * ({0} > 0.0f ? {0} : {1} * expm1f({0} * {3}))", x, float(alpha),
                        float(scale), float(input_scale))


@writer("celu")
def _celu(program, wanted, x, alpha=1.0):
    return _elementwise(program, wanted, "{0} > 0.0f ? {0} : {1} * expm1f({0} / {1})", x, float(alpha))


@writer("softplus")
def _softplus(program, wanted, x, beta=1, threshold=20):
    return _elementwise(program, wanted, "{0} * {1} > {2} ? {0} : log1pf(expf({0} * {1})) / {1}", x, float(beta),
                        float(threshold))


@writer("threshold")
def _threshold(program, wanted, x, threshold, value):
    return _elementwise(program, wanted, "{0} <= {1} ? {2} : {0}", x, float(threshold), float(value))


@writer("hardtanh")
def _hardtanh(program, wanted, x, min_val=-1, max_val=1):
    return _clamp(program, wanted, x, min_val, max_val)


@writer("clamp", "clip")
def _clamp(program, wanted, x, min=None, max=None):
    text = "{0}"
    operands = [x]
    for bound, sign in ((min, "<"), (max, ">")):
        if bound is not None:
            place = f"{{{len(operands)}}}"
            text = f"({text} {sign} {place} ? {place} : {text})"
            operands.append(bound if isinstance(bound, Value) or wanted.kind == "i" else float(bound))
    return _elementwise(program, wanted, text, *operands)


@writer("clamp_min")
def _clamp_min(program, wanted, x, min):
    return _clamp(program, wanted, x, min, None)


@writer("clamp_max")
def _clamp_max(program, wanted, x, max):
    return _clamp(program, wanted, x, None, max)


@writer("where")
def _where(program, wanted, condition, x, y):
    return _elementwise(program, wanted, "{0} ? {1} : {2}", condition, x, y)


@writer("masked_fill")
def _masked_fill(program, wanted, x, mask, value):
    return _elementwise(program, wanted, "{1} ? {2} : {0}", x, mask, value)


@writer("lerp")
def _lerp(program, wanted, x, end, weight):
    return _elementwise(program, wanted, "{0} + {2} * ({1} - {0})", x, end, weight)


@writer("to", "_to_copy", "type_as", "float")
def _to(program, wanted, x, *args, **options):
    if x.kind == wanted.kind:
        return x
    return _elementwise(program, wanted, "{0} != 0" if wanted.kind == "b" else "{0}", x)


@writer("clone", "lift_fresh_copy")
def _clone(program, wanted, x, *, memory_format=None):
    return _elementwise(program, wanted, "{0}", x)


@writer("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
def _dropout(program, wanted, x, p, train):
    if train and p:
        raise Refused("elements are dropped at random, which a program does not do: call model.eval()")
    return x


# ------------------------------------------------------------------ new tensors
@writer("zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "empty",
        "scalar_tensor")
def _filled(program, wanted, *args, **options):
    name = wanted.name
    value = 1 if "ones" in name else 0
    if "full" in name or "scalar" in name:
        value = next(x for x in reversed(args) if isinstance(x, (int, float)))
    out = program.new(name, wanted.shape, wanted.kind)
    return program.loop(out, literal(value, wanted.kind))


@writer("arange")
def _arange(program, wanted, *args, **options):
    start = args[0] if len(args) > 1 else 0
    step = args[2] if len(args) > 2 else 1
    out = program.new(wanted.name, wanted.shape, wanted.kind)
    kind = wanted.kind
    program.line(f"for (int i = 0; i < {out.size}; i++)\n        {out.storage.name}[i] = "
                 f"{literal(start, kind)} + {literal(step, kind)} * i;", out)
    return out


# ------------------------------------------------------------------ views: the same memory
def _dim(dim, value):
    return dim + len(value.shape) if dim < 0 else dim


@writer("view", "reshape", "_unsafe_view", "view_as", "reshape_as", "flatten", "unflatten")
def _reshape(program, wanted, x, *args, **options):
    found = _split_strides(x, wanted.shape)
    if found is not None:
        return x.viewed(wanted.shape, found)
    return program.dense(x, wanted.name).viewed(wanted.shape, dense_strides(wanted.shape), 0)


def _split_strides(x, shape):
    """The strides of the same memory in another shape; None if a copy is needed."""
    if x.is_dense():
        return dense_strides(shape)
    old = [(n, s) for n, s in zip(x.shape, x.strides) if n != 1]
    strides, at = [], 0
    groups, k = [], 0
    sizes = [n for n in shape if n != 1]
    while k < len(sizes) and at < len(old):
        wanted_dims, given = [sizes[k]], [old[at]]
        k, at = k + 1, at + 1
        while math.prod(wanted_dims) != math.prod([n for n, _ in given]):
            if math.prod(wanted_dims) < math.prod([n for n, _ in given]):
                wanted_dims.append(sizes[k])
                k += 1
            else:
                given.append(old[at])
                at += 1
        if any([a[1] != b[0] * b[1] for a, b in zip(given, given[1:])]):
            return None
        groups += [s * given[-1][1] for s in dense_strides(wanted_dims)]
    left = iter(groups)
    for n in shape:
        strides.append(0 if n == 1 else next(left))
    return strides


def _permuted(x, dims):
    dims = [_dim(d, x) for d in dims]
    return x.viewed([x.shape[d] for d in dims], [x.strides[d] for d in dims])


@writer("permute")
def _permute(program, wanted, x, dims):
    return _permuted(x, dims)


@writer("transpose", "t", "numpy_T", "mT", "swapaxes")
def _transpose(program, wanted, x, dim0=-2, dim1=-1):
    if len(x.shape) < 2:
        return x
    dims = list(range(len(x.shape)))
    dims[dim0], dims[dim1] = dims[dim1], dims[dim0]
    return _permuted(x, dims)


@writer("squeeze")
def _squeeze(program, wanted, x, dim=None):
    dims = all_dims(x) if dim is None else given_dims(dim)
    gone = {_dim(d, x) for d in dims if x.shape[d] == 1}
    left = [d for d in range(len(x.shape)) if d not in gone]
    return x.viewed([x.shape[d] for d in left], [x.strides[d] for d in left])


@writer("unsqueeze")
def _unsqueeze(program, wanted, x, dim):
    dim = dim + len(x.shape) + 1 if dim < 0 else dim
    return x.viewed((*x.shape[:dim], 1, *x.shape[dim:]), (*x.strides[:dim], 0, *x.strides[dim:]))


@writer("expand", "expand_as", "broadcast_to")
def _expand(program, wanted, x, *args, **options):
    return x.expanded(wanted.shape)


@writer("select")
def _select(program, wanted, x, dim, index):
    dim = _dim(dim, x)
    index = index + x.shape[dim] if index < 0 else index
    return x.viewed(x.shape[:dim] + x.shape[dim + 1:], x.strides[:dim] + x.strides[dim + 1:],
                    x.offset + index * x.strides[dim])


def _sliced(x, dim, start, end, step=1):
    dim = _dim(dim, x)
    start, end, step = slice(start, end, step).indices(x.shape[dim])
    shape, strides = list(x.shape), list(x.strides)
    shape[dim], strides[dim] = max(0, -(-(end - start) // step)), strides[dim] * step
    return x.viewed(shape, strides, x.offset + start * x.strides[dim])


@writer("slice")
def _slice(program, wanted, x, dim=0, start=None, end=None, step=1):
    return _sliced(x, dim, start, end, step)


@writer("narrow")
def _narrow(program, wanted, x, dim, start, length):
    return _sliced(x, dim, start, start + length)


@writer("split", "split_with_sizes", "chunk")
def _split(program, wanted, x, sizes, dim=0):
    n = x.shape[_dim(dim, x)]
    if isinstance(sizes, int):
        size = -(-n // sizes) if wanted.name.startswith("chunk") else sizes
        sizes = [min(size, n - start) for start in range(0, n, size)]
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return [_sliced(x, dim, start, start + size) for start, size in zip(starts, sizes)]


@writer("unbind")
def _unbind(program, wanted, x, dim=0):
    return [_select(program, wanted, x, dim, i) for i in range(x.shape[dim])]


@writer("detach", "alias", "lift_fresh", "contiguous")
def _same(program, wanted, x, **options):
    return x if not wanted.name.startswith("contiguous") else program.dense(x, wanted.name)


# ------------------------------------------------------------------ concatenation and padding
@writer("cat", "concat")
def _cat(program, wanted, tensors, dim=0):
    out = program.new(wanted.name, wanted.shape, wanted.kind)
    dim, start = _dim(dim, out), 0
    for x in tensors:
        if len(x.shape) != len(out.shape):     # an empty tensor of one dimension, as torch allows
            continue
        program.loop(_sliced(out, dim, start, start + x.shape[dim]), "{0}", x)
        start += x.shape[dim]
    return out


@writer("stack")
def _stack(program, wanted, tensors, dim=0):
    out = program.new(wanted.name, wanted.shape, wanted.kind)
    for i, x in enumerate(tensors):
        program.loop(_select(program, wanted, out, dim, i), "{0}", x)
    return out


@writer("constant_pad_nd", "pad")
def _pad(program, wanted, x, pad, mode="constant", value=0):
    if isinstance(mode, (int, float)):
        mode, value = "constant", mode
    if mode != "constant":
        raise Refused(f"padding of mode {mode!r}")
    out = program.loop(program.new(wanted.name, wanted.shape, wanted.kind), literal(value or 0, wanted.kind))
    inner, source = out, x
    for k in range(len(pad) // 2):
        dim = len(out.shape) - 1 - k
        before, after = pad[2 * k:2 * k + 2]
        inner = _sliced(inner, dim, max(before, 0), out.shape[dim] - max(after, 0))
        source = _sliced(source, dim, max(-before, 0), source.shape[dim] - max(-after, 0))
    program.loop(inner, "{0}", source)
    return out


# ------------------------------------------------------------------ reductions
#: {name: (initial value, statement that adds an element, result)}: {0} is the element, {s} the accumulator, {n} the
#: number of elements.
_REDUCTIONS = {
    "sum": ("0", "{s} += {0};", "{s}"), "mean": ("0", "{s} += {0};", "{s} / (float){n}"),
    "prod": ("1", "{s} *= {0};", "{s}"),
    "amax": ("-INFINITY", "{s} = {0} > {s} || {0} != {0} ? {0} : {s};", "{s}"),
    "amin": ("INFINITY", "{s} = {0} < {s} || {0} != {0} ? {0} : {s};", "{s}")}


def all_dims(x: Value) -> range:
    """All dimensions of a value."""
    return range(len(x.shape))


def given_dims(dims: int | Sequence[int]) -> Sequence[int]:
    """The dimensions of an argument that may be one number."""
    return [dims] if isinstance(dims, int) else dims


def _reduced(program, wanted, name, x, dims):
    """A loop over the elements of the result, and within it a loop over the operand's elements for each."""
    first, join, last = _REDUCTIONS[name]
    dims = all_dims(x) if dims is None or dims == [] else given_dims(dims)
    dims = sorted({_dim(d, x) for d in dims})
    kept = [d for d in range(len(x.shape)) if d not in dims]
    moved = program.dense(_permuted(x, [*kept, *dims]))
    rows, size = math.prod([x.shape[d] for d in kept]), math.prod([x.shape[d] for d in dims])
    out = program.new(wanted.name, wanted.shape, wanted.kind)
    element, kind = f"{moved.storage.name}[{moved.offset} + r * {size} + i]", wanted.kind
    type_of = "float" if kind == "f" else "int64_t"
    program.line(f"for (int r = 0; r < {rows}; r++) {{\n"
                 f"        {type_of} s = {first};\n"
                 f"        for (int i = 0; i < {size}; i++)\n"
                 f"            {join.format(element, s='s')}\n"
                 f"        {out.storage.name}[r] = {last.format(s='s', n=size)};\n"
                 "    }", out, moved)
    return out


def _reduction(name):
    return lambda program, wanted, x, dim=None, keepdim=False, *, dtype=None: _reduced(program, wanted, name, x, dim)


for _name in _REDUCTIONS:
    writer(_name)(_reduction(_name))


@writer("max", "min")
def _extreme(program, wanted, x, dim=None, keepdim=False):
    name = "amax" if wanted.name.startswith("max") else "amin"
    if isinstance(dim, Value):
        return _elementwise(program, wanted, _BINARY["maximum" if name == "amax" else "minimum"], x, dim)
    if dim is None:
        return _reduced(program, wanted, name, x, None)
    shape = [1 if d == _dim(dim, x) else n for d, n in enumerate(x.shape)]
    shape = shape if keepdim else [n for d, n in enumerate(x.shape) if d != _dim(dim, x)]
    extreme = _reduced(program, Wanted(wanted.name, tuple(shape), x.kind), name, x, dim)
    place = _place(program, Wanted(wanted.name + "_index", tuple(shape), "i"), x, dim, ">" if name == "amax" else "<")
    return [extreme, place]


@writer("argmax", "argmin")
def _arg(program, wanted, x, dim=None, keepdim=False):
    if dim is None:
        x, dim = program.dense(x).viewed((x.size,), (1,)), 0
    return _place(program, wanted, x, dim, ">" if wanted.name.startswith("argmax") else "<")


def _place(program, wanted, x, dim, sign):
    dim = _dim(dim, x)
    kept = [d for d in range(len(x.shape)) if d != dim]
    moved = program.dense(_permuted(x, [*kept, dim]))
    size = x.shape[dim]
    out = program.new(wanted.name, wanted.shape, "i")
    row = f"{moved.storage.name}[{moved.offset} + r * {size} + "
    program.line(f"for (int r = 0; r < {out.size}; r++) {{\n"
                 "        int best = 0;\n"
                 f"        for (int i = 1; i < {size}; i++)\n"
                 f"            best = {row}i] {sign} {row}best] ? i : best;\n"
                 f"        {out.storage.name}[r] = best;\n"
                 "    }", out, moved)
    return out


@writer("cumsum")
def _cumsum(program, wanted, x, dim, *, dtype=None):
    out = program.loop(program.new(wanted.name, wanted.shape, wanted.kind), "{0}", x)
    dim = _dim(dim, x)
    inner, n = out.strides[dim], x.shape[dim]
    name = out.storage.name
    program.line(f"for (int i = {inner}; i < {out.size}; i++)\n"
                 f"        if (i / {inner} % {n})\n"
                 f"            {name}[i] += {name}[i - {inner}];", out)
    return out


def result_kind(dtype: Any) -> str:
    """ "f", "i" or "b" for a dtype of a tensor."""
    if dtype.is_complex:
        raise Refused(f"export_c: numbers of {dtype} have no counterpart in the program")
    if dtype is dt.bool:
        return "b"
    return "f" if dtype.is_floating_point else "i"
