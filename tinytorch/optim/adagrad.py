"""Adagrad."""
import numpy as np

from .. import dtypes as dt
from ..autograd.promotion import scalar_as
from ..kernels import optim as kernels
from ..tensor import wrap
from .array_optimizer import (
    ArrayOptimizer,
    array_of,
    check_fused,
    count_step,
    new_count,
    penalised,
    real,
    reals,
    update_each,
)


class Adagrad(ArrayOptimizer):
    """Adagrad (Duchi, Hazan and Singer 2011).

    s += g^2 and, at step t, p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps). The state exists from the start.

    ValueError for options out of range. Sparse gradients update the elements that they hold, without weight decay
    (RuntimeError with it).

    >>> import tinytorch as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> torch.optim.Adagrad([w], lr=0.25).step(); w
    tensor([0.7500, 1.7500], requires_grad=True)
    """

    _OPTIONS = {**ArrayOptimizer._OPTIONS, "fused": None}

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10,
                 foreach=None, *, maximize=False, differentiable=False, fused=None):
        super().__init__(params, dict(
            lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value, foreach=foreach, maximize=maximize,
            differentiable=differentiable, fused=fused))
        for group in self.param_groups:        # as in torch, Adagrad makes its state at the start
            if group["fused"]:
                check_fused(group["params"])
            for p in group["params"]:
                self.state[p] = self._new_state(group, p._array)

    def _check(self, defaults):
        super()._check(defaults)
        for name in ("lr_decay", "initial_accumulator_value"):
            if not defaults[name] >= 0.0:
                raise ValueError(f"Invalid {name} value: {defaults[name]}")

    def _new_state(self, group, p):
        start = self.defaults["initial_accumulator_value"]
        start = complex(start, start) if p.dtype.kind == dt.COMPLEX else start
        return {"step": new_count(group), "sum": wrap(np.full_like(p, scalar_as(start, p.dtype)))}

    def _update(self, group, lr, p, g, state):
        lr = float(lr / (1 + (count_step(state) - 1) * group["lr_decay"]))
        kernels.adagrad(real(p), real(g), array_of(state, "sum"), lr, group["eps"], group["weight_decay"],
                        group["maximize"], group["foreach"], group["fused"])

    def _record(self, group, lr, p, g, state):
        lr = lr / (1 + (count_step(state) - 1) * group["lr_decay"])
        p, g, total = reals(p, penalised(g, p, group["weight_decay"]), state["sum"])
        total.addcmul_(g, g, value=1)
        p.addcdiv_(g, total.sqrt() + group["eps"], value=-lr)

    def _update_sparse(self, group, lr, p, g):
        if group["fused"]:
            raise RuntimeError("`fused` does not support sparse grad or complex param")
        if group["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        state = self._state_of(p, group)
        lr = float(lr / (1 + (count_step(state) - 1) * group["lr_decay"]))
        elements = g._array.as_coalesced()
        at, values, sums = tuple(elements.plan), wrap(elements.values), state["sum"]._array
        values = -values if group["maximize"] else values
        square = wrap(sums[at]) + values * values
        sums[at] = square._array
        p._array[at] = (wrap(p._array[at]) + values / (square.sqrt() + group["eps"]) * -lr)._array

    def share_memory(self):
        """Does nothing: the state stays in this process."""


def adagrad(params, grads, state_sums, state_steps, fused=None, grad_scale=None, found_inf=None, has_sparse_grad=False,
            foreach=None, differentiable=False, has_complex=False, *, lr, weight_decay, lr_decay, eps, maximize):
    """Adagrad's step for lists of tensors, in place."""
    update_each(Adagrad, lr, params, grads, dict(weight_decay=weight_decay, lr_decay=lr_decay, eps=eps,
                maximize=maximize, foreach=foreach, fused=fused), step=state_steps, sum=state_sums)
