"""The order and names of the arguments of ATen's operators, as torch declares them (schemas.txt), and the functions of
this library that take them.

A schema `dropout(Tensor input, float p, bool train) -> Tensor` belongs to a function whose parameters have the same
names, except for those in `_ALIASES`. `bind` finds the form of the operator and its arguments for a call of such a
function, so that a recording can write them. `run` runs a form with arguments in the schema's order, for programs that
are read from files.
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

#: Arguments that change the speed or the place of a computation, but not its result. Any value is accepted.
_IDLE = {"cudnn_enabled", "cudnn_enable", "benchmark", "deterministic", "allow_tf32", "pin_memory", "non_blocking"}


#: Types whose values torch writes as numbers: {type: the values in the order of the numbers}.
SCALAR_TYPES = [dt.uint8, dt.int8, dt.int16, dt.int32, dt.int64, dt.float16, dt.float32, dt.float64, dt.complex32,
                dt.complex64, dt.complex128, dt.bool, None, None, None, dt.bfloat16]
MEMORY_FORMATS = [contiguous_format, preserve_format, channels_last, channels_last_3d]
LAYOUTS = [strided]
_NUMBERS_OF = {"ScalarType": SCALAR_TYPES, "MemoryFormat": MEMORY_FORMATS, "Layout": LAYOUTS}


class Argument(NamedTuple):
    """One argument: its type in torch's notation ("int[2]", "Tensor?"), whether it is keyword-only, and its default,
    `...` if it has none."""

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
        """Whether a call changes a tensor in place or the random stream. Where the schema does not say so (batch_norm,
        dropout), the declaration of the function that runs the form says it."""
        return self.mutates or "Generator" in self.text or _changes_something(self)

    def __repr__(self):
        return f"aten::{self.text}"


@functools.cache
def _changes_something(form):
    """Whether the function that runs a form draws random numbers, or writes to an argument. Effects that need a
    parameter which the form lacks (inplace, max_norm) do not count."""
    function = _function("aten", form.name)
    record = getattr(function, "record", None)
    if record is None:
        return False
    claims, taker = record.claims(), taker_of(function)
    given = {taker.parameter(form, argument) for argument in form.arguments}
    return claims.draws or bool(claims.writes) and given >= set(taker.names)


def _split(text):
    """The parts of a list between commas outside brackets."""
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
    """The text of a file in the folder of this module, which may be in an archive."""
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


# ------------------------------------------------------------------ values for the types of a schema
class Misfit(TypeError):
    """A value does not have the type in the schema."""


_REDUCTIONS = ("none", "mean", "sum")
_BAGS = ("sum", "mean", "max")
#: Texts that are numbers in schemas: {(operator, or "" for any, argument): the texts in the order of the numbers}.
_NUMBERED = {("", "reduction"): _REDUCTIONS, ("embedding_bag", "mode"): _BAGS,
             ("grid_sampler", "interpolation_mode"): ("bilinear", "nearest", "bicubic"),
             ("grid_sampler", "padding_mode"): ("zeros", "border", "reflection")}
_PLAIN = {"ScalarType": dt.dtype, "Layout": layout, "Device": (device, str), "MemoryFormat": memory_format,
          "Generator": Generator, "str": str, "bool": bool}


def fitted(value: Any, kind: str, numbers: bool = False) -> Any:
    """`value` as an argument of the type `kind`. `numbers`: whether numbers are accepted for tensors. Misfit for a
    value of another type."""
    if kind[-1] == "?":
        return None if value is None else fitted(value, kind[:-1], numbers)
    if kind[-1] == "]":
        return _fitted_list(value, kind, numbers)
    if isinstance(value, np.generic):
        value = value.item()
    if kind == "Tensor":
        if isinstance(value, Tensor) or numbers and isinstance(value, (int, float, complex)):
            return value
        raise Misfit
    rule = _NUMBERS.get(kind)
    if rule is not None:
        accepted, truth, convert = rule
        if not isinstance(value, accepted) or isinstance(value, bool) and not truth:
            raise Misfit
        return value if convert is None else convert(value)
    return _fitted_other(value, kind)


#: {type of numbers in a schema: (accepted types, whether True and False are accepted, conversion or None)}
_NUMBERS = {"int": (int, False, None), "float": ((int, float), False, float),
            "complex": ((int, float, complex), False, complex),
            "Scalar": ((int, float, complex), True, None), "number": ((int, float, complex), True, None)}


def _fitted_list(value, kind, numbers):
    inner, _, size = kind[:-1].rpartition("[")
    if isinstance(value, (list, tuple)):
        return [fitted(x, inner, numbers) for x in value]
    if size and inner in ("int", "float", "bool"):
        return [fitted(value, inner)] * int(size)
    raise Misfit


def _fitted_other(value, kind):
    """A value of a type that is neither a tensor nor a number. TorchScript programs have numbers for some of them."""
    if type(value) is int and kind in _NUMBERS_OF:
        choices = _NUMBERS_OF[kind]
        if not 0 <= value < len(choices) or choices[value] is None:
            raise Misfit
        return choices[value]
    if kind == "ScalarType" and value in (bool, int, float, complex):
        return {bool: dt.bool, int: dt.int64, float: dt.get_default_dtype(), complex: dt.complex64}[value]
    if kind in _PLAIN and isinstance(value, _PLAIN[kind]):
        return device(value) if kind == "Device" else value
    raise Misfit


def texts_of(name: str, argument: str) -> tuple[str, ...] | None:
    """The texts that are numbers in the schema of an operator's argument, in their order; None if there are none."""
    return _NUMBERED.get((name, argument)) or _NUMBERED.get(("", argument))


# ------------------------------------------------------------------ the functions of this library
#: Arguments in schemas, and the parameters of this library's functions that have other names for them.
_ALIASES = {"self": ("input", "self", "tensor", "sorted_sequence", "a", "x"), "train": ("training",),
            "split_size": ("split_size_or_sections",), "split_sizes": ("split_size_or_sections",),
            "test_element": ("test_elements",), "element": ("elements",), "random_samples": ("_random_samples",),
            "the_template": ("tensor",), "size": ("sizes",), "t": ("data",), "dims_self": ("dims",)}
#: The same for single operators, where `_ALIASES` is wrong.
_ALIASES_OF = {"embedding": {"indices": ("input",)}, "embedding_bag": {"indices": ("input",)},
               "polygamma": {"self": ("input",)}, "special_polygamma": {"self": ("input",)},
               "where": {"self": ("input",)}, "searchsorted": {"self": ("input",)},
               "cross_entropy_loss": {}, "nll_loss_nd": {}}
#: Parameters that do not change a result, or that a form can only have without a value.
_UNTOLD = {"_stacklevel", "requires_grad"}


class _Taker:
    """The parameters of a function of this library."""

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
        """The parameter for an argument of a form; None if there is none."""
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
    """The parameters of a function of this library."""
    return _Taker(function)


def _same(a, b):
    return a is b or type(a) is type(b) and isinstance(a, (bool, int, float, str, tuple)) and a == b


def bind(name: str, function: Callable, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Form, list] | None:
    """(form of the operator `name`, its arguments in the order of the schema) for a call of `function`, a function of
    this library; None if the call is not a form of this operator."""
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
    return form_for(name, args, kwargs)        # arguments in torch's order, for a function that sorts them itself


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
    """The value of an argument that the call does not pass: the default of the function, or else the default in the
    schema. `strict`: whether the schema must have one."""
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


# ------------------------------------------------------------------ running a form
def arguments_of(form: Form, args: Sequence[Any], kwargs: dict[str, Any], numbers: bool = True) -> list:
    """The arguments of a form in its order, from a call that uses the schema's names. Misfit if the call does not fit
    the form. `numbers`: whether numbers are accepted for tensors."""
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
    """(form of an operator, its arguments in order) for a call that fits one of its schemas; None if it fits none."""
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
    return result, None, None, None            # torch returns here what its derivative needs


def _bag_forward(weight, indices, offsets, scale, mode, sparse, weights, last, padding_idx):
    return _bag(weight, indices, offsets, scale, mode, sparse, weights, last, None if padding_idx < 0 else padding_idx)


def _norm_of_batch(x, weight, bias, mean, var, training, momentum, eps):
    """A batch norm and its statistics. The result that torch's derivative needs is empty."""
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
    """A module of this package, which is imported at its first use."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        return getattr(importlib.import_module(self._name, __package__), name)


_F, _T = _Module("..nn.functional"), _Module("..")

#: Operators without a function of this library with the same parameters: {name: function of the arguments in order}.
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
    """The names of ATen's operators that this library cannot run."""
    return frozenset(_text("unsupported.txt").split())


def runs(name: str) -> bool:
    """Whether this library can run the operator."""
    return name in _RUN or name == "to" or _found(name) is not None


def _found(name):
    """The function that runs an operator; for an operator in place (silu_) it may be a function that takes
    inplace=True. None if there is none."""
    function = _function("aten", name)
    if function is None and name[-1:] == "_":
        inner = vars(importlib.import_module("..nn.functional", __package__)).get(name[:-1])
        if inner is not None and "inplace" in taker_of(inner).names:
            return functools.partial(inner, inplace=True)
    return function


@functools.lru_cache(4096)
def _runner(form):
    """The function that runs a form, with the form's arguments in order.

    It leaves out arguments that have the schema's default where the function has no parameter for them, or has the same
    default. It turns numbers back into texts, passes the others by name, or to the function's *args. Leading arguments
    go by position, since some functions take their tensors only by position.
    """
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
                    continue                   # the function has the same default, or an equivalent one
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
        for name in taker.signature.parameters:            # some take their tensors only by position
            if name not in kwargs or taker.signature.parameters[name].kind is inspect.Parameter.KEYWORD_ONLY:
                break
            leading.append(kwargs.pop(name))
        return function(*leading, **kwargs)
    return run


def run(form: Form, values: Sequence[Any]) -> Any:
    """The result of a form for arguments in its order."""
    return _runner(form)(*values)


def called(form: Form, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The result of a form for a call that may name or omit arguments as the schema allows. TypeError for other
    calls."""
    try:
        values = arguments_of(form, args, kwargs)
    except Misfit:
        raise TypeError(f"aten::{form.name}() was called with arguments that do not fit\n"
                        f"    aten::{form.text}") from None
    return run(form, values)
