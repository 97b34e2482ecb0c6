"""Adam."""
from ..kernels import optim as kernels
from ..tensor import Tensor
from .array_optimizer import (
    ArrayOptimizer,
    array_of,
    check_betas,
    count_step,
    new_count,
    number_of,
    penalised,
    real,
    reals,
    record_square,
    scalar,
    update_each,
    zeros_like,
)

_NO_TENSOR = "{} as a Tensor is not supported for capturable=False and foreach=True"


class Adam(ArrayOptimizer):
    """Adam (Kingma and Ba 2015); `amsgrad`: Reddi et al. 2018; `decoupled_weight_decay`: as AdamW.

    m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2 and, at step t,
    p -= lr m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps), elementwise; with `amsgrad` v is the largest v so far.

    `lr` and both `betas` may be tensors of one element. ValueError for options out of range; RuntimeError for sparse
    gradients. In torch `foreach` and `fused` choose an implementation; here they only change how half precisions are
    rounded.

    >>> import tinytorch as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> torch.optim.Adam([w], lr=0.25).step(); w
    tensor([0.7500, 1.7500], requires_grad=True)
    """

    _OPTIONS = {"amsgrad": False, "maximize": False, "foreach": None, "capturable": False, "differentiable": False,
                "decoupled_weight_decay": False, "fused": None}

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False, fused=None,
                 decoupled_weight_decay=False):
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError(_NO_TENSOR.format("lr"))
        super().__init__(params, dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize,
            foreach=foreach, capturable=capturable, differentiable=differentiable, fused=fused,
            decoupled_weight_decay=decoupled_weight_decay))

    def _check(self, defaults):
        betas = defaults["betas"]
        check_betas(betas)
        super()._check(defaults)
        if not (all(isinstance(b, float) for b in betas[:2]) or all(isinstance(b, Tensor) for b in betas[:2])):
            raise ValueError("betas must be either both floats or both Tensors")
        for i, beta in enumerate(betas[:2]):
            if isinstance(beta, Tensor) and defaults["foreach"] and not defaults["capturable"]:
                raise ValueError(_NO_TENSOR.format(f"betas[{i}]"))
            if isinstance(beta, Tensor) and beta.numel() != 1:
                raise ValueError(f"Tensor betas[{i}] must be 1-element")
        defaults["betas"] = tuple(map(scalar, betas))

    def _new_state(self, group, p):
        state = {"step": new_count(group), "exp_avg": zeros_like(p), "exp_avg_sq": zeros_like(p)}
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(p)
        return state

    def _update_sparse(self, group, lr, p, g):
        raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")

    def _update(self, group, lr, p, g, state):
        if group["foreach"] and isinstance(group["lr"], Tensor):
            raise RuntimeError(_NO_TENSOR.format("lr"))
        beta1, beta2 = group["betas"]
        if isinstance(beta1, Tensor):          # torch computes with tensors in their dtype
            beta1, beta2 = number_of(beta1), number_of(beta2)
        kernels.adam(real(p), real(g), array_of(state, "exp_avg"), array_of(state, "exp_avg_sq"),
                     array_of(state, "max_exp_avg_sq") if group["amsgrad"] else None, count_step(state), lr,
                     beta1, beta2, group["eps"], float(group["weight_decay"]), group["decoupled_weight_decay"],
                     group["maximize"], group["foreach"], group["fused"])

    def _record(self, group, lr, p, g, state):
        weight_decay, (beta1, beta2), step = group["weight_decay"], group["betas"], state["step"]
        if step.requires_grad:
            raise RuntimeError("`requires_grad` is not supported for `step` in differentiable mode")
        step += 1
        if weight_decay != 0 and group["decoupled_weight_decay"]:
            p.mul_(1 - lr * weight_decay)
        elif isinstance(weight_decay, Tensor) and weight_decay.requires_grad:
            g = g.addcmul_(p.clone(), weight_decay)
        else:
            g = penalised(g, p, weight_decay)
        p, g, m, v, largest = reals(p, g, state["exp_avg"], state["exp_avg_sq"], state.get("max_exp_avg_sq"))
        m.lerp_(g, 1 - (beta1.to(p.dtype) if isinstance(beta1, Tensor) else beta1))
        if isinstance(beta2, Tensor) and beta2.requires_grad:
            v.lerp_(g * g, 1 - beta2)
        else:
            record_square(v, beta2, g)
        rate = -(lr / (1 - beta1 ** step.clone()))
        root = (1 - beta2 ** step.clone()).sqrt()
        if group["amsgrad"]:
            largest.copy_(largest.clone().maximum(v))
            v = largest
        p.addcdiv_(m.clone(), (v.sqrt() / (root * rate)).add_(group["eps"] / rate))


def adam(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, foreach=None, capturable=False,
         differentiable=False, fused=None, grad_scale=None, found_inf=None, has_complex=False,
         decoupled_weight_decay=False, *, amsgrad, beta1, beta2, lr, weight_decay, eps, maximize):
    """Adam's step for lists of tensors, in place."""
    update_each(Adam, lr, params, grads, dict(amsgrad=amsgrad, weight_decay=weight_decay, eps=eps,
                maximize=maximize, foreach=foreach, fused=fused, decoupled_weight_decay=decoupled_weight_decay,
                betas=(beta1, beta2), lr=lr), step=state_steps, exp_avg=exp_avgs, exp_avg_sq=exp_avg_sqs,
                max_exp_avg_sq=max_exp_avg_sqs)
