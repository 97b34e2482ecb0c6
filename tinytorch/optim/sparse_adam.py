"""SparseAdam."""
import math

from ..tensor import Tensor, wrap
from .array_optimizer import ArrayOptimizer, check_betas, zeros_like
from .optimizer import Optimizer


class SparseAdam(ArrayOptimizer):
    """Adam (Kingma and Ba 2015) for the elements that sparse gradients hold. Other moments and parameters stay.

    For those elements: m += (1 - beta1) (g - m), v += (1 - beta2) (g^2 - v),
    p -= lr sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + eps), where t counts the parameter's steps.

    ValueError for sparse or complex parameters and for options out of range. RuntimeError for a dense gradient.

    >>> import tinytorch as torch
    >>> table = torch.nn.Embedding(3, 1, sparse=True, _weight=torch.ones(3, 1))
    >>> table(torch.tensor([1])).sum().backward()
    >>> torch.optim.SparseAdam(table.parameters(), lr=0.5).step(); table.weight.detach()
    tensor([[1.0000],
            [0.5000],
            [1.0000]])
    """

    _OPTIONS = {}

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        Optimizer.__init__(self, params, dict(lr=lr, betas=betas, eps=eps, maximize=maximize))
        every = [([i, k], p) for i, group in enumerate(self.param_groups) for k, p in enumerate(group["params"])]
        found = [at for at, p in every if p.is_sparse]
        if found:
            raise ValueError(f"Sparse params at indices {found}: SparseAdam requires dense parameter tensors")
        found = [at for at, p in every if p.is_complex()]
        if found:
            raise ValueError(f"Complex params at indices {found}: SparseAdam does not support complex parameters")

    def __setstate__(self, state):
        Optimizer.__setstate__(self, state)

    def _new_state(self, group, p):
        return {"step": 0, "exp_avg": zeros_like(p), "exp_avg_sq": zeros_like(p)}

    def _bundle(self, group):
        """Makes no bundle: each parameter has different elements to update."""

    def _update(self, group, lr, p, g, state):
        raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")

    def _update_sparse(self, group, lr, p, g):
        state = self._state_of(p, group)
        self._check_shapes(p._array, g._array, state)
        state["step"] += 1
        beta1, beta2 = group["betas"]
        elements = g._array.as_coalesced()
        if not elements.values.size:
            return
        at, g, m, v = tuple(elements.plan), wrap(elements.values), state["exp_avg"]._array, state["exp_avg_sq"]._array
        if group.get("maximize"):
            g = -g
        before, squares = wrap(m[at]), wrap(v[at])
        mean = (g - before) * (1 - beta1) + before
        square = (g * g - squares) * (1 - beta2) + squares
        m[at], v[at] = mean._array, square._array
        step = state["step"]
        rate = float(lr) * math.sqrt(1 - beta2 ** step) / (1 - beta1 ** step)
        p._array[at] = (wrap(p._array[at]) + mean / (square.sqrt() + group["eps"]) * -rate)._array
