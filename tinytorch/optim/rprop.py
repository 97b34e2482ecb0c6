"""Rprop."""
import numpy as np

from .. import dtypes as dt
from ..autograd.promotion import scalar_as
from ..kernels import optim as kernels
from ..tensor import Tensor, wrap
from .array_optimizer import (
    ArrayOptimizer,
    array_of,
    check_lr,
    count_step,
    new_count,
    number_of,
    real,
    reals,
    refused_capture,
    update_each,
    zeros_like,
)


class Rprop(ArrayOptimizer):
    """Resilient backpropagation (Riedmiller and Braun 1993): it uses only the sign of the gradient.

    Each element has a step size, `lr` at first. It grows by the factor etas[1] where the gradient keeps its sign, and
    shrinks by etas[0] where the sign changes, within `step_sizes`. p -= size sign(g), except where the sign changed:
    there p stays, and the next step takes the gradient as zero.

    ValueError for options out of range; RuntimeError for sparse gradients.

    >>> import tinytorch as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> torch.optim.Rprop([w], lr=0.25).step(); w
    tensor([0.7500, 1.7500], requires_grad=True)
    """

    _OPTIONS = {**ArrayOptimizer._OPTIONS, "capturable": False}
    _CAPTURED = refused_capture(), refused_capture()

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None,
                 maximize=False, differentiable=False):
        super().__init__(params, dict(
            lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize,
            differentiable=differentiable, capturable=capturable))

    def _check(self, defaults):
        check_lr(defaults["lr"])
        shorter, longer = defaults["etas"][:2]
        if not 0.0 < shorter < 1.0 < longer:
            raise ValueError(f"Invalid eta values: {shorter}, {longer}")

    def _new_state(self, group, p):
        lr = group["lr"]
        size: complex = float(number_of(lr) if isinstance(lr, Tensor) else lr)
        size = complex(size, size) if p.dtype.kind == dt.COMPLEX else size
        return {"step": new_count(group), "prev": zeros_like(p),
                "step_size": wrap(np.full_like(p, scalar_as(size, p.dtype)))}

    def _update(self, group, lr, p, g, state):
        count_step(state)
        kernels.rprop(real(p), real(g), array_of(state, "prev"), array_of(state, "step_size"), *group["step_sizes"],
                      *group["etas"], group["maximize"], group["foreach"])

    def _record(self, group, lr, p, g, state):
        count_step(state)
        shorter, longer = group["etas"]
        p, g, prev, size = reals(p, g, state["prev"], state["step_size"])
        sign = g.mul(prev.clone()).sign()
        sign[sign.gt(0)] = longer
        sign[sign.lt(0)] = shorter
        sign[sign.eq(0)] = 1
        size.mul_(sign).clamp_(*group["step_sizes"])
        g = g.clone()
        g[sign.eq(shorter)] = 0
        p.addcmul_(g.sign(), size, value=-1)
        prev.copy_(g)


def rprop(params, grads, prevs, step_sizes, state_steps, foreach=None, capturable=False, maximize=False,
          differentiable=False, has_complex=False, *, step_size_min, step_size_max, etaminus, etaplus):
    """Rprop's step for lists of tensors, in place."""
    update_each(Rprop, None, params, grads, dict(maximize=maximize, foreach=foreach,
                step_sizes=(step_size_min, step_size_max), etas=(etaminus, etaplus)), step=state_steps, prev=prevs,
                step_size=step_sizes)
