"""Graphs of calls: a list of nodes that is built, changed, checked and written as a program."""
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..errors import warn
from ..missing import namespace as _namespace
from .code import CodeGen, PythonCode
from .names import Namespace
from .node import Node, map_arg

__all__ = ["CodeGen", "Graph", "PythonCode"]


def _snake_case(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


@dataclass
class _NodeList:
    """The nodes of a graph in order, or from the last to the first."""

    graph: Any
    direction: str = field(default="_next")

    def __len__(self):
        return self.graph._len

    def __iter__(self):
        root = self.graph._root
        node = getattr(root, self.direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, self.direction)

    def __reversed__(self):
        return iter(_NodeList(self.graph, "_prev" if self.direction == "_next" else "_next"))


class Graph:
    """A program as a list of calls, which can be changed: `nodes`, in order, from the arguments to the result.

    >>> import tinytorch as torch
    >>> graph = torch.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> _ = graph.output(graph.call_function(torch.relu, (x,)))
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
        return relu
    >>> torch.fx.GraphModule(torch.nn.Module(), graph)(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """

    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._root = Node(self, "", "root", "", (), {})
        self._len = 0
        self._graph_namespace = Namespace()
        self._owning_module = owning_module
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self._codegen = CodeGen()
        self._co_fields = {}
        self._insert = self._root.prepend

    @property
    def owning_module(self):
        """The GraphModule that runs the graph, or None."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module):
        self._owning_module = module

    @property
    def nodes(self):
        """The nodes in order."""
        return _NodeList(self)

    def output_node(self):
        """The node of the result."""
        for node in reversed(self.nodes):
            if node.op == "output":
                return node
        raise RuntimeError("Graph has no output node")

    def find_nodes(self, *, op, target=None, sort=True):
        """The nodes of the kind `op` in order; with `target`, only the nodes that have this target."""
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    # ------------------------------------------------------------- new nodes
    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        """A new node at the current place of insertion, with the name `name` or a name made from its target."""
        args = () if args is None else args
        kwargs = {} if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError("args must be a tuple")
        if not isinstance(kwargs, dict):
            raise AssertionError("kwargs must be a dict")
        name = self._graph_namespace.create_name(self._target_to_str(target) if name is None else name)
        node = Node(self, name, op, target, args, kwargs, type_expr)
        self._insert(node)
        self._len += 1
        return node

    @staticmethod
    def _target_to_str(target):
        name = target if isinstance(target, str) else getattr(target, "__name__", type(target).__name__)
        if isinstance(target, str) and name.startswith("__") and name.endswith("__"):
            name = name[2:-2]
        return _snake_case(name)

    def placeholder(self, name, type_expr=None, default_value=...):
        """A node for the argument `name`, which has a default if `default_value` is given."""
        return self.create_node("placeholder", name, () if default_value is ... else (default_value,),
                                type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        """A node for the attribute `qualified_name` ("sub.weight") of the module."""
        module = self.owning_module
        if module is not None and _attribute(module, qualified_name) is None:
            warn("Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! Call "
                 "GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to add the "
                 "necessary Parameter, or nn.Module.register_buffer to add the necessary buffer")
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        """A node that calls the submodule `module_name`."""
        if self.owning_module is not None:
            self.owning_module.get_submodule(module_name)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        """A node that calls the method `method_name` of its first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        """A node that calls a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result, type_expr=None):
        """A node that returns the result: a node, or tuples, lists and dicts of nodes and constants."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node, arg_transform=lambda x: x):
        """A copy of a node of another graph. `arg_transform` maps nodes in its arguments to nodes of this graph."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = dict(node.meta)
        return made

    def graph_copy(self, g, val_map, return_output_node=False):
        """Copies the nodes of the graph g that are not yet in the dict `val_map`, and adds them to it. Returns the
        result of g, in nodes of this graph."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo=None):
        made = Graph(tracer_cls=self._tracer_cls, tracer_extras=self._tracer_extras)
        found = made.graph_copy(self, {}, return_output_node=True)
        if found is not None:
            result, old = found
            node = made.output(result, type_expr=old.type)
            node.meta = dict(old.meta)
        made._codegen, made._co_fields = self._codegen, dict(self._co_fields)
        return made

    # ------------------------------------------------------------- changes
    @contextmanager
    def _inserting(self, insert):
        before, self._insert = self._insert, insert
        try:
            yield
        finally:
            self._insert = before

    def inserting_before(self, n=None):
        """A context in which new nodes come before the node n, or before all nodes if n is None."""
        return self.inserting_after(self._root) if n is None else self._at(n, n.prepend)

    def inserting_after(self, n=None):
        """A context in which new nodes come after the node n, or after all nodes if n is None."""
        if n is None:
            return self.inserting_before(self._root)
        place = [n]

        def insert(node):
            place[0].append(node)
            place[0] = node

        return self._at(n, insert)

    def _at(self, n, insert):
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return self._inserting(insert)

    def erase_node(self, to_erase):
        """Removes a node that no other node uses."""
        if to_erase.users:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the "
                               f"graph: {to_erase.users}!")
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warn(f"erase_node({to_erase}) on an already erased node")
            return
        to_erase._remove_from_list()
        to_erase._erased = True
        self._len -= 1
        to_erase._set((), {})

    def eliminate_dead_code(self, is_impure_node=None):
        """Removes the nodes that no other node uses, except nodes with side effects (`is_impure_node`). Returns whether
        any node was removed."""
        self.lint()
        before = self._len
        for node in reversed(self.nodes):
            if not node.users and not (node.is_impure() if is_impure_node is None else is_impure_node(node)):
                self.erase_node(node)
        return self._len < before

    # ------------------------------------------------------------- checks and text
    def lint(self):
        """RuntimeError unless the graph can run: every node comes before the nodes that use it, names are unique, and
        the owning module has the attributes and modules that the nodes name."""
        seen, names = set(), set()
        for node in self.nodes:
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for used in node._input_nodes:
                if used.graph is not self:
                    raise RuntimeError(f"Argument '{used}' of Node '{node}' does not belong to this Graph, but was "
                                       "used as an argument! If you are copying nodes from another graph, make sure "
                                       "to use ``arg_transform`` on node_copy() to remap values\n" + str(self))
                if used not in seen:
                    raise RuntimeError(f"Argument '{used}' of Node '{node}' was used before it has been defined! "
                                       f"Please check that Nodes in the graph are topologically ordered\n{self}")
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            names.add(node.name)
            seen.add(node)
            if self.owning_module is not None and node.op in ("get_attr", "call_module"):
                self._check_target(node)

    def _check_target(self, node):
        module = self.owning_module
        for atom in node.target.split("."):
            found = getattr(module, atom, None)
            if found is None:
                raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {atom} of "
                                   f"{module._get_name() if module is not self.owning_module else ''}")
            module = found

    def __str__(self):
        return "\n    ".join(["graph():", *[node.format_node() for node in self.nodes]])

    def print_tabular(self):
        """Prints a line for each node, in columns; the package tabulate lays them out."""
        try:
            from tabulate import tabulate
        except ImportError:
            print("`print_tabular` relies on the library `tabulate`, which could not be found on this machine. Run "
                  "`pip install tabulate` to install the library.")
            raise
        rows = [[node.op, node.name, node.target, node.args, node.kwargs] for node in self.nodes]
        print(tabulate(rows, headers=["opcode", "name", "target", "args", "kwargs"]))

    # ------------------------------------------------------------- the program
    def set_codegen(self, codegen):
        """Sets the CodeGen that writes the program."""
        self._codegen = codegen

    def process_inputs(self, *args):
        """The graph's arguments for arguments of the program."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out):
        """The program's result for a result of the graph."""
        return self._codegen.process_outputs(out)

    def on_generate_code(self, make_transformer):
        """Registers a function that changes the lines of the program (a list of texts) when it is written.
        `make_transformer` gets the present function or None, and returns the new one. As a context it applies inside
        the block, and without `with` from here on."""
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)

        @contextmanager
        def until_here():
            try:
                yield
            finally:
                self._codegen._body_transformer = before
        return until_here()

    def python_code(self, root_module, **options):
        """The program: its text as `src`, and the values of its global names as `globals`. `root_module`: the name of
        the object whose attributes it reads ("self"). Other options, for comments in the text, change nothing."""
        return self._codegen.write(self.nodes, root_module)


def _attribute(module, name):
    for part in name.split("."):
        module = getattr(module, part, None)
    return module


__getattr__ = _namespace(__name__)
