"""Trees of Python containers: dicts, lists, tuples and named tuples. All other objects are leaves."""
from __future__ import annotations

import dataclasses
import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Context", "LeafSpec", "PyTree", "TreeSpec", "is_namedtuple", "register_pytree_node", "tree_all",
           "tree_any", "tree_flatten", "tree_is_leaf", "tree_iter", "tree_leaves", "tree_map", "tree_map_",
           "tree_map_only", "tree_structure", "tree_unflatten"]

PyTree, Context = Any, Any


class TreeSpec:
    """The structure of a tree: the kind of its root (None for a leaf), its keys or class, and its children."""

    __slots__ = ("kind", "context", "_children")

    def __init__(self, kind=None, context=None, children=()):
        self.kind, self.context, self._children = kind, context, list(children)

    @property
    def type(self):
        """The kind of the root, None for a leaf."""
        return self.kind

    @property
    def num_children(self):
        """The number of children."""
        return len(self._children)

    @property
    def num_nodes(self):
        """The number of containers and leaves."""
        return 1 + sum(child.num_nodes for child in self._children)

    def children(self):
        """The children, each a TreeSpec."""
        return list(self._children)

    def child(self, index):
        """One of the children."""
        return self._children[index]

    def is_leaf(self):
        """Whether it is a leaf."""
        return self.kind is None

    def unflatten(self, leaves):
        """The tree of these leaves."""
        return tree_unflatten(leaves, self)

    @property
    def num_leaves(self):
        return 1 if self.kind is None else sum(child.num_leaves for child in self._children)

    def __eq__(self, other):
        return isinstance(other, TreeSpec) and (self.kind, self.context, self._children) == (
            other.kind, other.context, other._children)

    def __repr__(self, indent=0):
        if self.kind is None:
            return "*"
        indent += 2
        children = (",\n" + " " * indent).join([child.__repr__(indent) for child in self._children])
        return f"TreeSpec({self.kind.__name__}, {self.context}, [{children}])"

    def pretty(self):
        """The structure in Python's notation, with a * for each leaf."""
        if self.kind is None:
            return "*"
        children = [child.pretty() for child in self._children]
        if self.kind in (dict, OrderedDict, defaultdict):
            return "{" + ", ".join(f"{key!r}: {c}" for key, c in zip(_keys(self), children)) + "}"
        if self.kind is list:
            return "[" + ", ".join(children) + "]"
        return "(" + ", ".join(children) + (",)" if len(children) == 1 else ")")


def LeafSpec():
    """The TreeSpec of a leaf."""
    return TreeSpec()


def treespec_leaf():
    """The TreeSpec of a leaf."""
    return TreeSpec()


def treespec_tuple(iterable=(), /):
    """The TreeSpec of a tuple of subtrees. ValueError for anything else in it."""
    children = list(iterable)
    if not all([isinstance(child, TreeSpec) for child in children]):
        raise ValueError(f"Expected a tuple of TreeSpec values, got: {children!r}.")
    return TreeSpec(tuple, None, children)


def treespec_dict(mapping=(), /, **kwargs):
    """The TreeSpec of a dict of subtrees. ValueError for anything else in it."""
    found = dict(mapping, **kwargs)
    if not all([isinstance(child, TreeSpec) for child in found.values()]):
        raise ValueError(f"Expected a dictionary of TreeSpec values, got: {found!r}.")
    return TreeSpec(dict, list(found), found.values())


def treespec_pprint(treespec):
    """`TreeSpec.pretty`."""
    return treespec.pretty()


class NodeDef(NamedTuple):
    """How containers of a class are taken apart, into (children, context), and rebuilt."""

    type: type
    flatten_fn: Callable
    unflatten_fn: Callable
    flatten_with_keys_fn: Callable | None = None


#: The built-in containers and the registered ones. The function `namedtuple` stands for the classes that it makes. An
#: object whose class is removed from the table becomes a leaf.
SUPPORTED_NODES: dict[Any, NodeDef] = {}


def register_pytree_node(cls: type, flatten_fn: Callable, unflatten_fn: Callable, *,
                         serialized_type_name: str | None = None, to_dumpable_context: Callable | None = None,
                         from_dumpable_context: Callable | None = None,
                         flatten_with_keys_fn: Callable | None = None) -> None:
    """Registers a class of containers: flatten_fn(x) returns (children, context), and unflatten_fn(children, context)
    returns the object. ValueError for a class that is registered already."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


_register_pytree_node = register_pytree_node


def _keys(spec):
    return spec.context[1] if spec.kind is defaultdict else spec.context


def _is_named_tuple(x):
    return isinstance(x, tuple) and hasattr(type(x), "_fields")


def _open(x):
    """(kind, context, children) of a container; None for a leaf."""
    kind = x.__class__
    node = SUPPORTED_NODES.get(kind)
    if node is None:
        if not _is_named_tuple(x) or (node := SUPPORTED_NODES.get(namedtuple)) is None:
            return None
        kind = namedtuple
    children, context = node.flatten_fn(x)
    return kind, context, children


def tree_flatten(tree, is_leaf=None):
    """(list of the leaves, TreeSpec of the tree). An object for which `is_leaf` is true is a leaf.

    >>> from tinytorch.utils._pytree import tree_flatten
    >>> tree_flatten({"a": 1, "b": [2, 3]})[0]
    [1, 2, 3]
    """
    leaves = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree, leaves, is_leaf=None):
    opened = None if is_leaf is not None and is_leaf(tree) else _open(tree)
    if opened is None:
        leaves.append(tree)
        return TreeSpec()
    kind, context, children = opened
    return TreeSpec(kind, context, [_flatten(child, leaves, is_leaf) for child in children])


def tree_unflatten(leaves, treespec):
    """The tree with a given TreeSpec and given leaves. ValueError if their number does not fit."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to "
                         f"a pytree that holds {treespec.num_leaves} items ({treespec}).")
    return _unflatten(iter(leaves), treespec)


def _unflatten(leaves, spec):
    if spec.kind is None:
        return next(leaves)
    children = [_unflatten(leaves, child) for child in spec._children]
    return SUPPORTED_NODES[spec.kind].unflatten_fn(children, spec.context)


def tree_leaves(tree, is_leaf=None):
    """The leaves, from left to right."""
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree, is_leaf=None):
    """An iterator over the leaves, from left to right."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree, is_leaf=None):
    """The TreeSpec."""
    return tree_flatten(tree, is_leaf)[1]


def tree_is_leaf(tree, is_leaf=None):
    """Whether an object is a leaf, not a container."""
    return is_leaf is not None and is_leaf(tree) or _open(tree) is None


def _is_leaf(tree, is_leaf=None):
    return tree_is_leaf(tree, is_leaf)


def is_namedtuple(obj):
    """Whether an object is a named tuple or a class of named tuples."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_class(cls):
    """Whether an object is a class of named tuples."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_namedtuple_instance(obj):
    """Whether an object is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_structseq(obj):
    """Whether an object is a struct sequence, a tuple with names from C (`time.struct_time`), or a class of them."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_class(cls):
    """Whether an object is a class of struct sequences."""
    return isinstance(cls, type) and cls.__bases__ == (tuple,) and all(
        [isinstance(getattr(cls, name, None), int) for name in ("n_fields", "n_sequence_fields", "n_unnamed_fields")])


def is_structseq_instance(obj):
    """Whether an object is a struct sequence."""
    return is_structseq_class(type(obj))


def _get_node_type(tree):
    """The key of a container in the table of containers."""
    return namedtuple if _is_named_tuple(tree) and type(tree) not in SUPPORTED_NODES else type(tree)


def tree_map_(func, tree, *rests, is_leaf=None):
    """Calls func on each leaf, and returns the tree itself."""
    leaves = tree_leaves(tree, is_leaf)
    for each in zip(leaves, *(tree_leaves(rest, is_leaf) for rest in rests)):
        func(*each)
    return tree


def tree_map_only(kind, /, func, tree, is_leaf=None):
    """The tree with func(leaf) for each leaf of the class or classes `kind`, or for which a function `kind` is true."""
    return tree_map(map_only(kind)(func), tree, is_leaf=is_leaf)


def map_only(kind, /):
    """A decorator: the function returns a leaf unchanged where `tree_map_only` would not call it."""
    fits = kind if callable(kind) and not isinstance(kind, type) else lambda x: isinstance(x, kind)
    return lambda func: lambda x: func(x) if fits(x) else x


def tree_map_only_(kind, /, func, tree, is_leaf=None):
    """Calls func on each leaf that `tree_map_only` would replace, and returns the tree itself."""
    return tree_map_(map_only(kind)(func), tree, is_leaf=is_leaf)


def tree_all_only(kind, /, pred, tree, is_leaf=None):
    """Whether pred is true for all leaves of a class, or of some classes."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, kind))


def tree_any_only(kind, /, pred, tree, is_leaf=None):
    """Whether pred is true for any leaf of a class, or of some classes."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, kind))


def arg_tree_leaves(*args, **kwargs):
    """The leaves of all arguments."""
    return tree_leaves((*args, *kwargs.values()))


def tree_any(pred, tree, is_leaf=None):
    """Whether pred is true for any leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all(pred, tree, is_leaf=None):
    """Whether pred is true for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_map(func, tree, *rests, is_leaf=None):
    """The tree with func(leaf, and the leaves at its place in `rests`) for each leaf.

    >>> from tinytorch.utils._pytree import tree_map
    >>> tree_map(lambda x, y: x + y, (1, [2]), (10, [20]))
    (11, [22])
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    return tree_unflatten([func(*each) for each in zip(leaves, *(tree_leaves(rest, is_leaf) for rest in rests))], spec)


def _broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """The leaves of `tree`, each repeated for all leaves that `treespec` has in its place. None if the two do not
    fit."""
    opened = None if is_leaf is not None and is_leaf(tree) else _open(tree)
    if opened is None:
        return [tree] * treespec.num_leaves
    kind, context, children = opened[0], opened[1], list(opened[2])
    if (kind, context) != (treespec.kind, treespec.context) or len(children) != len(treespec._children):
        return None
    found = []
    for child, child_spec in zip(children, treespec._children):
        below = _broadcast_to_and_flatten(child, child_spec, is_leaf)
        if below is None:
            return None
        found += below
    return found


# ------------------------------------------------------------------ paths
class MappingKey(NamedTuple):
    """The place of a child in a mapping."""

    key: Any

    def get(self, mapping):
        """The child."""
        return mapping[self.key]


class SequenceKey(NamedTuple):
    """The place of a child in a sequence."""

    idx: int

    def get(self, sequence):
        """The child."""
        return sequence[self.idx]


class GetAttrKey(NamedTuple):
    """The place of a child in an object with attributes."""

    name: str

    def get(self, obj):
        """The child."""
        return getattr(obj, self.name)


def key_get(obj, kp):
    """The object at a path of keys."""
    for key in kp:
        obj = key.get(obj)
    return obj


def _key_text(key):
    if isinstance(key, SequenceKey):
        return f"[{key.idx}]"
    return f"[{key.key!r}]" if isinstance(key, MappingKey) else f".{key.name}"


def keystr(kp):
    """A path of keys in Python's notation.

    >>> from tinytorch.utils._pytree import MappingKey, SequenceKey, keystr
    >>> keystr((MappingKey("a"), SequenceKey(1)))
    "['a'][1]"
    """
    return "".join(map(_key_text, kp))


def _with_keys(tree, spec, path):
    if spec.kind is None:
        return [(path, tree)]
    node = SUPPORTED_NODES[spec.kind]
    if node.flatten_with_keys_fn is None:
        keyed = [(SequenceKey(i), child) for i, child in enumerate(node.flatten_fn(tree)[0])]
    else:
        keyed = node.flatten_with_keys_fn(tree)[0]
    return [found for (key, child), part in zip(keyed, spec._children)
            for found in _with_keys(child, part, (*path, key))]


def tree_flatten_with_path(tree, is_leaf=None):
    """(list of (path of keys, leaf), TreeSpec)."""
    spec = tree_structure(tree, is_leaf)
    return _with_keys(tree, spec, ()), spec


def tree_leaves_with_path(tree, is_leaf=None):
    """The leaves, each with its path of keys."""
    return tree_flatten_with_path(tree, is_leaf)[0]


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """`tree_map` with a function that gets the path of keys before the leaves.

    >>> from tinytorch.utils._pytree import keystr, tree_map_with_path
    >>> tree_map_with_path(lambda path, x: keystr(path), {"a": [1, 2]})
    {'a': ["['a'][0]", "['a'][1]"]}
    """
    found, spec = tree_flatten_with_path(tree, is_leaf)
    others = [_broadcast_to_and_flatten(rest, spec) for rest in rests]
    return tree_unflatten([func(path, leaf, *more) for (path, leaf), *more in zip(found, *others)], spec)


def register_dataclass(cls, *, field_names=None, drop_field_names=None, serialized_type_name=None):
    """Registers a dataclass, whose instances are then containers of its fields. ValueError for other field names."""
    if not dataclasses.is_dataclass(cls):
        raise ValueError(f"field_names must be specified with a list of all fields used to initialize {cls}, as it is "
                         "not a dataclass.")
    names = [field.name for field in dataclasses.fields(cls) if field.init]
    dropped = list(drop_field_names or ())
    if field_names is not None and {*field_names, *dropped} != {*names}:
        raise ValueError(f"field_names do not include all the fields of {cls}: {names}")
    kept = [name for name in field_names or names if name not in dropped]
    register_pytree_node(cls, lambda x: ([getattr(x, name) for name in kept], None),
                         lambda values, context: cls(**dict(zip(kept, values))), flatten_with_keys_fn=lambda x: (
                             [(GetAttrKey(name), getattr(x, name)) for name in kept], None))


def _as_words(spec):
    if spec.kind is None:
        return {"type": None, "context": None, "children_spec": []}
    if isinstance(spec.context, type):
        raise NotImplementedError(f"No registered serialization name for {spec.context} found. Please update your "
                                  "_register_pytree_node call with a `serialized_type_name` kwarg.")
    return {"type": f"{spec.kind.__module__}.{spec.kind.__qualname__}",
            "context": "null" if spec.context is None else json.dumps(spec.context),
            "children_spec": [_as_words(child) for child in spec._children]}


def treespec_dumps(treespec, protocol=None):
    """A TreeSpec as JSON. TypeError for contexts that JSON cannot hold."""
    return json.dumps([1, _as_words(treespec)])


def _of_words(words):
    if words["type"] is None:
        return TreeSpec()
    kinds = {f"{kind.__module__}.{kind.__qualname__}": kind for kind in SUPPORTED_NODES}
    if words["type"] not in kinds:
        raise NotImplementedError(f"{words['type']} is not registered")
    return TreeSpec(kinds[words["type"]], json.loads(words["context"]), [_of_words(w) for w in words["children_spec"]])


def treespec_loads(serialized):
    """The TreeSpec that `treespec_dumps` wrote. ValueError for an unknown protocol."""
    protocol, words = json.loads(serialized)
    if protocol != 1:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [1]")
    return _of_words(words)


# ------------------------------------------------------------------ the table of containers
def _listed(x, context, keys=None):
    children = list(x.values() if isinstance(x, dict) else x)
    return (children if keys is None else list(zip(keys, children))), context


def _places(x):
    return map(SequenceKey, range(len(x)))


def _list_flatten(x):
    """(elements, None)."""
    return list(x), None


def _list_flatten_with_keys(x):
    """([(key, element)], None)."""
    return _listed(x, None, _places(x))


def _list_unflatten(values, context):
    return list(values)


_tuple_flatten, _tuple_flatten_with_keys = _list_flatten, _list_flatten_with_keys


def _tuple_unflatten(values, context):
    return tuple(values)


def _namedtuple_flatten(x):
    """(elements, the class)."""
    return _listed(x, type(x))


def _namedtuple_flatten_with_keys(x):
    """([(key, element)], the class)."""
    return _listed(x, type(x), map(GetAttrKey, x._fields))


def _namedtuple_unflatten(values, context):
    return context(*values)


def _dict_flatten(x):
    """(values, keys)."""
    return list(x.values()), list(x)


def _dict_flatten_with_keys(x):
    """([(key, value)], keys)."""
    return _listed(x, list(x), map(MappingKey, x))


def _dict_unflatten(values, context):
    return dict(zip(context, values))


_ordereddict_flatten, _ordereddict_flatten_with_keys = _dict_flatten, _dict_flatten_with_keys


def _ordereddict_unflatten(values, context):
    return OrderedDict(zip(context, values))


_odict_flatten, _odict_unflatten = _ordereddict_flatten, _ordereddict_unflatten


def _defaultdict_flatten(x):
    """(values, [the factory, keys])."""
    return _listed(x, [x.default_factory, list(x)])


def _defaultdict_flatten_with_keys(x):
    """([(key, value)], [the factory, keys])."""
    return _listed(x, [x.default_factory, list(x)], map(MappingKey, x))


def _defaultdict_unflatten(values, context):
    return defaultdict(context[0], zip(context[1], values))


def _deque_flatten(x):
    """(elements, the largest length)."""
    return _listed(x, x.maxlen)


def _deque_flatten_with_keys(x):
    """([(key, element)], the largest length)."""
    return _listed(x, x.maxlen, _places(x))


def _deque_unflatten(values, context):
    return deque(values, context)


SUPPORTED_NODES.update({kind: NodeDef(kind, *functions) for kind, *functions in (
    (list, _list_flatten, _list_unflatten, _list_flatten_with_keys),
    (tuple, _tuple_flatten, _tuple_unflatten, _tuple_flatten_with_keys),
    (dict, _dict_flatten, _dict_unflatten, _dict_flatten_with_keys),
    (OrderedDict, _ordereddict_flatten, _ordereddict_unflatten, _ordereddict_flatten_with_keys),
    (defaultdict, _defaultdict_flatten, _defaultdict_unflatten, _defaultdict_flatten_with_keys),
    (deque, _deque_flatten, _deque_unflatten, _deque_flatten_with_keys),
    (namedtuple, _namedtuple_flatten, _namedtuple_unflatten, _namedtuple_flatten_with_keys))})


def register_constant(cls):
    """Registers a class whose objects have no leaves: they are part of the structure of a tree. TypeError for a class
    that compares by identity."""
    for name, missing in (("__eq__", cls.__eq__ is object.__eq__), ("__hash__", cls.__hash__ is None)):
        if missing:
            raise TypeError(f"register_constant(cls) expects `cls` to have a non-default `{name}` implementation.")
    register_pytree_node(cls, lambda x: ([], ConstantNode(x)), lambda _, context: context.value,
                         flatten_with_keys_fn=lambda x: ([], ConstantNode(x)))
    CONSTANT_NODES.add(cls)


class ConstantNode(NamedTuple):
    """The context of a container without children, which holds the object."""

    value: Any


CONSTANT_NODES: set[type] = set()


def is_constant_class(cls):
    """Whether `register_constant` was called with the class."""
    return cls in CONSTANT_NODES
