"""Counts of writes, views that follow their base, and writes in place, from chapter 4."""
import numpy as np

from tiny.broadcasting import Node, Tensor

make_plain_tensor, make_plain_node, run_unchecked = Tensor.__init__, Node.__init__, Node.run


def make_tensor(self, data, requires_grad=False):
    make_plain_tensor(self, data, requires_grad)
    self.version = [0]                         # the count of writes; views have that of their base
    self.base = self.places = self.seen = None


def make_node(self, rules, edges, known):
    make_plain_node(self, rules, edges, known)
    tensors = [known[name] for name in self.saved if isinstance(known[name], Tensor)]
    self.versions = [(x.version, x.version[0]) for x in tensors]


def run_checked(self, g):
    for version, saved_at in self.versions:
        if version[0] != saved_at:
            raise RuntimeError(f"a tensor that backward needs was written to: its version is {version[0]}, "
                               f"and it was saved at version {saved_at}")
    return run_unchecked(self, g)


Tensor.__init__, Node.__init__, Node.run = make_tensor, make_node, run_checked


def view(source, change):
    """A view of `source`. `change` is a function that makes a view of an array, such as `lambda a: a[1:]`."""
    result = Tensor(change(source.array))
    if source.base is None:
        result.base, places = source, np.arange(source.array.size).reshape(source.shape)
    else:
        result.base, places = source.base, source.places
    result.places, result.version = change(places), source.version
    return result


def to_base(g, places, whole):
    """The gradient of a base with the shape `whole`, from the gradient of a view of it."""
    result = np.zeros(whole)
    result.flat[places] = g
    return result


edge_of_tensor = Tensor.edge


def edge(self):
    """As before. A view asks whether it was written to its memory since, and then takes its history from the base."""
    if self.base is not None:
        self.requires_grad = self.base.requires_grad
        if self.requires_grad and self.seen != self.version[0]:
            self.node = Node({"base": to_base}, {"base": self.base.edge()},
                             {"places": self.places, "whole": self.base.shape, "ans": self})
            self.seen = self.version[0]
    return edge_of_tensor(self)


Tensor.edge = edge
Tensor.__getitem__ = lambda self, index: view(self, lambda a: a[index])
Tensor.T = property(lambda self: view(self, lambda a: a.T))


def keep_rest(g, places):
    """The gradient of what the base was before: zero where it was overwritten."""
    result = np.array(g)
    result.flat[places] = 0
    return result


WRITE = {"source": lambda g: g}
WRITE_PART = {"base": keep_rest, "source": lambda g, places: g.reshape(-1)[places]}


def write_(self, source):
    """Writes `source` into the memory of this tensor, and into its history."""
    source = source if isinstance(source, Tensor) else Tensor(source)
    owner = self if self.base is None else self.base
    if owner.requires_grad and owner.node is None:
        raise RuntimeError("a leaf that needs a gradient, or a view of it, cannot be written to")
    edges = {"base": owner.edge(), "source": source.edge()}
    self.array[...] = source.array
    self.version[0] += 1
    if self.base is None:
        del edges["base"]                      # nothing is left of what it was
    edges = {name: edge for name, edge in edges.items() if edge is not None}
    rules = WRITE if self.base is None else WRITE_PART
    owner.node = Node(rules, edges, {"places": self.places, "ans": owner}) if edges else None
    owner.requires_grad = bool(edges)
    return self


Tensor.write_ = write_
Tensor.add_ = lambda self, other: write_(self, self + other)
Tensor.mul_ = lambda self, other: write_(self, self * other)
