"""RMSprop, Adagrad, Adadelta: learning rates per weight from past squared gradients."""
import numpy as np

from ..kernels import optim as kernels
from ..tensor import wrap
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
                        array_of(state, "momentum_buffer"), lr, group["alpha"], group["eps"],
                        group["weight_decay"], group["momentum"], group["maximize"])


class Adagrad(ArrayOptimizer):
    """Adagrad (Duchi, Hazan and Singer 2011).

    >>> import tinytorch as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> torch.optim.Adagrad([w], lr=0.25).step(); w
    tensor([0.7500, 1.7500], requires_grad=True)
    """

    _OPTIONS = {**ArrayOptimizer._OPTIONS, "fused": None}

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10,
                 foreach=None, *, maximize=False, differentiable=False, fused=None):
        for name, value in (("lr_decay", lr_decay), ("initial_accumulator_value", initial_accumulator_value)):
            if not value >= 0.0:
                raise ValueError(f"Invalid {name} value: {value}")
        super().__init__(params, dict(
            lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value, foreach=foreach, maximize=maximize,
            differentiable=differentiable, fused=fused))
        for group in self.param_groups:        # torch's Adagrad has its state from the start
            for p in group["params"]:
                self.state[p] = self._new_state(group, p.array)

    def _new_state(self, group, p):
        start = self.defaults["initial_accumulator_value"]
        start = complex(start, start) if p.dtype.kind == "c" else start
        return {"step": new_count(), "sum": wrap(np.full_like(p, start))}

    def _update(self, group, lr, p, g, state):
        lr = lr / (1 + (count_step(state) - 1) * group["lr_decay"])
        kernels.adagrad(real(p), real(g), array_of(state, "sum"), lr, group["eps"], group["weight_decay"],
                        group["maximize"])

    def share_memory(self):
        """Nothing to do: the state lives in this process."""


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
        kernels.adadelta(real(p), real(g), array_of(state, "square_avg"), array_of(state, "acc_delta"), lr,
                         group["rho"], group["eps"], group["weight_decay"], group["maximize"])
