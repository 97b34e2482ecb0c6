"""NAdam."""
from .. import dtypes as dt
from ..kernels import optim as kernels
from .array_optimizer import (
    ArrayOptimizer,
    array_of,
    check_betas,
    count_step,
    half_number_of,
    new_count,
    number,
    penalised,
    put_number,
    real,
    reals,
    record_square,
    refused_capture,
    update_each,
    zeros_like,
)


class NAdam(ArrayOptimizer):
    """Adam with Nesterov's momentum (Dozat 2016); `decoupled_weight_decay`: as AdamW.

    m and v as in Adam and mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2); at step t,
    p -= lr (mu_{t+1} m / (1 - mu_1 ... mu_{t+1}) + (1 - mu_t) g / (1 - mu_1 ... mu_t)) /
    (sqrt(v / (1 - beta2^t)) + eps).

    ValueError for options out of range; RuntimeError for sparse gradients.

    >>> import tinytorch as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> torch.optim.NAdam([w], lr=0.25).step(); w
    tensor([0.7359, 1.7359], requires_grad=True)
    """

    _OPTIONS = {"maximize": False, "foreach": None, "capturable": False, "differentiable": False,
                "decoupled_weight_decay": False}
    _NUMBERS = ("step", "mu_product")
    _CAPTURED = (refused_capture("params, mu_products and state_steps"),
                 refused_capture("params, mu_products, and state_steps", xla=False))

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False):
        super().__init__(params, dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay, maximize=maximize, foreach=foreach,
            capturable=capturable, differentiable=differentiable))

    def _check(self, defaults):
        check_betas(defaults["betas"])
        super()._check(defaults)
        if not defaults["momentum_decay"] >= 0.0:
            raise ValueError(f"Invalid momentum_decay value: {defaults['momentum_decay']}")

    def _new_state(self, group, p):
        return {"step": new_count(group), "mu_product": number(1), "exp_avg": zeros_like(p),
                "exp_avg_sq": zeros_like(p)}

    def _update(self, group, lr, p, g, state):
        step, product = count_step(state), state["mu_product"]._array
        mu, mu_next = _momenta(group, step)
        put_number(product, dt.numbers(product) * mu)
        lr = float(lr) if group["foreach"] else lr
        kernels.nadam(real(p), real(g), array_of(state, "exp_avg"), array_of(state, "exp_avg_sq"), lr, step, mu,
                      mu_next, half_number_of(product), *group["betas"], group["eps"], group["weight_decay"],
                      group["decoupled_weight_decay"], group["maximize"],
                      group["foreach"])

    def _record(self, group, lr, p, g, state):
        (beta1, beta2), weight_decay, product = group["betas"], group["weight_decay"], state["mu_product"]
        p, g, m, v = reals(p, g, state["exp_avg"], state["exp_avg_sq"])
        step = count_step(state)
        if weight_decay != 0 and group["decoupled_weight_decay"]:
            p.mul_(1 - lr * weight_decay)
        else:
            g = penalised(g, p, weight_decay)
        mu, mu_next = _momenta(group, step)
        product *= mu
        m.lerp_(g, 1 - beta1)
        record_square(v, beta2, g)
        size = v.div(1 - beta2 ** step).sqrt().add(group["eps"])
        p.addcdiv_(g * (-lr * (1.0 - mu) / (1.0 - product)), size)
        p.addcdiv_(m * (-lr * mu_next / (1.0 - product * mu_next)), size)


def _momenta(group, step):
    """The momentum of this step and of the next one."""
    beta1, decay = group["betas"][0], group["momentum_decay"]
    return [beta1 * (1.0 - 0.5 * 0.96 ** (t * decay)) for t in (step, step + 1)]


def nadam(params, grads, exp_avgs, exp_avg_sqs, mu_products, state_steps, decoupled_weight_decay=False, foreach=None,
          capturable=False, differentiable=False, has_complex=False, maximize=False, *, beta1, beta2, lr, weight_decay,
          momentum_decay, eps):
    """NAdam's step for lists of tensors, in place."""
    update_each(NAdam, lr, params, grads, dict(decoupled_weight_decay=decoupled_weight_decay,
                weight_decay=weight_decay, momentum_decay=momentum_decay, eps=eps, maximize=maximize,
                foreach=foreach, betas=(beta1, beta2)), step=state_steps, mu_product=mu_products, exp_avg=exp_avgs,
                exp_avg_sq=exp_avg_sqs)
