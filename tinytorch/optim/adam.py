"""Adam."""
from ..kernels import optim as kernels
from ..tensor import Tensor
from .optimizer import ArrayOptimizer, array_of, count_step, new_count, real, zeros_like


class Adam(ArrayOptimizer):
    """Adam (Kingma and Ba 2015); `amsgrad`: Reddi et al. 2018; `decoupled_weight_decay`: as AdamW.

    ValueError for options out of range. `foreach` and `fused` choose between implementations in
    torch; here they change nothing.

    >>> import tinytorch as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> torch.optim.Adam([w], lr=0.25).step(); w
    tensor([0.7500, 1.7500], requires_grad=True)
    """

    _OPTIONS = {**ArrayOptimizer._OPTIONS, "amsgrad": False, "capturable": False, "fused": None,
                "decoupled_weight_decay": False}

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False, fused=None,
                 decoupled_weight_decay=False):
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        betas = betas[0], betas[1]
        for i, beta in enumerate(betas):
            if isinstance(beta, Tensor) and foreach and not capturable:
                raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
            if isinstance(beta, Tensor) and beta.numel() != 1:
                raise ValueError(f"Tensor betas[{i}] must be 1-element")
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        if not (all(isinstance(b, float) for b in betas) or all(isinstance(b, Tensor) for b in betas)):
            raise ValueError("betas must be either both floats or both Tensors")
        super().__init__(params, dict(
            lr=lr, betas=tuple(float(b) for b in betas), eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
            maximize=maximize, foreach=foreach, capturable=capturable, differentiable=differentiable,
            fused=fused, decoupled_weight_decay=decoupled_weight_decay))

    def _new_state(self, group, p):
        state = {"step": new_count(), "exp_avg": zeros_like(p), "exp_avg_sq": zeros_like(p)}
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(p)
        return state

    def _update_sparse(self, group, lr, p, g):
        raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")

    def _update(self, group, lr, p, g, state):
        beta1, beta2 = group["betas"]
        kernels.adam(real(p), real(g), array_of(state, "exp_avg"), array_of(state, "exp_avg_sq"),
                     array_of(state, "max_exp_avg_sq") if group["amsgrad"] else None, count_step(state), lr,
                     beta1, beta2, group["eps"], group["weight_decay"], group["decoupled_weight_decay"],
                     group["maximize"], group["foreach"], group["fused"])
