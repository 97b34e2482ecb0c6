"""Runs a graph node by node."""
from ._symbolic_trace import Tracer
from .graph import Graph
from .graph_module import GraphModule
from .node import map_aggregate, map_arg
from .proxy import Proxy

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs the graph of a module node by node. Subclasses override the methods, one for each kind of node.

    >>> import tinytorch as torch
    >>> class Doubling(torch.fx.Interpreter):
    ...     def call_function(self, target, args, kwargs):
    ...         return 2 * super().call_function(target, args, kwargs)
    >>> Doubling(torch.fx.symbolic_trace(lambda x: torch.relu(x))).run(torch.tensor([3.]))
    tensor([6.])
    """

    def __init__(self, module, garbage_collect_values=True, graph=None):
        self.module, self.garbage_collect_values = module, garbage_collect_values
        self.submodules = dict(module.named_modules())
        self.graph = module.graph if graph is None else graph
        self.env, self.name = {}, "Interpreter"
        self.extra_traceback = True
        self.user_to_last_uses, last = {}, {}
        for node in reversed(self.graph.nodes):
            for used in node.all_input_nodes:
                if used not in last:
                    last[used] = node
                    self.user_to_last_uses.setdefault(node, []).append(used)

    def run(self, *args, initial_env=None, enable_io_processing=True):
        """The result of the graph for these arguments. `initial_env`: values of nodes that are not computed again;
        `enable_io_processing`: whether arguments and result are those of the program, not those of the graph."""
        self.env = dict(initial_env or {})
        self.args_iter = iter(self.graph.process_inputs(*args) if enable_io_processing else args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    said = f"While executing {node.format_node()}"
                    text = f"{error.args[0]}\n\n{said}" if error.args else said
                    error.args = (text, *error.args[1:])
                raise
            if self.garbage_collect_values:
                for used in self.user_to_last_uses.get(node, ()):
                    del self.env[used]
            if node.op == "output":
                found = self.env[node]
                return self.graph.process_outputs(found) if enable_io_processing else found
        return None

    def boxed_run(self, args_list):
        """The result of `run`. The list of arguments is emptied, so that their memory can be freed."""
        args = list(args_list)
        args_list.clear()
        return self.run(*args)

    def run_node(self, n):
        """The result of one node."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target, args, kwargs):
        """The next argument, or its default; *args takes all remaining arguments."""
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed "
                               "in!") from None

    def get_attr(self, target, args, kwargs):
        """An attribute of the module."""
        return self.fetch_attr(target)

    def call_function(self, target, args, kwargs):
        """The result of a function."""
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        """The result of a method of args[0]."""
        owner, *rest = args
        return getattr(owner, target)(*rest, **kwargs)

    def call_module(self, target, args, kwargs):
        """The result of a submodule."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target, args, kwargs):
        """The result of the graph."""
        return args[0]

    def fetch_attr(self, target):
        """The attribute "a.b.c" of the module."""
        found = self.module
        atoms = target.split(".")
        for i, atom in enumerate(atoms):
            if not hasattr(found, atom):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(atoms[:i + 1])}")
            found = getattr(found, atom)
        return found

    def fetch_args_kwargs_from_env(self, n):
        """(args, kwargs) of a node, values in the place of nodes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args, n):
        """Values in the place of the nodes among the arguments of the node n."""
        def value(node):
            if node not in self.env:
                raise RuntimeError(f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose such "
                                   "issues")
            return self.env[node]
        return map_arg(args, value)


class _Appending(Tracer):
    """A tracer to which every module is a leaf, called by its name."""

    def __init__(self, graph, root):
        super().__init__()
        self.graph, self.root = graph, root
        self._constants, self._parameters_seen = {}, {}

    def is_leaf_module(self, m, module_qualified_name):
        return True


class Transformer(Interpreter):
    """Runs a graph on stand-ins, so that `transform()` returns a new graph. Subclasses override the methods, one for
    each kind of node.

    >>> import tinytorch as torch
    >>> class Negated(torch.fx.Transformer):
    ...     def call_function(self, target, args, kwargs):
    ...         return super().call_function(target, args, kwargs).neg()
    >>> print(Negated(torch.fx.symbolic_trace(lambda x: torch.relu(x))).transform().code.strip())
    def forward(self, x):
        relu = torch.relu(x);  x = None
        neg = relu.neg();  relu = None
        return neg
    """

    def __init__(self, module):
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _Appending(self.new_graph, module)
        self.tracer.root = module

    def run_node(self, n):
        """The result of one node. The new nodes get its stack trace and other metadata."""
        self.tracer._current_meta = n.meta
        return super().run_node(n)

    def placeholder(self, target, args, kwargs):
        """A stand-in for the argument."""
        node = self.new_graph.placeholder(target, default_value=args[0] if args else ...)
        return Proxy(node, self.tracer)

    def get_attr(self, target, args, kwargs):
        """A stand-in for the attribute."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target, args, kwargs):
        """A stand-in for the submodule's result."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(self, target, args, kwargs):
        """A stand-in for the function's result."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self):
        """The GraphModule of the new graph."""
        result = super().run(enable_io_processing=False)
        if result is not None:
            self.new_graph.output(_nodes(result), self.graph.output_node().type)
        return GraphModule(self.module, self.new_graph)


def _nodes(value):
    """Replaces stand-ins in tuples, lists and dicts by their nodes."""
    return map_aggregate(value, lambda x: x.node if isinstance(x, Proxy) else x)
