"""einsum: sums of products that are named by subscripts. They are computed by permutations and batched matrix
products."""
from __future__ import annotations

from functools import lru_cache

from ... import dtypes as dt
from ...autograd.casts import lowered
from ...autograd.public import public
from ...errors import type_name
from ...seam import seam
from ...tensor import Tensor
from .products import _matmul, _mm, count_of, refuse_bools, unsafe_view

__all__ = ["einsum"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _equation_and_operands(args):
    """(equation, operands) from any form of the arguments."""
    if len(args) < 2:
        raise ValueError("einsum(): must specify the equation string and at least one operand, "
                         "or at least one operand and its subscripts list")
    if isinstance(args[0], Tensor):
        return _from_lists(args)
    if len(args) == 2 and isinstance(args[1], (tuple, list)):
        return args[0], *args[1]
    return args


@public(python=True, autocast="parts", handed=_equation_and_operands)
def einsum(*args) -> Tensor:
    """einsum("ij,jk->ik", a, b): products of the operands' elements, summed over the subscripts that the output lacks.
    Without "->" the output has the subscripts that occur once, in alphabetical order. "..." stands for dimensions that
    broadcast. Another form is einsum(a, [0, 1], b, [1, 2], [0, 2]).

    RuntimeError for a malformed equation and for sizes that do not agree.

    >>> import tinytorch as torch
    >>> torch.einsum("bij,bjk->bik", torch.ones(2, 3, 4), torch.ones(2, 4, 5)).shape
    torch.Size([2, 3, 5])
    """
    equation, *operands = _equation_and_operands(args)
    if not isinstance(equation, str):
        raise TypeError("einsum(): argument 'equation' (position 1) must be str, not "
                        f"{type(equation).__name__}")
    for i, x in enumerate(operands):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 1, but got {type(x).__name__}")
    if len(operands) == 1:
        diagonals, order, summed = _plan_of_one(equation, operands[0]._array.shape)
        x = _diagonals(operands[0], diagonals).permute(order)
        return x.sum(summed) if summed else x
    terms, pairs, last = _plan(equation, tuple([x._array.shape for x in operands]))
    terms = [_laid_out(_diagonals(x, diagonals), None, shape) for x, (diagonals, shape) in zip(operands, terms)]
    result = terms[0]
    for x, pair in zip(terms[1:], pairs):
        result = _pair(result, x, *pair)
    order, shape, is_view = last
    result = _laid_out(result, order, None)
    if shape is None:
        return result
    return result.view(shape) if is_view else unsafe_view(result, shape)


def _from_lists(args):
    """(equation, operands) from the form (a, [0, 1], b, [1, 2], [0, 2])."""
    def text(subscripts):
        for s in subscripts:
            if s is not Ellipsis and not 0 <= s < 52:
                raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
        return "".join("..." if s is Ellipsis else _LETTERS[s] for s in subscripts)
    pairs = len(args) // 2
    equation = ",".join(text(args[2 * i + 1]) for i in range(pairs))
    if len(args) % 2:
        equation += "->" + text(args[-1])
    return equation, *args[0:2 * pairs:2]


# ------------------------------------------------------------------ the equation
@lru_cache(512)
def _parse(equation, ndims):
    """A list of labels for each operand, and one for the output. The dimensions of "..." have the labels -1, -2 ...
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
        reason, ending = "does not match", " and no ellipsis was given"
        if dots:
            reason, ending = "is more than", ""
        raise RuntimeError(f"einsum(): the number of subscripts in the equation ({named}) {reason} the number of "
                           f"dimensions ({ndim}) for operand {number}{ending}")
    return list(head) + list(range(named - ndim, 0)) + list(tail)


# ------------------------------------------------------------------ plans, by the equation and the shapes
def _sizes(labels, shapes):
    """The size of every label. RuntimeError if the operands' sizes differ."""
    sizes = {}
    for i, (names, shape) in enumerate(zip(labels, shapes)):
        own = {}
        for name, n in zip(names, shape):
            if own.setdefault(name, n) != n:
                raise RuntimeError(f"einsum(): subscript {name} is repeated for operand {i} but the sizes don't match, "
                                   f"{n} != {own[name]}")
            seen = sizes.setdefault(name, n)
            if seen == 1:
                sizes[name] = n
            elif n not in (1, seen):
                raise RuntimeError(f"einsum(): subscript {name} has size {n} for operand {i} which does not broadcast "
                                   f"with previously seen size {seen}")
    return sizes


def _order(labels, output):
    """All labels in the order of dimensions to which torch aligns the operands: the output's labels, then the others.
    Among these, dimensions of "..." come first."""
    others = {name for names in labels for name in names} - set(output)
    return output + sorted(others, key=lambda name: (isinstance(name, str), name))


def _without_repeats(names):
    """The pairs of dimensions to take diagonals of, one after the other, and the labels that are left."""
    names, diagonals = list(names), []
    for name in dict.fromkeys(names):
        while names.count(name) > 1:
            i = names.index(name)
            j = names.index(name, i + 1)
            diagonals.append((i, j))
            del names[j], names[i]
            names.append(name)                 # NumPy puts the diagonal last
    return diagonals, names


@lru_cache(512)
def _plan_of_one(equation, shape):
    """The plan for one operand: the diagonals to take, the order of dimensions, and the summed ones."""
    labels, output = _parse(equation, (len(shape),))
    _sizes(labels, (shape,))
    order = _order(labels, output)
    diagonals, names = _without_repeats(labels[0])
    return diagonals, [names.index(name) for name in order], list(range(len(output), len(order)))


@lru_cache(512)
def _plan(equation, shapes):
    """The plan for several operands: for each operand the diagonals to take and its shape without dimensions of size 1
    (they broadcast without a product); for each pair, from the left, the arguments of `_pair`; and the order and shape
    of the output."""
    labels, output = _parse(equation, tuple(map(len, shapes)))
    sizes = _sizes(labels, shapes)
    order = _order(labels, output)
    terms, named = [], []
    for names, shape in zip(labels, shapes):
        size = dict(zip(names, shape))
        diagonals, names = _without_repeats(names)
        kept = [name for name in names if size[name] != 1]
        terms.append((diagonals, None if len(kept) == len(names) else [size[name] for name in kept]))
        named.append(kept)
    names, pairs = named[0], []
    for i in range(1, len(named)):
        wanted = set(output).union(*named[i + 1:])
        names, pair = _plan_of_pair(names, named[i], wanted, order, sizes)
        pairs.append(pair)
    present = [name for name in output if name in names]
    contracted = len(order) > len(output)      # torch's result is then a view, without the summed dimensions
    shape = tuple([sizes[name] for name in output]) if contracted or len(present) < len(output) else None
    return terms, pairs, (_permutation(names, present), shape, contracted)


def _permutation(names, order):
    return None if names == order else [names.index(name) for name in order]


def _plan_of_pair(a, b, wanted, order, sizes):
    """The labels of the product of terms with labels `a` and `b`, and the arguments of `_pair`. Without common labels
    to sum over, the terms are multiplied element by element. Else they become (batches of) matrices, whose labels fall
    into four groups: batch, rows, inner (summed) and columns."""
    (a, sum_a), (b, sum_b) = (_after_own_sum(one, other, wanted, order) for one, other in ((a, b), (b, a)))
    inner = [name for name in order if name in a and name in b and name not in wanted]
    if not inner:                              # no sum: the product is element by element
        names = [name for name in order if name in a or name in b]
        layouts = [_aligned(one, names, sizes) for one in (a, b)]
        return names, (sum_a, sum_b, False, False, *layouts, None)
    batch = [name for name in order if name in a and name in b and name in wanted]
    rows, columns = ([name for name in order if name in one and name not in other] for one, other in ((a, b), (b, a)))
    # torch multiplies in the order that gives the dimensions of the output, if the labels decide it
    others = [name for name in order if name not in a]
    swapped = bool(rows and others) and order.index(others[-1]) < order.index(rows[0])
    if swapped:
        a, b, rows, columns = b, a, columns, rows
    n, r, k, c = (count_of([sizes[name] for name in group]) for group in (batch, rows, inner, columns))
    lead = [n] if batch else []
    names = batch + rows + columns
    layouts = (_as_matrices(a, batch + rows + inner, lead + [r, k], sizes),
               _as_matrices(b, batch + inner + columns, lead + [k, c], sizes))
    shape = [sizes[name] for name in names]
    return names, (sum_a, sum_b, True, swapped, *layouts, None if shape == lead + [r, c] else shape)


def _aligned(one, names, sizes):
    """How a term with labels `one` is broadcast to `names`: the order of its dimensions, and its shape with sizes of 1
    where it has no label (None if it has all)."""
    permutation = _permutation(one, [name for name in names if name in one])
    if len(one) == len(names):
        return permutation, None
    return permutation, [sizes[name] if name in one else 1 for name in names]


def _after_own_sum(names, theirs, wanted, order):
    """The labels of a term after the sum over the labels that it alone has; and that sum, as (the order of dimensions,
    the summed ones) or None."""
    gone = [name for name in names if name not in theirs and name not in wanted]
    if not gone:
        return names, None
    aligned = [name for name in order if name in names]
    return [name for name in aligned if name not in gone], (_permutation(names, aligned),
                                                            [aligned.index(name) for name in gone])


def _as_matrices(names, order, shape, sizes):
    """(order of dimensions or None, shape or None) that turn a term into (a batch of) matrices."""
    return _permutation(names, order), None if [sizes[name] for name in order] == shape else shape


# ------------------------------------------------------------------ the products
def _diagonals(x, diagonals):
    for i, j in diagonals:
        x = x.diagonal(0, i, j)
    return x


def _laid_out(x, order, shape):
    if order is not None:
        x = x.permute(order)
    return x if shape is None else x.reshape(shape)


def _pair(a, b, sum_a, sum_b, contracted, swapped, layout_a, layout_b, shape):
    """The product of two terms. Each is first summed over the labels that it alone has."""
    if sum_a is not None:
        a = _laid_out(a, sum_a[0], None).sum(sum_a[1])
    if sum_b is not None:
        b = _laid_out(b, sum_b[0], None).sum(sum_b[1])
    if swapped:
        a, b = b, a
    a, b = _laid_out(a, *layout_a), _laid_out(b, *layout_b)
    if not contracted:
        return a * b
    if seam.up:
        a, b = lowered(a, b)
    if a._array.dtype is not b._array.dtype or a._array.dtype.kind in dt.BOOL:
        refuse_bools(a._array, "bmm")
        if a._array.dtype != b._array.dtype:
            raise RuntimeError(f"expected scalar type {type_name(a)} but found {type_name(b)}")
    return _laid_out(_mm(a, b) if a._array.ndim == 2 else _matmul(a, b), None, shape)
