"""The order and the names of the arguments of ATen's operators, as torch declares them (schemas.txt), and how the
functions here take them.

A schema `dropout(Tensor input, float p, bool train) -> Tensor` belongs to a function here whose parameters are called
so, but for `_ALIASES`. `bind` finds for a call of such a function the form of the operator and its arguments, which is
what a recording writes; `run` runs a form with arguments in the schema's order, as a program does that was read.
"""
from __future__ import annotations

import ast
import functools
import importlib
import inspect
import os
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes as dt
from .._ops import _function
from ..device import device
from ..memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    layout,
    memory_format,
    preserve_format,
    strided,
)
from ..random import Generator
from ..tensor import Tensor

__all__ = ["Argument", "Form", "Misfit", "bind", "fitted", "forms_of", "taker_of", "texts_of"]

#: Arguments that say how fast a result is to be computed, or where, and not what it is: any value will do.
_IDLE = {"cudnn_enabled", "cudnn_enable", "benchmark", "deterministic", "allow_tf32", "pin_memory", "non_blocking"}


#: What torch writes as a number: {type: the values in the order of the numbers}.
SCALAR_TYPES = [dt.uint8, dt.int8, dt.int16, dt.int32, dt.int64, dt.float16, dt.float32, dt.float64, dt.complex32,
                dt.complex64, dt.complex128, dt.bool, None, None, None, dt.bfloat16]
MEMORY_FORMATS = [contiguous_format, preserve_format, channels_last, channels_last_3d]
LAYOUTS = [strided]
_NUMBERS_OF = {"ScalarType": SCALAR_TYPES, "MemoryFormat": MEMORY_FORMATS, "Layout": LAYOUTS}


class Argument(NamedTuple):
    """One argument: its type as torch writes it ("int[2]", "Tensor?"), whether it is given by name alone, and its
    default, `...` if it has none."""

    name: str
    kind: str
    by_name: bool
    default: Any


class Form:
    """One form of an operator: `name`.`form`(`arguments`) -> `results`, a list of types."""

    def __init__(self, line: str) -> None:
        head, _, results = line.partition(") -> ")
        name, _, arguments = head.partition("(")
        self.name, _, self.form = name.partition(".")
        self.text = line
        arguments = [re.sub(r"\([a-z]!?(\|[a-z])*( -> \*)?!?\)", "", part) for part in _split(arguments)]
        self.mutates = re.search(r"\([a-z]!", head) is not None
        self.arguments, by_name = [], False
        for part in arguments:
            if part == "*":
                by_name = True
                continue
            declared, _, default = part.partition("=")
            kind, _, name = declared.rpartition(" ")
            kind = kind.replace("SymInt", "int")
            self.arguments.append(Argument(name, kind, by_name, _default(default, kind) if default else ...))
        results = re.sub(r"\([a-z]!?(\|[a-z])*\)", "", results).strip()
        self.results = [part.split(" ")[0] for part in _split(results[1:-1])] if results[0] == "(" else [results]
        self.tuple = results[0] == "("

    @property
    def is_impure(self) -> bool:
        """Whether a call changes something: a tensor in place, or the random stream. Where the schema does not say so
        (batch_norm, dropout), the function does that runs it."""
        return self.mutates or "Generator" in self.text or _changes_something(self)

    def __repr__(self):
        return f"aten::{self.text}"


@functools.cache
def _changes_something(form):
    """Whether the function that runs a form draws, or writes to an argument. A parameter that the form lacks (inplace,
    max_norm) would have to ask for that."""
    function = _function("aten", form.name)
    record = getattr(function, "record", None)
    if record is None:
        return False
    claims, taker = record.claims(), taker_of(function)
    given = {taker.parameter(form, argument) for argument in form.arguments}
    return claims.draws or bool(claims.writes) and given >= set(taker.names)


def _split(text):
    """Parts of a list between commas that are in no brackets."""
    parts, depth, begin = [], 0, 0
    for i, letter in enumerate(text + ","):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append(text[begin:i].strip())
            begin = i + 1
    return [part for part in parts if part]


def _default(text, kind):
    if text in ("None", "True", "False"):
        return {"None": None, "True": True, "False": False}[text]
    if kind.rstrip("?") in _NUMBERS_OF:
        return _NUMBERS_OF[kind.rstrip("?")][int(text)]
    value = ast.literal_eval(text) if text[0] in "\"'[-.0123456789" else text
    sized = re.match(r"(int|float|bool)\[(\d+)\]", kind)
    if sized and not isinstance(value, list):
        return [value] * int(sized[2])
    return value


def _text(name):
    """Of a file beside this one, which may be in an archive."""
    return __spec__.loader.get_data(os.path.join(os.path.dirname(__file__), name)).decode()


@functools.cache
def _table():
    found = {}
    for line in _text("schemas.txt").splitlines():
        found.setdefault(re.match(r"\w+", line)[0], []).append(line)
    return found


@functools.cache
def names() -> list[str]:
    """The names of all operators of the table."""
    return list(_table())


def forms_of(name: str) -> tuple[Form, ...]:
    """The forms of an operator, in torch's order; none if it is not in the table."""
    return tuple([Form(line) for line in _table().get(name, ())])


# ------------------------------------------------------------------ arguments of the types that a schema names
class Misfit(TypeError):
    """A value is not of the type that a schema asks for."""


_REDUCTIONS = ("none", "mean", "sum")
_BAGS = ("sum", "mean", "max")
#: Texts that are numbers in schemas: {(operator, or "": any, argument): the texts in the order of the numbers}.
_NUMBERED = {("", "reduction"): _REDUCTIONS, ("embedding_bag", "mode"): _BAGS,
             ("grid_sampler", "interpolation_mode"): ("bilinear", "nearest", "bicubic"),
             ("grid_sampler", "padding_mode"): ("zeros", "border", "reflection")}
_PLAIN = {"ScalarType": dt.dtype, "Layout": layout, "Device": (device, str), "MemoryFormat": memory_format,
          "Generator": Generator, "str": str, "bool": bool}


def fitted(value: Any, kind: str, numbers: bool = False) -> Any:
    """`value` as an argument of the type `kind`. `numbers`: they will do for tensors. Misfit if it is none."""
    if kind[-1] == "?":
        return None if value is None else fitted(value, kind[:-1], numbers)
    if kind[-1] == "]":
        inner, _, size = kind[:-1].rpartition("[")
        if size and not isinstance(value, (list, tuple)) and inner in ("int", "float", "bool"):
            return [fitted(value, inner)] * int(size)
        if not isinstance(value, (list, tuple)):
            raise Misfit
        return [fitted(x, inner, numbers) for x in value]
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) is int and kind in _NUMBERS_OF:         # as programs of TorchScript have it
        found = _NUMBERS_OF[kind][value] if 0 <= value < len(_NUMBERS_OF[kind]) else None
        if found is None:
            raise Misfit
        return found
    if kind == "Tensor":
        if isinstance(value, Tensor) or numbers and isinstance(value, (int, float, complex)):
            return value
    elif kind == "int":
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    elif kind == "float":
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    elif kind in ("Scalar", "number"):
        if isinstance(value, (int, float, complex)):
            return value
    elif kind == "complex":
        if isinstance(value, (int, float, complex)) and not isinstance(value, bool):
            return complex(value)
    elif kind == "ScalarType" and value in (bool, int, float, complex):
        return {bool: dt.bool, int: dt.int64, float: dt.get_default_dtype(), complex: dt.complex64}[value]
    elif kind in _PLAIN and isinstance(value, _PLAIN[kind]):
        return device(value) if kind == "Device" else value
    raise Misfit


def texts_of(name: str, argument: str) -> tuple[str, ...] | None:
    """The texts that are numbers in the schema of an operator's argument, in their order; None if there are none."""
    return _NUMBERED.get((name, argument)) or _NUMBERED.get(("", argument))


# ------------------------------------------------------------------ functions here
#: Arguments and the parameters here that mean the same, where they are called otherwise.
_ALIASES = {"self": ("input", "self", "tensor", "sorted_sequence", "a", "x"), "train": ("training",),
            "split_size": ("split_size_or_sections",), "split_sizes": ("split_size_or_sections",),
            "test_element": ("test_elements",), "element": ("elements",), "random_samples": ("_random_samples",),
            "the_template": ("tensor",), "size": ("sizes",), "t": ("data",), "dims_self": ("dims",)}
#: The same of single operators, where the general ones would mislead.
_ALIASES_OF = {"embedding": {"indices": ("input",)}, "embedding_bag": {"indices": ("input",)},
               "polygamma": {"self": ("input",)}, "special_polygamma": {"self": ("input",)},
               "where": {"self": ("input",)}, "searchsorted": {"self": ("input",)},
               "cross_entropy_loss": {}, "nll_loss_nd": {}}
#: Parameters that change nothing of a result, or that a form cannot have been called with unless they are not given.
_UNTOLD = {"_stacklevel", "requires_grad"}


class _Taker:
    """The parameters of a function here."""

    def __init__(self, function):
        parameters = inspect.signature(function).parameters
        self.signature = inspect.signature(function)
        self.names = [p.name for p in parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        self.defaults = {p.name: p.default for p in parameters.values() if p.default is not p.empty}
        self.rest = next((p.name for p in parameters.values() if p.kind is p.VAR_POSITIONAL), None)
        self.more = next((p.name for p in parameters.values() if p.kind is p.VAR_KEYWORD), None)

    @functools.cached_property
    def _mappings(self):
        return {}

    def parameter(self, form, argument):
        """The parameter that stands for an argument of a form; None if there is none."""
        if form not in self._mappings:
            self._mappings[form] = self._mapping(form)
        return self._mappings[form].get(argument.name)

    def _mapping(self, form):
        found, special = {}, _ALIASES_OF.get(form.name, {})
        for argument in form.arguments:
            candidates = special.get(argument.name) or (argument.name, *_ALIASES.get(argument.name, ()))
            name = next((x for x in candidates if x in self.names and x not in found.values()), None)
            if name is not None:
                found[argument.name] = name
        for i, argument in enumerate(form.arguments[:len(self.names)]):        # tensors by place, whatever their names
            if argument.name not in found and argument.kind.startswith("Tensor") and (
                    self.names[i] not in found.values() and not argument.by_name):
                found[argument.name] = self.names[i]
        return found


@functools.lru_cache(4096)
def taker_of(function: Callable) -> _Taker:
    """The parameters of a function here."""
    return _Taker(function)


def _same(a, b):
    return a is b or type(a) is type(b) and isinstance(a, (bool, int, float, str, tuple)) and a == b


def bind(name: str, function: Callable, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Form, list] | None:
    """The form of the operator `name` that a call of `function`, a function here, is, and its arguments in the order of
    the schema; None if it is none of them."""
    forms = forms_of(name)
    if not forms:
        return None
    taker = taker_of(function)
    try:
        bound = taker.signature.bind(*args, **kwargs)
    except TypeError:
        return None
    rest = list(bound.arguments.pop(taker.rest, ())) if taker.rest else []
    more = bound.arguments.pop(taker.more, {}) if taker.more else {}
    given = {key: value for key, value in {**bound.arguments, **more}.items()
             if key not in _UNTOLD and not (key in taker.defaults and _same(value, taker.defaults[key]))}
    for strict, numbers in ((True, False), (True, True), (False, False), (False, True)):
        for form in forms:
            try:
                return form, _filled(form, taker, given, rest, numbers, strict)
            except Misfit:
                pass
    kwargs = {key: value for key, value in kwargs.items() if key in given}
    return form_for(name, args, kwargs)        # arguments in torch's order, which the function tells apart itself


def _filled(form, taker, given, rest, numbers, strict):
    values, unused, rest = [], set(given), list(rest)
    for argument in form.arguments:
        name = taker.parameter(form, argument) or argument.name
        if name in given:
            unused.discard(name)
            value = given[name]
        elif rest and not argument.by_name:
            inner = argument.kind.rstrip("?")
            if inner[-1] == "]" and not isinstance(rest[0], (list, tuple)):
                value, rest = rest, []
            else:
                value = rest.pop(0)
        else:
            values.append(_by_default(form, argument, taker, name, strict))
            continue
        values.append(_value(form, argument, value, numbers))
    if unused or rest:
        raise Misfit
    return values


def _value(form, argument, value, numbers=False):
    texts = texts_of(form.name, argument.name)
    if texts and value in texts:
        value = texts.index(value)
    return fitted(value, argument.kind, numbers)


def _by_default(form, argument, taker, name, strict):
    """The value of an argument that was not given: what it is without here; else what torch declares. `strict`: torch
    must declare one."""
    if argument.name in _IDLE:
        return None if argument.kind[-1] == "?" else argument.name in ("cudnn_enabled", "cudnn_enable", "allow_tf32")
    if taker.defaults.get(name) is not None:
        try:
            return _value(form, argument, taker.defaults[name])
        except Misfit:
            pass
    if argument.default is not ...:
        return argument.default
    if argument.kind[-1] == "?" and not strict:
        return None
    raise Misfit


# ------------------------------------------------------------------ to run a form
def arguments_of(form: Form, args: Sequence[Any], kwargs: dict[str, Any], numbers: bool = True) -> list:
    """The arguments of a form in its order, from a call that names them as the schema does. Misfit if it is none.
    `numbers`: they will do for tensors."""
    values, given = [], dict(kwargs)
    if len(args) > len(form.arguments):
        raise Misfit
    for i, argument in enumerate(form.arguments):
        if i < len(args):
            if argument.by_name:
                raise Misfit
            value = args[i]
            if argument.name in given:
                raise Misfit
        elif argument.name in given:
            value = given.pop(argument.name)
        elif argument.default is not ... or argument.kind[-1] == "?":
            values.append(None if argument.default is ... else argument.default)
            continue
        else:
            raise Misfit
        if value is None and argument.default is not ...:
            values.append(argument.default)
        else:
            values.append(fitted(value, argument.kind, numbers))
    if given:
        raise Misfit
    return values


def form_for(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Form, list] | None:
    """The form of an operator, called as its schemas say, and its arguments in order; None if there is none."""
    for numbers in (False, True):
        for form in forms_of(name):
            try:
                return form, arguments_of(form, args, kwargs, numbers)
            except Misfit:
                pass
    return None


def _bag(weight, indices, offsets, scale, mode, sparse, weights, last, padding_idx=None):
    result = _F.embedding_bag(indices, weight, offsets, scale_grad_by_freq=scale, mode=_BAGS[mode], sparse=sparse,
                              per_sample_weights=weights, include_last_offset=last, padding_idx=padding_idx)
    return result, None, None, None            # what torch's derivative needs of it


def _bag_forward(weight, indices, offsets, scale, mode, sparse, weights, last, padding_idx):
    return _bag(weight, indices, offsets, scale, mode, sparse, weights, last, None if padding_idx < 0 else padding_idx)


def _norm_of_batch(x, weight, bias, mean, var, training, momentum, eps):
    """A batch norm, and the statistics it is left with; what torch's derivative needs is empty."""
    mean, var = mean.clone(), var.clone()
    result = _F.batch_norm(x, mean, var, weight, bias, training, momentum, eps)
    return result, x.new_empty(0), x.new_empty(0), mean, var


def _slice(x, dim, start, end, step):
    return x[(slice(None),) * (dim % max(x.dim(), 1)) + (slice(start, end, step),)]


def _to(x, form, values):
    given = dict(zip([a.name for a in form.arguments], values))
    if form.form == "other":
        given["dtype"] = given.pop("other").dtype
    for name in ("self", "pin_memory", "layout"):
        given.pop(name, None)
    return x.to(**{name: value for name, value in given.items() if value is not None})


def _elu(x, alpha, scale, inner):
    result = _F.elu(x * inner, alpha)
    return result if scale == 1 else result * scale


def _three(found, inverse, counts):
    found = list(found) if isinstance(found, tuple) else [found]
    second = found[1] if inverse else None
    return found[0], second, found[-1] if counts else None


def _upsample(mode):
    def run(x, size, *values):
        align = None if mode == "nearest" else values[0]
        return _F.interpolate(x, size, values[-1] if size is None else None, mode, align)
    return run


class _Module:
    """A module of this package, imported when it is used."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        return getattr(importlib.import_module(self._name, __package__), name)


_F, _T = _Module("..nn.functional"), _Module("..")

#: Operators that no function here is, or none with the same parameters: called with the arguments in order.
_RUN: dict[str, Callable] = {
    "embedding_bag": _bag, "slice": _slice, "elu": _elu,
    "alias": lambda x: x._alias(), "lift_fresh": lambda x: x, "lift": lambda x: x.clone(),
    "sym_numel": lambda x: x.numel(), "sym_storage_offset": lambda x: x.storage_offset(),
    "mT": lambda x: x.mT, "mH": lambda x: x.mH, "numpy_T": lambda x: x.T, "matrix_H": lambda x: x.H,
    "data": lambda x: x.data, "lift_fresh_copy": lambda x: x.clone(), "item": lambda x: x.item(),
    "_to_copy": lambda x, dtype, *where: x.to(dtype=dtype, copy=True),
    "batch_norm": lambda x, weight, bias, mean, var, training, momentum, eps, cudnn: _F.batch_norm(
        x, mean, var, weight, bias, training, momentum, eps),
    "instance_norm": lambda x, weight, bias, mean, var, use_input, momentum, eps, cudnn: _F.instance_norm(
        x, mean, var, weight, bias, use_input, momentum, eps),
    "_native_batch_norm_legit_no_training": lambda x, weight, bias, mean, var, momentum, eps: _norm_of_batch(
        x, weight, bias, mean, var, False, momentum, eps)[:3],
    "_native_batch_norm_legit_functional": _norm_of_batch,
    "_softmax": lambda x, dim, widened: _F.softmax(x, dim),
    "_log_softmax": lambda x, dim, widened: _F.log_softmax(x, dim),
    "_adaptive_avg_pool2d": lambda x, size: _F.adaptive_avg_pool2d(x, size),
    "_adaptive_avg_pool3d": lambda x, size: _F.adaptive_avg_pool3d(x, size),
    "_unsafe_view": lambda x, size: x.view(size),
    "copy": lambda x, source, wait: source.expand_as(x).to(x.dtype, copy=True),
    "_embedding_bag_forward_only": _bag_forward, "_embedding_bag": _bag_forward,
    "dropout": lambda x, p, train: _F.dropout(x, p, train),
    "dropout_": lambda x, p, train: _F.dropout(x, p, train, True),
    "feature_dropout": lambda x, p, train: _T.feature_dropout(x, p, train),
    "tensordot": lambda a, b, of_a, of_b: _T.tensordot(a, b, (of_a, of_b)),
    "where": lambda condition, *values: _T.where(condition, *values),
    "unfold": lambda x, dim, size, step: x.unfold(dim, size, step),
    "im2col": lambda x, *rest: _F.unfold(x, *rest), "col2im": lambda x, size, *rest: _F.fold(x, size, *rest),
    "cross_entropy_loss": lambda x, target, weight, reduction, ignored, smoothing: _F.cross_entropy(
        x, target, weight, ignore_index=ignored, reduction=_REDUCTIONS[reduction], label_smoothing=smoothing),
    "nll_loss_nd": lambda x, target, weight, reduction, ignored: _F.nll_loss(
        x, target, weight, ignore_index=ignored, reduction=_REDUCTIONS[reduction]),
    "log_sigmoid": lambda x: _F.logsigmoid(x), "cdist": lambda a, b, p, mode: _T.cdist(a, b, p, (
        "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")[mode or 0]),
    "adaptive_max_pool1d": lambda x, size: _F.adaptive_max_pool1d(x, size, True),
    "adaptive_max_pool2d": lambda x, size: _F.adaptive_max_pool2d(x, size, True),
    "adaptive_max_pool3d": lambda x, size: _F.adaptive_max_pool3d(x, size, True),
    "unique_consecutive": lambda x, inverse, counts, dim: _three(
        _T.unique_consecutive(x, inverse, counts, dim), inverse, counts),
    "einsum": lambda equation, tensors, path=None: _T.einsum(equation, tensors),
    "upsample_nearest1d": _upsample("nearest"), "upsample_nearest2d": _upsample("nearest"),
    "upsample_nearest3d": _upsample("nearest"), "upsample_linear1d": _upsample("linear"),
    "upsample_bilinear2d": _upsample("bilinear"), "upsample_bicubic2d": _upsample("bicubic"),
    "upsample_trilinear3d": _upsample("trilinear"),
    "grid_sampler": lambda x, grid, mode, padding, align: _F.grid_sample(
        x, grid, ("bilinear", "nearest", "bicubic")[mode], ("zeros", "border", "reflection")[padding], align),
}


@functools.cache
def unsupported() -> frozenset[str]:
    """The names of ATen's operators that nothing here runs."""
    return frozenset(_text("unsupported.txt").split())


def runs(name: str) -> bool:
    """Whether something here does the work of the operator."""
    return name in _RUN or name == "to" or _found(name) is not None


def _found(name):
    """The function that does the work of an operator, of one in place (silu_) that which takes inplace=True; None if
    nothing does."""
    function = _function("aten", name)
    if function is None and name[-1:] == "_":
        inner = vars(importlib.import_module("..nn.functional", __package__)).get(name[:-1])
        if inner is not None and "inplace" in taker_of(inner).names:
            return functools.partial(inner, inplace=True)
    return function


@functools.lru_cache(4096)
def _runner(form):
    """What runs a form: a function of its arguments in order."""
    if form.name == "to":
        return lambda *values: _to(values[0], form, values)
    if form.name in _RUN:
        return _RUN[form.name]
    function = _found(form.name)
    if function is None:
        raise NotImplementedError(f"torch.ops.aten.{form.name} is not supported: see docs/coverage.md")
    taker = taker_of(function)
    names = [taker.parameter(form, argument) for argument in form.arguments]
    texts = [texts_of(form.name, argument.name) for argument in form.arguments]
    alone = [a.kind for a in form.arguments if not a.by_name] == ["Tensor[]"]        # lstm has lists among others

    def run(*values):
        args, kwargs = [], {}
        for argument, name, text, value in zip(form.arguments, names, texts, values):
            default = argument.default
            if value is default or default is not ... and _same(value, default) or value == [] and default == []:
                if name is None or argument.by_name or value is None or value == []:
                    continue                   # the function has the same default, or one that means it
            if text is not None and name in taker.defaults and isinstance(taker.defaults[name], str):
                value = text[value]
            if name is not None and not (taker.rest and not argument.by_name):
                kwargs[name] = value
            elif taker.rest and not argument.by_name and argument.name not in _IDLE:
                args += value if argument.kind == "Tensor[]" and alone else [value]
            elif argument.name not in _IDLE:
                raise NotImplementedError(f"aten::{form.name}: the argument {argument.name!r} is not supported")
        if taker.rest:
            return function(*args, **kwargs)
        leading = []
        for name in taker.signature.parameters:            # some take their tensors by place alone
            if name not in kwargs or taker.signature.parameters[name].kind is inspect.Parameter.KEYWORD_ONLY:
                break
            leading.append(kwargs.pop(name))
        return function(*leading, **kwargs)
    return run


def run(form: Form, values: Sequence[Any]) -> Any:
    """What a form gives for arguments in its order."""
    return _runner(form)(*values)


def called(form: Form, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The same for a call that names arguments, or leaves them out, as the schema does. TypeError for another."""
    try:
        values = arguments_of(form, args, kwargs)
    except Misfit:
        raise TypeError(f"aten::{form.name}() was called with arguments that do not fit\n"
                        f"    aten::{form.text}") from None
    return run(form, values)
