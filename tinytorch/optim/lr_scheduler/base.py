"""The base of schedules: the optimiser that they change, steps, rates and states."""
import functools
import weakref
from typing import Any

from ...errors import warn
from ...tensor import Tensor
from ..optimizer import Optimizer

EPOCH_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed "
    "form is used instead of the new chainable form, where available. Please open an issue if you are unable to "
    "replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose.")
_SEE = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"


def check_optimizer(optimizer):
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def own(value):
    """A copy of a rate, because a rate that is a tensor may be changed in place elsewhere."""
    return value.clone() if isinstance(value, Tensor) else value


def values(optimizer, key):
    return [own(group[key]) for group in optimizer.param_groups]


def set_lr(group, lr):
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(float(lr))
    else:
        group["lr"] = lr


def per_group(name, optimizer, value):
    """A value for each parameter group, from one value or a list. ValueError for a wrong length."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [own(value) for _ in range(count)]
    if len(value) != count:
        raise ValueError(f"{name} must have the same length as optimizer.param_groups. "
                         f"{name} has {len(value)} values, param_groups has {count}.")
    return [own(v) for v in value]


def set_momentum(group, use_beta1, value):
    """Set a group's momentum, or the first of its betas."""
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def begin_momentum(optimizer, base_momentum, max_momentum, begins):
    """(whether momentum is the first of the betas, lowest and highest momentum of each group). If the schedule
    `begins`, the groups are set to the highest. ValueError for an optimiser without momentum."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    use_beta1 = "betas" in optimizer.defaults
    tops = per_group("max_momentum", optimizer, max_momentum)
    bases = per_group("base_momentum", optimizer, base_momentum)
    if begins:
        for top, base, group in zip(tops, bases, optimizer.param_groups):
            set_momentum(group, use_beta1, top)
            group["max_momentum"], group["base_momentum"] = top, base
    return use_beta1, bases, tops


def _note_steps(optimizer):
    """Let optimizer.step() leave a mark, by which a scheduler notices that it is stepped first."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    function, reference = optimizer.step.__func__, weakref.ref(optimizer)

    @functools.wraps(function)
    def step(*args, **kwargs):
        target: Any = reference()
        target._opt_called = True
        return function(target, *args, **kwargs)
    step._wrapped_by_lr_sched = True           # type: ignore[attr-defined]
    optimizer.step = step


class LRScheduler:
    """Base of the schedules: a subclass defines get_lr(), the rates of the groups at `last_epoch`.

    `last_epoch=-1` starts a new schedule; otherwise the groups must have "initial_lr" (KeyError).
    """

    _is_initial = False
    _get_lr_called_within_step = False
    _get_closed_form_lr: Any                   # a method of schedules with a closed form

    def __init__(self, optimizer, last_epoch=-1):
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", own(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                    "last_epoch >= 0.\n"
                    "This typically happens when:\n"
                    "1. You're trying to resume training from a checkpoint but haven't properly loaded the optimizer "
                    "state\n"
                    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)")
        self.base_lrs = values(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _note_steps(optimizer)
        self._initial_step()

    def _initial_step(self):
        """Set the rates of the first epoch."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self):
        """The attributes of the schedule, without the optimiser."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict):
        """Take over a result of `state_dict()`."""
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        """The rates set by the last step, one for each parameter group."""
        return self._last_lr

    def get_lr(self):
        """The rates at `last_epoch`, one for each parameter group. Subclasses define it."""
        raise NotImplementedError

    def step(self, epoch=None):
        """Move on to the next epoch (or to `epoch`, deprecated) and set the rates."""
        if self._step_count == 1:
            self._warn_about_order()
        self._step_count += 1
        if epoch is not None:
            warn(EPOCH_WARNING)
        self._update_lr(epoch)

    def _update_lr(self, epoch=None):
        """Set the rates of the next epoch, or of `epoch` by the closed form if there is one."""
        self._get_lr_called_within_step = True
        try:
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            closed = epoch is not None and hasattr(self, "_get_closed_form_lr")
            rates = self._get_closed_form_lr() if closed else self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            set_lr(group, lr)
        self._last_lr = values(self.optimizer, "lr")

    def _warn_about_order(self):
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warn("Seems like `optimizer.step()` has been overridden after learning rate scheduler "
                 "initialization. Please, make sure to call `optimizer.step()` before "
                 "`lr_scheduler.step()`. " + _SEE)
        elif not getattr(self.optimizer, "_opt_called", False):
            warn("Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and "
                 "later, you should call them in the opposite order: `optimizer.step()` before "
                 "`lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping the first value "
                 "of the learning rate schedule. " + _SEE)

    def _current(self):
        return values(self.optimizer, "lr")

    def _scaled(self, factor):
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _warn_outside_step(self):
        if not self._get_lr_called_within_step:
            warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.")


class _LRScheduler(LRScheduler):
    """The old name of LRScheduler, for classes that derive from it."""
