"""Connectionist temporal classification: the forward-backward algorithm on ndarrays, all examples at once.

Graves et al. 2006. States are the labels with a blank before, between and behind them.
"""
import numpy as np

from .scatter import add_along


def _shifted(a, k):
    """`a` moved k states up (down if negative) along the last axis, -inf moving in."""
    result = np.full_like(a, -np.inf)
    if k > 0:
        result[..., k:] = a[..., :-k]
    else:
        result[..., :k] = a[..., -k:]
    return result


def losses(log_p, labels, frames, lengths, blank):
    """-log of the probability of each row of `labels` (N, S), of which `lengths` count, given `log_p` (T, N, C), of
    which `frames` count; and what `gradient` needs."""
    steps, batch, _ = log_p.shape
    states = np.full((batch, 2 * labels.shape[1] + 1), blank)
    states[:, 1::2] = labels
    n = np.arange(batch)
    score = np.take_along_axis(log_p, states[None], 2)
    score[:, np.arange(states.shape[1]) > 2 * lengths[:, None]] = -np.inf
    jump = np.zeros(states.shape, bool)                    # may this state follow the one two before?
    jump[:, 2:] = (states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])
    alpha = np.full_like(score, -np.inf)
    if steps:
        alpha[0, :, :2] = score[0, :, :2]
    for t in range(1, steps):
        before = alpha[t - 1]
        reached = np.logaddexp(before, _shifted(before, 1))
        skipped = np.where(jump, _shifted(before, 2), -np.inf)
        alpha[t] = np.logaddexp(reached, skipped) + score[t]
    if steps:
        last = alpha[np.maximum(frames - 1, 0), n]
        total = np.logaddexp(last[n, 2 * lengths], np.where(lengths > 0, last[n, 2 * lengths - 1], -np.inf))
    else:
        total = np.zeros(batch, log_p.dtype)
    result = -np.where(frames > 0, total, np.where(lengths == 0, 0.0, -np.inf)).astype(log_p.dtype)
    return result, (states, score, jump, alpha, result)


def gradient(g, log_p, frames, lengths, saved):
    """The gradient with respect to `log_p`, taken to be the output of log_softmax as in PyTorch."""
    states, score, jump, alpha, loss = saved
    steps, batch, _ = log_p.shape
    place = np.arange(states.shape[1])
    final = (place == 2 * lengths[:, None]) | (place == 2 * lengths[:, None] - 1)
    follows = np.zeros_like(jump)
    follows[:, :-2] = jump[:, 2:]
    ends = np.where(final, 0.0, -np.inf).astype(log_p.dtype)
    ahead = np.full(states.shape, -np.inf, log_p.dtype)
    present = np.empty_like(alpha)             # log of the probability of each state at each step, given the labels
    for t in range(steps - 1, -1, -1):
        if t < steps - 1:
            ahead = np.logaddexp(np.logaddexp(beta, _shifted(beta, -1)), np.where(follows, _shifted(beta, -2), -np.inf))
        ahead = np.where((frames == t + 1)[:, None], ends, ahead)
        np.add(alpha[t], ahead, out=present[t])
        beta = ahead + score[t]
    present += loss[:, None]
    result = np.zeros_like(log_p)
    add_along(result, 2, np.broadcast_to(states, present.shape), np.exp(present, out=present))
    result = np.exp(log_p) - result
    if not np.isfinite(loss).all() or log_p.min(initial=0) == -np.inf:       # as PyTorch, which divides by all of them
        result[~np.isfinite(loss[:, None] - log_p)] = np.nan
    result[np.arange(steps)[:, None] >= frames] = 0
    return (result * g[:, None]).astype(log_p.dtype, copy=False)
