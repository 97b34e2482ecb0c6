"""Muon."""
from ..kernels import optim_matrix as kernels
from .array_optimizer import ArrayOptimizer, check_lr, zeros_like


class Muon(ArrayOptimizer):
    """Muon (Jordan et al. 2024; Liu et al. 2025), for matrices: it moves the momentum's singular values close to one.

    b += (1 - momentum) (g - b) and u = b, or g + momentum (b - g) if `nesterov`. x = u / max(norm of u, eps), then
    `ns_steps` times x = a x + (b x x^T + c (x x^T)^2) x with (a, b, c) = `ns_coefficients`, in bfloat16.
    p -= lr weight_decay p and then p -= lr f x, where f is sqrt(max(1, rows / columns)) with `adjust_lr_fn` "original"
    (or None), and 0.2 sqrt(max(rows, columns)) with "match_rms_adamw".

    ValueError for options out of range and for parameters that are no matrices; RuntimeError for complex parameters
    and sparse gradients.

    >>> import tinytorch as torch
    >>> w = torch.ones(2, 2, requires_grad=True)
    >>> w.sum().backward()
    >>> torch.optim.Muon([w], lr=0.25, weight_decay=0).step(); w.detach().round(decimals=1)
    tensor([[0.9000, 0.9000],
            [0.9000, 0.9000]])
    """

    _OPTIONS = {}

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
                 ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-7, ns_steps=5, adjust_lr_fn=None):
        super().__init__(params, dict(
            lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov, ns_coefficients=ns_coefficients,
            eps=eps, ns_steps=ns_steps, adjust_lr_fn=adjust_lr_fn))
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError("Muon only supports 2D parameters whereas we found a parameter with size: "
                                     f"{p.size()}")

    def _check(self, defaults):
        check_lr(defaults["lr"], "Learning rate should be >= 0 but is: {}")
        for name, shown in (("momentum", "momentum"), ("weight_decay", "weight decay")):
            if not defaults[name] >= 0.0:
                raise ValueError(f"{shown} should be >= 0 but is: {defaults[name]}")
        if defaults["adjust_lr_fn"] not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {defaults['adjust_lr_fn']} is not supported")

    def _bundle(self, group):
        """Makes no bundle: each parameter is a matrix."""

    def _state_of(self, p, group):
        if p.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        state = self.state[p]
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = zeros_like(p._grad._array)
        return state

    def _update(self, group, lr, p, g, state):
        if g.ndim != 2:
            raise ValueError("Param gradient must be a 2D matrix")
        if group["ns_steps"] >= 100:
            raise ValueError("Number of steps must be less than 100 for computational efficiency")
        if len(group["ns_coefficients"]) != 3:
            raise ValueError("Coefficients must be a tuple of exactly 3 values")
        rows, columns = p.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            factor = 0.2 * max(rows, columns) ** 0.5
        else:
            factor = max(1, rows / columns) ** 0.5
        kernels.muon(p, g, state["momentum_buffer"]._array, float(lr * factor), float(1 - lr * group["weight_decay"]),
                     group["momentum"], group["nesterov"], group["ns_coefficients"], group["ns_steps"], group["eps"])
