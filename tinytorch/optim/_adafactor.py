"""Adafactor."""
import numpy as np

from .. import dtypes as dt
from ..kernels import optim_matrix as kernels
from ..tensor import wrap
from .array_optimizer import (
    ArrayOptimizer,
    array_of,
    check_lr,
    count_step,
    new_count,
    refuse_sum,
    update_each,
    zeros_like,
)


class Adafactor(ArrayOptimizer):
    """Adafactor (Shazeer and Stern 2018): Adam with second moments from averages of each matrix's rows and columns.

    At step t, with s = t^beta2_decay: for the last two dimensions of a parameter with two or more,
    r += s (mean over columns of g^2 - r), c += s (mean over rows of g^2 - c) and v = r c / max(mean of r, eps[0]); for
    other parameters v += s (g^2 - v). u = g / sqrt(max(v, eps[0]^2)); p -= lr weight_decay p and then
    p -= max(eps[1], RMS(p)) min(lr, 1 / sqrt(t)) u / max(1, RMS(u) / d).

    If eps[0] is None, it is the dtype's eps. ValueError for options out of range; RuntimeError for complex parameters
    and sparse gradients.

    >>> import tinytorch as torch
    >>> w = torch.tensor([[1., 2.]], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> torch.optim.Adafactor([w], lr=0.25).step(); w
    tensor([[0.6047, 1.6047]], requires_grad=True)
    """

    _OPTIONS = {"foreach": None}

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
                 maximize=False):
        super().__init__(params, dict(
            lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay, foreach=foreach,
            maximize=maximize))

    def _check(self, defaults):
        check_lr(defaults["lr"], "Learning rate should be >= 0 but is: {}")
        if not defaults["beta2_decay"] <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {defaults['beta2_decay']}")
        for i, eps in enumerate(defaults["eps"][:2], 1):
            if not (eps is None and i == 1 or eps >= 0.0):
                raise ValueError(f"epsilon{i} should be >= 0 but is: {eps}")
        if not defaults["d"] >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {defaults['d']}")
        if not defaults["weight_decay"] >= 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {defaults['weight_decay']}")

    def _bundle(self, group):
        """Makes no bundle: each parameter has its own scale."""

    def _new_state(self, group, p):
        if p.ndim < 2:
            return {"step": new_count(group), "variance": zeros_like(p)}
        row, col = _factors(p.shape)
        return {"step": new_count(group), "row_var": wrap(np.zeros(row, p.dtype)),
                "col_var": wrap(np.zeros(col, p.dtype))}

    def _state_of(self, p, group):
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        return super()._state_of(p, group)

    def _shape_of_state(self, p, key):
        return _shapes(p).get(key)

    def _check_shapes(self, p, g, state):
        shapes = _shapes(p)
        super()._check_shapes(p, g, {})
        for name, shape in shapes.items():
            if name not in state:
                raise AssertionError("row_var and col_var should be defined when grad is multidimensional"
                                     if p.ndim > 1 else "variance should be defined when grad is a vector")
            if state[name]._array.shape != shape:
                refuse_sum(state[name]._array.shape, shape)

    def _update(self, group, lr, p, g, state):
        step, weight_decay = count_step(state), group["weight_decay"]
        eps1, eps2 = group["eps"]
        if eps1 is None:
            first = next(q for q in group["params"] if q._grad is not None)        # as in torch, one eps for all
            eps1 = dt.finfo(first.dtype).eps
        row, col, variance = [array_of(state, name) for name in ("row_var", "col_var", "variance")]
        kernels.adafactor(p, g, row, col, variance, min(lr, 1 / step ** 0.5), step ** group["beta2_decay"],
                          float(1 - lr * weight_decay) if weight_decay != 0 else None, eps1, eps2, group["d"],
                          group["maximize"])


def _shapes(p):
    """{name: shape} of the state of a parameter, given as an array or a tensor."""
    return dict(zip(("row_var", "col_var"), _factors(p.shape))) if p.ndim > 1 else {"variance": p.shape}


def _factors(shape):
    """The shapes of the averages of rows and of columns."""
    return (*shape[:-1], 1), (*shape[:-2], 1, shape[-1])


def adafactor(params, grads, row_vars, col_vars, variances, state_steps, foreach=None, grad_scale=None, found_inf=None,
              has_complex=False, *, d, lr, beta2_decay, weight_decay, eps1, eps2, maximize):
    """Adafactor's step for lists of tensors, in place."""
    if eps1 is None and params:
        eps1 = dt.finfo(params[0].dtype).eps
    update_each(Adafactor, lr, params, grads, dict(d=d, beta2_decay=beta2_decay, weight_decay=weight_decay,
                eps=(eps1, eps2), maximize=maximize), step=state_steps, row_var=row_vars, col_var=col_vars,
                variance=variances)
