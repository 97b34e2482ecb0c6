"""ASGD."""
import numpy as np

from .. import dtypes as dt
from ..kernels import optim as kernels
from ..tensor import Tensor
from .array_optimizer import (
    ArrayOptimizer,
    array_of,
    check_lr,
    count_step,
    half_number_of,
    new_count,
    number,
    penalised,
    put_number,
    real,
    reals,
    refused_capture,
    update_each,
    zeros_like,
)


class ASGD(ArrayOptimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992).

    p = (1 - lambd eta) p - eta g, its running average ax += mu (p - ax), and for the next step
    eta = lr / (1 + lambd lr t)^alpha and mu = 1 / max(1, t - t0). The averages are `state[p]["ax"]`.

    ValueError for options out of range; RuntimeError for sparse gradients.

    >>> import tinytorch as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> torch.optim.ASGD([w], lr=0.25, lambd=0).step(); w
    tensor([0.5000, 1.0000], requires_grad=True)
    """

    _OPTIONS = {**ArrayOptimizer._OPTIONS, "capturable": False}
    _NUMBERS = ("step", "eta", "mu")
    _CAPTURED = tuple(refused_capture("params, mus, etas, and state_steps", xla=xla) for xla in (True, False))

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
                 differentiable=False, capturable=False):
        super().__init__(params, dict(
            lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, foreach=foreach, maximize=maximize,
            differentiable=differentiable, capturable=capturable))

    def _check(self, defaults):
        check_lr(defaults["lr"])
        if not defaults["weight_decay"] >= 0.0:
            raise ValueError(f"Invalid weight_decay value: {defaults['weight_decay']}")

    def _new_state(self, group, p):
        return {"step": new_count(group), "eta": number(float(group["lr"])), "mu": number(1), "ax": zeros_like(p)}

    def _update(self, group, lr, p, g, state):
        step, eta, mu = count_step(state), state["eta"]._array, state["mu"]._array
        kernels.asgd(real(p), real(g), array_of(state, "ax"), half_number_of(eta), half_number_of(mu), group["lambd"],
                     group["weight_decay"], group["maximize"], group["foreach"])
        if group["foreach"]:
            step = dt.numbers(dt.cast(np.asarray(step), eta.dtype))[()]
        self._next(group, lr, step, eta, mu)

    def _next(self, group, lr, step, eta, mu):
        """Set the arrays `eta` and `mu` for the next step. The numbers are rounded to torch's default dtype first,
        whatever dtype a loaded state has."""
        rate = lr / (1 + group["lambd"] * lr * step) ** group["alpha"]
        put_number(eta, rate if isinstance(rate, np.floating) else number(rate)._array)
        put_number(mu, number(1 / max(1, step - group["t0"]))._array)

    def _record(self, group, lr, p, g, state):
        lambd, eta, mu = group["lambd"], state["eta"], state["mu"]
        step, rate = count_step(state), eta.item()
        p, g, average = reals(p, g, state["ax"])
        g = penalised(g, p, group["weight_decay"])
        p.mul_(1 - lambd * rate)
        p.add_(g, alpha=-rate)
        if mu.item() != 1:
            average.add_(p.sub(average).mul_(mu))
        else:
            average.copy_(p)
        rate = lr / (1 + lambd * lr * step) ** group["alpha"]
        eta.copy_(rate if isinstance(rate, Tensor) else number(rate))
        mu.copy_(number(1 / max(1, step - group["t0"])))


def asgd(params, grads, axs, mus, etas, state_steps, foreach=None, maximize=False, differentiable=False,
         capturable=False, has_complex=False, *, lambd, lr, t0, alpha, weight_decay):
    """ASGD's step for lists of tensors, in place."""
    update_each(ASGD, lr, params, grads, dict(lambd=lambd, t0=t0, alpha=alpha,
                weight_decay=weight_decay, maximize=maximize, foreach=foreach), step=state_steps, eta=etas, mu=mus,
                ax=axs)
