"""RAdam."""
from ..kernels import optim as kernels
from .array_optimizer import (
    ArrayOptimizer,
    array_of,
    check_betas,
    count_step,
    new_count,
    penalised,
    real,
    reals,
    record_square,
    update_each,
    zeros_like,
)


class RAdam(ArrayOptimizer):
    """Adam whose adaptive rate is rectified by its variance (Liu et al. 2020); `decoupled_weight_decay`: as AdamW.

    m and v as in Adam. With l = 2 / (1 - beta2) - 1 and r = l - 2 t beta2^t / (1 - beta2^t), at step t:
    p -= lr m / (1 - beta1^t) while r <= 5, and then
    p -= lr m / (1 - beta1^t) sqrt((1 - beta2^t) (r - 4) (r - 2) l / ((l - 4) (l - 2) r)) / (sqrt(v) + eps).

    ValueError for options out of range; RuntimeError for sparse gradients.

    >>> import tinytorch as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> torch.optim.RAdam([w], lr=0.25).step(); w
    tensor([0.5000, 1.0000], requires_grad=True)
    """

    _OPTIONS = {"foreach": None, "maximize": False, "differentiable": False, "decoupled_weight_decay": False,
                "capturable": False}

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False):
        super().__init__(params, dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize, foreach=foreach,
            capturable=capturable, decoupled_weight_decay=decoupled_weight_decay, differentiable=differentiable))

    def _check(self, defaults):
        check_betas(defaults["betas"])
        super()._check(defaults)

    def _new_state(self, group, p):
        return {"step": new_count(group), "exp_avg": zeros_like(p), "exp_avg_sq": zeros_like(p)}

    def _update(self, group, lr, p, g, state):
        beta1, beta2 = group["betas"]
        step = count_step(state)
        kernels.radam(real(p), real(g), array_of(state, "exp_avg"), array_of(state, "exp_avg_sq"), lr,
                      1 - beta1 ** step, 1 - beta2 ** step, rectification(beta2, step), beta1, beta2, group["eps"],
                      group["weight_decay"], group["decoupled_weight_decay"], group["maximize"], group["foreach"])

    def _record(self, group, lr, p, g, state):
        (beta1, beta2), weight_decay = group["betas"], group["weight_decay"]
        p, g, m, v = reals(p, g, state["exp_avg"], state["exp_avg_sq"])
        step = count_step(state)
        if weight_decay != 0 and group["decoupled_weight_decay"]:
            p.mul_(1 - lr * weight_decay)
        else:
            g = penalised(g, p, weight_decay)
        m.lerp_(g, 1 - beta1)
        record_square(v, beta2, g)
        change, rectified = m / (1 - beta1 ** step) * lr, rectification(beta2, step)
        if rectified is not None:
            change = change * ((1 - beta2 ** step) ** 0.5 / v.sqrt().add(group["eps"])) * rectified
        p.add_(change, alpha=-1.0)


def rectification(beta2, step):
    """The factor of the adaptive rate of a step; None while the variance of that rate is undefined."""
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * step * beta2 ** step / (1 - beta2 ** step)
    if length <= 5:
        return None
    return ((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) ** 0.5


def radam(params, grads, exp_avgs, exp_avg_sqs, state_steps, decoupled_weight_decay=False, foreach=None,
          differentiable=False, capturable=False, has_complex=False, maximize=False, *, beta1, beta2, lr, weight_decay,
          eps):
    """RAdam's step for lists of tensors, in place."""
    update_each(RAdam, lr, params, grads, dict(decoupled_weight_decay=decoupled_weight_decay,
                weight_decay=weight_decay, eps=eps, maximize=maximize, foreach=foreach, betas=(beta1, beta2)),
                step=state_steps, exp_avg=exp_avgs, exp_avg_sq=exp_avg_sqs)
