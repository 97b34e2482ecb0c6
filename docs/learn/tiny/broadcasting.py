"""Gradients that fit the shapes of their tensors, sums and products of matrices, from chapter 3."""
import numpy as np

from tiny.tape import Node, Tensor, op


def fit(g, shape):
    """A gradient in the shape of its tensor: summed where the tensor was repeated, repeated where it was summed."""
    lead = max(g.ndim - len(shape), 0)
    g = g.sum(axis=tuple(range(lead)))
    repeated = tuple([i for i, (now, size) in enumerate(zip(g.shape, shape)) if size == 1 and now != 1])
    return np.broadcast_to(g.sum(axis=repeated, keepdims=True), shape)


run_unfitted = Node.run


def run_fitted(self, g):
    """[(edge, gradient)], each gradient in the shape of its edge."""
    return [(edge, fit(d, edge.shape)) for edge, d in run_unfitted(self, g)]


Node.run = run_fitted


@op(a=lambda g: g)
def total(a, axis=None):
    return a.sum() if axis is None else a.sum(axis=axis, keepdims=True)


@op(a=lambda g, b: g / b, b=lambda g, b, ans: -g * ans / b)
def div(a, b):
    return a / b


@op(a=lambda g, b: g @ b.T, b=lambda g, a: a.T @ g)
def matmul(a, b):
    return a @ b


def mean(a, axis=None):
    """The mean over one dimension, which stays with the size 1, or over all."""
    return total(a, axis=axis) / (a.array.size if axis is None else a.shape[axis])


Tensor.sum, Tensor.mean = total, mean
Tensor.__truediv__ = div
Tensor.__rtruediv__ = lambda a, b: div(b, a)
Tensor.__matmul__ = matmul
