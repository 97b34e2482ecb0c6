"""einsum: sums of products named by their subscripts, done by permutations and batched matrix products."""
from __future__ import annotations

from functools import lru_cache

import numpy as np

from ... import dtypes as dt
from ...autograd.promotion import converted, promoted
from ...autograd.public import public
from ...tensor import Tensor
from .products import count_of, matmul

__all__ = ["einsum"]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@public(python=True)
def einsum(*args) -> Tensor:
    """einsum("ij,jk->ik", a, b): products of the operands' elements, summed over the subscripts that the
    output lacks. Without "->", the output has the subscripts that occur once, in alphabetical order. "..."
    stands for dimensions that broadcast. Also einsum(a, [0, 1], b, [1, 2], [0, 2]).

    RuntimeError for a malformed equation and for sizes that do not agree.

    >>> import tinytorch as torch
    >>> torch.einsum("bij,bjk->bik", torch.ones(2, 3, 4), torch.ones(2, 4, 5)).shape
    torch.Size([2, 3, 5])
    """
    if len(args) < 2:
        raise ValueError("einsum(): must specify the equation string and at least one operand, "
                         "or at least one operand and its subscripts list")
    if isinstance(args[0], Tensor):
        equation, operands = _from_lists(args)
    else:
        equation, operands = args[0], args[1:]
        if not isinstance(equation, str):
            raise TypeError("einsum(): argument 'equation' (position 1) must be str, not "
                            f"{type(equation).__name__}")
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = operands[0]
    for i, x in enumerate(operands):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 1, but got {type(x).__name__}")
    labels, output = _parse(equation, tuple([x.array.ndim for x in operands]))
    return _contract(list(promoted(*operands)) if len(operands) > 1 else list(operands), labels, output)


def _from_lists(args):
    """The equation and operands of the form (a, [0, 1], b, [1, 2], [0, 2])."""
    def text(subscripts):
        for s in subscripts:
            if s is not Ellipsis and not 0 <= s < 52:
                raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
        return "".join("..." if s is Ellipsis else _LETTERS[s] for s in subscripts)
    pairs = len(args) // 2
    equation = ",".join(text(args[2 * i + 1]) for i in range(pairs))
    if len(args) % 2:
        equation += "->" + text(args[-1])
    return equation, args[0:2 * pairs:2]


# ------------------------------------------------------------------ the equation
@lru_cache(512)
def _parse(equation, ndims):
    """A list of labels for each operand and for the output; the dimensions of "..." are labelled -1, -2 ...
    from the right."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        which = "fewer operands were provided than specified" if len(terms) > len(ndims) else \
            "more operands were provided than specified"
        raise RuntimeError(f"einsum(): {which} in the equation")
    labels = [_labels(term, equation, i, ndim) for i, (term, ndim) in enumerate(zip(terms, ndims))]
    extra = max([sum(isinstance(c, int) for c in found) for found in labels])
    if not arrow:
        flat = [c for found in labels for c in found if isinstance(c, str)]
        return labels, list(range(-extra, 0)) + sorted(c for c in set(flat) if flat.count(c) == 1)
    output = list(range(-extra, 0)) if "..." in right else []
    head, _, tail = right.partition("...")
    output = list(head) + output + list(tail)
    known = {c for found in labels for c in found}
    for c in output:
        if isinstance(c, str) and c not in _LETTERS:
            raise RuntimeError(f"einsum(): invalid subscript given at index {equation.index('->') + 2} in the equation "
                               "string, subscripts must be in [a-zA-Z]")
        if c not in known:
            raise RuntimeError(f"einsum(): output subscript {c} does not appear in the equation for any input operand")
        if output.count(c) > 1:
            raise RuntimeError(f"einsum(): output subscript {c} appears more than once in the output")
    return labels, output


def _labels(term, equation, number, ndim):
    head, dots, tail = term.partition("...")
    for c in head + tail:
        if c not in _LETTERS:
            raise RuntimeError(f"einsum(): invalid subscript given at index {equation.index(c)} in the equation "
                               "string, subscripts must be in [a-zA-Z]")
    named = len(head) + len(tail)
    if named > ndim or named < ndim and not dots:
        raise RuntimeError(f"einsum(): the number of subscripts in the equation ({named}) "
                           + ("is more than the number of dimensions" if dots else
                              "does not match the number of dimensions")
                           + f" ({ndim}) for operand {number}" + ("" if dots else " and no ellipsis was given"))
    return list(head) + list(range(named - ndim, 0)) + list(tail)


# ------------------------------------------------------------------ the products
def _contract(operands, labels, output):
    sizes = {}
    for i, (x, names) in enumerate(zip(operands, labels)):
        own = {}
        for name, n in zip(names, x.array.shape):
            if own.setdefault(name, n) != n:
                raise RuntimeError(f"einsum(): subscript {name} is repeated for operand {i} but the sizes don't match, "
                                   f"{n} != {own[name]}")
            seen = sizes.setdefault(name, n)
            if seen == 1:
                sizes[name] = n
            elif n not in (1, seen):
                raise RuntimeError(f"einsum(): subscript {name} has size {n} for operand {i} which does not broadcast "
                                   f"with previously seen size {seen}")
    terms = [_simple(x, names) for x, names in zip(operands, labels)]
    result, names = terms[0]
    for i in range(1, len(terms)):
        x, theirs = terms[i]
        wanted = set(output).union(*[later for _, later in terms[i + 1:]])
        result, names = _pair(result, names, x, theirs, wanted)
    result, names = _sum_out(result, names, set(output))
    if len(operands) == 1 and result.array.dtype.kind in dt.INTEGRAL and set(labels[0]) - set(output):
        result = converted(result, np.dtype(np.int64))     # a sum, though over a size of 1
    present = [name for name in output if name in names]
    result = _permuted(result, [names.index(name) for name in present])
    if len(present) < len(output):             # what had size 1 everywhere
        result = result.reshape([sizes[name] for name in output])
    return result if not any(result is x for x in operands) else result.clone()


def _simple(x, names):
    """An operand without repeated labels (their diagonal) and without dimensions of size 1, which need no
    product to broadcast."""
    names = list(names)
    for name in dict.fromkeys(names):
        while names.count(name) > 1:
            i = names.index(name)
            j = names.index(name, i + 1)
            x = x.diagonal(0, i, j)
            del names[j], names[i]
            names.append(name)
    shape = x.array.shape
    if 1 in shape:
        names = [name for name, n in zip(names, shape) if n != 1]
        x = x.reshape([n for n in shape if n != 1])
    return x, names


def _permuted(x, dims):
    return x if dims == list(range(len(dims))) else x.permute(dims)


def _sum_out(x, names, wanted):
    """`x` summed over the labels that nobody wants."""
    drop = [i for i, name in enumerate(names) if name not in wanted]
    if drop:
        x, names = x.sum(drop), [name for name in names if name in wanted]
    return x, names


def _pair(a, names_a, b, names_b, wanted):
    """The product of two terms, summed over the labels of both that nobody else wants."""
    a, names_a = _sum_out(a, names_a, wanted | set(names_b))
    b, names_b = _sum_out(b, names_b, wanted | set(names_a))
    a, b = promoted(a, b)                      # sums of integers are int64
    shared = [name for name in names_a if name in names_b]
    batch = [name for name in shared if name in wanted]
    inner = [name for name in shared if name not in wanted]
    free_a = [name for name in names_a if name not in shared]
    free_b = [name for name in names_b if name not in shared]
    size = dict(zip(names_a, a.array.shape)) | dict(zip(names_b, b.array.shape))
    if not inner and not (free_a and free_b):  # nothing to add up: element by element
        order = batch + free_a + free_b
        return _spread(a, names_a, order, size) * _spread(b, names_b, order, size), order
    counts = [count_of([size[name] for name in group]) for group in (batch, free_a, inner, free_b)]
    a = _grouped(a, names_a, batch, free_a, inner, counts[0], counts[1], counts[2])
    b = _grouped(b, names_b, batch, inner, free_b, counts[0], counts[2], counts[3])
    order = batch + free_a + free_b
    shape = tuple([size[name] for name in order])
    product = matmul(a, b)
    return (product if product.array.shape == shape else product.reshape(shape)), order


def _grouped(x, names, batch, rows, columns, n, r, c):
    """`x` as matrices (batch, rows, columns), or as one matrix without a batch."""
    x = _permuted(x, [names.index(name) for name in batch + rows + columns])
    shape = (n, r, c) if batch else (r, c)
    return x if x.array.shape == shape else x.reshape(shape)


def _spread(x, names, order, size):
    """`x` with its labels in `order` and size 1 for those it lacks."""
    x = _permuted(x, [names.index(name) for name in order if name in names])
    return x.reshape([size[name] if name in names else 1 for name in order]) if len(names) < len(order) else x
