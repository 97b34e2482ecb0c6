"""Connectionist temporal classification: the forward-backward algorithm on ndarrays, all examples at once.

Graves et al. 2006. States are the labels with a blank before, between and behind them.
"""
import numpy as np


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
    occupied = np.full(log_p.shape, -np.inf, log_p.dtype)
    beta = np.full(states.shape, -np.inf, log_p.dtype)
    index = np.arange(batch)[:, None] * log_p.shape[2] + states
    for t in range(steps - 1, -1, -1):
        ahead = np.logaddexp(np.logaddexp(beta, _shifted(beta, -1)), np.where(follows, _shifted(beta, -2), -np.inf))
        beta = np.where((frames == t + 1)[:, None], np.where(final, 0.0, -np.inf), ahead) + score[t]
        np.logaddexp.at(occupied[t].reshape(-1), index, alpha[t] + beta)
    result = np.exp(log_p) - np.exp(occupied + loss[:, None] - log_p)
    result[np.arange(steps)[:, None] >= frames] = 0
    return (result * g[:, None]).astype(log_p.dtype, copy=False)
