"""The operators that a program of an archive may call: ATen's operators in the table of schemas, and TorchScript's
operators on numbers, texts, lists and dicts, which are listed here."""
from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..autograd.grad_mode import (
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from ..capture.schema import LAYOUTS, SCALAR_TYPES, fitted, form_for, forms_of, run, runs
from ..device import device
from ..tensor import Tensor

__all__ = ["CONTEXTS", "KINDS", "LONGEST", "as_float", "failed", "found", "item", "iterated", "key"]

#: The largest number of elements of a list or letters of a text, and of elements of a tensor.
LONGEST = 1 << 24
_MOST_ELEMENTS = 1 << 31
#: Operators of the table that a file may not call: they read files, or access memory outside the tensor.
_KEPT = frozenset("from_file set_ resize_ resize_as_ resize as_strided as_strided_ as_strided_scatter backward "
                  "share_memory_ _pin_memory pin_memory is_pinned record_stream retain_grad".split())
KINDS = {"Tensor": Tensor, "int": int, "float": float, "bool": bool, "str": str, "complex": complex, "Device": device,
         "number": (int, float, complex)}
CONTEXTS = {"torch.no_grad": no_grad, "torch.enable_grad": enable_grad, "torch.autograd.grad_mode.no_grad": no_grad,
            "__torch__.torch.autograd.grad_mode.no_grad": no_grad}


def failed(text: str, kind: str | None) -> Exception:
    """The torch.jit.Error for an exception of a program; `kind` names the exception's class."""
    from . import Error
    name = (kind or "RuntimeError").removeprefix("builtins.")
    return Error("The following operation failed in the TorchScript interpreter.\nTraceback of TorchScript (most "
                 f"recent call last):\n{name}: {text}")


# ------------------------------------------------------------------ numbers
def _wrapped(n):
    """The number as an int of 64 bits, which wraps around as TorchScript's ints do."""
    return n if -1 << 63 <= n < 1 << 63 else (n + (1 << 63)) % (1 << 64) - (1 << 63)


def _number(x):
    return x.item() if isinstance(x, Tensor) else x


def _arithmetic(function):
    def compute(a, b, *rest):
        if isinstance(a, list) or isinstance(a, str):
            return _longer(function, a, b)
        if rest:
            b = b * rest[0]
        result = function(a, b)
        return _wrapped(result) if type(result) is int else result
    return compute


def _longer(function, a, b):
    count = len(a) * b if isinstance(b, int) else len(a) + len(b)
    if count > LONGEST:
        raise RuntimeError(f"a list or text of more than {LONGEST} elements")
    return function(a, b)


def _divided(a, b, rounding_mode=None):
    if b == 0:
        raise failed("division by zero" if type(a) is int else "float division by zero", "ZeroDivisionError")
    if rounding_mode == "trunc":
        return math.trunc(a / b)
    return math.floor(a / b) if rounding_mode == "floor" else a / b


def _checked(function):
    def compute(a, b):
        if b == 0:
            raise failed("integer division or modulo by zero", "ZeroDivisionError")
        return function(a, b)
    return compute


def _power(a, b):
    try:
        return float(a) ** float(b)
    except (OverflowError, ZeroDivisionError):
        return math.inf


def _rounded(function):
    return lambda x: function(x) if math.isfinite(x) else x


def as_float(x: Any) -> Any:
    """An int as a float; anything else as it is."""
    return float(x) if type(x) is int else x


def _to_int(x):
    if isinstance(x, Tensor):
        return int(x.item())
    return _wrapped(int(x))


# ------------------------------------------------------------------ containers
def key(x: Any) -> Any:
    """A key of a dict: a text, a number or a tensor. Tensors are compared by identity, as in torch."""
    if not isinstance(x, (str, int, float, complex, bool, Tensor)):
        raise RuntimeError(f"a key of a dict cannot be of {type(x).__name__}")
    return x


def item(x: Any, index: Any) -> Any:
    """x[index] of a list, tuple, dict or text."""
    if isinstance(x, dict):
        if index not in x:
            raise failed(f"{index!r:.60}", "KeyError")
        return x[index]
    if isinstance(x, (list, tuple, str)) and type(index) is int:
        if not -len(x) <= index < len(x):
            raise failed("list index out of range" if isinstance(x, list) else "index out of range", "IndexError")
        return x[index]
    if isinstance(x, Tensor) and type(index) is int:
        return x[index]
    raise RuntimeError(f"{type(x).__name__} cannot be indexed by {type(index).__name__}")


def iterated(x: Any) -> Iterable[Any]:
    """The items that a loop iterates over."""
    if isinstance(x, (list, tuple, range, str)):
        return x
    if isinstance(x, dict):
        return list(x)
    if isinstance(x, Tensor):
        return x.unbind(0)
    raise RuntimeError(f"{type(x).__name__} cannot be iterated over")


def put(x: Any, index: Any, value: Any) -> Any:
    """Sets the item `index` of a list or dict, and returns the list or dict."""
    if isinstance(x, dict):
        x[key(index)] = value
        return x
    item(x, index)
    x[index] = value
    return x


def joined(a: tuple, b: tuple) -> tuple:
    """a + b."""
    return _small(len(a) + len(b)) and a + b


def _append(x, value):
    if len(x) >= LONGEST:
        raise RuntimeError(f"a list of more than {LONGEST} elements")
    x.append(value)
    return x


def _extend(x, values):
    if len(x) + len(values) > LONGEST:
        raise RuntimeError(f"a list of more than {LONGEST} elements")
    x.extend(values)


def _pop(x, index=-1, *default):
    if isinstance(x, dict):
        return x.pop(index, *default) if index in x or default else item(x, index)
    item(x, index)
    return x.pop(index)


def _slice(x, start=None, end=None, step=1):
    return x[slice(start, end, step)]


def _format(text, *values):
    """text.format(*values), only for fields without names: others could read attributes of the values."""
    parts = text.split("{}")
    if len(parts) - 1 > len(values):
        raise failed(f"Too few arguments for format string: {text:.60}", "RuntimeError")
    made = parts[0]
    for value, part in zip(values, parts[1:]):
        made += _text(value) + part
        if len(made) > LONGEST:
            raise RuntimeError(f"a text of more than {LONGEST} letters")
    return made


def _percent(text, *values):
    """text % values, for %s, %d, %f, %g and %%."""
    values, made, at = list(values[0] if len(values) == 1 and type(values[0]) is tuple else values), "", 0
    while at < len(text):
        letter = text[at]
        if letter == "%" and at + 1 < len(text):
            kind = text[at + 1]
            at += 1
            if kind == "%":
                made += "%"
            elif kind in "sdifgex" and values:
                value = _number(values.pop(0))
                made += _text(value) if kind == "s" else f"%{kind}" % value
            else:
                raise failed(f"The specifier %{kind} is not supported in TorchScript format strings", "RuntimeError")
        else:
            made += letter
        at += 1
    return made


def _text(value):
    if isinstance(value, Tensor):
        return str(value)
    if isinstance(value, (list, tuple, dict)):
        _check_flat(value)
    return str(value)


def _check_flat(x):
    """RuntimeError for a container that nests three deep. A shared element is compared, or written, once for each
    path to it, and the number of paths grows exponentially with the depth."""
    for y in x.values() if isinstance(x, dict) else x:
        if isinstance(y, (list, tuple, dict)) and any([isinstance(z, (list, tuple, dict)) for z in (
                y.values() if isinstance(y, dict) else y)]):
            raise RuntimeError("containers that nest more than two deep cannot be compared or written as text")


def _check_short(x):
    if isinstance(x, range) and not -LONGEST <= x.start <= x.stop <= LONGEST:
        raise RuntimeError(f"a range of more than {LONGEST} numbers")


def _is(a, b):
    return a is b or type(a) is type(b) and isinstance(a, (int, bool, str)) and a == b


def _contains(x, value):
    if not isinstance(x, (dict, str)):
        _check_flat(x)
    if isinstance(x, list) and isinstance(value, Tensor):
        return any([bool((value == y).all()) for y in x])
    return value in x


def _joined(text, parts):
    _small(sum([len(part) + len(text) for part in parts]))
    return text.join(parts)


def _list(x):
    _check_short(x)
    return list(iterated(x))


def _sorted(x, reverse=False):
    return sorted(x, reverse=reverse)


def _shape_of(x):
    return [int(n) for n in x.shape]


def _dtype(x):
    return SCALAR_TYPES.index(x.dtype)


def _raise(text="", kind=None):
    raise failed(_text(text), kind)


def _device(x):
    if not isinstance(x, (str, device)):
        raise RuntimeError("device() takes a text")
    return device(x)


def _tensor(data, dtype=None, device=None, requires_grad=False):
    from ..ops.creation.factories import tensor
    dtype = None if dtype is None else fitted(dtype, "ScalarType")
    return tensor(data, dtype=dtype, requires_grad=requires_grad)


def _set_grad(on):
    set_grad_enabled(bool(on))


def _values(x):
    return list(x.values()) if isinstance(x, dict) else x.values()


#: Operators on lists, dicts, texts and any other values. A tensor has no operator of these names, or one that does the
#: same.
_ANY: dict[str, Callable] = {
    "__is__": _is, "__isnot__": lambda a, b: not _is(a, b), "__not__": lambda x: not x, "append": _append,
    "_set_item": put, "__contains__": _contains, "len": len, "extend": _extend,
    "insert": lambda x, i, v: x.insert(i, v),
    "clear": lambda x: x.clear(), "keys": lambda x: list(x), "items": lambda x: list(x.items()),
    "get": lambda x, k, d=None: x.get(k, d), "setdefault": lambda x, k, d: x.setdefault(key(k), d),
    "update": lambda x, y: x.update(y), "dict": lambda x=(): {key(k): v for k, v in (x.items() if isinstance(
        x, dict) else x)}, "list": _list, "reverse": lambda x: x.reverse(), "format": _format,
    "percentFormat": _percent, "join": _joined, "str": _text,
    "divmod": lambda a, b: _checked(divmod)(a, b),
    "tensor": _tensor, "device": _device, "warn": lambda text, *rest: _warned(text),
    "hash": hash, "ord": ord, "chr": chr, "remove": lambda x, v: x.remove(v), "is_grad_enabled": is_grad_enabled,
    "set_grad_enabled": _set_grad,
    "is_autocast_enabled": lambda *a: False, "is_autocast_cpu_enabled": lambda: False,
    "__range_length": lambda low, high, step: len(range(low, high, step)),
    "__derive_index": lambda i, start, step: start + i * step,
    "dim": lambda x: x.dim(), "numel": lambda x: x.numel(), "is_floating_point": lambda x: x.is_floating_point(),
    "is_complex": lambda x: x.is_complex(), "get_device": lambda x: -1, "_unwrap_optional": lambda x: x,
    "Bool": lambda x: bool(_number(x)), "Int": _to_int, "Float": lambda x: float(_number(x)),
    "ScalarImplicit": _number, "IntImplicit": _to_int, "FloatImplicit": lambda x: float(_number(x)),
    "wait": lambda x: x, "is_scripting": lambda: True, "has_torch_function": lambda *a: False,
    "values": _values,
    "_get_tracing_state": lambda: None, "is_tracing": lambda: False,
}
#: Operators on numbers and texts. For tensors, ATen's operator of the same name is called.
_PLAIN: dict[str, Callable] = {
    "add": _arithmetic(operator.add), "sub": _arithmetic(operator.sub), "mul": _arithmetic(operator.mul),
    "add_": lambda a, b: (_extend(a, b), a)[1], "mul_": lambda a, b: a.__imul__(b),
    "div": _divided, "floordiv": _checked(operator.floordiv), "remainder": _checked(operator.mod),
    "fmod": lambda a, b: math.fmod(a, b), "pow": _power, "neg": lambda x: _arithmetic(operator.sub)(0, x) if type(
        x) is int else -x, "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge, "__and__": operator.and_, "__or__": operator.or_, "__xor__": operator.xor,
    "__lshift__": lambda a, b: _wrapped(a << min(b, 64)), "__rshift__": lambda a, b: a >> min(b, 64),
    "bitwise_not": operator.invert, "abs": abs,
    "floor": _rounded(math.floor), "ceil": _rounded(math.ceil),
    "round": _rounded(lambda x: float(round(x))), "sqrt": math.sqrt, "log": lambda x, *b: math.log(x, *b),
    "exp": math.exp,
    "log2": math.log2, "log10": math.log10, "log1p": math.log1p, "expm1": math.expm1, "sin": math.sin, "cos": math.cos,
    "tan": math.tan, "tanh": math.tanh, "sinh": math.sinh, "cosh": math.cosh, "asin": math.asin, "acos": math.acos,
    "atan": math.atan, "atan2": math.atan2, "isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite,
    "gcd": math.gcd, "factorial": lambda n: _wrapped(math.factorial(min(n, 21))), "copysign": math.copysign,
    "degrees": math.degrees, "radians": math.radians, "gamma": math.gamma, "lgamma": math.lgamma, "erf": math.erf,
    "erfc": math.erfc, "slice": _slice, "__getitem__": item, "__slice": _slice, "select": item, "pop": _pop,
    "copy": lambda x: x.copy(), "sort": lambda x, reverse=False: x.sort(reverse=reverse), "sorted": _sorted,
    "index": lambda x, v: x.index(v), "count": lambda x, v: x.count(v), "any": any, "all": all, "max": max, "min": min,
    "sum": sum, "delete": lambda x, i: x.__delitem__(i), "Delete": lambda x, i: x.__delitem__(i), "complex": complex,
    "mathremainder": math.remainder,
}
_TEXT = frozenset("""capitalize casefold count endswith find index isalnum isalpha isdecimal isdigit isidentifier
    islower isnumeric isprintable isspace istitle isupper lower lstrip replace rfind rindex rstrip split splitlines
    startswith strip swapcase title upper partition rpartition rsplit""".split())
_PRIM: dict[str, Callable] = {
    "NumToTensor": lambda x: _tensor(x), "dtype": _dtype, "device": lambda x: x.device, "data": lambda x: x.data,
    "layout": lambda x: LAYOUTS.index(x.layout), "shape": _shape_of, "requires_grad": lambda x: x.requires_grad,
    "is_cuda": lambda x: x.is_cuda, "is_cpu": lambda x: x.is_cpu, "is_meta": lambda x: x.is_meta,
    "is_nested": lambda x: False, "is_sparse": lambda x: x.is_sparse, "is_quantized": lambda x: False,
    "is_mps": lambda x: False, "is_mkldnn": lambda x: False, "is_xpu": lambda x: False, "is_mtia": lambda x: False,
    "is_ipu": lambda x: False, "is_maia": lambda x: False, "is_vulkan": lambda x: False,
    "ndim": lambda x: x.dim(), "itemsize": lambda x: x.itemsize,
    "RaiseException": _raise, "min": lambda a, *b: min(a, *b), "max": lambda a, *b: max(a, *b), "abs": abs,
    "unchecked_unwrap_optional": lambda x: x, "rangelist": lambda n: list(range(_small(n))),
    "grad": lambda x: x.grad, "T": lambda x: x.T, "mT": lambda x: x.mT,
    "H": lambda x: x.H, "mH": lambda x: x.mH, "real": lambda x: x.real, "imag": lambda x: x.imag,
    "index": lambda x: -1, "type": lambda x: fitted(x, "Device").type, "is_leaf": lambda x: x.is_leaf,
    "nbytes": lambda x: x.nbytes, "StringIndex": item,
    "tolist": lambda x, *rest: x.tolist(),
}
_WORDS: dict[str, Callable] = {
    "bool": lambda x: bool(_number(x)), "int": _to_int, "float": lambda x: float(_number(x)), "str": _text,
    "complex": lambda *a: complex(*[_number(x) for x in a]), "len": len, "print": lambda *a: print(*map(_text, a)),
    "list": _list, "range": lambda *a: range(*[_to_int(x) for x in a]), "tuple": lambda x: tuple(iterated(x)),
    "enumerate": lambda x, start=0: list(enumerate(iterated(x), start)),
    "zip": lambda *x: list(zip(*[iterated(y) for y in x])), "hex": hex, "bin": bin, "oct": oct,
}


def _small(n):
    if n > LONGEST:
        raise RuntimeError(f"a list of more than {LONGEST} elements")
    return n


def _warned(text):
    from ..errors import warn
    warn(_text(text))


# ------------------------------------------------------------------ layers that torch runs as one operator
def _attention(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight, proj_bias, mask=None,
               need_weights=True, average_attn_weights=True, mask_type=None):
    from ..nn.functional import multi_head_attention_forward
    attn_mask = mask if mask is not None and mask_type != 1 else None
    padding = mask if mask is not None and mask_type == 1 else None
    result, weights = multi_head_attention_forward(
        *[x.transpose(0, 1) for x in (query, key, value)], embed_dim, num_head, qkv_weight, qkv_bias, None, None, False,
        0., proj_weight, proj_bias, False, padding, need_weights, attn_mask,
        average_attn_weights=average_attn_weights)
    return result.transpose(0, 1), weights


def _encoder_layer(x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first, eps,
                   weight_1, bias_1, weight_2, bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask=None,
                   mask_type=None):
    from ..nn.functional import gelu, layer_norm, linear, relu

    def attended(y):
        return _attention(y, y, y, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, False,
                          mask_type=mask_type)[0]

    def fed(y):
        return linear((gelu if use_gelu else relu)(linear(y, ffn_weight_1, ffn_bias_1)), ffn_weight_2, ffn_bias_2)
    first, second = [lambda y, w=w, b=b: layer_norm(y, [embed_dim], w, b, eps) for w, b in (
        (weight_1, bias_1), (weight_2, bias_2))]
    if norm_first:
        x = x + attended(first(x))
        return x + fed(second(x))
    x = first(x + attended(x))
    return second(x + fed(x))


def _convolved(input, weight, bias, stride, padding, dilation, groups):
    from ..nn import functional
    return getattr(functional, ("conv1d", "conv2d", "conv3d")[weight.dim() - 3])(
        input, weight, bias, stride, padding, dilation, groups)


_ANY |= {"_convolution_mode": _convolved, "_native_multi_head_attention": _attention,
         "_transformer_encoder_layer_fwd": _encoder_layer}


#: Words of the language that are operators of the same name.
_AS_WORDS = frozenset("abs min max round sum sorted any all ord chr hash dict divmod".split())
#: Methods of tensors that convert: {name: dtype}.
_CASTS = {"half": dt.float16, "bfloat16": dt.bfloat16, "float": dt.float32, "double": dt.float64, "char": dt.int8,
          "short": dt.int16, "int": dt.int32, "long": dt.int64, "byte": dt.uint8, "bool": dt.bool,
          "cfloat": dt.complex64, "cdouble": dt.complex128}


def of_numbers(name: str) -> bool:
    """Whether there is an operator on numbers with this name."""
    return name in _PLAIN


def method(name: str) -> Callable | None:
    """The function for a method of a tensor, a list, a dict or a text; None if no table has it."""
    dtype = _CASTS.get(name)
    if dtype is not None:
        return lambda x: aten("to", (x, dtype), {})
    if name in ("size", "stride", "tolist", "type"):
        return _METHODS[name]
    return _operator(name)


def _size(x, dim=None):
    return _shape_of(x) if dim is None else int(x.size(dim))


def _stride(x, dim=None):
    return [int(n) for n in x.stride()] if dim is None else int(x.stride(dim))


_METHODS = {"tolist": lambda x: x.tolist(), "type": lambda x, dtype: aten("to", (x, dtype), {}),
            "size": _size, "stride": _stride}


# ------------------------------------------------------------------ ATen's
def found(path: str) -> Callable | None:
    """The function for the name of an operator (torch.add, ops.prim.dtype, ops.aten.relu, int); None if no table has
    it."""
    if "." not in path:
        return _WORDS.get(path) or (_operator(path) if path in _AS_WORDS else None)
    space, _, name = path.rpartition(".")
    if space == "ops.prim":
        return _PRIM.get(name)
    return _operator(name) if space in ("torch", "ops.aten") else None


def _operator(name):
    """The function for an operator. Its call takes the first of these paths that applies: an operator of
    `_OF_TENSORS` on a tensor, a method of a text, the plain function on numbers and containers, ATen's operator."""
    if name in _ANY:
        return _ANY[name]
    plain, known = _PLAIN.get(name), name not in _KEPT and bool(forms_of(name)) and runs(name)
    text = name in _TEXT
    if not known and name[-1] == "_" and name[-2:] != "__" and name not in _KEPT and (base := _operator(name[:-1])):
        return lambda x, *args, **kwargs: x.copy_(base(x, *args, **kwargs))
    if not known and plain is None and not text:
        return None

    of_tensors = _OF_TENSORS.get(name)

    def call(*args, **kwargs):
        first = args[0] if args else None
        if of_tensors is not None and _has_tensor(args):
            return aten(of_tensors, args, kwargs)
        if text and type(first) is str:
            return _of_text(name, args)
        if plain is not None and not (known and _has_tensor(args)):
            if isinstance(first, Tensor) and name not in ("eq", "ne") and not known:
                raise RuntimeError(f"{name} takes no tensors")
            for x in args:
                if isinstance(x, (list, tuple, dict)):
                    _check_flat(x)
                elif type(x) is range:
                    _check_short(x)
            try:
                return plain(*args, **kwargs)
            except (TypeError, ValueError, IndexError, OverflowError, AttributeError) as error:
                raise failed(f"{name}: {error}", type(error).__name__) from None
        return aten(name, args, kwargs)
    return call


#: ATen's operators for Python's operators on tensors.
_OF_TENSORS = {"__and__": "bitwise_and", "__or__": "bitwise_or", "__xor__": "bitwise_xor",
               "__lshift__": "bitwise_left_shift", "__rshift__": "bitwise_right_shift", "floordiv": "floor_divide"}


def _has_tensor(args):
    for x in args:
        if isinstance(x, Tensor) or isinstance(x, list) and x and isinstance(x[0], Tensor):
            return True
    return False


def _of_text(name, args):
    for x in args:
        if not isinstance(x, (str, int, type(None))):
            raise RuntimeError(f"{name} of a text takes no {type(x).__name__}")
    if name == "replace" and len(args[0]) * max(len(args[2]), 1) > LONGEST:
        raise RuntimeError(f"a text of more than {LONGEST} letters")
    result = getattr(args[0], name)(*args[1:])           # the name is one of _TEXT
    return list(result) if isinstance(result, list) else result


def aten(name: str, args: tuple, kwargs: dict[str, Any]) -> Any:
    """An operator of the table. RuntimeError for arguments that fit none of its forms."""
    form, values = form_for(name, args, kwargs) or _form_for_sizes(name, args, kwargs)
    for argument, value in zip(form.arguments, values):
        if argument.name in ("size", "repeats", "pad", "output_size") and isinstance(value, list) and all(
                [type(n) is int for n in value]) and math.prod([max(n, 1) for n in value]) > _MOST_ELEMENTS:
            raise RuntimeError(f"aten::{name}: a tensor of more than {_MOST_ELEMENTS} elements")
    result = listed(run(form, values), form)
    for x in result if isinstance(result, (tuple, list)) else (result,):
        if isinstance(x, Tensor) and x.numel() > _MOST_ELEMENTS:
            raise RuntimeError(f"aten::{name}: a tensor of more than {_MOST_ELEMENTS} elements")
    return result


def _form_for_sizes(name, args, kwargs):
    """The form and values for sizes that are not in a list. RuntimeError if the arguments fit no form."""
    matched = None
    if len(args) > 1 and all([type(x) is int for x in args[1:]]):          # x.view(2, 3)
        matched = form_for(name, (args[0], list(args[1:])), kwargs)
    if matched is None and args and all([type(x) is int for x in args]):   # torch.zeros(2, 3)
        matched = form_for(name, (list(args),), kwargs)
    if matched is None:
        types = ", ".join([type(x).__name__ for x in args] + [f"{k}={type(x).__name__}" for k, x in kwargs.items()])
        forms = "".join([f"\n  aten::{form.text}" for form in forms_of(name)])
        raise RuntimeError(f"Arguments for call are not valid: aten::{name}({types}). The forms are:{forms}")
    return matched


def listed(result: Any, form) -> Any:
    """A result with TorchScript's types: lists of tensors, plain tuples, numbers."""
    if isinstance(result, (tuple, list)) and not form.tuple:
        return [int(x) if isinstance(x, np.integer) else x for x in result]
    if isinstance(result, tuple):
        return result if hasattr(result, "_fields") else tuple(result)
    return _number(result) if isinstance(result, np.generic) else result
