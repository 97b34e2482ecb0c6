"""The sum of a negative log likelihood in half precision. torch adds up in that precision, in a cascade of sums.

Arrays are in single precision, and `rounded` rounds them to half precision.
"""
import numpy as np

from .softmax import pick

#: Each level adds up 16 sums of the level below, or elements: one for each value of a digit of 4 bits.
_LEVELS, _BITS = 8, 4


def _one_by_one(rows, rounded):
    """The sums of rows, from left to right."""
    result = np.zeros(len(rows), np.float32)
    for column in rows.T:
        result = rounded(result + column)
    return result


def _cascade(values, places, rounded):
    """The sum of the values at `places`. After a place whose last digits are 0, the sum of a level moves to the
    next."""
    rests = []
    for level in range(_LEVELS - 1):
        ends = places & ((1 << _BITS) - 1 << level * _BITS) == 0
        group = np.cumsum(ends) - ends
        starts = np.searchsorted(group, np.arange(group[-1] + 1)) if len(group) else np.zeros(0, int)
        column = np.arange(len(values)) - starts[group]
        rows = np.zeros((len(starts), column.max(initial=-1) + 1), np.float32)
        rows[group, column] = values
        values = _one_by_one(rows, rounded)
        count = np.count_nonzero(ends)
        rests.append(values[count:])
        values, places = values[:count], places[ends]
    return _one_by_one(np.concatenate([*rests, _one_by_one(values[None], rounded)])[None], rounded)[0]


def total_weight(target, weight, ignored, rounded):
    """The sum of the weights, by which the mean divides."""
    kept = target.reshape(-1) != ignored
    if weight is None:
        return rounded(np.float32(np.count_nonzero(kept))) or np.float32(np.nan)
    return _cascade(weight.take(target.reshape(-1)[kept]), np.flatnonzero(kept), rounded)


def nll(log_p, target, weight, ignored, mean, rounded):
    """The weighted sum of -log_p of the target classes, or with `mean` their mean. `log_p` (N, C, *), `target` (N,
    *)."""
    where, kept = pick(target, log_p.shape[1], ignored)
    kept = slice(None) if kept is None else kept.reshape(-1)
    losses = -log_p.reshape(-1).take(where).reshape(-1)[kept]
    if weight is not None:
        losses = rounded(losses * weight.take(target.reshape(-1)[kept]))
    result = _cascade(losses, np.arange(where.size)[kept], rounded)
    return result / total_weight(target, weight, ignored, rounded) if mean else result
