"""Adadelta."""
from ..kernels import optim as kernels
from .array_optimizer import (
    ArrayOptimizer,
    array_of,
    count_step,
    new_count,
    penalised,
    real,
    reals,
    record_square,
    refused_capture,
    update_each,
    zeros_like,
)


class Adadelta(ArrayOptimizer):
    """Adadelta (Zeiler 2012).

    v = rho v + (1 - rho) g^2, d = sqrt(u + eps) / sqrt(v + eps) g, u = rho u + (1 - rho) d^2, p -= lr d.

    ValueError for options out of range; RuntimeError for sparse gradients.

    >>> import tinytorch as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> torch.optim.Adadelta([w], eps=0.25).step(); w
    tensor([-0.2403,  0.5296], requires_grad=True)
    """

    _OPTIONS = {**ArrayOptimizer._OPTIONS, "capturable": False}
    _CAPTURED = refused_capture(xla=False), refused_capture(xla=False)

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *,
                 capturable=False, maximize=False, differentiable=False):
        super().__init__(params, dict(
            lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize, capturable=capturable,
            foreach=foreach, differentiable=differentiable))

    def _check(self, defaults):
        super()._check(defaults)
        if not 0.0 <= defaults["rho"] <= 1.0:
            raise ValueError(f"Invalid rho value: {defaults['rho']}")

    def _new_state(self, group, p):
        return {"step": new_count(group), "square_avg": zeros_like(p), "acc_delta": zeros_like(p)}

    def _update(self, group, lr, p, g, state):
        count_step(state)
        kernels.adadelta(real(p), real(g), array_of(state, "square_avg"), array_of(state, "acc_delta"), float(lr),
                         group["rho"], group["eps"], group["weight_decay"], group["maximize"], group["foreach"])

    def _record(self, group, lr, p, g, state):
        count_step(state)
        rho, eps = group["rho"], group["eps"]
        p, g, square, deltas = reals(p, penalised(g, p, group["weight_decay"]), state["square_avg"],
                                     state["acc_delta"])
        record_square(square, rho, g)
        delta = deltas.add(eps).sqrt_().clone().div_(square.add(eps).sqrt_()).mul_(g)
        record_square(deltas, rho, delta)
        p.add_(delta, alpha=-lr)


def adadelta(params, grads, square_avgs, acc_deltas, state_steps, capturable=False, foreach=None, differentiable=False,
             has_complex=False, *, lr, rho, eps, weight_decay, maximize):
    """Adadelta's step for lists of tensors, in place."""
    update_each(Adadelta, lr, params, grads, dict(rho=rho, eps=eps, weight_decay=weight_decay,
                maximize=maximize, foreach=foreach), step=state_steps, square_avg=square_avgs, acc_delta=acc_deltas)
