"""Adadelta."""
from ..kernels import optim as kernels
from .optimizer import ArrayOptimizer, array_of, count_step, new_count, real, zeros_like


class Adadelta(ArrayOptimizer):
    """Adadelta (Zeiler 2012).

    >>> import tinytorch as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> torch.optim.Adadelta([w], eps=0.25).step(); w
    tensor([-0.2403,  0.5296], requires_grad=True)
    """

    _OPTIONS = {**ArrayOptimizer._OPTIONS, "capturable": False}

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *,
                 capturable=False, maximize=False, differentiable=False):
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        super().__init__(params, dict(
            lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize, capturable=capturable,
            foreach=foreach, differentiable=differentiable))

    def _new_state(self, group, p):
        return {"step": new_count(), "square_avg": zeros_like(p), "acc_delta": zeros_like(p)}

    def _update(self, group, lr, p, g, state):
        count_step(state)
        kernels.adadelta(real(p), real(g), array_of(state, "square_avg"), array_of(state, "acc_delta"), float(lr),
                         group["rho"], group["eps"], group["weight_decay"], group["maximize"], group["foreach"])
