"""Products of matrices."""
from __future__ import annotations

from ..registry import Refusal, translation
from .arithmetic import common


@translation("linear")
def linear(g, x, weight, bias=None):
    if x.rank == 2 and weight.rank == 2:
        return g.op("Gemm", x, weight, bias, transB=1)
    if weight.rank == 1:
        product = g.op("MatMul", x, weight)
    elif weight.array is not None:
        product = g.op("MatMul", x, g.constant(weight.array.T, weight.dtype))
    else:
        product = g.op("MatMul", x, g.transpose(weight, [1, 0]))
    return product if bias is None else g.op("Add", product, bias)


@translation("matmul", "mm", "bmm", "mv", "dot", "vdot", "linalg_matmul")
def matmul(g, a, b):
    dtype = common(a, b)
    if not a.rank or not b.rank:
        return g.op("Mul", g.cast(a, dtype), g.cast(b, dtype))
    return g.op("MatMul", g.cast(a, dtype), g.cast(b, dtype))


@translation("inner")
def inner(g, a, b):
    if not a.rank or not b.rank:
        return g.op("Mul", a, b)
    letters = "abcdefghijkl"
    first, second = letters[:a.rank - 1], letters[a.rank - 1:a.rank + b.rank - 2]
    return g.op("Einsum", a, b, equation=f"{first}z,{second}z->{first}{second}")


def _plus(g, x, product, beta, alpha):
    """beta * x + alpha * product."""
    if alpha != 1:
        product = g.op("Mul", product, g.number(alpha, g.out.dtype))
    if beta == 0:
        return product
    return g.op("Add", x if beta == 1 else g.op("Mul", x, g.number(beta, g.out.dtype)), product)


@translation("addmm")
def addmm(g, x, a, b, beta=1, alpha=1):
    if g.out.dtype.is_floating_point and x.rank <= 2:
        return g.op("Gemm", a, b, x, alpha=float(alpha), beta=float(beta))
    return _plus(g, x, g.op("MatMul", a, b), beta, alpha)


@translation("addmv", "baddbmm")
def baddbmm(g, x, a, b, beta=1, alpha=1):
    return _plus(g, x, g.op("MatMul", a, b), beta, alpha)


@translation("addbmm")
def addbmm(g, x, a, b, beta=1, alpha=1):
    return _plus(g, x, g.reduce("ReduceSum", g.op("MatMul", a, b), [0]), beta, alpha)


@translation("addr")
def addr(g, x, a, b, beta=1, alpha=1):
    return _plus(g, x, outer(g, a, b), beta, alpha)


@translation("outer", "ger")
def outer(g, a, b):
    return g.op("Mul", g.unsqueeze(g.cast(a, g.out.dtype), [1]), g.unsqueeze(g.cast(b, g.out.dtype), [0]))


@translation("einsum")
def einsum(g, equation, tensors, path=None):
    dtype = g.out.dtype
    return g.op("Einsum", *[g.cast(x, dtype) for x in tensors], equation=equation.replace(" ", ""))


@translation("tensordot")
def tensordot(g, a, b, of_a, of_b):
    letters = "abcdefghijklmnopqrstuvwxyz"
    first = list(letters[:a.rank])
    second = list(letters[a.rank:a.rank + b.rank])
    for i, j in zip(of_a, of_b):
        second[j] = first[i]
    kept = [x for i, x in enumerate(first) if i not in [k % a.rank for k in of_a]]
    kept += [x for i, x in enumerate(second) if i not in [k % b.rank for k in of_b]]
    return g.op("Einsum", a, b, equation=f"{''.join(first)},{''.join(second)}->{''.join(kept)}")


@translation("bilinear")
def bilinear(g, a, b, weight, bias=None):
    result = g.op("Einsum", a, weight, b, equation="...i,oij,...j->...o")
    return result if bias is None else g.op("Add", result, bias)


@translation("kron")
def kron(g, a, b):
    if a.rank != 2 or b.rank != 2:
        raise Refusal("of tensors that are not matrices")
    wide = g.op("Mul", g.unsqueeze(a, [1, 3]), g.unsqueeze(b, [0, 2]))
    return g.reshaped_to(wide, g.out, [-1, g.arithmetic("Mul", g.size(a, 1), g.size(b, 1))])


@translation("cross", "linalg_cross")
def cross(g, a, b, dim=-1):
    dim = a.shape.index(3) if dim is None else dim % a.rank
    ahead, behind = g.ints([1, 2, 0]), g.ints([2, 0, 1])
    parts = [[g.op("Gather", x, order, axis=dim) for order in (ahead, behind)] for x in (a, b)]
    return g.op("Sub", g.op("Mul", parts[0][0], parts[1][1]), g.op("Mul", parts[0][1], parts[1][0]))


@translation("linalg_det", "det")
def det(g, x):
    return g.op("Det", x)


@translation("cosine_similarity")
def cosine_similarity(g, a, b, dim=1, eps=1e-8):
    if not a.rank and not b.rank:
        raise Refusal("of tensors without dimensions")
    floor = g.number(eps, g.out.dtype)
    product = g.reduce("ReduceSum", g.op("Mul", a, b), [dim % max(a.rank, b.rank)])
    sizes = [g.op("Max", g.reduce("ReduceL2", x, [dim % x.rank]), floor) for x in (a, b)]
    return g.op("Div", product, g.op("Mul", *sizes))


@translation("pairwise_distance")
def pairwise_distance(g, a, b, p=2.0, eps=1e-6, keepdim=False):
    apart = g.op("Add", g.op("Sub", a, b), g.number(eps, g.out.dtype))
    return _sized(g, apart, p, max(a.rank, b.rank) - 1, keepdim)


def _sized(g, x, p, dim, keepdim=False):
    """The p-norm of a difference along a dimension."""
    if not p:
        raise Refusal("p=0")
    if p in (1, 2):
        return g.reduce(f"ReduceL{int(p)}", x, [dim], keepdim)
    size = g.op("Abs", x)
    if p == float("inf"):
        return g.reduce("ReduceMax", size, [dim], keepdim)
    total = g.reduce("ReduceSum", g.op("Pow", size, g.number(float(p), g.out.dtype)), [dim], keepdim)
    return g.op("Pow", total, g.number(1 / p, g.out.dtype))


@translation("cdist")
def cdist(g, a, b, p=2.0, mode=None):
    apart = g.op("Sub", g.unsqueeze(a, [a.rank - 1]), g.unsqueeze(b, [b.rank - 2]))
    return _sized(g, apart, p, a.rank)
