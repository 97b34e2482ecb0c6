"""A node of a graph: one call, its arguments, and the nodes that use its result."""
import operator
from collections.abc import Callable
from typing import Any

from .._checks import _assert
from .._ops import OpOverload
from .immutable_collections import immutable_dict, immutable_list
from .names import of_type, shown

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]

#: The types of targets and of arguments, for annotations.
Target = Callable[..., Any] | str
Argument = Any
_OPS = frozenset(("call_function", "call_method", "call_module", "get_attr", "output", "placeholder", "root"))
_SIDE_EFFECTS = {operator.setitem, _assert}


def has_side_effect(fn):
    """Registers a function whose calls stay in a graph although no node uses their result. Returns fn."""
    _SIDE_EFFECTS.add(fn)
    return fn


def map_aggregate(a, fn, check_key=None):
    """fn of every value in nested tuples, lists, dicts and slices, in the same structure. check_key: is called with the
    keys of dicts."""
    if isinstance(a, tuple):
        items = [map_aggregate(x, fn, check_key) for x in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(x, fn, check_key) for x in a])
    if isinstance(a, dict):
        if check_key is not None:
            for key in a:
                check_key(key)
        return immutable_dict({key: map_aggregate(x, fn, check_key) for key, x in a.items()})
    if isinstance(a, slice):
        return slice(*[map_aggregate(x, fn, check_key) for x in (a.start, a.stop, a.step)])
    return fn(a)


def map_arg(a, fn):
    """fn of every node in nested tuples, lists, dicts and slices; other values stay.

    >>> import tinytorch as torch
    >>> node = next(iter(torch.fx.symbolic_trace(lambda x: x).graph.nodes))
    >>> torch.fx.map_arg([1, (node, 2)], lambda n: n.name)
    [1, ('x', 2)]
    """
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def _format_arg(arg, max_list_len=float("inf")):
    """The notation of an argument in the text of a graph. max_list_len: the number of values that a list shows."""
    if hasattr(arg, "_custom_fx_repr_fn"):
        return arg._custom_fx_repr_fn()
    if isinstance(arg, (list, tuple)):
        shown = [_format_arg(x, max_list_len) for i, x in enumerate(arg) if i < max_list_len]
        more = f", ...[total_len={len(arg)}]" if len(shown) < len(arg) else ""
        if isinstance(arg, list):
            return f"[{', '.join(shown)}{more}]"
        return f"({', '.join(shown)}{more}{',' * (len(shown) == 1)})"
    if isinstance(arg, dict):
        return "{" + ", ".join([f"{key}: {_format_arg(value, max_list_len)}" for key, value in arg.items()]) + "}"
    return f"%{arg.name}" if isinstance(arg, Node) else str(arg)


class Node:
    """One call of a graph.

    op            "placeholder", "get_attr", "call_function", "call_module", "call_method" or "output"
    target        the function, or the name of the argument, attribute, module or method
    args, kwargs  the arguments, which may contain nodes
    users         the nodes that use its result, as keys of a dict
    """

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        if op not in _OPS:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        if op == "call_function":
            if not callable(target):
                raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type "
                                 f"{type(target).__name__} but a Callable is expected")
        elif not isinstance(target, str):
            raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type "
                             f"{type(target).__name__} but a str is expected")
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, return_type
        self.users, self.meta = {}, {}
        self._input_nodes, self._args, self._kwargs = {}, (), {}
        self._prev = self._next = self
        self._erased = False
        self._set(args, kwargs)

    def _set(self, args, kwargs):
        """Sets the arguments, and updates `users` of the nodes in the old and the new arguments."""
        for node in self._input_nodes:
            node.users.pop(self, None)
        self._input_nodes = {}

        def used(node):
            self._input_nodes.setdefault(node)
            node.users.setdefault(self)
            return node

        self._args, self._kwargs = map_arg(tuple(args), used), map_arg(dict(kwargs), used)

    # ------------------------------------------------------------- arguments
    @property
    def args(self):
        """The positional arguments, a tuple, which can be replaced but not changed."""
        return self._args

    @args.setter
    def args(self, value):
        self._set(value, self._kwargs)

    @property
    def kwargs(self):
        """The keyword arguments, a dict, which can be replaced but not changed."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, value):
        self._set(self._args, value)

    @property
    def all_input_nodes(self):
        """The nodes among the arguments, without repetition."""
        return list(self._input_nodes)

    def update_arg(self, idx, arg):
        """Replaces the positional argument `idx` by `arg`."""
        args = list(self._args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx, arg):
        """Inserts `arg` before the positional argument `idx`."""
        if not 0 <= idx <= len(self._args):
            raise AssertionError("insert_args index must be between 0 and len(self.args)")
        self.args = (*self._args[:idx], arg, *self._args[idx:])

    def update_kwarg(self, key, arg):
        """Replaces the keyword argument `key` by `arg`."""
        self.kwargs = {**self._kwargs, key: arg}

    def replace_input_with(self, old_input, new_input):
        """Replaces the node `old_input` by `new_input` everywhere in the arguments."""
        def other(node):
            return new_input if node is old_input else node

        self._set(map_arg(self._args, other), map_arg(self._kwargs, other))

    def replace_all_uses_with(self, replace_with, delete_user_cb=lambda user: True, *, propagate_meta=False):
        """Replaces this node by `replace_with` in all its users, or in those for which `delete_user_cb` is true.
        Returns the list of the changed users."""
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError("Called node.replace_all_uses_with(replace_with, propagate_meta=True), but "
                                     "replace_with already has .meta keys")
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    # ------------------------------------------------------------- place
    @property
    def next(self):
        """The node after this one."""
        return self._next

    @property
    def prev(self):
        """The node before this one."""
        return self._prev

    def _remove_from_list(self):
        self._prev._next, self._next._prev = self._next, self._prev

    def prepend(self, x):
        """Moves the node x before this one."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is not self:
            x._remove_from_list()
            x._prev, x._next = self._prev, self
            self._prev._next = self._prev = x

    def append(self, x):
        """Moves the node x after this one."""
        self._next.prepend(x)

    # ------------------------------------------------------------- properties and text
    @property
    def stack_trace(self):
        """The lines of the program that made the node, if they were recorded."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace):
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random=True):
        """Whether the node stays although no node uses its result. `impure_random` changes nothing."""
        if self.op == "call_module" and self.graph.owning_module is not None:
            return getattr(self.graph.owning_module.get_submodule(self.target), "_is_impure", False)
        if self.op == "call_function":
            form = self.target._schema if isinstance(self.target, OpOverload) else None
            return self.target in _SIDE_EFFECTS or form is not None and form.is_impure or (
                getattr(self.target, "namespace", "") == "profiler")
        return self.op in ("placeholder", "output")

    def _rename(self, candidate):
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate)

    def __repr__(self):
        return self.name

    def format_node(self, placeholder_names=None, maybe_return_typename=None, *, include_tensor_metadata=False):
        """The line of the node in the text of a graph. It has no shapes, and the two lists are not written to."""
        kind = f"{of_type(self.type)} " if self.type else ""
        head = f"%{self.name} : {kind}[num_users={len(self.users)}] = {self.op}[target={shown(self)}]"
        if self.op == "placeholder":
            return head + (f"(default={self.args[0]})" if self.args else "")
        if self.op == "get_attr":
            return head
        if self.op == "output":
            return f"return {self.args[0]}"
        return f"{head}(args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})"
