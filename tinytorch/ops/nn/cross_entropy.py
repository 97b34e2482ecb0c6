"""Cross entropy and negative log likelihood. Targets that are classes take one node of the tape."""
import warnings

from ...autograd.op import op, renamed
from ...autograd.promotion import need_tensors
from ...errors import type_name
from ...kernels import softmax as kernels
from .activation import floating
from .softmax import _log_softmax, log_softmax

REDUCTIONS = ("none", "mean", "sum")


def reduction_of(reduction, size_average=None, reduce=None):
    """The reduction's name, from the deprecated flags if they are given. ValueError for an unknown name."""
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
        warnings.warn("size_average and reduce args will be deprecated, please use "
                      f"reduction='{reduction}' instead.", stacklevel=3)
    if reduction == "elementwise_mean":
        warnings.warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=3)
        return "mean"
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def _nll_gradient(g, target, weight, shape, ignore_index, reduction):
    return _nll_backward(g, target, weight, shape, ignore_index, reduction)


@op(name="nll_loss_backward", grad=lambda g, target, weight, ignore_index, reduction: _nll_loss(
    g, target, weight, ignore_index, reduction))
def _nll_backward(grad, target, weight, size, ignore_index, reduction):
    return kernels.nll_backward(grad, target, weight, size, ignore_index, reduction)


@op(name="nll_loss", input=_nll_gradient)
def _nll_loss(input, target, weight, ignore_index, reduction):
    return kernels.nll(input, target, weight, ignore_index, reduction)


_nll_loss_2d = renamed(_nll_loss, "nll_loss2d")


@op(name="nll_loss", aux=True, inputs=1,
    joint=lambda g, wanted, input, target, weight, reduction, aux: (
        kernels.cross_entropy_backward(g, aux, reduction), None, None),
    decomposition=lambda input, target, weight, ignore_index, reduction: _nll_loss(
        _log_softmax(input, 1), target, weight, ignore_index, reduction))
def _cross_entropy(input, target, weight, ignore_index, reduction, keep):
    return kernels.cross_entropy(input, target, weight, ignore_index, reduction, keep)


_cross_entropy_2d = renamed(_cross_entropy, "nll_loss2d")


def _checked(input, target, weight):
    """Torch's complaints about sizes and types of class targets."""
    x, t = input.array, target.array
    if x.ndim == 0:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if t.ndim == 0 and x.ndim == 1:
        return
    if x.ndim == 1 and t.size != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {t.shape[0]}")
    if x.ndim > 1 and (t.ndim == 0 or len(x) != len(t)):
        found = len(t) if t.ndim else 1
        raise ValueError(f"Expected input batch_size ({len(x)}) to match target batch_size ({found}).")
    if x.ndim == 2 and t.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if x.ndim > 2 and (x.shape[:1] + x.shape[2:]) != t.shape:
        if x.ndim == t.ndim + 1 == 4:
            raise RuntimeError(f"size mismatch (got input: {list(x.shape)} , target: {list(t.shape)}")
        raise RuntimeError(f"Expected target size {[len(x), *x.shape[2:]]}, got {list(t.shape)}")


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """-input at the target classes: the negative log likelihood, if `input` holds log probabilities.

    `input` (N, C), (N, C, d1, ...) or (C); `target` classes (N), (N, d1, ...) or () as int64 or uint8. `weight` (C)
    scales classes, and "mean" divides by the sum of the weights. Targets equal to `ignore_index` do not count.
    ValueError or RuntimeError for sizes that do not fit, IndexError for a class that does not exist.

    >>> import tinytorch as torch
    >>> torch.nn.functional.nll_loss(torch.tensor([[-1., -2.], [-3., -4.]]), torch.tensor([0, 1]))
    tensor(2.5000)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    need_tensors("nll_loss_nd", input=input, target=target)
    _checked(input, target, weight)
    return _batched(_nll_loss_2d if input.array.ndim > 2 else _nll_loss, input, target, weight, ignore_index, reduction)


def _batched(primitive, input, target, weight, ignore_index, reduction):
    """primitive(...) with a batch dimension added if there is none."""
    x = input.array
    classes = x.shape[0 if x.ndim == 1 else 1]
    if target.array.dtype.char not in "lqB":
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {type_name(target)}")
    if weight is not None:
        if weight.array.shape != (classes,) and x.ndim == 4:
            raise RuntimeError("weight tensor should be defined either for all or no classes")
        if weight.array.shape != (classes,):
            raise RuntimeError(f"weight tensor should be defined either for all {classes} classes or no classes but "
                               f"got weight tensor of shape: {list(weight.array.shape)}")
        if weight.array.dtype != x.dtype:
            raise RuntimeError(f"expected scalar type {type_name(input)} but found {type_name(weight)}")
    if x.ndim == 1:
        loss = _batched(primitive, input.unsqueeze(0), target.reshape(1), weight, ignore_index, reduction)
        return loss.reshape(target.array.shape) if reduction == "none" else loss
    return floating("nll_loss_out_frame", primitive, input, target, weight, ignore_index, reduction)


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):
    """-log(softmax(input)) at the target classes, or its mean under target probabilities.

    `input` (N, C), (N, C, d1, ...) or (C): scores, not normalised. `target`: classes (N), (N, d1, ...) or () as int64
    or uint8, or probabilities of the shape of `input`. `label_smoothing` mixes in that much of the uniform
    distribution. The rest, and the errors, as in `nll_loss`.

    >>> import tinytorch as torch
    >>> scores = torch.tensor([[0., 0.], [100., 0.]], requires_grad=True)
    >>> torch.nn.functional.cross_entropy(scores, torch.tensor([0, 0]))
    tensor(0.3466, grad_fn=<NllLossBackward0>)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if label_smoothing > 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    need_tensors("cross_entropy_loss", input=input, target=target)
    class_dim = 0 if input.array.ndim == 1 else 1
    if input.array.shape == target.array.shape:
        if target.array.dtype.kind != "f":
            raise RuntimeError("Expected floating point type for target with class probabilities, got "
                               f"{type_name(target)}")
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _with_probabilities(input, target, weight, reduction, label_smoothing, class_dim)
    if input.array.ndim == 0:
        return log_softmax(input, 1)
    if input.array.dtype.kind != "f":
        log_softmax(input, class_dim)          # says what is wrong with the type
    _checked(input, target, weight)
    if label_smoothing <= 0:
        primitive = _cross_entropy if input.array.ndim < 3 else _cross_entropy_2d
        return _batched(primitive, input, target, weight, ignore_index, reduction)
    return _smoothed(log_softmax(input, class_dim), target, weight, ignore_index, reduction, label_smoothing, class_dim)


def _weighted(log_p, weight, class_dim):
    if weight is None:
        return log_p
    return log_p * weight.reshape([-1 if i == class_dim else 1 for i in range(log_p.array.ndim)])


def _with_probabilities(input, target, weight, reduction, label_smoothing, class_dim):
    classes = input.array.shape[class_dim]
    if label_smoothing > 0:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    loss = -(_weighted(log_softmax(input, class_dim), weight, class_dim) * target)
    if reduction == "none":
        return loss.sum(class_dim)
    return loss.sum() if reduction == "sum" else loss.sum() / ((input.array.size // classes) or float("nan"))


def _smoothed(log_p, target, weight, ignore_index, reduction, label_smoothing, class_dim):
    loss = _batched(_nll_loss, log_p, target, weight, ignore_index, reduction)
    uniform = -_weighted(log_p, weight, class_dim).sum(class_dim)
    ignored = target == ignore_index
    uniform = uniform.masked_fill(ignored, 0.0)
    if reduction == "sum":
        uniform = uniform.sum()
    elif reduction == "mean" and weight is None:
        uniform = uniform.sum() / (~ignored).sum()
    elif reduction == "mean":
        counts = weight[target.masked_fill(ignored, 0)].masked_fill(ignored, 0.0)
        uniform = uniform.sum() / counts.sum()
    return loss * (1 - label_smoothing) + uniform * (label_smoothing / log_p.array.shape[class_dim])
