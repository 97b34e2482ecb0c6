"""Averages of a model's weights over training: stochastic weight averaging (Izmailov and others 2018), and exponential
moving averages."""
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from ..autograd.grad_mode import no_grad
from ..dtypes import int64
from ..nn import Module
from ..nn.modules.batchnorm import _BatchNorm
from ..ops.creation.factories import tensor
from ..tensor import Tensor
from .lr_scheduler import LRScheduler
from .lr_scheduler.base import per_group

__all__ = ["AveragedModel", "SWALR", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
           "get_swa_multi_avg_fn", "update_bn"]


def _check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def _can_lerp(tensors):
    return tensors[0].is_floating_point() or tensors[0].is_complex()


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable:
    """An exponential moving average of lists of tensors: f(averages, values, count) sets each average to
    decay * average + (1 - decay) * value, in place. ValueError for a decay outside 0 to 1.

    >>> import tinytorch as torch
    >>> average = torch.tensor([1.])
    >>> torch.optim.swa_utils.get_ema_multi_avg_fn(0.75)([average], [torch.tensor([5.])], 1); average
    tensor([2.])
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list, current_param_list, _):
        floating = _can_lerp(ema_param_list)
        for average, value in zip(ema_param_list, current_param_list, strict=True):
            if floating:
                average.lerp_(value, 1 - decay)
            else:
                average.copy_(average * decay + value * (1 - decay))
    return ema_update


def get_swa_multi_avg_fn() -> Callable:
    """The mean with equal weights of lists of tensors: f(averages, values, count) sets each average to
    average + (value - average) / (count + 1), in place.

    The numbers must be floating or complex; RuntimeError for integers.

    >>> import tinytorch as torch
    >>> average = torch.tensor([1.])
    >>> torch.optim.swa_utils.get_swa_multi_avg_fn()([average], [torch.tensor([5.])], 1); average
    tensor([3.])
    """
    @no_grad()
    def swa_update(averaged_param_list, current_param_list, num_averaged):
        floating = _can_lerp(averaged_param_list)
        for average, value in zip(averaged_param_list, current_param_list, strict=True):
            if floating:
                average.lerp_(value, float(1 / (num_averaged + 1)))
            elif isinstance(num_averaged, Tensor):
                average.addcdiv_(value - average, num_averaged + 1)
            else:
                average.add_(value - average, alpha=1.0 / (num_averaged + 1))
    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """An exponential moving average: f(average, value, count) is decay * average + (1 - decay) * value. ValueError for
    a decay outside 0 to 1.

    >>> import tinytorch as torch
    >>> torch.optim.swa_utils.get_ema_avg_fn(0.75)(torch.tensor([1.]), torch.tensor([5.]), 1)
    tensor([2.])
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param, current_param, num_averaged):
        return decay * ema_param + (1 - decay) * current_param
    return ema_update


def get_swa_avg_fn() -> Callable:
    """The mean with equal weights: f(average, value, count) is average + (value - average) / (count + 1).

    >>> import tinytorch as torch
    >>> torch.optim.swa_utils.get_swa_avg_fn()(torch.tensor([1.]), torch.tensor([5.]), 1)
    tensor([3.])
    """
    @no_grad()
    def swa_update(averaged_param, current_param, num_averaged):
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)
    return swa_update


class AveragedModel(Module):
    """A copy of `model`, on `device`, whose parameters are averages over the calls of update_parameters().

    avg_fn          f(average, value, count): the new average of one tensor
    multi_avg_fn    f(averages, values, count): the same in place, for lists of tensors of one dtype
    use_buffers     average buffers too; otherwise they are copied

    `n_averaged`, an int64 buffer, counts the updates; the first update copies. Without a function the average is the
    mean with equal weights; AssertionError if both functions are given.

    >>> import tinytorch as torch
    >>> model = torch.nn.Linear(1, 1, bias=False)
    >>> average = torch.optim.swa_utils.AveragedModel(model)
    >>> for value in (1., 2., 6.):
    ...     _ = torch.nn.init.constant_(model.weight, value)
    ...     average.update_parameters(model)
    >>> round(average.module.weight.item(), 4), average.n_averaged
    (3.0, tensor(3))
    """

    def __init__(self, model: Module, device=None, avg_fn: Callable | None = None,
                 multi_avg_fn: Callable | None = None, use_buffers: bool = False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=int64, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        """The output of the averaged model."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Add the parameters of `model` (and its buffers, with `use_buffers`) to the averages."""
        averages, values = self.parameters(), model.parameters()
        if self.use_buffers:
            averages = chain(self.module.parameters(), self.module.buffers())
            values = chain(values, model.buffers())
        pairs = [(average.detach(), value.detach().to(average.device)) for average, value in zip(averages, values)]
        if self.n_averaged == 0:
            for average, value in pairs:
                average.copy_(value)
        elif self.avg_fn is not None and self.multi_avg_fn is None:
            for average, value in pairs:
                average.copy_(self.avg_fn(average, value, self.n_averaged))
        else:
            self._update_lists(pairs)
        if not self.use_buffers:
            for average, value in zip(self.module.buffers(), model.buffers(), strict=True):
                average.detach().copy_(value.detach().to(average.device))
        self.n_averaged += 1

    def _update_lists(self, pairs):
        """Average in lists of one device and dtype each; without a function, tensor by tensor as torch does on CPUs."""
        lists: dict = {}
        for average, value in pairs:
            of_kind = lists.setdefault((average.device, average.dtype), ([], []))
            of_kind[0].append(average)
            of_kind[1].append(value)
        mean = get_swa_avg_fn()
        for averages, values in lists.values():
            if self.multi_avg_fn is not None:
                self.multi_avg_fn(averages, values, self.n_averaged)
                continue
            for average, value in zip(averages, values):
                average.copy_(mean(average, value, self.n_averaged))


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device=None) -> None:
    """Compute the running statistics of the model's batch normalisations again, in one pass over `loader`, as means
    over all batches. The input is the first item of a batch that is a list or tuple; it is moved to `device` if given.

    >>> import tinytorch as torch
    >>> model = torch.nn.BatchNorm1d(1)
    >>> torch.optim.swa_utils.update_bn([torch.tensor([[1.], [3.]]), torch.tensor([[5.], [7.]])], model)
    >>> model.running_mean
    tensor([4.])
    """
    norms = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    was_training = model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None                   # the mean of all batches
    for batch in loader:
        input = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(input if device is None else input.to(device))
    for norm, momentum in zip(norms, momenta):
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Moves the rate to `swa_lr` (one value, or one for each parameter group) in `anneal_epochs` steps, along half a
    cosine ("cos") or a line ("linear"); then the rate stays. ValueError for other strategies and negative epochs.

    >>> import tinytorch as torch
    >>> opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    >>> sched = torch.optim.swa_utils.SWALR(opt, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> opt.step(); sched.step(); sched.get_last_lr()
    [0.75]
    """

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        for lr, group in zip(per_group("swa_lr", optimizer, swa_lr), optimizer.param_groups):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t):
        """The fraction of the way to `swa_lr`, 0 to 1, at the fraction `t` of the steps."""
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def _part(self, step):
        return self.anneal_func(max(0, min(1, step / max(1, self.anneal_epochs))))

    def get_lr(self):
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._part(step - 1), self._part(step)
        rates = []
        for group in self.optimizer.param_groups:
            # The initial rate is computed from the group's present rate, which other schedules may change.
            end = group["swa_lr"]
            start = end if before == 1 else (group["lr"] - before * end) / (1 - before)
            rates.append(end * now + start * (1 - now))
        return rates
