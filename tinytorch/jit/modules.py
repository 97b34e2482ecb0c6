"""Modules and functions that run a TorchScript program: the results of `torch.jit.trace`, `script` and `load`."""
from __future__ import annotations

import io
import pickle
import re
from collections.abc import Callable

from ..nn import Module
from ..seam import UNSEEN, seam
from ..tensor import Tensor
from .objects import Object

__all__ = ["RecursiveScriptModule", "ScriptFunction", "ScriptModule", "TopLevelTracedModule", "TracedModule"]


#: The functions that write and read archives, which archive.py registers.
KEEPERS: dict[str, Callable] = {}


class ScriptModule(Module):
    """A module that a program describes. A class that derives from it is a usual module."""


class RecursiveScriptModule(ScriptModule, Object):
    """A module of a TorchScript program. Its methods run the program; its parameters and buffers are those of a usual
    module. `code` is the text of `forward`, and `graph` the recorded graph of a module that was traced here.

    >>> import tinytorch as torch
    >>> traced = torch.jit.trace(torch.nn.Linear(2, 1), torch.ones(1, 2))
    >>> list(traced.state_dict())
    ['weight', 'bias']
    >>> print(traced.code)
    def forward(self,
        input: Tensor) -> Tensor:
      weight = self.weight
      bias = self.bias
      linear = torch.linear(input, weight, bias)
      return linear
    <BLANKLINE>
    """

    def __init__(self, script_class, machine):
        super().__init__()
        own = self.__dict__
        own["script_class"], own["_machine"], own["_values"], own["_graphs"] = script_class, machine, {}, {}
        for name in script_class.methods:
            if name != "forward" and name[0] != "_" and hasattr(RecursiveScriptModule, name):
                own[name] = ScriptMethod(self, name)       # a method of the program hides a method of Module

    # ------------------------------------------------------------- attributes of the program
    def find(self, name):
        """(whether there is an attribute of the program, its value)."""
        for table in (self._parameters, self._buffers, self._modules, self._values):
            if name in table:
                return True, table[name]
        if name == "training":
            return True, self.training
        return False, None

    def put(self, name, value):
        """Sets an attribute of the program."""
        for table in (self._parameters, self._buffers):
            if name in table:
                table[name] = value
                return
        if name == "training":
            self.training = bool(value)
        else:
            self._values[name] = value

    def __getattr__(self, name):
        own = self.__dict__
        if name in own.get("_values", ()):
            return own["_values"][name]
        script_class = own.get("script_class")
        if script_class is not None:
            if name in script_class.constants:
                return script_class.constants[name]
            if name in script_class.methods:
                return ScriptMethod(self, name)
        return super().__getattr__(name)

    def __setattr__(self, name, value):
        if name in self.__dict__.get("_values", ()):
            self._values[name] = value
        else:
            super().__setattr__(name, value)

    # ------------------------------------------------------------- calls
    def forward(self, *args, **kwargs):
        """The program's `forward`."""
        return self._run("forward", args, kwargs)

    def _run(self, name, args, kwargs):
        method = self.script_class.methods.get(name)
        if method is None:
            raise AttributeError(f"'{self.original_name}' object has no attribute '{name}'")
        if seam.up and (seen := _written_down(self, name, args, kwargs)) is not UNSEEN:
            return seen
        _check(method, 1, args, kwargs)
        return self._machine.call(method, (self, *[_own(x) for x in args]), {k: _own(x) for k, x in kwargs.items()})

    # ------------------------------------------------------------- containers
    def __len__(self):
        return len(self._contained())

    def __iter__(self):
        contained = self._contained()
        return iter(contained if self.original_name == "ModuleDict" else contained.values())

    def __getitem__(self, index):
        contained = self._contained()
        return contained[index] if self.original_name == "ModuleDict" else list(contained.values())[index]

    def __contains__(self, name):
        return name in self._contained()

    def __bool__(self):
        return True

    def _contained(self):
        if self.original_name not in ("Sequential", "ModuleList", "ModuleDict"):
            raise TypeError(f"object of type '{self._get_name()}' has no len(): {self.original_name} holds no modules "
                            "by number")
        return self._modules

    # ------------------------------------------------------------- names, graphs and code
    @property
    def original_name(self):
        """The name of the class."""
        return self.script_class.name.rpartition(".")[2]

    @property
    def graph(self):
        """The graph of `forward`. NotImplementedError for a module that was read from a file."""
        return self._graph_of("forward")

    @property
    def inlined_graph(self):
        """The graph of `forward`: see `graph`."""
        return self._graph_of("forward")

    def _graph_of(self, name):
        if name not in self._graphs:
            raise NotImplementedError("a module that was read from an archive has code and no graph: see `code`")
        return self._graphs[name]

    @property
    def code(self):
        """The text of `forward`."""
        return self._code_of("forward")

    def _code_of(self, name):
        method = self.script_class.methods.get(name)
        if method is None:
            raise RuntimeError(f"Method '{name}' is not defined.")
        return source_of(method)

    @property
    def code_with_constants(self):
        """(the text of `forward`, the constants that it names)."""
        return self.code, {f"c{i}": value for i, value in enumerate(self._machine.constants)}

    def get_debug_state(self, *args, **kwargs):
        """NotImplementedError: nothing is compiled."""
        raise NotImplementedError("get_debug_state is not supported: nothing is compiled here")

    def _get_name(self):
        return "RecursiveScriptModule"

    def extra_repr(self):
        return f"original_name={self.original_name}"

    # ------------------------------------------------------------- files
    def save(self, f, _extra_files=None):
        """Writes the module to a path or a file, as `torch.jit.save` does."""
        KEEPERS["write"](self, f, _extra_files)

    def save_to_buffer(self, _extra_files=None):
        """The bytes that `save` writes."""
        buffer = io.BytesIO()
        self.save(buffer, _extra_files)
        return buffer.getvalue()

    def __reduce_ex__(self, protocol):
        raise pickle.PickleError("ScriptModules cannot be deepcopied using copy.deepcopy or saved using torch.save. "
                                 "Mixed serialization of script and non-script modules is not supported. For purely "
                                 "script modules use my_script_module.save(<filename>) instead.")

    def __copy__(self):
        return self.__deepcopy__({})

    def __deepcopy__(self, memo):
        made = KEEPERS["read"](io.BytesIO(self.save_to_buffer()))
        for name, parameter in self.named_parameters():
            made.get_parameter(name).requires_grad_(parameter.requires_grad)
        for name, module in self.named_modules():
            made.get_submodule(name).training = module.training
        made._graphs.update(self._graphs)
        return made


class TracedModule(RecursiveScriptModule):
    """A traced module."""


class TopLevelTracedModule(TracedModule):
    """The result of `torch.jit.trace` for a module: see RecursiveScriptModule."""

    def _get_name(self):
        return "TopLevelTracedModule"


class ScriptMethod:
    """A method of a module's program, which can be called."""

    def __init__(self, module, name):
        self._module, self.name = module, name

    def __call__(self, *args, **kwargs):
        return self._module._run(self.name, args, kwargs)

    @property
    def graph(self):
        """The graph that was recorded."""
        return self._module._graph_of(self.name)

    @property
    def code(self):
        """The text of the method."""
        return self._module._code_of(self.name)

    @property
    def owner(self):
        """The module."""
        return self._module


class ScriptFunction:
    """The result of `torch.jit.trace` for a function: it runs the recorded graph.

    >>> import tinytorch as torch
    >>> double = torch.jit.trace(lambda x: x * 2, torch.ones(2))
    >>> double(torch.tensor([1., 5.]))
    tensor([ 2., 10.])
    """

    def __init__(self, module, name, original=None, qualified_name=None):
        self._module, self.name = module, name
        self.qualified_name = qualified_name or f"__torch__.{name}"
        self.__name__, self.__doc__ = name, getattr(original, "__doc__", None)
        self._torchdynamo_inline = original

    def __call__(self, *args, **kwargs):
        return self._module._run("forward", args, kwargs)

    @property
    def graph(self):
        """The graph that was recorded."""
        return self._module.graph

    inlined_graph = graph

    @property
    def code(self):
        """The text of the program."""
        return self._module.code.replace("def forward(self,\n    ", f"def {self.name}(").replace(
            "def forward(self)", f"def {self.name}()")

    def save(self, f, _extra_files=None):
        """Writes the function to a path or a file, as a module whose `forward` it is."""
        self._module.save(f, _extra_files)

    def save_to_buffer(self, _extra_files=None):
        """The bytes that `save` writes."""
        return self._module.save_to_buffer(_extra_files)

    def __reduce__(self):
        raise pickle.PickleError("ScriptFunction cannot be pickled")


def _written_down(module, name, args, kwargs):
    """A node of the graph of a stand-in (fx.Proxy) among the arguments; UNSEEN if there is none."""
    for x in (*args, *kwargs.values()):
        if not isinstance(x, Tensor) and hasattr(type(x), "__torch_function__") and hasattr(x, "tracer"):
            return x.tracer.create_proxy("call_method", name, (module, *args), kwargs)
    return UNSEEN


def _own(x):
    """A copy of a list or dict, so that the program does not write to the caller's."""
    if type(x) is list:
        return [_own(y) for y in x]
    if type(x) is dict:
        return {key: _own(y) for key, y in x.items()}
    return x


def source_of(method) -> str:
    """The text of a method, without the type of self."""
    return re.sub(r"\((\w+): __torch__[\w.]*", r"(\1", method.text, count=1)


def _check(method, skip, args, kwargs):
    """RuntimeError if the number or the types of the arguments differ from the declaration of the method."""
    names = method.parameters[skip:]
    if len(args) > len(names):
        raise RuntimeError(f"{method.name}() expected at most {len(names) + skip} argument(s) but received "
                           f"{len(args) + skip} argument(s). Declaration: {method.name}({', '.join(names)})")
    for name, value in [*zip(names, args), *kwargs.items()]:
        annotation = method.annotations.get(name)
        if annotation is not None and getattr(annotation, "id", None) == "Tensor" and not isinstance(value, Tensor):
            raise RuntimeError(f"{method.name}() Expected a value of type 'Tensor' for argument '{name}' but instead "
                               f"found type '{type(value).__name__}'.")
