"""SGD."""
from ..dtypes import COMPLEX
from ..kernels import optim as kernels
from ..kinds.lazy import bits_of
from ..tensor import Tensor
from .array_optimizer import ArrayOptimizer, penalised, real, update_each, zeros_like


class SGD(ArrayOptimizer):
    """Stochastic gradient descent, optionally with momentum (Sutskever et al. 2013).

    g += weight_decay p; with momentum b = momentum b + (1 - dampening) g (g itself at first) and then g = b, or
    g + momentum b if `nesterov`; p -= lr g.

    ValueError for a negative lr, momentum or weight_decay, and for Nesterov momentum without momentum. Sparse gradients
    update the elements that they hold. In torch `foreach` and `fused` choose an implementation; here they only change
    how half precisions are rounded.

    >>> import tinytorch as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> torch.optim.SGD([w], lr=0.25).step(); w
    tensor([0.5000, 1.0000], requires_grad=True)
    """

    _OPTIONS = {"nesterov": False, "maximize": False, "foreach": None, "differentiable": False, "fused": False}

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *,
                 maximize=False, foreach=None, differentiable=False, fused=None):
        super().__init__(params, dict(
            lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov,
            maximize=maximize, foreach=foreach, differentiable=differentiable, fused=fused))

    def _check(self, defaults):
        super()._check(defaults)
        if defaults["nesterov"] and (defaults["momentum"] <= 0 or defaults["dampening"] != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")

    def _check_foreach(self):
        """Accepts every group: torch's foreach implementation works on tensors that autograd records."""

    def _state_of(self, p, group):
        return self.state[p] if group["momentum"] != 0 else {}

    def _update_each(self, group, lr, params):
        if group["momentum"] != 0 and len(set(map(id, params))) < len(params):
            params = [p for p in params if p._grad is not None]
            fresh = {id(p) for p in params if self.state[p].get("momentum_buffer") is None}
            for p in params:                   # torch looks for all buffers first: a parameter listed twice has none
                if id(p) in fresh:
                    self.state[p]["momentum_buffer"] = None
                super()._update_each(group, lr, [p])
            return
        if group["momentum"] != 0 or group["weight_decay"] != 0:
            return super()._update_each(group, lr, params)
        params = [p for p in params if p._grad is not None]
        left = kernels.descend([(p._array, p._grad._array) for p in params], float(lr), group["maximize"])
        for i, p in enumerate(params):
            if i not in left:
                p._version_counter[0] += 1
        if left:
            super()._update_each(group, lr, [params[i] for i in left])

    def _update(self, group, lr, p, g, state):
        momentum, buffer, fresh = group["momentum"], None, False
        if momentum != 0:
            fresh = state.get("momentum_buffer") is None
            if fresh:
                state["momentum_buffer"] = zeros_like(g)
            buffer = state["momentum_buffer"]._array
        numbers = real
        if p.dtype.kind == COMPLEX and (bits_of(p)[0] or bits_of(g)[0]):
            numbers = _whole                   # lazy conjugates cannot be viewed as pairs of reals
        kernels.sgd(numbers(p), numbers(g), buffer if buffer is None else numbers(buffer), fresh, float(lr), momentum,
                    group["dampening"], float(group["weight_decay"]), group["nesterov"], group["maximize"],
                    group["foreach"], group["fused"])

    def _record(self, group, lr, p, g, state):
        weight_decay, momentum = group["weight_decay"], group["momentum"]
        if isinstance(weight_decay, Tensor) and weight_decay.requires_grad:
            g = g.addcmul_(p.clone(), weight_decay)
        else:
            g = penalised(g, p, weight_decay)
        if momentum != 0:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = g.detach().clone()
            else:
                buffer.mul_(momentum).add_(g, alpha=1 - group["dampening"])
            g = g.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        if isinstance(lr, Tensor) and lr.requires_grad:
            p.addcmul_(g, lr, value=-1)
        else:
            p.add_(g, alpha=-lr)

    def _update_sparse(self, group, lr, p, g):
        if group["fused"]:
            raise RuntimeError("`_fused_sgd` does not support sparse gradients")
        g = -g if group["maximize"] else g
        if group["weight_decay"] != 0:
            g = g.add(p.detach(), alpha=group["weight_decay"])         # raises as torch does
        if group["momentum"] != 0:
            state = self.state[p]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = g.detach().clone()
            else:
                buffer.mul_(group["momentum"]).add_(g, alpha=1 - group["dampening"])
            g = g.add(buffer, alpha=group["momentum"]) if group["nesterov"] else buffer
        (g.detach() * -float(lr))._array.added_to(p._array)


def _whole(array):
    return array


def sgd(params, d_p_list, momentum_buffer_list, has_sparse_grad=False, foreach=None, fused=None, grad_scale=None,
        found_inf=None, *, weight_decay, momentum, lr, dampening, nesterov, maximize):
    """SGD's step for lists of tensors, in place."""
    update_each(SGD, lr, params, d_p_list, dict(weight_decay=weight_decay, momentum=momentum,
                dampening=dampening, nesterov=nesterov, maximize=maximize, foreach=foreach, fused=fused),
                momentum_buffer=momentum_buffer_list)
