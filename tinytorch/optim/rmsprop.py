"""RMSprop."""
from ..kernels import optim as kernels
from .optimizer import ArrayOptimizer, array_of, count_step, new_count, real, zeros_like


class RMSprop(ArrayOptimizer):
    """RMSprop (Hinton's lecture 6e, 2012; `centered`: Graves 2013).

    >>> import tinytorch as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> torch.optim.RMSprop([w], lr=0.025).step(); w
    tensor([0.7500, 1.7500], requires_grad=True)
    """

    _OPTIONS = {**ArrayOptimizer._OPTIONS, "momentum": 0, "centered": False, "capturable": False}

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False,
                 capturable=False, foreach=None, maximize=False, differentiable=False):
        if not alpha >= 0.0:
            raise ValueError(f"Invalid alpha value: {alpha}")
        super().__init__(params, dict(
            lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered, weight_decay=weight_decay,
            capturable=capturable, foreach=foreach, maximize=maximize, differentiable=differentiable))

    def _new_state(self, group, p):
        state = {"step": new_count(), "square_avg": zeros_like(p)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = zeros_like(p)
        return state

    def _update(self, group, lr, p, g, state):
        count_step(state)
        kernels.rmsprop(real(p), real(g), array_of(state, "square_avg"), array_of(state, "grad_avg"),
                        array_of(state, "momentum_buffer"), float(lr), group["alpha"], group["eps"],
                        group["weight_decay"], group["momentum"], group["maximize"], group["foreach"])
