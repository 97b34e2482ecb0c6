"""Trees of Python containers: dicts, lists, tuples and named tuples, whose leaves are everything else."""
from collections import OrderedDict, defaultdict, deque

__all__ = ["TreeSpec", "tree_flatten", "tree_leaves", "tree_map", "tree_unflatten"]


class TreeSpec:
    """The shape of a tree: the kind of its root (None for a leaf), the keys or class it needs, its children."""

    __slots__ = ("kind", "context", "children")

    def __init__(self, kind=None, context=None, children=()):
        self.kind, self.context, self.children = kind, context, list(children)

    @property
    def num_leaves(self):
        return 1 if self.kind is None else sum(child.num_leaves for child in self.children)

    def __eq__(self, other):
        return isinstance(other, TreeSpec) and (self.kind, self.context, self.children) == (
            other.kind, other.context, other.children)

    def __repr__(self):
        if self.kind is None:
            return "*"
        children = (",\n" + " " * 2).join(map(repr, self.children))
        return f"TreeSpec({self.kind.__name__}, {self.context}, [{children}])"

    def pretty(self):
        """As it would be written in Python, with a * for each leaf."""
        if self.kind is None:
            return "*"
        children = [child.pretty() for child in self.children]
        if self.kind in (dict, OrderedDict, defaultdict):
            return "{" + ", ".join(f"{key!r}: {c}" for key, c in zip(_keys(self), children)) + "}"
        if self.kind is list:
            return "[" + ", ".join(children) + "]"
        return "(" + ", ".join(children) + (",)" if len(children) == 1 else ")")


def _keys(spec):
    return spec.context[1] if spec.kind is defaultdict else spec.context


def _is_named_tuple(x):
    return isinstance(x, tuple) and hasattr(type(x), "_fields")


def _open(x):
    """(kind, context, children) of a container; None for a leaf."""
    kind = type(x)
    if kind in (list, tuple):
        return kind, None, x
    if kind in (dict, OrderedDict):
        return kind, list(x), x.values()
    if kind is defaultdict:
        return kind, (x.default_factory, list(x)), x.values()
    if kind is deque:
        return kind, x.maxlen, x
    if _is_named_tuple(x):
        return tuple, kind, x
    return None


def tree_flatten(tree):
    """(list of the leaves, TreeSpec to put them together again).

    >>> from tinytorch.utils._pytree import tree_flatten
    >>> tree_flatten({"a": 1, "b": [2, 3]})[0]
    [1, 2, 3]
    """
    leaves = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree, leaves):
    opened = _open(tree)
    if opened is None:
        leaves.append(tree)
        return TreeSpec()
    kind, context, children = opened
    return TreeSpec(kind, context, [_flatten(child, leaves) for child in children])


def tree_unflatten(leaves, treespec):
    """The tree of that shape with those leaves. ValueError if their number does not fit."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to "
                         f"a pytree that holds {treespec.num_leaves} items ({treespec}).")
    return _unflatten(iter(leaves), treespec)


def _unflatten(leaves, spec):
    if spec.kind is None:
        return next(leaves)
    children = [_unflatten(leaves, child) for child in spec.children]
    if spec.kind in (dict, OrderedDict):
        return spec.kind(zip(spec.context, children))
    if spec.kind is defaultdict:
        return defaultdict(spec.context[0], zip(spec.context[1], children))
    if spec.kind is deque:
        return deque(children, spec.context)
    return spec.context(*children) if spec.context else spec.kind(children)


def tree_leaves(tree):
    """The leaves, from left to right."""
    return tree_flatten(tree)[0]


def tree_map(func, tree, *rests):
    """The tree with func(leaf, and the leaves at its place in `rests`) for each leaf.

    >>> from tinytorch.utils._pytree import tree_map
    >>> tree_map(lambda x, y: x + y, (1, [2]), (10, [20]))
    (11, [22])
    """
    leaves, spec = tree_flatten(tree)
    return tree_unflatten([func(*each) for each in zip(leaves, *(tree_leaves(rest) for rest in rests))], spec)


def broadcast_leaves(tree, spec):
    """The leaves of `tree`, a leaf standing for all that `spec` has below it. None if the two do not fit."""
    if spec.kind is None:
        return None if _open(tree) is not None else [tree]
    opened = _open(tree)
    if opened is None:
        return [tree] * spec.num_leaves
    kind, context, children = opened
    if (kind, context) != (spec.kind, spec.context) or len(children) != len(spec.children):
        return None
    found = []
    for child, child_spec in zip(children, spec.children):
        below = broadcast_leaves(child, child_spec)
        if below is None:
            return None
        found += below
    return found
