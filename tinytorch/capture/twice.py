"""Records a call, and records it again with other inputs. Whatever differs then was baked into the graph.

One recording does not show control flow that depends on values, Python counters, tensors that became numbers, and
constants from computations that were not recorded. In two recordings, with different inputs of the same shapes, they
are nodes that differ.
"""
from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import dtypes as dt
from ..autograd.grad_mode import no_grad
from ..errors import warn
from ..fx.graph import Graph
from ..fx.node import Node
from ..random import fork_rng
from ..tensor import Size, Tensor, wrap
from .recorder import Recorder

if TYPE_CHECKING:
    from ..nn import Module

__all__ = ["BakedIn", "Recording", "TracerWarning", "changed", "difference", "larger", "leaves", "mapped", "names_of",
           "parameters_of", "record", "record_twice", "undone", "words"]

#: torch's words for the kinds of values that a tensor may become.
_READ = {"bool": "a Python boolean", "int": "a Python integer", "float": "a Python float", "index": "a Python index",
         "number": "a Python number", "list": "a Python list", "numpy": "a NumPy array"}


class TracerWarning(Warning):
    """Tracing turns a value that may depend on the inputs into a constant of the program."""

    @staticmethod
    def ignore_lib_warnings():
        """Changes nothing: there are no such warnings for this library's code."""


TracerWarning.__module__ = "torch.jit"


class BakedIn(RuntimeError):
    """A value that depends on the inputs, or on the number of calls, would be a constant of the graph."""


class Recording(NamedTuple):
    """A recorded call.

    graph      its placeholders are the tensors among the arguments, in order, and its output is the result
    constants  {path of a get_attr node: tensor} for tensors that are neither arguments nor in `attributes`
    inputs     the arguments: (args, kwargs) with nodes in place of tensors
    parameters the names of the parameters for the positional arguments, in order
    result     the result of the call
    reads      the kind of each value that a tensor became, as `reads` of the recorder gets it
    """

    graph: Graph
    constants: dict[str, Tensor]
    inputs: tuple
    parameters: list[str]
    result: Any
    reads: list

    @property
    def values_read(self) -> list[str]:
        """The kinds of values that tensors became, without repetition. Constants that were made of values do not count:
        they are compared."""
        return [kind for kind in dict.fromkeys(self.reads) if not kind.startswith("constant")]


def words(kind: str) -> str:
    """The warning of torch's tracer for a tensor that becomes a value of this kind."""
    if kind.startswith("constant"):
        return (f"torch.{kind.split()[1]} results are registered as constants in the trace. You can safely ignore this "
                "warning if you use this function to create tensors out of constant variables that would be the same "
                "every time you call this function. In any other case, this might cause the trace to be incorrect.")
    if kind == "len":
        return ("Using len to get tensor shape might cause the trace to be incorrect. Recommended usage would be "
                "tensor.shape[0]. Passing a tensor of different shape might lead to errors or silently give incorrect "
                "results.")
    if kind == "iter":
        return ("Iterating over a tensor might cause the trace to be incorrect. Passing a tensor of different shape "
                "won't change the number of iterations executed (and might lead to errors or silently give incorrect "
                "results).")
    return (f"Converting a tensor to {_READ[kind]} might cause the trace to be incorrect. We can't record the data "
            "flow of Python values, so this value will be treated as a constant in the future. This means that the "
            "trace might not generalize to other inputs!")


# ------------------------------------------------------------------ arguments
def leaves(x: Any) -> Iterator[Tensor]:
    """The tensors in nested tuples, lists and dicts, in order."""
    if isinstance(x, Tensor):
        yield x
    elif isinstance(x, (list, tuple)):
        for y in x:
            yield from leaves(y)
    elif isinstance(x, dict):
        for y in x.values():
            yield from leaves(y)


def mapped(x: Any, function: Callable[[Tensor], Any]) -> Any:
    """Nested tuples, lists and dicts with function(tensor) in place of every tensor."""
    if isinstance(x, Tensor):
        return function(x)
    if isinstance(x, (list, tuple)) and not isinstance(x, Size):
        made = [mapped(y, function) for y in x]
        return type(x)(*made) if hasattr(x, "_fields") else type(x)(made)
    if isinstance(x, dict):
        return type(x)((key, mapped(y, function)) for key, y in x.items())
    return x


def _own(tensor):
    """A copy of a tensor as a leaf: the recorded call may write to its arguments."""
    with no_grad():
        return tensor.detach().clone().requires_grad_(tensor.requires_grad)


def _other(array):
    """The numbers of an array in another order, floating-point numbers also with other signs. Indices stay within their
    range."""
    flat = np.ascontiguousarray(array).reshape(-1)[::-1]
    if array.dtype.kind in "fc":
        flat = flat * array.dtype.type(-0.75) + array.dtype.type(0.01)
    elif array.dtype.kind == "b":
        flat = ~flat
    return flat.reshape(array.shape).astype(array.dtype)


def changed(inputs: Any) -> Any:
    """Inputs of the same shapes with other numbers."""
    return mapped(inputs, lambda x: _like(x, _other(x._array)) if type(x._array) is np.ndarray else _own(x))


def larger(inputs: Any) -> Any:
    """The inputs with first dimensions longer by one, for tensors whose first dimension has the size of the first
    tensor's; None if there are none."""
    found = [x for x in leaves(inputs) if x._array.ndim]
    if not found or any([type(x._array) is not np.ndarray for x in found]):
        return None
    size = found[0]._array.shape[0]

    def grown(x):
        array = x._array
        if not array.ndim or array.shape[0] != size or not size:
            return _own(x)
        return _like(x, np.concatenate([array, array[-1:]]))
    return mapped(inputs, grown)


def _like(x, array):
    return wrap(np.array(array)).requires_grad_(x.requires_grad)


# ------------------------------------------------------------------ recording
def record(function: Callable, args: tuple = (), kwargs: dict[str, Any] | None = None, *,
           attributes: dict[int, str] | None = None, sizes: bool = False,
           reads: Callable[[str], None] = lambda kind: None, suffix: str = "",
           kind: type[Recorder] = Recorder) -> Recording:
    """Records function(*args, **kwargs): see Recording. The arguments are not written to.

    attributes  {id of a tensor: path} for tensors that the graph reads as attributes
    sizes       whether sizes of tensors are nodes
    reads       reads(kind) is called where a tensor becomes a value; an error that it raises ends the recording
    suffix      the end of the names of placeholders
    kind        the class of the recorder
    """
    found = []

    def noted(what, tensor):
        found.append(what)
        reads(what)
    recorder = kind(attributes, sizes, noted)
    parameters = parameters_of(function, args)
    names = iter(names_of(parameters, args, kwargs or {}))

    def enter(tensor):
        made = _own(tensor)
        recorder.name(made, recorder.graph.placeholder(next(names) + suffix))
        return made
    own = mapped((tuple(args), kwargs or {}), enter)
    inputs = mapped(own, recorder.node_of)
    with recorder:
        result = function(*own[0], **own[1])
        outputs = recorder.value(result)
    recorder.graph.output(outputs)
    return Recording(recorder.graph, recorder.constants, inputs, parameters, result, found)


def parameters_of(function: Callable, args: tuple) -> list[str]:
    """The name of the parameter for each positional argument."""
    from ..nn import Module
    target = function.forward if isinstance(function, Module) else function
    try:
        found = list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        found = []
    rest = inspect.Parameter.VAR_POSITIONAL
    first = next((i for i, p in enumerate(found) if p.kind is rest), len(found))
    return [found[i].name if i < first else f"argument_{i}" for i in range(len(args))]


def names_of(parameters: list[str], args: tuple, kwargs: dict[str, Any]) -> list[str]:
    """A name for each tensor among the arguments."""
    names = []
    for name, x in [*zip(parameters, args), *kwargs.items()]:
        names += [name] if isinstance(x, Tensor) else [f"{name}_{k}" for k in range(len(list(leaves(x))))]
    return names


def record_twice(function: Callable, args: tuple = (), kwargs: dict[str, Any] | None = None, *, others: tuple = None,
                 strict: bool = True, **options: Any) -> Recording:
    """Records a call twice, the second time with the inputs `others`, (args, kwargs), or with other numbers. BakedIn if
    the graphs differ, or if a tensor became a Python value; strict=False only warns of the latter.

    >>> import tinytorch as torch
    >>> from tinytorch.capture.twice import record_twice
    >>> print(record_twice(lambda x: x * 2, (torch.ones(2),)).graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%x, 2), kwargs = {})
        return mul
    >>> record_twice(lambda x: x * 2 if x.sum() > 0 else x, (torch.ones(2),))
    Traceback (most recent call last):
    tinytorch.capture.twice.BakedIn: Converting a tensor to a Python boolean might cause the trace to be incorrect. \
We can't record the data flow of Python values, so this value will be treated as a constant in the future. This means \
that the trace might not generalize to other inputs!
    """
    first = record(function, args, kwargs, **options)
    described = [words(kind) for kind in first.values_read]
    if not described:
        with fork_rng():
            second = record(function, *(others or changed((tuple(args), kwargs or {}))), **options)
        found = difference(first, second)
        described = [] if found is None else [f"the recording with other inputs differs:{found}"]
    if described and strict:
        raise BakedIn(described[0])
    for text in described:
        warn(text, TracerWarning)
    return first


@contextlib.contextmanager
def undone(module: Module) -> Iterator[None]:
    """A context that restores the random stream, and the parameters and buffers of a module, at its end."""
    held = [(x, x.detach().clone()) for x in [*module.parameters(), *module.buffers()]]
    with fork_rng():
        try:
            yield
        finally:
            with no_grad():
                for x, before in held:
                    if x.dtype.is_complex or not bool((x.detach() == before).all()):
                        x.detach().copy_(before)


# ------------------------------------------------------------------ comparison
def _same(a, b, places, constants):
    if isinstance(a, Node):
        return isinstance(b, Node) and places.get(a) is b
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(
            [_same(x, y, places, constants) for x, y in zip(a, b)])
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(
            [_same(a[key], b[key], places, constants) for key in a])
    return a is b or type(a) is type(b) and (a == b or a != a and b != b)


def difference(first: Recording, second: Recording) -> str | None:
    """The first node in which two recordings differ, as text; None if they are the same."""
    places = {}
    nodes = [list(r.graph.nodes) for r in (first, second)]
    for a, b in zip(*nodes):
        if a.op == "get_attr" and b.op == "get_attr" and a.target in first.constants and b.target in second.constants:
            x, y = first.constants[a.target]._array, second.constants[b.target]._array
            if x is not y and not (x.shape == y.shape and x.dtype == y.dtype and bool(np.array_equal(
                    x, y, equal_nan=dt.of(x).is_floating_point))):
                return f" the tensor {a.target} comes from a computation that was not recorded, and differs"
        elif (a.op, a.target) != (b.op, b.target) or not _same((a.args, dict(a.kwargs)), (b.args, dict(b.kwargs)),
                                                              places, None):
            return f"\n    {a.format_node()}\n    {b.format_node()}"
        places[a] = b
    if len(nodes[0]) != len(nodes[1]):
        return f" it has {len(nodes[0])} nodes, and {len(nodes[1])}"
    return None
