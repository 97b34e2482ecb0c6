"""Adamax."""
from ..kernels import optim as kernels
from .optimizer import ArrayOptimizer, array_of, count_step, new_count, real, zeros_like


class Adamax(ArrayOptimizer):
    """Adamax: Adam by the largest gradient so far (Kingma and Ba 2015, section 7.1).

    >>> import tinytorch as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> torch.optim.Adamax([w], lr=0.25).step(); w
    tensor([0.7500, 1.7500], requires_grad=True)
    """

    _OPTIONS = {**ArrayOptimizer._OPTIONS, "capturable": False}

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *,
                 maximize=False, differentiable=False, capturable=False):
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        super().__init__(params, dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach, maximize=maximize,
            differentiable=differentiable, capturable=capturable))

    def _new_state(self, group, p):
        return {"step": new_count(), "exp_avg": zeros_like(p), "exp_inf": zeros_like(p)}

    def _update(self, group, lr, p, g, state):
        kernels.adamax(real(p), real(g), array_of(state, "exp_avg"), array_of(state, "exp_inf"), count_step(state),
                       float(lr) if group["foreach"] else lr, *group["betas"], group["eps"],
                       group["weight_decay"], group["maximize"], group["foreach"])
