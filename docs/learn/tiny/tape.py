"""A tensor with a tape, from chapter 2."""
import heapq
import inspect
import itertools

import numpy as np

next_number = itertools.count().__next__


def needs(rule):
    """The names of what a rule asks for besides the gradient."""
    return rule.__code__.co_varnames[1:rule.__code__.co_argcount]


class Node:
    """One use of an operation. `known` has its inputs, its settings and its result `ans`, by name."""

    def __init__(self, rules, edges, known):
        self.number = next_number()
        self.shape = known["ans"].shape
        self.edges = edges
        self.rules = {name: rules[name] for name in edges}
        self.saved = {}
        for rule in self.rules.values():
            for name in needs(rule):
                x = known[name]
                self.saved[name] = x.array if isinstance(x, Tensor) else x

    def run(self, g):
        """[(edge, gradient)] from the gradient of the result."""
        return [(self.edges[name], rule(g, *[self.saved[need] for need in needs(rule)]))
                for name, rule in self.rules.items()]

    def __lt__(self, other):
        return self.number > other.number      # so that a heap gives out the youngest node first


class Tensor:
    """An array of numbers, and where it came from."""

    def __init__(self, data, requires_grad=False):
        self.array = np.asarray(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.node = None                       # the node that made it
        self.grad = None

    @property
    def shape(self):
        return self.array.shape

    def edge(self):
        """Where the gradient of this tensor goes, or None if nobody wants it."""
        if not self.requires_grad:
            return None
        return self if self.node is None else self.node

    def backward(self, g=1.0):
        """Adds to `grad` of each leaf the derivative of this tensor by it, times `g`."""
        pending, heap = {}, []                 # pending: node or leaf -> its gradient so far
        arrived = [(self.edge(), np.broadcast_to(g, self.shape))]
        while True:
            for edge, d in arrived:
                if edge in pending:
                    pending[edge] = pending[edge] + d
                else:
                    pending[edge] = d
                    if isinstance(edge, Node):
                        heapq.heappush(heap, edge)
            if not heap:
                break
            node = heapq.heappop(heap)
            arrived = node.run(pending.pop(node))
        for leaf, d in pending.items():        # no node is left in it
            leaf.grad = np.array(d) if leaf.grad is None else leaf.grad + d


def op(**rules):
    """Makes a function on arrays a recorded operation on tensors. The rules are named after the inputs."""
    def decorate(forward):
        names = list(inspect.signature(forward).parameters)

        def call(*args, **settings):
            inputs = {name: x if isinstance(x, Tensor) else Tensor(x) for name, x in zip(names, args)}
            result = Tensor(forward(*[x.array for x in inputs.values()], **settings))
            edges = {name: edge for name, x in inputs.items() if (edge := x.edge()) is not None}
            if edges:
                result.node = Node(rules, edges, {**inputs, **settings, "ans": result})
                result.requires_grad = True
            return result
        return call
    return decorate


@op(a=lambda g: g, b=lambda g: g)
def add(a, b):
    return a + b


@op(a=lambda g: g, b=lambda g: -g)
def sub(a, b):
    return a - b


@op(a=lambda g, b: g * b, b=lambda g, a: g * a)
def mul(a, b):
    return a * b


@op(a=lambda g, ans: g * ans)
def exp(a):
    return np.exp(a)


@op(a=lambda g, a: g / a)
def log(a):
    return np.log(a)


@op(a=lambda g, ans: g * (1 - ans * ans))
def tanh(a):
    return np.tanh(a)


Tensor.__add__ = Tensor.__radd__ = add
Tensor.__mul__ = Tensor.__rmul__ = mul
Tensor.__sub__ = sub
Tensor.__rsub__ = lambda a, b: sub(b, a)
Tensor.__neg__ = lambda a: mul(a, -1.0)
Tensor.exp, Tensor.log, Tensor.tanh = exp, log, tanh
