"""Connectionist temporal classification: the forward-backward algorithm on ndarrays, all examples at once.

Graves et al. 2006. The states are the labels with a blank before, between and behind them. In the arrays of each step
they are the first axis, so that the states of all examples, and those one or two further on, are runs of memory.
"""
from functools import lru_cache

import numpy as np

from . import native
from .expressions import log_of_sum
from .scatter import add_along

_FLOAT = np.dtype(np.float32)


@lru_cache(256)
def _sizes(shape, width):
    """(the sizes in the order of the kernels, the elements of a row of scores for each example, and for each step of
    each example)."""
    steps, batch, classes = shape
    row = 2 * width + 3
    return (steps, batch, classes, width, steps + 1, width + 1), batch * row, batch * steps * row


def losses(log_p, labels, frames, lengths, blank):
    """(-log of the probability of each row of `labels` (N, S) given `log_p` (T, N, C), arrays for `gradient`).
    `lengths` and `frames`: the numbers of labels and of steps that count in each example."""
    sizes, room, alpha = _sizes(log_p.shape, labels.shape[1])
    if log_p.dtype == _FLOAT and type(log_p) is np.ndarray:
        room, alpha = np.empty(2 * (room - 2 * len(labels)), _FLOAT), np.empty(alpha, _FLOAT)
        try:
            result = native.made("ctc", (len(labels),), *sizes, blank, np.ascontiguousarray(log_p), labels, frames,
                                 lengths, room, alpha)
        except IndexError:                     # NumPy raises one that names the label
            result = None
        if result is not None:
            return result, (labels, blank, alpha, result)
    steps, batch, _ = log_p.shape
    states = np.full((batch, 2 * labels.shape[1] + 1), blank)
    states[:, 1::2] = labels
    n = np.arange(batch)
    score = np.take_along_axis(log_p, states[None], 2)
    score[:, np.arange(states.shape[1]) > 2 * lengths[:, None]] = -np.inf
    jump = np.zeros(states.shape, bool)                    # whether a state may follow the one two before it
    jump[:, 2:] = (states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])
    score, jump = np.ascontiguousarray(score.swapaxes(1, 2)), np.ascontiguousarray(jump.T)
    beside = np.full((steps, 2 + len(jump), batch), -np.inf, log_p.dtype)          # alpha, with two states before
    alpha, skipped = beside[:, 2:], np.full(jump.shape, -np.inf, log_p.dtype)
    if steps:
        alpha[0, :2] = score[0, :2]
    for t in range(1, steps):
        before = beside[t - 1]
        np.copyto(skipped, before[:-2], where=jump)
        np.add(log_of_sum(log_of_sum(before[2:], before[1:-1]), skipped), score[t], out=alpha[t])
    if steps:
        last = alpha[np.maximum(frames - 1, 0), :, n]
        total = np.logaddexp(last[n, 2 * lengths], np.where(lengths > 0, last[n, 2 * lengths - 1], -np.inf))
    else:
        total = np.zeros(batch, log_p.dtype)
    result = -np.where(frames > 0, total, np.where(lengths == 0, 0.0, -np.inf)).astype(log_p.dtype)
    return result, (states, score, jump, alpha, result)


def gradient(g, log_p, frames, lengths, saved):
    """The gradient with respect to `log_p`, taken to be the output of log_softmax as in PyTorch."""
    if len(saved) == 4:                        # from C
        labels, blank, alpha, loss = saved
        sizes, room, _ = _sizes(log_p.shape, labels.shape[1])
        return native.result("ctc_backward", log_p.shape, *sizes, blank, np.ascontiguousarray(log_p),
                             np.ascontiguousarray(g), loss, alpha, labels, frames, lengths,
                             np.empty(4 * room, _FLOAT))
    states, score, jump, alpha, loss = saved
    steps, batch, _ = log_p.shape
    place = np.arange(len(jump))[:, None]
    final = (place == 2 * lengths) | (place == 2 * lengths - 1)
    follows = np.zeros_like(jump)
    follows[:-2] = jump[2:]
    ends = np.where(final, 0.0, -np.inf).astype(log_p.dtype)
    beside = np.full((len(jump) + 2, batch), -np.inf, log_p.dtype)                 # beta, with two states behind
    beta, skipped = beside[:-2], np.full_like(ends, -np.inf)
    finishing = set(frames.tolist())
    present = np.empty_like(alpha)             # log probability of each state at each step, given the labels
    for t in range(steps - 1, -1, -1):
        np.copyto(skipped, beside[2:], where=follows)
        ahead = log_of_sum(log_of_sum(beta, beside[1:-1]), skipped)
        if t + 1 in finishing:
            np.copyto(ahead, ends, where=frames == t + 1)
        np.add(alpha[t], ahead, out=present[t])
        np.add(ahead, score[t], out=beta)
    present += loss
    present, result = np.exp(present, out=present).swapaxes(1, 2), np.zeros_like(log_p)
    add_along(result, 2, np.broadcast_to(states, present.shape), present)
    result = np.exp(log_p) - result
    if not np.isfinite(loss).all() or log_p.min(initial=0) == -np.inf:       # PyTorch divides by these too
        result[~np.isfinite(loss[:, None] - log_p)] = np.nan
    result[np.arange(steps)[:, None] >= frames] = 0
    return (result * g[:, None]).astype(log_p.dtype, copy=False)
