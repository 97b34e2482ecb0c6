"""GradScaler: scales losses up, so that small gradients of half precision do not vanish."""
from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

from .. import dtypes as dt
from ..autograd.grad_mode import no_grad
from ..errors import warn
from ..ops.creation.factories import full
from ..tensor import Tensor

__all__ = ["GradScaler", "OptState"]

_HINT = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."


class OptState(Enum):
    """The last call for an optimizer since the last `update`."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class GradScaler:
    """Multiplies losses by a scale, divides gradients by it, and skips steps whose gradients are not finite.

    The scale shrinks by `backoff_factor` after a skipped step, and grows by `growth_factor` after `growth_interval`
    good steps. AssertionError unless growth_factor > 1 and backoff_factor < 1. For "cuda" it warns and has no effect.

    >>> import tinytorch as torch
    >>> w = torch.ones(1, requires_grad=True)
    >>> optimizer, scaler = torch.optim.SGD([w], 0.5), torch.amp.GradScaler("cpu", init_scale=4.0)
    >>> scaler.scale(w.sum()).backward()
    >>> w.grad
    tensor([4.])
    >>> scaler.step(optimizer); scaler.update(); w
    tensor([0.5000], requires_grad=True)
    """

    def __init__(self, device: str = "cuda", init_scale: float = 2.0 ** 16, growth_factor: float = 2.0,
                 backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True) -> None:
        self._device, self._enabled = device, enabled
        if enabled and device == "cuda":
            warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
            self._enabled = False
        if self._enabled:
            if growth_factor <= 1.0:
                raise AssertionError("The growth factor must be > 1.0.")
            if backoff_factor >= 1.0:
                raise AssertionError("The backoff factor must be < 1.0.")
            self._init_scale, self._init_growth_tracker = init_scale, 0
            self._scale = self._growth_tracker = None      # made by the first call of scale()
            self._growth_factor, self._backoff_factor, self._growth_interval = (growth_factor, backoff_factor,
                                                                                growth_interval)
            self._states = {}                  # {id of an optimizer: [OptState, whether a gradient was not finite]}

    def _check_scaled(self, name):
        for attribute in ("_scale", "_growth_tracker"):
            if getattr(self, attribute) is None:
                raise AssertionError(f"Attempted {name} but {attribute} is None.  {_HINT}")

    def scale(self, outputs: Tensor | Iterable[Any]) -> Any:
        """A tensor, or all tensors in an iterable, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._scale = full((), self._init_scale, dtype=dt.float32)
                self._growth_tracker = full((), self._init_growth_tracker, dtype=dt.int32)
            return outputs * self._scale
        if isinstance(outputs, Iterable):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _state(self, optimizer):
        return self._states.setdefault(id(optimizer), [OptState.READY, None])

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer by the scale, once before its step. RuntimeError the second time;
        ValueError for gradients in float16."""
        if not self._enabled:
            return
        self._check_scaled("unscale_")
        state = self._state(optimizer)
        if state[0] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state[0] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = self._scale.double().reciprocal().float()
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if any([g.dtype is dt.float16 for g in gradients]):
            raise ValueError("Attempting to unscale FP16 gradients.")
        if gradients:
            state[1] = False
        with no_grad():
            for g in gradients:
                values = g._values() if g.is_sparse else g
                state[1] = state[1] or not values.isfinite().all().item()
                values.mul_(inverse)
        state[0] = OptState.UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """`optimizer.step(...)` on gradients divided by the scale, unless one of them is not finite."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scaled("step")
        state = self._state(optimizer)
        if state[0] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state[0] is OptState.READY:
            self.unscale_(optimizer)
        if state[1] is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if state[1] else optimizer.step(*args, **kwargs)
        state[0] = OptState.STEPPED
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Set the scale for the next iteration: the one given, or one that follows from the steps."""
        if not self._enabled:
            return
        self._check_scaled("update")
        if isinstance(new_scale, float):
            self._scale.fill_(new_scale)
        elif new_scale is not None:
            if new_scale.device.type != self._device or new_scale.numel() != 1 or new_scale.requires_grad:
                raise AssertionError("new_scale should be a float or a 1-element torch.cuda.FloatTensor or "
                                     "torch.FloatTensor with requires_grad=False.")
            self._scale.copy_(new_scale)
        else:
            found = [bad for _, bad in self._states.values() if bad is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._adapt(any(found))
        self._states = {}

    def _adapt(self, skipped):
        if skipped:
            self._scale.mul_(self._backoff_factor)
            self._growth_tracker.zero_()
        elif self._growth_tracker.item() + 1 == self._growth_interval:
            grown = self._scale * self._growth_factor
            if grown.isfinite().item():
                self._scale.copy_(grown)
            self._growth_tracker.zero_()
        else:
            self._growth_tracker.add_(1)

    def get_scale(self) -> float:
        """The scale, 1.0 if scaling is off."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self) -> float:
        """The factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """The factor by which the scale shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """The number of good steps after which the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the number of good steps after which the scale grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self):
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else self._growth_tracker.item()

    def is_enabled(self) -> bool:
        """Whether scaling is on."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The scale and the settings by which it changes; {} if scaling is off."""
        if not self._enabled:
            return {}
        return {"scale": self.get_scale(), "growth_factor": self._growth_factor,
                "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
                "_growth_tracker": self._get_growth_tracker()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from a result of `state_dict`. RuntimeError if that is empty."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance "
                               "of GradScaler.")
        self._init_scale, self._init_growth_tracker = state_dict["scale"], state_dict["_growth_tracker"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        if self._scale is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker.fill_(self._init_growth_tracker)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self._enabled:
            if self._states:
                raise AssertionError("A GradScaler instance may only be pickled at the beginning of an iteration, or "
                                     "at the end after scaler.update().")
            state.update(_init_scale=self.get_scale(), _init_growth_tracker=self._get_growth_tracker(), _scale=None,
                         _growth_tracker=None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
