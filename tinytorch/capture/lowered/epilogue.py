"""Merges the bias and the relu after a product of matrices into the product's call, and limits after batch norm into
its call. Moves a relu before the maxima of windows behind them, computes what constants give, and leaves out calls
and copies that nothing needs."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...kernels.native.table import KERNELS, by_element, failing
from .arrays import Place, Root
from .emit import Fused
from .tape import Call, Each

__all__ = ["folded", "in_place", "limited", "merged", "needed"]

_FLOAT, _FEW = np.dtype(np.float32), 1024
#: The calls that fail for no numbers in their arrays, and that write something.
_UNCHECKED = {"run", "move", "zero", *[
    name for name, (_, declared) in KERNELS.items() if ">" in declared and not failing(name)]}
#: The elementwise kernels of one array, which may write to that array.
_ELEMENTWISE = {name for name in KERNELS if by_element(name) == 1}
#: The limits among the words of batch_norm_by.
_AT_LIMITS = slice(4, 6)
#: {a call of a product: the places of m, n and relu in its words (None: m is 1, or it has no relu)}. Its last two words
#: are the bias and the result.
_PRODUCTS = {"row": (None, 0, 3), "small": (2, 3, 7), "product": (2, 3, None)}


def merged(calls: list[Any]) -> list[Any]:
    """The calls, without the additions of a bias and the relus that a product's call computes as well, and with relus
    behind maxima of windows."""
    calls = [part for call in calls for part in _parts(call)]
    uses, found = _uses(calls), []
    for call in calls:
        before = found[-1] if found else None
        if call.__class__ is Each and before.__class__ is Call and before.name in _PRODUCTS:
            both = _both(before, call, uses)
            if both is not None:
                found[-1] = both
                for x in both.places():
                    uses[x.root] += 1
                for x in (*before.places(), *call.places()):
                    uses[x.root] -= 1
                continue
        if call.__class__ is Call and call.name == "max_pool" and before.__class__ is Each:
            later = _later(before, call, uses)
            if later is not None:
                found[-1:] = later
                continue
        found.append(call)
    return found


def _parts(call):
    """A call for the derivative of tanh at few elements as the operations that it consists of, which are one call with
    others before and after them."""
    if call.__class__ is not Call or call.name != "tanh_backward" or call.words[0] > _FEW:
        return [call]
    n, g, t, out = call.words
    g, t, out = (x._replace(shape=(n,), strides=(4,)) for x in (g, t, out))
    if out.root.kind != "made" or out.root in (g.root, t.root):
        return [call]
    return [Each("mul", [t, t], out), Each("sub", [1.0, out], out), Each("mul", [g, out], out)]


def _later(relu, pool, uses):
    """[the maxima of windows, the relu], in this order, in which the relu has fewer elements. None if it is no relu, or
    if its result is needed elsewhere."""
    *words, x, result = pool.words
    numbers = [y for y in relu.operands if y.__class__ is Place and y.root.kind != "constant"]
    zeros = [y for y in relu.operands if y not in numbers]
    if relu.name != "maximum" or len(numbers) != 1 or not _is_zero(zeros[0]) or result.root.kind != "made":
        return None
    before, = numbers
    if relu.out.root is not x.root or x.root.kind != "made" or uses[x.root] != 2 or before.dtype != _FLOAT or not (
            before.contiguous and relu.out.contiguous and before.size == relu.out.size == x.size):
        return None
    if result.root is before.root:
        return None
    zero = zeros[0]
    zero = 0.0 if zero.__class__ is not Place else zero._replace(shape=result.shape, strides=(0,) * len(result.shape))
    return [Call(pool.name, [*words, before, result], {before.root}, {result.root}),
            Each("maximum", [zero, result], result)]


def _both(product, each, uses):
    """A product's call with the elementwise operation that follows it, or None if they are not one call."""
    # Reasons against it, in this order: the operation does not read the product's result; its own result has gaps or
    # lies in memory that the product reads; something else reads the product's result; it is another operation
    *words, bias, c = product.words
    m, n, relu = _PRODUCTS[product.name]
    m, n, out = 1 if m is None else words[m], words[n], each.out
    at = [i for i, x in enumerate(each.operands) if x.__class__ is Place and x.root is c.root]
    if len(at) != 1 or len(each.operands) != 2:
        return None
    x, other = each.operands[at[0]], each.operands[1 - at[0]]
    for whole in (x, out):
        if whole.dtype != _FLOAT or whole.size != m * n or not whole.contiguous:
            return None
    if x.offset != c.offset or out.root in product.reads:
        return None
    if out.root is c.root:
        if out.offset != c.offset:
            return None
    elif c.root.kind != "made" or uses[c.root] != 2:
        return None
    reads = set(product.reads)
    if each.name == "add" and bias is None and not (relu is not None and words[relu]) and _is_bias(other, n):
        if other.root in (c.root, out.root):
            return None
        reads.add(other.root)
        bias = other
    elif each.name == "maximum" and relu is not None and _is_zero(other):
        words[relu] = 1
    else:
        return None
    return Call(product.name, [*words, bias, out], reads, {out.root})


def _is_bias(x, n):
    """Whether this is a row of `n` numbers that is added to each row."""
    if x.__class__ is not Place or x.dtype != _FLOAT or not x.shape or x.shape[-1] != n:
        return False
    return x.strides[-1] == 4 and all([size == 1 or not step for size, step in zip(x.shape[:-1], x.strides)])


def _is_zero(x):
    if x.__class__ is Place:
        return x.root.kind == "constant" and not any(x.strides) and not x.root.real.any()
    return x.__class__ is float and x == 0


_ARITHMETIC = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


def folded(tape: Any, calls: list[Any]) -> list[Any]:
    """The calls, without copies of constants and without arithmetic of single constants, if elementwise operations
    alone read what they give."""
    written: dict[Root, int] = {}
    others = set()                             # roots that are read in other ways
    for call in calls:
        for root in call.writes:
            written[root] = written.get(root, 0) + 1
        if call.__class__ is not Each:
            others |= call.reads if call.__class__ is Call else {x.root for x in call.places()}
    known: dict[Root, Place] = {}              # roots -> constants with the same contents
    found: list[Any] = []
    for call in calls:
        if call.__class__ is Each:
            operands = [_known(x, known) for x in call.operands]
            call = Each(call.name, operands, call.out)
        is_copy = call.__class__ is Call and call.name == "run"
        if call.__class__ is Each or is_copy:
            to = call.words[2] if is_copy else call.out
            fits = to.root.kind == "made" and written[to.root] == 1 and to.root not in others and not to.offset and (
                to.nbytes == to.root.nbytes)
            made = (_copied(call) if is_copy else _computed(tape, call)) if fits else None
            if made is not None:
                known[to.root] = made
                continue
        found.append(call)
    return found


def _known(x, known):
    """The constant that a place has, or else the place."""
    if x.__class__ is not Place or x.root not in known:
        return x
    return x._replace(root=known[x.root].root, offset=x.offset + known[x.root].offset)


def _copied(run):
    """The constant that a call copies, if it is one."""
    source = run.words[1]
    return source if source.root.kind == "constant" and source.contiguous else None


def _computed(tape, each):
    """A constant with the result of an operation of single constants, or None."""
    if each.name not in _ARITHMETIC or each.out.size != 1 or each.out.dtype != _FLOAT:
        return None
    numbers = []
    for x in each.operands:
        if x.__class__ is Place and x.root.kind == "constant" and x.dtype == _FLOAT:
            numbers.append(x.root.real.reshape(-1).view(np.uint8)[x.offset:x.offset + 4].view(_FLOAT)[0])
        elif x.__class__ is float and float(np.float32(x)) == x:
            numbers.append(np.float32(x))
        else:
            return None
    with np.errstate(all="ignore"):
        return tape.place(tape.constant(np.asarray(_ARITHMETIC[each.name](*numbers), _FLOAT).reshape(each.out.shape)))


# ------------------------------------------------------------------ what is left out
def _uses(calls):
    """How many places of the calls lie in each root."""
    uses: dict[Root, int] = {}
    for call in calls:
        for x in call.places():
            uses[x.root] = uses.get(x.root, 0) + 1
    return uses


def needed(calls: list[Any]) -> list[Any]:
    """The calls, without those that write only to memory of the program that no later call reads. Kernels that check
    their arguments stay."""
    read: set[Root] = set()
    found = []
    for call in reversed(calls):
        if (call.__class__ is Each or call.__class__ is Call and call.name in _UNCHECKED) and all(
                [root.kind == "made" and root not in read for root in call.writes]):
            continue
        read |= call.reads
        found.append(call)
    return found[::-1]


def _joined(calls, join):
    """The calls, where join(the last call so far, the next one, the numbers of uses) takes the place of the two unless
    it is None."""
    uses, found = _uses(calls), []
    for call in calls:
        both = join(found[-1], call, uses) if found else None
        if both is None:
            found.append(call)
        else:
            found[-1] = both
    return found


def in_place(calls: list[Any]) -> list[Any]:
    """The calls, where an elementwise operation writes straight to an array that its result would only be copied to."""
    return _joined(calls, _written_to)


def _written_to(call, copy, uses):
    """The operation `call`, written to the array that it reads, if its result is used by `copy` alone, which copies it
    there. Else None."""
    if copy.__class__ is not Call or copy.name != "run":
        return None
    _, source, to = copy.words
    if call.__class__ is Each:
        operands, out = call.operands, call.out
    elif call.__class__ is Call and call.name in _ELEMENTWISE:
        _, *operands, out = call.words
    else:
        return None
    if out.root.kind != "made" or uses[out.root] != 2 or source.root is not out.root or not (
            out.nbytes == source.nbytes == to.nbytes and out.contiguous and to.contiguous):
        return None
    over = [x for x in operands if x.__class__ is Place and x.root is to.root]
    if not over or any([x.offset != to.offset or x.shape != out.shape or x.strides != out.strides for x in over]):
        return None
    to = out._replace(root=to.root, offset=to.offset)
    if call.__class__ is Each:
        return Each(call.name, operands, to)
    return Call(call.name, [call.words[0], *operands, to], {x.root for x in (*operands, to)}, {to.root})


def limited(calls: list[Any]) -> list[Any]:
    """The calls, whose Eaches are fused. The kernel of batch norm limits its result if the next call does nothing but
    that."""
    return _joined(calls, _with_limits)


def _limits(call):
    """((low, high), x, out) of a call that computes out = min(high, max(low, x)), all without gaps; else None."""
    if call.__class__ is Call and call.name == "relu":
        return (0.0, math.inf), *call.words[1:]
    if call.__class__ is not Fused or len(call.eaches) != 1 or call.inside:
        return None
    each, = call.eaches
    *numbers, x = each.operands
    if x.__class__ is not Place or x.dtype != _FLOAT or x.shape != each.out.shape or not (
            x.contiguous and each.out.contiguous) or any([y.__class__ is not float or y != y for y in numbers]):
        return None
    if each.name == "limit":
        return (numbers[1], numbers[0]), x, each.out
    if each.name == "within":
        return (numbers[0], numbers[1]), x, each.out
    if each.name == "maximum":
        return (numbers[0], math.inf), x, each.out
    return ((-math.inf, numbers[0]), x, each.out) if each.name == "minimum" else None


def _with_limits(norm, call, uses):
    """The call `norm` of batch norm with the limits of `call`. None if `norm` is another call, or if `call` does not
    limit its result."""
    found = _limits(call) if norm.__class__ is Call and norm.name == "batch_norm_by" else None
    if found is None or norm.words[_AT_LIMITS] != [-math.inf, math.inf]:
        return None
    limits, x, out = found
    *words, before = norm.words
    if x.root is not before.root or x.offset != before.offset or not out.nbytes == x.nbytes == before.nbytes:
        return None
    # Nothing else needs the result without limits, and the other result is in no memory that `norm` reads.
    if out.root is not before.root and (before.root.kind != "made" or uses[before.root] != 2 or out.root in norm.reads):
        return None
    words[_AT_LIMITS] = limits
    own = {before.root}
    return Call(norm.name, [*words, out], norm.reads - own | {out.root}, norm.writes - own | {out.root})
