"""Sizes that vary: sums of products of symbols, and the ranges of symbols."""
from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Expression", "Range", "fitted"]


class Range(NamedTuple):
    """The sizes that a symbol stands for; `upper` is None where there is no limit."""

    lower: int
    upper: int | None

    def __repr__(self):
        return f"VR[{self.lower}, {'int_oo' if self.upper is None else self.upper}]"


class Expression:
    """A sum of products of symbols: {symbols of a product, in order: its factor}.

    >>> batch = Expression.symbol("s0")
    >>> 2 * batch + 1
    2*s0 + 1
    """

    __slots__ = ("terms",)

    def __init__(self, terms: dict[tuple[str, ...], int]) -> None:
        self.terms = {key: value for key, value in terms.items() if value}

    @classmethod
    def symbol(cls, name: str) -> Expression:
        """One symbol alone."""
        return cls({(name,): 1})

    @classmethod
    def number(cls, n: int) -> Expression:
        """A number, without symbols."""
        return cls({(): n})

    def __add__(self, other: Expression | int) -> Expression:
        terms = dict(self.terms)
        for key, value in _expression(other).terms.items():
            terms[key] = terms.get(key, 0) + value
        return Expression(terms)

    def __mul__(self, other: Expression | int) -> Expression:
        terms = {}
        for a, x in self.terms.items():
            for b, y in _expression(other).terms.items():
                key = tuple(sorted(a + b))
                terms[key] = terms.get(key, 0) + x * y
        return Expression(terms)

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Expression, int)) and self.terms == _expression(other).terms

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.terms.items())))

    def at(self, sizes: dict[str, int]) -> int:
        """The value for given sizes of the symbols."""
        return sum([value * math.prod([sizes[name] for name in key]) for key, value in self.terms.items()])

    def known(self) -> int | None:
        """The value if there are no symbols, else None."""
        return self.terms.get((), 0) if not any(self.terms) else None

    def __repr__(self) -> str:
        parts = []
        for key in sorted(self.terms, key=lambda k: (-len(k), k)):
            value = self.terms[key]
            factors = [str(value)] * (value != 1 or not key)
            parts.append("*".join([*factors, *key]))
        return " + ".join(parts) or "0"

    # ------------------------------------------------------------- the notation of SymPy in files
    def written(self) -> str:
        """The notation of .pt2 files: the text of SymPy's constructors."""
        parts = []
        for key, value in sorted(self.terms.items(), key=lambda item: (-len(item[0]), item[0])):
            factors = [f"Symbol({name!r}, positive=True, integer=True)" for name in key]
            if value != 1 or not key:
                factors.insert(0, f"Integer({value})")
            parts.append(factors[0] if len(factors) == 1 else f"Mul({', '.join(factors)})")
        return parts[0] if len(parts) == 1 else f"Add({', '.join(parts)})"

    @classmethod
    def read(cls, text: str) -> Expression | None:
        """The expression of such a text; None if it has more than sums and products."""
        try:
            return _read(ast.parse(text, mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _expression(x):
    return x if isinstance(x, Expression) else Expression.number(x)


def _read(node):
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise ValueError
    name, args = node.func.id, node.args
    if name == "Symbol" and len(args) == 1 and isinstance(args[0], ast.Constant) and isinstance(args[0].value, str):
        return Expression.symbol(args[0].value)
    if name == "Integer" and len(args) == 1:
        return Expression.number(int(ast.literal_eval(args[0])))
    if name in ("Add", "Mul") and args:
        total = _read(args[0])
        for part in args[1:]:
            total = total + _read(part) if name == "Add" else total * _read(part)
        return total
    raise ValueError


def fitted(values: Sequence[int], sizes: Sequence[dict[str, int]]) -> Expression | int | None:
    """The expression that has these values for these sizes of the symbols. The first sizes are those of the example;
    in the k-th sizes after it, the k-th symbol alone is larger by one. The result is a number if all values are equal,
    and None if no linear expression and no single product fits.

    >>> fitted([7, 9, 11], [{"s0": 3}, {"s0": 4}, {"s0": 5}])
    2*s0 + 1
    """
    first, names = values[0], list(sizes[0])
    if all([v == first for v in values]):
        return first
    slopes = [values[k + 1] - first for k in range(len(names))]
    linear = Expression({(name,): slope for name, slope in zip(names, slopes)})
    linear = linear + (first - linear.at(sizes[0]))
    used = tuple([name for name, slope in zip(names, slopes) if slope])
    product = math.prod([sizes[0][name] for name in used])
    candidates = [linear]
    if product and first % product == 0:
        candidates.append(Expression({tuple(sorted(used)): first // product}))
    return next((e for e in candidates if [e.at(s) for s in sizes] == list(values)), None)
