"""torch.jit.trace: a call is recorded (capture/), and written as a program that runs here and in PyTorch."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..capture.twice import TracerWarning, changed, difference, larger, leaves, mapped, record, undone, words
from ..errors import warn
from ..nn import Module
from ..tensor import Tensor
from . import archive  # noqa: F401  (registers the writer of archives in modules.py)
from .language import Script
from .modules import RecursiveScriptModule, ScriptFunction, TopLevelTracedModule, TracedModule
from .writer import ModuleWriter

__all__ = ["TracingCheckError", "trace", "trace_module"]


class TracingCheckError(Exception):
    """The recorded program differs from the function; the message shows where."""

    def __init__(self, graph_diff_error, tensor_compare_error, extra_msg=None):
        self.message = "Tracing failed sanity checks!\n"
        if extra_msg is not None:
            self.message += extra_msg + "\n"
        if graph_diff_error is not None:
            self.message += "ERROR: Graphs differed across invocations!\n" + _indented(graph_diff_error)
        if tensor_compare_error is not None:
            self.message += ("ERROR: Tensor-valued Constant nodes differed in value across invocations. This often "
                             "indicates that the tracer has encountered untraceable code.\n"
                             + _indented(tensor_compare_error))
        super().__init__(self.message)


def _indented(text):
    return "".join([f"\t{line}\n" for line in text.strip("\n").split("\n")])


def trace(func: Callable, example_inputs: Any = None, optimize: Any = None, check_trace: bool = True,
          check_inputs: list | None = None, check_tolerance: float = 1e-5, strict: bool = True,
          _force_outplace: bool = False, _module_class: Any = None, _compilation_unit: Any = None,
          example_kwarg_inputs: dict[str, Any] | None = None, _store_inputs: bool = True) -> Any:
    """Calls a function or module with example inputs, a tensor or a tuple of tensors, and returns the program of ATen's
    operators that ran: a ScriptFunction, or a module with the parameters of the module.

    Sizes of tensors stay sizes; other values that depend on the inputs become constants of the program. A TracerWarning
    says where a tensor becomes a Python value. With `check_trace` the call is recorded again with other numbers, and
    with one more row. TracingCheckError if the program differs for other numbers although no value was read;
    TracerWarning if the program differs for another size, or if its results differ from those of the function.

    strict                whether a dict or list as the result is refused
    example_kwarg_inputs  example inputs by name
    check_inputs          more inputs for the comparison of the program with the function

    NotImplementedError for computations that no recording sees (derivatives, vmap, NumPy's functions on recorded
    tensors).

    >>> import tinytorch as torch
    >>> traced = torch.jit.trace(lambda x: x.view(x.size(0), -1).sum(1), torch.ones(2, 3, 4))
    >>> traced(torch.ones(1, 2, 2))
    tensor([4.])
    """
    if optimize is not None:
        warn("`optimize` is deprecated and has no effect. Use `with torch.jit.optimized_execution()` instead",
             FutureWarning)
    if isinstance(func, (RecursiveScriptModule, ScriptFunction)):
        warn("The input to trace is already a ScriptModule, tracing it is a no-op. Returning the object as is.")
        return func
    options = dict(check_trace=check_trace, check_tolerance=check_tolerance, strict=strict)
    if example_inputs is None and example_kwarg_inputs is None:
        raise RuntimeError("example_kwarg_inputs should be a dict")
    if example_kwarg_inputs is not None and not isinstance(example_kwarg_inputs, dict):
        raise RuntimeError("example_kwarg_inputs should be a dict")
    inputs = _tuple(example_inputs), example_kwarg_inputs or {}
    checks = [(_tuple(x), {}) if not isinstance(x, dict) else ((), x) for x in check_inputs or ()]
    if isinstance(func, Module):
        return _traced(func, {"forward": inputs}, {"forward": checks}, **options)
    owner = getattr(func, "__self__", None)
    if isinstance(owner, Module) and func.__name__ == "forward":
        return _traced(owner, {"forward": inputs}, {"forward": checks}, **options).forward
    holder = Module()
    module = _traced(holder, {"forward": inputs}, {"forward": checks}, functions={"forward": func}, **options)
    return ScriptFunction(module, getattr(func, "__name__", "forward"), func)


def trace_module(mod: Module, inputs: dict[str, Any], optimize: Any = None, check_trace: bool = True,
                 check_inputs: list[dict] | None = None, check_tolerance: float = 1e-5, strict: bool = True,
                 _force_outplace: bool = False, _module_class: Any = None, _compilation_unit: Any = None,
                 example_inputs_is_kwarg: bool = False, _store_inputs: bool = True) -> Any:
    """Traces several methods of a module (see `trace`): `inputs` is {name of the method: its example inputs}.

    >>> import tinytorch as torch
    >>> class Net(torch.nn.Module):
    ...     def forward(self, x): return x + 1
    ...     def half(self, x): return x / 2
    >>> torch.jit.trace_module(Net(), {"forward": torch.ones(1), "half": torch.ones(1)}).half(torch.ones(1))
    tensor([0.5000])
    """
    if not isinstance(mod, Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    calls = {name: ((), x) if example_inputs_is_kwarg else (_tuple(x), {}) for name, x in inputs.items()}
    checks = {name: [(_tuple(each[name]), {}) for each in check_inputs or () if name in each] for name in inputs}
    return _traced(mod, calls, checks, check_trace=check_trace, check_tolerance=check_tolerance, strict=strict)


def _tuple(x):
    if isinstance(x, (Tensor, dict)):
        return (x,)
    return () if x is None else tuple(x)


# ------------------------------------------------------------------ to record
def _traced(module, inputs, checks, *, check_trace, check_tolerance, strict, functions=None):
    attributes = {}
    for named in (module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False)):
        for name, tensor in named:
            attributes.setdefault(id(tensor), name)
    found = {}
    for name, given in inputs.items():
        function = (functions or {}).get(name)
        if function is None:
            function = module if name == "forward" else getattr(module, name)
        _check_inputs(given)
        found[name] = _recorded(function, given, attributes, lambda kind: warn(words(kind), TracerWarning))
        _check_result(found[name].result, strict)
    made = _program(module, found)
    if check_trace:
        for name, given in inputs.items():
            function = (functions or {}).get(name) or (module if name == "forward" else getattr(module, name))
            _compare(function, module, made, name, given, checks[name], found[name], attributes, check_tolerance)
    return made


def _recorded(function, inputs, attributes, reads=lambda kind: None):
    recording = record(function, *inputs, attributes=attributes, sizes=True, reads=reads)
    recording.graph.eliminate_dead_code()
    return recording


def _check_inputs(inputs):
    def sound(x):
        if isinstance(x, (list, tuple, dict)):
            return all([sound(y) for y in (x.values() if isinstance(x, dict) else x)])
        return isinstance(x, Tensor)
    given = (*inputs[0], *inputs[1].values())
    if not sound(given):
        raise RuntimeError(f"Type '{_typed(given)}' cannot be traced. Only Tensors and (possibly nested) Lists, Dicts, "
                           "and Tuples of Tensors can be traced")


def _typed(x):
    if isinstance(x, Tensor):
        return "Tensor"
    if isinstance(x, tuple):
        return f"Tuple[{', '.join(map(_typed, x))}]"
    if isinstance(x, (list, dict)) and x:
        inner = _typed(next(iter(x.values() if isinstance(x, dict) else x)))
        return f"List[{inner}]" if isinstance(x, list) else f"Dict[str, {inner}]"
    return "NoneType" if x is None else type(x).__name__


def _check_result(x, strict):
    if isinstance(x, Tensor) or isinstance(x, int) and type(x) is not int and not isinstance(x, bool):
        return
    if isinstance(x, (list, dict)) and strict:
        kind = type(x).__name__
        raise RuntimeError(f"Encountering a {kind} at the output of the tracer might cause the trace to be incorrect, "
                           "this is only valid if the container structure does not change based on the module's "
                           "inputs. Consider using a constant container instead (e.g. for `list`, use a `tuple` "
                           "instead. for `dict`, use a `NamedTuple` instead). If you absolutely need this and know the "
                           "side effects, pass strict=False to trace() to allow this behavior.")
    if isinstance(x, (list, tuple, dict)) and x:
        for y in x.values() if isinstance(x, dict) else x:
            _check_result(y, strict)
        return
    raise RuntimeError("Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced "
                       "functions")


# ------------------------------------------------------------------ the program
def _program(module, recordings):
    """A module that runs the recordings on the parameters and buffers of a module."""
    writer = ModuleWriter()
    writer.write(module, recordings)
    script = Script(writer.files, writer.constants)
    made = {}

    def build(source, kind):
        if id(source) in made:
            return made[id(source)]
        script_class = script.classes[writer.names[id(source)]]
        built = made[id(source)] = kind(script_class, script.machine)
        for key, x in source._parameters.items():
            (built._values if x is None else built._parameters)[key] = x
        for key, x in source._buffers.items():
            (built._values if x is None else built._buffers)[key] = x
        for key, child in source._modules.items():
            if child is not None:
                built._modules[key] = build(child, TracedModule)
        built.training = source.training
        return built
    top = build(module, TopLevelTracedModule)
    top._graphs.update({name: recording.graph for name, recording in recordings.items()})
    return top


# ------------------------------------------------------------------ to compare
def _compare(function, module, made, name, given, checks, first, attributes, tolerance):
    """Raises or warns where the program differs from the function."""
    warned = first.values_read
    others = changed(given)
    with undone(module):
        try:
            second = _recorded(function, others, attributes)
        except (RuntimeError, ValueError, IndexError, AssertionError, TypeError):
            others = given                     # the function does not take other numbers
            second = _recorded(function, others, attributes)
    found = difference(first, second)
    if found is not None and not warned:
        if found[0] == "\n":
            raise TracingCheckError(f"Graph diff:{found}", None)
        raise TracingCheckError(None, found)
    grown = larger(given) if not warned else None
    if grown is not None:
        with undone(module):
            try:
                third = _recorded(function, grown, attributes)
            except Exception:
                third = None                   # the function does not take inputs of this size
        found = None if third is None else difference(first, third)
        if found is not None:
            warn(f"The traced graph depends on the size of the inputs, and is right only for the size of the example. "
                 f"With one more row it differs:{found}", TracerWarning)
            return
    if warned:
        return
    for inputs in [others, *checks]:
        with undone(module):
            expected = list(leaves(function(*_copied(inputs[0]), **_copied(inputs[1]))))
        with undone(module):
            results = list(leaves(made._run(name, _copied(inputs[0]), _copied(inputs[1]))))
        for i, (a, b) in enumerate(zip(results, expected)):
            _compare_results(i, a.detach(), b.detach(), tolerance)


def _compare_results(i, a, b, tolerance):
    from ..testing import assert_close
    try:
        assert_close(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
    except AssertionError as error:
        warn(f"Output nr {i + 1}. of the traced function does not match the corresponding output of the Python "
             f"function. Detailed error:\n{error}", TracerWarning)


def _copied(x):
    return mapped(x, lambda t: t.detach().clone().requires_grad_(t.requires_grad))
