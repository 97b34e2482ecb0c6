"""`export_c`: a model as one file of C99 with its weights, for machines without Python.

The call of the model is recorded as a graph of ATen's operators (capture). Each operator becomes a loop or a call of a
function (functions.c). A view needs no code: it is the same memory with other strides (values.py). Memory is one static
array for each type of C; tensors that are in use at the same time lie at different places in it.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from .. import dtypes as dt
from ..checkpoint.whole_file import replacing
from ..autograd.grad_mode import no_grad
from ..capture.twice import record_twice
from ..fx.node import Node
from ..nn import Module
from ..tensor import Tensor
from . import layers as _layers  # registers its writers
from .operators import WRITERS, Refused, Wanted, result_kind
from .program import Program, by
from .values import Storage, Value

__all__ = ["export_c"]


def export_c(model: Module | Callable, inputs: Any, path: str | os.PathLike | None = None, *,
             name: str = "model") -> str:
    """Writes a model as one file of C99, and returns its text.

    model   a Module (in eval mode while it is exported) or a function of tensors
    inputs  a tensor, or a tuple of tensors: the function takes tensors of these shapes
    path    where to write the file; None writes no file. The file is written as a whole or not at all
    name    of the function in C

    The function is `void model(const float *input, float *output)`, with a parameter for each input and each output:
    `float` for floating-point numbers (always in single precision), `int64_t` for integers, `unsigned char` for
    conditions. It needs only C's mathematical library (-lm) and no heap. Its memory is static, so two threads must not
    run it at the same time.

    The results differ from those of the model by at most 1e-6, relative to the largest.

    NotImplementedError for an operator that has no counterpart in C, and for a model that drops elements at random or
    computes statistics of a batch; RuntimeError if the model's path depends on values.

    >>> import tinytorch as torch
    >>> model = torch.nn.Linear(2, 1, bias=False)
    >>> _ = torch.nn.init.ones_(model.weight)
    >>> text = torch.export_c(model, torch.zeros(1, 2))
    >>> print(text[text.rindex("void model"):].rstrip())
    void model(const float *input, float *output)
    {
        (void)input;
        linear(1, 2, 1, input, weight, NULL, output);
    }
    """
    inputs = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
    if not all([isinstance(x, Tensor) for x in inputs]):
        raise TypeError("export_c: inputs must be a tensor or a tuple of tensors, got "
                        + ", ".join([type(x).__name__ for x in inputs]))
    with _evaluating(model), no_grad():
        found = record_twice(model, inputs, attributes=_attributes(model))
    program = Program(name)
    _write(program, found, model, inputs)
    text = program.text(_head(program, model))
    if path is not None:
        with replacing(os.fspath(path)) as file:
            file.write(text.encode())
    return text


class _evaluating:
    """Sets the modules to eval mode inside the block, and restores their modes afterwards."""

    def __init__(self, model: Any) -> None:
        self.modules = list(model.modules()) if isinstance(model, Module) else []

    def __enter__(self) -> None:
        self.before = [m.training for m in self.modules]
        for m in self.modules:
            m.training = False

    def __exit__(self, *error: Any) -> None:
        for m, training in zip(self.modules, self.before):
            m.training = training


def _attributes(model):
    if not isinstance(model, Module):
        return {}
    return {id(x): path for path, x in [*model.named_parameters(), *model.named_buffers()]}


# ------------------------------------------------------------------ the graph, node by node
def _write(program, found, model, inputs):
    values, given = {}, iter(inputs)
    tensors = dict(found.constants)
    if isinstance(model, Module):
        tensors.update([*model.named_parameters(), *model.named_buffers()])
    for node in found.graph.nodes:
        if node.op == "placeholder":
            x = next(given)
            values[node] = program.input(node.target, x.shape, x._array.dtype)
        elif node.op == "get_attr":
            values[node] = program.constant(tensors[node.target], node.target)
        elif node.op == "call_function":
            values[node] = _call(program, node, values)
        else:
            _finish(program, [values[x] for x in _nodes(node.args[0])])


def _call(program, node, values):
    args, kwargs = _filled(node.args, values), _filled(dict(node.kwargs), values)
    if getattr(node.target, "__name__", "") == "getitem" and not hasattr(node.target, "overloadpacket"):
        return args[0][args[1]]
    packet = getattr(node.target, "overloadpacket", None)
    if packet is None:
        raise Refused(f"export_c: {node.target} has no counterpart in C")
    name = packet.__name__
    in_place = name.endswith("_") and not name.endswith("__")
    write = WRITERS.get(name.rstrip("_") if in_place else name)
    if write is None:
        raise Refused(f"export_c: the operator aten::{name} has no counterpart in C ({node.format_node()})")
    shape, dtype = node.meta.get("val", ((), dt.float32))
    wanted = Wanted(name if not in_place else name.rstrip("_"), tuple(shape), result_kind(dtype))
    try:
        result = write(program, wanted, *args, **kwargs)
    except Refused as error:
        raise Refused(f"export_c: {error} ({node.format_node()})") from None
    except TypeError as error:
        raise Refused(f"export_c: these arguments of aten::{name} have no counterpart in C "
                      f"({node.format_node()}): {error}") from error
    if not in_place:
        return result
    if args[0].storage.place != "memory":
        raise Refused(f"export_c: the model writes to {args[0].storage.name}, which is its {args[0].storage.place}")
    return program.loop(args[0], "{0}", result)


def _filled(x, values):
    """Arguments with values in place of nodes."""
    if isinstance(x, Node):
        return values[x]
    if isinstance(x, (list, tuple)):
        return type(x)([_filled(y, values) for y in x])
    if isinstance(x, dict):
        return {key: _filled(y, values) for key, y in x.items()}
    return x


def _nodes(x) -> Iterator:
    """The nodes in what a graph returns, in order."""
    if isinstance(x, Node):
        yield x
    elif isinstance(x, (list, tuple)):
        for y in x:
            yield from _nodes(y)
    elif isinstance(x, dict):
        for y in x.values():
            yield from _nodes(y)
    elif x is not None:
        raise Refused(f"export_c: the model returns {x!r}, which is not a tensor")


def _finish(program, results):
    """Moves the results to the memory that the caller passes. A result that fills its memory is computed there, unless
    an earlier result has the same memory; other results are copied."""
    for i, value in enumerate(results):
        storage, label = value.storage, "output" if len(results) == 1 else f"output{i}"
        whole = value.is_dense() and value.offset == 0 and value.size == storage.size
        if storage.place == "memory" and whole:
            program.rename(storage, label)
            storage.place = "output"
            program.output(storage, value.shape)
            continue
        out = Storage(program.unique(label), value.kind, value.size, "output")
        program.output(out, value.shape)
        program.loop(Value(out, value.shape), "{0}", value)


def _head(program, model):
    title = type(model).__name__ if isinstance(model, Module) else getattr(model, "__name__", "A function")
    lines = [f"{title}, exported by tinytorch.export_c.", "", f"    {program.signature()};", ""]
    lines += [f"{v.storage.name}: {by(v.shape)}" for v in program.inputs]
    lines += [f"{s.name}: {by(shape)}" for s, shape in program.results()]
    return "\n".join(lines)
