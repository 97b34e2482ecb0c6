"""Schedules of a rate that rises and falls, while momentum moves the other way."""
import math
import types
from collections.abc import Callable
from functools import partial

from .base import LRScheduler, begin_momentum, check_optimizer, per_group, set_lr, set_momentum


class CyclicLR(LRScheduler):
    """Cycles between `base_lr` and `max_lr`: up in `step_size_up` steps and down in `step_size_down` (by default as
    many), again and again (Smith 2017). Step it once a batch.

    mode            how the height of a cycle changes: with "triangular" it stays, with "triangular2" it halves each
                    cycle, with "exp_range" it is gamma ** steps
    scale_fn        a function that returns the height in place of a mode; its argument is the number of the cycle (from
                    1) or of the step, by `scale_mode`: "cycle" or "iterations"
    cycle_momentum  momentum, or the first of the betas, moves from `max_momentum` to `base_momentum` and back;
                    ValueError if the optimiser has neither

    >>> import tinytorch as torch
    >>> opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> sched = torch.optim.lr_scheduler.CyclicLR(opt, base_lr=0.0, max_lr=1.0, step_size_up=2)
    >>> rates = []
    >>> for _ in range(5):
    ...     opt.step(); sched.step(); rates += sched.get_last_lr()
    >>> rates
    [0.5, 1.0, 0.5, 0.0, 0.5]
    """

    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular",
                 gamma=1.0, scale_fn=None, scale_mode="cycle", cycle_momentum=True, base_momentum=0.8,
                 max_momentum=0.9, last_epoch=-1):
        check_optimizer(optimizer)
        base_lrs = per_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups):
                set_lr(group, lr)
        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma, self._scale_fn_custom, self.scale_mode = mode, gamma, scale_fn, scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1, self.base_momentums, self.max_momentums = begin_momentum(
                optimizer, base_momentum, max_momentum, last_epoch == -1)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self):
        """Set the function of the mode, unless a `scale_fn` was given."""
        if self._scale_fn_custom is not None:
            return
        self.scale_mode = "iterations" if self.mode == "exp_range" else "cycle"
        if self.mode == "exp_range":
            self._scale_fn_ref: Callable = partial(_power, self.gamma)
        else:
            self._scale_fn_ref = _full if self.mode == "triangular" else _halved

    def scale_fn(self, x):
        """The height of cycle or step number x, as a fraction of `max_lr - base_lr`."""
        return (self._scale_fn_ref if self._scale_fn_custom is None else self._scale_fn_custom)(x)

    def get_lr(self):
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        part = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        at = cycle if self.scale_mode == "cycle" else self.last_epoch
        rates = [low + (high - low) * part * self.scale_fn(at)
                 for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]
        if self.cycle_momentum:
            momenta = [high - (high - low) * part * self.scale_fn(at)
                       for low, high in zip(self.base_momentums, self.max_momentums, strict=True)]
            for group, momentum in zip(self.optimizer.param_groups, momenta, strict=True):
                set_momentum(group, self.use_beta1, momentum)
        return rates

    def state_dict(self):
        """As in the base class. Of a `scale_fn` only the attributes of a callable object are saved."""
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        function = state["_scale_fn_custom"]
        if function is not None:
            plain = isinstance(function, types.FunctionType)
            state["_scale_fn_custom"] = None if plain else function.__dict__.copy()
        return state

    def load_state_dict(self, state_dict):
        """Take over a result of `state_dict()`; the `scale_fn` given at construction stays."""
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_scale_fn_custom"})
        attributes = state_dict["_scale_fn_custom"]
        if attributes is not None:
            self._scale_fn_custom.__dict__.update(attributes)
        self._init_scale_fn()


def _full(cycle):
    return 1.0


def _halved(cycle):
    return 1 / 2.0 ** (cycle - 1)


def _power(gamma, step):
    return gamma ** step


class OneCycleLR(LRScheduler):
    """One rise to `max_lr` and one fall, while momentum moves the other way (Smith and Topin 2018).

    Step it once a batch, `total_steps` (or epochs * steps_per_epoch) times; ValueError beyond that.

    >>> import tinytorch as torch
    >>> opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=1.0, total_steps=10)
    >>> [round(lr, 4) for lr in sched.get_last_lr()]
    [0.04]
    """

    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3,
                 anneal_strategy="cos", cycle_momentum=True, base_momentum=0.85, max_momentum=0.95,
                 div_factor=25.0, final_div_factor=1e4, three_phase=False, last_epoch=-1):
        check_optimizer(optimizer)
        if total_steps is not None:
            _check_positive("total_steps", total_steps)
        elif epochs is not None and steps_per_epoch is not None:
            _check_positive("epochs", epochs)
            _check_positive("steps_per_epoch", steps_per_epoch)
            total_steps = epochs * steps_per_epoch
        else:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        if not isinstance(pct_start, float) or pct_start < 0 or pct_start > 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.total_steps, self._anneal_func_type = total_steps, anneal_strategy
        self._schedule_phases = _one_cycle_phases(total_steps, pct_start, three_phase)
        if last_epoch == -1:
            for top, group in zip(per_group("max_lr", optimizer, max_lr), optimizer.param_groups):
                group["initial_lr"], group["max_lr"] = top / div_factor, top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1, *_ = begin_momentum(optimizer, base_momentum, max_momentum, last_epoch == -1)
        super().__init__(optimizer, last_epoch)

    def _between(self, start, end, part):
        if self._anneal_func_type == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)

    def get_lr(self):
        self._warn_outside_step()
        now = self.last_epoch
        if now > self.total_steps:
            raise ValueError(f"Tried to step {now} times. The specified number of total steps is {self.total_steps}")
        phases = self._schedule_phases
        i = next((i for i, phase in enumerate(phases) if now <= phase["end_step"]), len(phases) - 1)
        phase = phases[i]
        begin = phases[i - 1]["end_step"] if i else 0.0
        part = (now - begin) / (phase["end_step"] - begin)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                first, last = group[phase["start_momentum"]], group[phase["end_momentum"]]
                set_momentum(group, self.use_beta1, self._between(first, last, part))
        return rates


def _check_positive(name, value):
    if not isinstance(value, int) or value <= 0:
        raise ValueError(f"Expected positive integer {name}, but got {value}")


def _one_cycle_phases(total_steps, pct_start, three_phase):
    """The end of each phase, and the two values of a group between which it moves."""
    def phase(end_step, lr, momentum):
        return {"end_step": end_step, "start_lr": lr[0], "end_lr": lr[1],
                "start_momentum": momentum[0], "end_momentum": momentum[1]}
    high, low = "max_momentum", "base_momentum"
    rise = phase(float(pct_start * total_steps) - 1, ("initial_lr", "max_lr"), (high, low))
    if not three_phase:
        return [rise, phase(total_steps - 1, ("max_lr", "min_lr"), (low, high))]
    return [rise,
            phase(float(2 * pct_start * total_steps) - 2, ("max_lr", "initial_lr"), (low, high)),
            phase(total_steps - 1, ("initial_lr", "min_lr"), (high, high))]
