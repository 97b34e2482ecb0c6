"""RMSprop."""
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


class RMSprop(ArrayOptimizer):
    """RMSprop (Hinton's lecture 6e, 2012; `centered`: Graves 2013).

    v = alpha v + (1 - alpha) g^2, less the square of the average of g if `centered`; p -= lr g / (sqrt(v) + eps), or
    with momentum b = momentum b + g / (sqrt(v) + eps) and p -= lr b.

    ValueError for options out of range; RuntimeError for sparse gradients.

    >>> import tinytorch as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> torch.optim.RMSprop([w], lr=0.025).step(); w
    tensor([0.7500, 1.7500], requires_grad=True)
    """

    _OPTIONS = {**ArrayOptimizer._OPTIONS, "momentum": 0, "centered": False, "capturable": False}
    _CAPTURED = refused_capture(), refused_capture()

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False,
                 capturable=False, foreach=None, maximize=False, differentiable=False):
        super().__init__(params, dict(
            lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered, weight_decay=weight_decay,
            capturable=capturable, foreach=foreach, maximize=maximize, differentiable=differentiable))

    def _check(self, defaults):
        super()._check(defaults)
        if not defaults["alpha"] >= 0.0:
            raise ValueError(f"Invalid alpha value: {defaults['alpha']}")

    def _new_state(self, group, p):
        state = {"step": new_count(group), "square_avg": zeros_like(p)}
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

    def _record(self, group, lr, p, g, state):
        count_step(state)
        alpha = group["alpha"]
        p, g, square, mean, buffer = reals(p, penalised(g, p, group["weight_decay"]), state["square_avg"],
                                           state.get("grad_avg"), state.get("momentum_buffer"))
        record_square(square, alpha, g)
        if group["centered"]:
            mean.lerp_(g, 1 - alpha)
            root = square.addcmul(mean, mean, value=-1).sqrt_()
        else:
            root = square.sqrt()
        root = root.add(group["eps"])
        if group["momentum"] > 0:
            buffer.mul_(group["momentum"]).addcdiv_(g, root)
            p.add_(buffer, alpha=-lr)
        else:
            p.addcdiv_(g, root, value=-lr)


def rmsprop(params, grads, square_avgs, grad_avgs, momentum_buffer_list, state_steps, foreach=None, maximize=False,
            differentiable=False, capturable=False, has_complex=False, *, lr, alpha, eps, weight_decay, momentum,
            centered):
    """RMSprop's step for lists of tensors, in place."""
    update_each(RMSprop, lr, params, grads, dict(alpha=alpha, eps=eps, weight_decay=weight_decay,
                momentum=momentum, centered=centered, maximize=maximize, foreach=foreach), step=state_steps,
                square_avg=square_avgs, grad_avg=grad_avgs, momentum_buffer=momentum_buffer_list)
