"""The errors of derivatives in units of the last place, with and without `precise_tails`: a table in docs/debugging.md.

    python benchmarks/tails.py

Each function is differentiated at points from the middle to far out in both tails. The derivatives are compared with
closed forms in decimal numbers of 60 digits. Errors are in units of the last place of the true value; "all" stands for
a zero in the place of a number that the dtype can represent.
"""
from __future__ import annotations

import math
import sys
from collections.abc import Callable
from decimal import Decimal, localcontext
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

import tinytorch as torch  # noqa: E402
from tinytorch.nn import functional as F  # noqa: E402

#: The farthest points, by dtype: beyond them derivatives are below the smallest normal number.
REACH = {torch.float32: 80., torch.float64: 600.}


def sigmoid(x: Decimal) -> Decimal:
    return 1 / (1 + (-x).exp())


def curve(x: Decimal) -> Decimal:
    """The derivative of sigmoid."""
    return sigmoid(x) * sigmoid(-x)


class Case(NamedTuple):
    """A name, a function of a tensor of points, its first and second derivative at a point, and the share of REACH that
    is used."""

    name: str
    function: Callable
    first: Callable[[Decimal], Decimal]
    second: Callable[[Decimal], Decimal]
    part: float = 1.0


def _scores(x):
    """Rows of three scores. The middle one varies."""
    return torch.stack([torch.zeros_like(x), x, torch.ones_like(x)], 1)


def _classes(x):
    return torch.ones(len(x), dtype=torch.int64)


def _share(x):
    """softmax of (0, x, 1) at x, and 1 minus it."""
    others = 1 + Decimal(1).exp()
    return x.exp() / (x.exp() + others), others / (x.exp() + others)


def _second_share(x):
    p, rest = _share(x)
    return p * rest


CASES = [
    Case("sigmoid", torch.sigmoid, curve, lambda x: curve(x) * (sigmoid(-x) - sigmoid(x))),
    Case("tanh", torch.tanh, lambda x: 4 * curve(2 * x),
         lambda x: 8 * curve(2 * x) * (sigmoid(-2 * x) - sigmoid(2 * x)), .5),
    Case("softplus", F.softplus, sigmoid, curve),
    Case("logsigmoid", F.logsigmoid, lambda x: sigmoid(-x), lambda x: -curve(x)),
    Case("log_softmax", lambda x: F.log_softmax(_scores(x), 1)[:, 1], lambda x: _share(x)[1],
         lambda x: -_second_share(x)),
    Case("cross_entropy", lambda x: F.cross_entropy(_scores(x), _classes(x), reduction="none"),
         lambda x: -_share(x)[1], _second_share),
    Case("softmax", lambda x: F.softmax(_scores(x), 1)[:, 1], _second_share,
         lambda x: _second_share(x) * (_share(x)[1] - _share(x)[0])),
    Case("bce with logits", lambda x: F.binary_cross_entropy_with_logits(x, torch.ones_like(x), reduction="none"),
         lambda x: -sigmoid(-x), curve),
    Case("bce of small p", lambda x: F.binary_cross_entropy(x, torch.ones_like(x), reduction="none"),
         lambda p: -1 / p, lambda p: 1 / (p * p)),
]


def points(case: Case, dtype: torch.dtype) -> torch.Tensor:
    """The points of a case: numbers of this dtype, none of them round."""
    reach = REACH[dtype] * case.part
    found = [k * reach / 40 + .0137 for k in range(-40, 41)]
    if "small" in case.name:                   # probabilities, up to where the loss is cut off
        found = [math.exp(-abs(x)) for x in found if -min(reach, 95.) < x < -.02]
        if dtype is torch.float32:
            found = [p for p in found if p > 1e-18]            # below, the second derivative overflows
    return torch.tensor(found, dtype=dtype)


def derivatives(case: Case, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The first and the second derivative."""
    x = x.detach().requires_grad_()
    first, = torch.autograd.grad(case.function(x).sum(), x, create_graph=True)
    second, = torch.autograd.grad(first.sum(), x)
    return first.detach(), second


def error(found: torch.Tensor, x: torch.Tensor, exact: Callable[[Decimal], Decimal]) -> float:
    """The largest error, in units of the last place; inf for a zero that should be none."""
    worst, info = 0., torch.finfo(found.dtype)
    with localcontext() as context:
        context.prec = 60
        for value, point in zip(found.tolist(), x.tolist()):
            true = exact(Decimal(point))
            if abs(true) < Decimal(info.tiny):
                continue
            if value == 0 and true != 0:
                return math.inf
            unit = Decimal(2) ** Decimal(math.frexp(float(abs(true)))[1]) * Decimal(info.eps) / 2
            worst = max(worst, float(abs(Decimal(value) - true) / unit))
    return worst


def table() -> list[tuple]:
    """(name, dtype, errors of the first and second derivative with torch's rules, and with precise ones) for every
    case."""
    rows = []
    for case in CASES:
        for dtype in REACH:
            x, errors = points(case, dtype), []
            for enabled in (False, True):
                with torch.precise_tails(enabled):
                    found = derivatives(case, x)
                errors += [error(d, x, exact) for d, exact in zip(found, (case.first, case.second))]
            rows.append((case.name, dtype, *errors))
    return rows


def _text(value):
    if value == math.inf:
        return "all"
    return f"{value:.1e}" if value >= 1000 else f"{value:.1f}"


def main() -> None:
    print("| | dtype | first | second | precise: first | second |\n|---|---|---|---|---|---|")
    for name, dtype, *errors in table():
        print(f"| {name} | {str(dtype)[6:]} | {' | '.join(map(_text, errors))} |")


if __name__ == "__main__":
    main()
