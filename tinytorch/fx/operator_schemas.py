"""torch.fx.operator_schemas: the arguments of a node's call by name."""
from __future__ import annotations

import inspect
import numbers
import typing
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

from .. import dtypes as dt
from .._ops import OpOverload, OpOverloadPacket
from ..device import device
from ..nn import Module
from ..tensor import Tensor

__all__ = ["ArgsKwargsPair", "check_for_mutable_operation", "create_type_hint", "get_signature_for_torch_op",
           "normalize_function", "normalize_module", "type_matches"]

#: PyTorch's annotations use these types, not list and tuple.
_LIST, _TUPLE, _OPTIONAL = [vars(typing)[_name] for _name in ("List", "Tuple", "Optional")]
#: {torch's name of a type in the declaration of an operator: Python's type}.
_KINDS = {"Tensor": Tensor, "int": int, "float": float, "bool": bool, "str": str, "complex": complex,
          "Scalar": numbers.Number, "number": numbers.Number, "ScalarType": dt.dtype, "Device": device,
          "Layout": Any, "MemoryFormat": Any, "Generator": Any, "Dimname": str, "NoneType": type(None)}


_MUTABLE = ("Tried to trace mutable operation aten::{}. FX only supports functional code, so operations that mutate "
            "operands in-place (e.g. via `out` arguments) are not supported")


class ArgsKwargsPair(NamedTuple):
    """The arguments of a call, by position and by name."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def _type(kind):
    """The Python type of a type in an operator's declaration, such as "int[2]?"."""
    if kind.endswith("?"):
        return _OPTIONAL[_type(kind[:-1])]
    if kind.endswith("]"):
        return _LIST[_type(kind[:kind.rindex("[")])]
    return _KINDS.get(kind, Any)


def _signature(form):
    parameters, optional = [], False
    for argument in form.arguments:
        default = inspect.Parameter.empty if argument.default is ... else argument.default
        kind = inspect.Parameter.KEYWORD_ONLY if argument.by_name else inspect.Parameter.POSITIONAL_OR_KEYWORD
        if argument.name == "self" or argument.name == "from":
            name, kind = {"self": "input", "from": "from_"}[argument.name], inspect.Parameter.POSITIONAL_OR_KEYWORD
        else:
            name = argument.name
        if optional and default is inspect.Parameter.empty and kind is not inspect.Parameter.KEYWORD_ONLY:
            default = None
        optional = optional or default is not inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=_type(argument.kind)))
    returns = None
    if form.results:
        results = [_type(kind) for kind in form.results]
        returns = results[0] if len(results) == 1 else _TUPLE[tuple(results)]
    return inspect.Signature(parameters, return_annotation=returns)


def _forms(op):
    from ..capture import schema
    if isinstance(op, OpOverload):
        return [op._schema] if op._schema is not None else []
    name = op.__name__ if isinstance(op, OpOverloadPacket) else _operator(op)
    return list(schema.forms_of(name)) if name else []


def _operator(op):
    """The name of the ATen operator of a function of torch, or None."""
    from .names import is_own, qualified
    if not callable(op) or isinstance(op, type):
        return None
    spelled = qualified(op)
    room, _, name = spelled.rpartition(".")
    return name if is_own(spelled) and room in (
        "torch", "torch.nn.functional", "torch._C._nn") or room == "_operator" else None


def get_signature_for_torch_op(op: Callable, return_schemas: bool = False) -> Any:
    """The list of signatures of an operator of torch, or None. return_schemas: whether the schemas are returned too, as
    a pair of lists or (None, None).

    >>> import tinytorch as torch
    >>> from tinytorch.fx.operator_schemas import get_signature_for_torch_op
    >>> [[*found.parameters] for found in get_signature_for_torch_op(torch.relu)]
    [['input']]
    """
    forms = _forms(op)
    signatures = [_signature(form) for form in forms] or None
    return (signatures, forms or None) if return_schemas else signatures


def check_for_mutable_operation(target: Callable, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """RuntimeError for a call of an operator that writes to an argument, including `out`."""
    signatures, forms = get_signature_for_torch_op(target, return_schemas=True)
    if kwargs.get("out") is not None and forms:
        raise RuntimeError(_MUTABLE.format(f"{forms[0].name}.out({forms[0].text.partition('(')[2]}"))
    fitting = [form for signature, form in zip(signatures or (), forms or ()) if _binds(signature, args, kwargs)]
    if fitting and all([form.mutates for form in fitting]):
        raise RuntimeError(_MUTABLE.format(fitting[0].text))


def _binds(signature, args, kwargs):
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def create_type_hint(x: Any) -> Any:
    """The annotation for a list or tuple of types: the type of its values. Any other object is returned as it is.

    >>> from tinytorch.fx.operator_schemas import create_type_hint
    >>> create_type_hint([int, int])
    typing.List[int]
    """
    if not isinstance(x, (list, tuple)):
        return x

    def outer(inner):
        return _LIST[inner] if isinstance(x, list) else _TUPLE[inner, ...]
    if not x:
        return outer(Any)
    found = x[0]
    for kind in x[1:]:
        if found is kind:
            continue
        if isinstance(kind, type) and isinstance(found, type) and issubclass(found, kind):
            found = kind
        elif not (isinstance(kind, type) and isinstance(found, type) and issubclass(kind, found)):
            found = Any
    return outer(found)


def type_matches(signature_type: Any, argument_type: Any) -> bool:
    """Whether an argument of type `argument_type` can be passed for a parameter of type `signature_type`."""
    origin, parts = get_origin(signature_type), get_args(signature_type)
    if signature_type is argument_type or signature_type is Any:
        return True
    if origin in (Union, UnionType):
        return any([type_matches(kind, argument_type) for kind in parts])
    if origin is list and argument_type is int and parts == (int,):
        return True                                                # one size stands for all dimensions
    if origin is list:
        inner = get_args(argument_type)
        return get_origin(argument_type) in (list, tuple) and all(
            [kind is ... or type_matches(parts[0], kind) for kind in inner])
    if signature_type is numbers.Number and argument_type in (int, float):
        return True
    return isinstance(argument_type, type) and isinstance(signature_type, type) and issubclass(
        argument_type, signature_type)


def _fits(signature, types_given):
    return all([type_matches(signature.parameters[name].annotation, given) for name, given in types_given.items()])


def _normal(signature, args, kwargs, by_name):
    names = [name for name, x in signature.parameters.items() if x.kind is not x.KEYWORD_ONLY]
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    if any([x.kind in (x.VAR_POSITIONAL, x.VAR_KEYWORD) for x in signature.parameters.values()]):
        return None
    return ArgsKwargsPair((), dict(bound.arguments)) if by_name else ArgsKwargsPair(
        tuple([bound.arguments[name] for name in names][:len(args)]),
        {name: x for i, (name, x) in enumerate(bound.arguments.items()) if i >= len(args)})


def normalize_function(target: Callable, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None,
                       arg_types: tuple[Any, ...] | None = None, kwarg_types: dict[str, Any] | None = None,
                       normalize_to_only_use_kwargs: bool = False) -> ArgsKwargsPair | None:
    """The arguments of a call with all defaults, by name if `normalize_to_only_use_kwargs`. None if the function's
    signature is not known, or if several signatures fit and no types are given. RuntimeError if several signatures fit
    `arg_types` and `kwarg_types` too."""
    kwargs = kwargs or {}
    signatures = get_signature_for_torch_op(target)
    if signatures is None:
        try:
            return _normal(inspect.signature(inspect.unwrap(target)), args, kwargs, normalize_to_only_use_kwargs)
        except (TypeError, ValueError):
            return None
    fitting = [x for x in signatures if _binds(x, args, kwargs)]
    if len(fitting) > 1:
        if arg_types is not None or kwarg_types is not None:
            fitting = _by_types(fitting, arg_types or (), kwarg_types or {}, target)
        elif len({tuple(x.parameters) for x in fitting}) > 1:
            return None
    return _normal(fitting[0], args, kwargs, normalize_to_only_use_kwargs) if fitting else None


def _by_types(signatures, arg_types, kwarg_types, target):
    """The signature that fits the types, in a list; empty if there is none. RuntimeError for several."""
    typed = [x for x in signatures if _binds(x, arg_types, kwarg_types)
             and _fits(x, x.bind(*arg_types, **kwarg_types).arguments)]
    if len(typed) > 1:
        raise RuntimeError(f"Tried to normalize arguments to {target} but the schema match was ambiguous! Please "
                           "provide argument types to the normalize_arguments() call. Available schemas:\n"
                           + "\n".join(map(str, typed)))
    return typed


def normalize_module(root: Module, target: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None,
                     normalize_to_only_use_kwargs: bool = False) -> ArgsKwargsPair | None:
    """The arguments of a call of a module of torch.nn with all defaults; None for other modules."""
    from .. import nn
    try:
        module = root.get_submodule(target)
    except AttributeError:
        raise RuntimeError(f"Tried to normalize arguments to module {target} but root did not have module") from None
    if getattr(nn, type(module).__name__, None) is not type(module):
        return None
    return _normal(inspect.signature(module.forward), args, kwargs or {}, normalize_to_only_use_kwargs)
