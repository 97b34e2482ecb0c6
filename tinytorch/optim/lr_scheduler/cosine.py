"""Schedules along half a cosine, once or with restarts."""
import math

from .base import LRScheduler, set_lr, values


class CosineAnnealingLR(LRScheduler):
    """Moves the rate along half a cosine, from the initial rate to `eta_min` in `T_max` epochs (Loshchilov and Hutter
    2017).

    >>> import tinytorch as torch
    >>> opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    >>> sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=2)
    >>> opt.step(); sched.step(); sched.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch):
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def get_lr(self):
        self._warn_outside_step()
        if self._is_initial:
            return self._current()
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        groups = self.optimizer.param_groups
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            # The step before was at the minimum, where the ratio below would divide by zero.
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [group["lr"] + (lr - self.eta_min) * rise
                    for lr, group in zip(self.base_lrs, groups, strict=True)]
        ratio = self._height(self.last_epoch) / self._height(self.last_epoch - 1)
        return [ratio * (group["lr"] - self.eta_min) + self.eta_min for group in groups]

    def _get_closed_form_lr(self):
        return [self.eta_min + (lr - self.eta_min) * self._height(self.last_epoch) / 2 for lr in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Moves the rate along half a cosine, from the initial rate to `eta_min` in `T_0` epochs, and restarts from the
    initial rate, each time over a span `T_mult` times as long (SGDR: Loshchilov and Hutter 2017).

    rate = eta_min + (initial - eta_min) (1 + cos(pi T_cur / T_i)) / 2, where T_cur is the number of epochs since the
    restart (a fraction after `step(epoch)`), and T_i is the span. ValueError for spans and factors that are below 1 or
    no integers.

    >>> import tinytorch as torch
    >>> opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    >>> sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=2)
    >>> rates = []
    >>> for _ in range(4):
    ...     opt.step(); sched.step(); rates += sched.get_last_lr()
    >>> rates
    [0.5, 1.0, 0.5, 1.0]
    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = self.T_i = T_0
        self.T_mult, self.eta_min, self.T_cur = T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (lr - self.eta_min) * height / 2 for lr in self.base_lrs]

    def step(self, epoch=None):
        """Move on to the next epoch, or to `epoch`, which may be a fraction. ValueError if it is negative."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self._get_lr_called_within_step = True
        try:
            rates = self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            set_lr(group, lr)
        self._last_lr = values(self.optimizer, "lr")

    def _go_to(self, epoch):
        """Set the span that contains an epoch, and the position in it."""
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            spans = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult ** spans - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult ** spans
