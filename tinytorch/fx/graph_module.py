"""Modules that run a graph."""
import copy
import sys
import traceback
from itertools import count
from linecache import cache
from pathlib import Path

from ..nn import Module, Parameter
from ..tensor import Tensor
from .code import CodeGen, _PyTreeCodeGen
from .graph import Graph
from .names import WRAPPED_IN_CODE
from .node import map_aggregate, map_arg

__all__ = ["GraphModule"]

_NUMBERS = count()
#: The key in `meta` under which the names of attributes that copies keep are found.
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"


def _forward(source, values, fields, wrapped):
    """The function `forward` of a program, whose lines tracebacks show. fields: the origin of the program."""
    file = f"<eval_with_key>.{next(_NUMBERS)}"
    if fields:
        file += f" from {fields['co_filename']}:{fields['co_firstlineno']} in {fields['co_name']}"
    cache[file] = len(source), None, source.splitlines(keepends=True), file
    scope = {**values, WRAPPED_IN_CODE: wrapped}
    exec(compile(source, file, "exec"), scope)
    return scope["forward"], file


def _copy_attr(source, target, name):
    """Copies the attribute "a.b.c" of one module to the module `target`, and adds the modules a and a.b if missing."""
    *path, last = name.split(".")
    for part in path:
        child = getattr(target, part, None)
        if child is None or child is source:
            child = Module()
            target.add_module(part, child)
        source, target = getattr(source, part), child
    _set(target, last, getattr(source, last))


def _set(owner, name, value):
    """Sets an attribute of a module. A tensor that is not a parameter becomes a buffer."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        owner.register_buffer(name, value)
    else:
        setattr(owner, name, value)


_OWN = str(Path(__file__).parents[1])
_MODULES = str(Path(_OWN) / "nn")


def _last_frame(error):
    """The last frame of an error that belongs to a program or a module. PyTorch's functions have no frames either."""
    frames = [x for x in traceback.extract_tb(error.__traceback__)
              if not x.filename.startswith(_OWN) or x.filename.startswith(_MODULES) and x.name != "__call__"]
    return frames[-1] if frames else None


def _said_of(number, lines):
    """The text of the line of a program that raised, with the lines around it."""
    before, after = "\n".join(lines[max(0, number - 3):number]), "\n".join(lines[number:number + 2])
    return ("Call using an FX-traced Module, line "
            f"{number} of the traced Module's generated forward function:\n{before}\n\n"
            f"~~~~~~~~~~~~~~~~~~~~~~~~~~~ <--- HERE\n{after}\n")


def _there(module, name):
    for part in name.split("."):
        module = getattr(module, part, None)
    return module is not None


class _CodeOnlyModule(Module):
    """A module with given attributes."""

    def __init__(self, body):
        super().__init__()
        self.__dict__ = body


class _Reference:
    """Stands for a node, by its name, in pickles."""

    def __init__(self, name):
        self.name = name


def _rebuilt(state, nodes, name, codegen=None):
    """A GraphModule from the state of `__reduce__`: its attributes, and its nodes in order."""
    module, graph, made = _CodeOnlyModule(state), Graph(), {}
    for node_name, op, target, arguments, kind in nodes:
        args, kwargs = map_aggregate(arguments, lambda x: made[x.name] if isinstance(x, _Reference) else x)
        made[node_name] = graph.create_node(op, target, args, dict(kwargs), node_name, kind)
    if codegen is not None:
        graph.set_codegen(codegen)
    return GraphModule(module, graph, name)


class GraphModule(Module):
    """A module that runs a graph: `graph` is the graph, `code` the text of its program. root: a module, or a dict by
    name, with the modules and parameters that the graph uses.

    >>> import tinytorch as torch
    >>> traced = torch.fx.symbolic_trace(lambda x: x + 1)
    >>> for node in traced.graph.nodes:
    ...     if node.op == "call_function":
    ...         node.target = torch.mul
    >>> _ = traced.recompile()
    >>> print(traced.code.strip())
    def forward(self, x):
        add = torch.mul(x, 1);  x = None
        return add
    """

    def __new__(cls, *args, **kwargs):
        """An object of a new class, whose `forward` is the program."""
        base = next(x for x in cls.__mro__ if "_generated" not in vars(x))
        return super().__new__(type("GraphModuleImpl", (base,), {"_generated": True, "__module__": base.__module__}))

    def __init__(self, root, graph, class_name="GraphModule"):
        super().__init__()
        type(self).__name__ = class_name
        asking = {node.target: node for node in graph.nodes if node.op in ("get_attr", "call_module")}
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training = root.training
            for target in asking:
                _copy_attr(root, self, target)
        else:
            for target, node in asking.items():
                if target not in root:
                    raise RuntimeError(f"Node {node} referenced target {target} but that target was not provided in "
                                       "``root``!")
            for target in sorted(asking, key=lambda name: name.count(".")):
                *path, last = target.split(".")
                owner = self
                for part in path:
                    if not hasattr(owner, part):
                        owner.add_module(part, Module())
                    owner = getattr(owner, part)
                _set(owner, last, root[target])
        self.meta = dict(getattr(root, "meta", {}) if isinstance(root, Module) else {})
        self.graph = graph

    @property
    def graph(self):
        """The graph; after changes to it, `recompile()`."""
        return self._graph

    @graph.setter
    def graph(self, graph):
        if not isinstance(graph, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(graph)}")
        if graph.owning_module is not None and graph.owning_module is not self:
            graph = copy.deepcopy(graph)
        self.__dict__["_graph"] = graph
        graph.owning_module = self
        self.recompile()

    @property
    def code(self):
        """The text of the program."""
        return self._code

    def recompile(self):
        """Writes the program again after changes of the graph, and returns it as PythonCode."""
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec, self._out_spec = codegen.pytree_info.in_spec, codegen.pytree_info.out_spec
        written = self._graph.python_code("self")
        self.__dict__["_code"] = written.src
        plain = "".join([x for x in written.src.splitlines(keepends=True) if not x.startswith("torch.fx._symbolic")])
        self.__dict__["_lineno_map"] = written._lineno_map
        type(self).forward, self.__dict__["_file"] = _forward(plain, written.globals, self._graph._co_fields,
                                                              written._wrapped)
        return written

    def __call__(self, *args, **kwargs):
        try:
            return super().__call__(*args, **kwargs)
        except Exception as error:
            frame = _last_frame(error)
            if frame is not None and frame.filename == self._file:
                lines = frame.lineno, self._code.splitlines()
                print(_said_of(*lines), file=sys.stderr)
            raise

    # ------------------------------------------------------------- modules
    def add_submodule(self, target, m):
        """Adds the module m under the name "a.b.c", with plain modules a and a.b if missing. Returns False if another
        object has one of these names."""
        *path, last = target.split(".")
        owner = self
        for part in path:
            child = getattr(owner, part, None)
            if child is None:
                child = Module()
                owner.add_module(part, child)
            elif not isinstance(child, Module):
                return False
            owner = child
        owner.add_module(last, m)
        return True

    def delete_submodule(self, target):
        """Removes the module "a.b.c". Returns False if there is none."""
        *path, last = target.split(".")
        owner = self
        for part in path:
            owner = owner._modules.get(part) if isinstance(owner, Module) else None
            if owner is None:
                return False
        if last not in owner._modules:
            return False
        del owner._modules[last]
        return True

    def delete_all_unused_submodules(self):
        """Removes the modules that no node calls or reads an attribute of."""
        used = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = node.target.split(".")
                used.update([".".join(parts[:i + 1]) for i in range(len(parts))])
                if node.op == "call_module" and _there(self, node.target):
                    below = self.get_submodule(node.target).named_modules()
                    used.update([f"{node.target}.{name}" for name, _ in below])
        for name, _ in list(self.named_modules()):
            if name and name not in used:
                self.delete_submodule(name)

    # ------------------------------------------------------------- text and copies
    def print_readable(self, print_output=True, include_stride=False, include_device=False, colored=False, **options):
        """The program as a class, printed unless `print_output` is false. It has no shapes and no colours."""
        body = self._code.strip("\n").rstrip()
        text = f"class {self._get_name()}(torch.nn.Module):\n" + "\n".join(
            ["    " + line if line else line for line in body.splitlines()]) + "\n"
        if print_output:
            print(text)
        return text

    def __str__(self):
        return "\n".join([super().__str__(), self._code,
                          "# To see more debug info, please use `graph_module.print_readable()`"])

    def _own_state(self):
        skipped = ("_graph", "_code", "_file", "_lineno_map")
        return {name: value for name, value in vars(self).items() if name not in skipped}

    def __reduce__(self):
        nodes = [(node.name, node.op, node.target, map_arg((node.args, node.kwargs), lambda n: _Reference(n.name)),
                  node.type) for node in self._graph.nodes]
        codegen = self._graph._codegen
        return _rebuilt, (self._own_state(), nodes, type(self).__name__,
                          None if type(codegen) is CodeGen else codegen)

    def _deepcopy_init(self):
        return GraphModule.__init__

    def _copied(self, state, made):
        GraphModule.__init__(made, _CodeOnlyModule(state), copy.deepcopy(self._graph), type(self).__name__)
        return made

    def __copy__(self):
        made = self._copied(self._own_state(), GraphModule.__new__(GraphModule))
        made.meta = dict(self.meta)
        return made

    def __deepcopy__(self, memo):
        made = memo[id(self)] = GraphModule.__new__(GraphModule)
        state = copy.deepcopy({name: value for name, value in self._own_state().items() if name != "meta"}, memo)
        self._copied(state, made)
        made.meta = copy.deepcopy(self.meta, memo)
        return made

    def _replicate_for_data_parallel(self):
        made = copy.copy(self)
        made.__dict__["_is_replica"] = True
        return made
