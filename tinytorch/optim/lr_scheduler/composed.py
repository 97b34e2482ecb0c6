"""Schedules made of other schedules: one after the other, or all in each step."""
from bisect import bisect_right
from collections.abc import Sequence

from .base import LRScheduler, set_lr, values
from .plateau import ReduceLROnPlateau


class _Composed(LRScheduler):
    """A schedule that consists of others, `_schedulers`, and keeps their states in its state."""

    _schedulers: Sequence[LRScheduler]

    def _check_parts(self, schedulers, optimizer):
        """TypeError for a part without an optimiser, ValueError for one that needs a metric or another one."""
        name = type(self).__name__
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                    f"specified when calling `step`, but got one at index {i} in the given schedulers sequence.")
            if optimizer != scheduler.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {i} has {scheduler.optimizer}, which is different from "
                    f"{type(optimizer).__name__}.")

    def state_dict(self):
        """The attributes of the schedule and of its parts, without the optimiser."""
        state = super().state_dict()
        del state["_schedulers"]
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict):
        """Take over a result of `state_dict()`, in the parts too."""
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for i, state in enumerate(state_dict["_schedulers"]):
            self._schedulers[i].load_state_dict(state)


class SequentialLR(_Composed):
    """Schedules one after the other: the next one begins, with its epoch 0, at each of the epochs `milestones`. There
    must be one milestone less than schedules (ValueError otherwise).

    >>> import tinytorch as torch
    >>> opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    >>> first = torch.optim.lr_scheduler.ConstantLR(opt, factor=0.5, total_iters=9)
    >>> then = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.5)
    >>> sched = torch.optim.lr_scheduler.SequentialLR(opt, [first, then], milestones=[2])
    >>> rates = []
    >>> for _ in range(4):
    ...     opt.step(); sched.step(); rates += sched.get_last_lr()
    >>> rates
    [0.5, 1.0, 0.5, 0.25]
    """

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no scheduler.")
        self._check_parts(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}")
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Each part made its first step when it was constructed. That is undone, except for the part that begins.
        for group in optimizer.param_groups:
            set_lr(group, group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched=None):
        """Move the schedules inside `sched` (by default this one), at any depth, back by one epoch."""
        sched = self if sched is None else sched
        if hasattr(sched, "_schedulers"):
            for part in sched._schedulers:
                self.recursive_undo(part)
        elif hasattr(sched, "last_epoch"):
            sched.last_epoch -= 1

    def step(self):                            # type: ignore[override]
        """Let the current schedule make a step."""
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Composed):
    """Schedules that all make a step in each step, one after the other on the same rates.

    >>> import tinytorch as torch
    >>> opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    >>> parts = [torch.optim.lr_scheduler.ExponentialLR(opt, gamma) for gamma in (0.5, 0.25)]
    >>> sched = torch.optim.lr_scheduler.ChainedScheduler(parts)
    >>> opt.step(); sched.step(); sched.get_last_lr()
    [0.125]
    """

    def __init__(self, schedulers, optimizer=None):
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler to be chained, but got no "
                             "scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        self._check_parts(schedulers, optimizer)
        self._schedulers, self.optimizer = schedulers, optimizer
        self._last_lr = values(optimizer, "lr")

    def step(self):                            # type: ignore[override]
        """Let each of the schedules make a step."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = values(self.optimizer, "lr")
