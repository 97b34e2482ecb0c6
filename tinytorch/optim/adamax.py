"""Adamax."""
from ..kernels import optim as kernels
from ..ops.layout.join import stack
from ..ops.reduction.extremes import amax
from .array_optimizer import (
    ArrayOptimizer,
    array_of,
    check_betas,
    count_step,
    new_count,
    penalised,
    real,
    reals,
    update_each,
    zeros_like,
)


class Adamax(ArrayOptimizer):
    """Adamax: Adam with the largest gradient so far in place of the second moment (Kingma and Ba 2015, section 7.1).

    m = beta1 m + (1 - beta1) g, u = max(beta2 u, |g| + eps) and, at step t, p -= lr / (1 - beta1^t) m / u.

    ValueError for options out of range; RuntimeError for sparse gradients.

    >>> import tinytorch as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> torch.optim.Adamax([w], lr=0.25).step(); w
    tensor([0.7500, 1.7500], requires_grad=True)
    """

    _OPTIONS = {**ArrayOptimizer._OPTIONS, "capturable": False}

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *,
                 maximize=False, differentiable=False, capturable=False):
        super().__init__(params, dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach, maximize=maximize,
            differentiable=differentiable, capturable=capturable))

    def _check(self, defaults):
        check_betas(defaults["betas"])
        super()._check(defaults)

    def _new_state(self, group, p):
        return {"step": new_count(group), "exp_avg": zeros_like(p), "exp_inf": zeros_like(p)}

    def _update(self, group, lr, p, g, state):
        kernels.adamax(real(p), real(g), array_of(state, "exp_avg"), array_of(state, "exp_inf"), count_step(state),
                       float(lr) if group["foreach"] else lr, *group["betas"], group["eps"],
                       group["weight_decay"], group["maximize"], group["foreach"])

    def _record(self, group, lr, p, g, state):
        beta1, beta2 = group["betas"]
        bias = 1 - beta1 ** count_step(state)
        p, g, m, largest = reals(p, penalised(g, p, group["weight_decay"]), state["exp_avg"], state["exp_inf"])
        m.lerp_(g, 1 - beta1)
        both = stack([largest.mul_(beta2), g.abs().add_(group["eps"])])
        largest.copy_(amax(both, 0))           # amax shares the gradient between equal elements
        p.addcdiv_(m, largest, value=-(lr / bias))


def adamax(params, grads, exp_avgs, exp_infs, state_steps, foreach=None, maximize=False, differentiable=False,
           capturable=False, has_complex=False, *, eps, beta1, beta2, lr, weight_decay):
    """Adamax's step for lists of tensors, in place."""
    update_each(Adamax, lr, params, grads, dict(eps=eps, weight_decay=weight_decay, maximize=maximize,
                foreach=foreach, betas=(beta1, beta2)), step=state_steps, exp_avg=exp_avgs, exp_inf=exp_infs)
