"""AdaptiveLogSoftmaxWithLoss: a softmax over many classes, most of which are rare."""
from __future__ import annotations

from collections import namedtuple
from itertools import pairwise

from ...ops.reduction.extremes import argmax
from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """log p(target) by a tree of softmaxes (Grave et al. 2017, Efficient softmax approximation for GPUs), and its mean.

    Classes are sorted by frequency. The head holds the first `cutoffs[0]` classes and one entry for each cluster of
    later classes. Cluster i has classes cutoffs[i] to cutoffs[i + 1] and is computed from
    in_features / div_value^(i + 1) features: log p(class) = log p(cluster) + log p(class | cluster).

    input (N, in_features) and target (N) of integers, or (in_features) and (). Returns (output, loss); `output` has the
    shape of the target. ValueError for cutoffs that do not increase between 1 and n_classes - 1; RuntimeError for other
    sizes or targets.

    >>> import tinytorch as torch
    >>> layer = torch.nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs=[5, 10])
    >>> layer(torch.ones(3, 16), torch.tensor([0, 7, 19])).output.shape
    torch.Size([3])
    >>> torch.allclose(layer.log_prob(torch.ones(3, 16)).exp().sum(1), torch.ones(3))
    True
    """

    in_features: int
    n_classes: int
    cutoffs: list[int]
    div_value: float
    head_bias: bool
    head: Linear
    tail: ModuleList

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        rising = all(low < high for low, high in pairwise(cutoffs))
        if not rising or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1 or any(int(c) != c for c in cutoffs):
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                             "where each value is between 1 and n_classes-1")
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        made = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **made)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(pairwise(self.cutoffs)):
            features = int(in_features // div_value ** (i + 1))
            self.tail.append(Sequential(Linear(in_features, features, bias=False, **made),
                                        Linear(features, high - low, bias=False, **made)))

    def reset_parameters(self):
        """Draw new random weights for the head and all clusters."""
        self.head.reset_parameters()
        for cluster in self.tail:
            for linear in cluster:
                linear.reset_parameters()

    def forward(self, input_, target_):
        _check_sizes(input_, target_)
        batched = target_.dim() > 0
        input, target = (input_, target_) if batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        output = input.new_zeros(target.size(0))
        head_classes = target.new_empty(target.size(0))
        found = 0
        for i, (low, high) in enumerate(pairwise([0, *self.cutoffs])):
            here = (target >= low) & (target < high)
            rows = here.nonzero().squeeze()
            if not rows.numel():
                continue
            found += rows.numel()
            if i == 0:
                head_classes.index_copy_(0, rows, target[here])
                continue
            within = target[here] - low
            scores = self.tail[i - 1](input.index_select(0, rows))
            head_classes.index_fill_(0, rows, self.shortlist_size + i - 1)
            log_p = F.log_softmax(scores, dim=1).gather(1, within.unsqueeze(1))
            output.index_copy_(0, rows, log_p.squeeze(1))
        if found != target.size(0):
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                               f"[{target.min().item()}, {target.max().item()}] were found. ")
        output += F.log_softmax(self.head(input), dim=1).gather(1, head_classes.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _get_full_log_prob(self, input, head_output):
        log_p = input.new_empty((head_output.size(0), self.n_classes))
        of_head = F.log_softmax(head_output, dim=1)
        log_p[:, :self.shortlist_size] = of_head[:, :self.shortlist_size]
        for i, (low, high) in enumerate(pairwise(self.cutoffs)):
            within = F.log_softmax(self.tail[i](input), dim=1)
            log_p[:, low:high] = within + of_head[:, self.shortlist_size + i].unsqueeze(1)
        return log_p

    def log_prob(self, input):
        """log p of all classes (N, n_classes) for an `input` (N, in_features)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input):
        """The most probable class (N): log_prob(input).argmax(1), computed only for rows that the head leaves open."""
        head_output = self.head(input)
        output = argmax(head_output, dim=1)
        undecided = output >= self.shortlist_size
        if not undecided.any():
            return output
        if undecided.all():
            return argmax(self._get_full_log_prob(input, head_output), dim=1)
        output[undecided] = argmax(self._get_full_log_prob(input[undecided], head_output[undecided]), dim=1)
        return output


def _check_sizes(input, target):
    dims = target.dim()
    if dims > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if dims and input.size(0) != target.size(0):
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if input.dim() != dims + 1:
        raise RuntimeError(f"{dims}D target tensor expects {dims + 1}D input tensors, but found inputs with size "
                           f"{input.size()}")
