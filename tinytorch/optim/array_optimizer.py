"""ArrayOptimizer: an optimiser whose update of a parameter is one function on ndarrays."""
from __future__ import annotations

from operator import is_
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..autograd.grad_mode import all_threads, enable_grad, set_grad_enabled
from ..autograd.places import note_place
from ..autograd.promotion import check_broadcast
from ..autograd.views import check_written
from ..errors import kind_of
from ..kernels import errstate
from ..kinds.lazy import UNRESOLVED, bits_of
from ..ops.elementwise.complex import view_as_real
from ..tensor import Tensor, wrap
from .bundle import Bundle, bundled
from .optimizer import Optimizer

_NO_BUNDLE = (), None, ()
_quietly = errstate.quiet()


def refused_capture(of="params and state_steps", xla=True):
    """The error message for `capturable=True`, which is for accelerators."""
    devices = ["cuda", "xpu", "hpu", "privateuseone", "xla"]
    return f"If capturable=True, {of} must be on supported devices: {devices if xla else devices[:-1]}."


def check_decay(decay, group):
    """Raise torch's error, from adding `decay` times the parameter to the gradient, for an invalid `decay`."""
    if group.get("decoupled_weight_decay"):
        return
    if isinstance(decay, bool) and decay:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if not isinstance(decay, (int, float, complex, np.generic)) and not (isinstance(decay, Tensor) and decay.ndim == 0):
        raise TypeError(f"add(): argument 'alpha' must be Number, not {kind_of(decay)}")


def refuse_arrays(group):
    """RuntimeError if an option of the group is a tensor or an array with dimensions instead of a number."""
    for name, option in group.items():
        for x in option if isinstance(option, (tuple, list)) and name != "params" else (option,):
            if isinstance(x, (Tensor, np.ndarray)) and x.ndim:
                raise RuntimeError(f"{name} must be a number, not a {kind_of(x)} of shape {list(x.shape)}") from None


class ArrayOptimizer(Optimizer):
    """An optimiser whose step is one in-place update for each parameter: `_update(group, lr, p, g, state)` on ndarrays
    (complex arrays become pairs of reals: `real`).

    With `differentiable=True` the update is `_record(group, lr, p, g, state)` on Tensors, which autograd records.
    """

    #: Options that older state dicts may lack, with their defaults.
    _OPTIONS: dict[str, Any] = {"maximize": False, "foreach": None, "differentiable": False}
    #: Parts of the state that are one number for the whole parameter, in a tensor.
    _NUMBERS: tuple[str, ...] = ("step",)
    #: The error messages for capturable=True: without foreach, and with it.
    _CAPTURED = refused_capture(), refused_capture(xla=False)
    #: (parameters, bundle, parameters outside it) by a group's id, and the number of attempts to make a bundle.
    _bundles: dict[int, tuple] = {}
    _tries = 0

    def __init__(self, params, defaults):
        self._check(defaults)
        super().__init__(params, defaults)
        if defaults.get("fused"):
            if defaults["differentiable"]:
                raise RuntimeError("`fused` does not support `differentiable`")
            self._step_supports_amp_scaling = True
            if defaults["foreach"]:
                raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    def _check(self, defaults):
        """ValueError for options out of range."""
        check_lr(defaults["lr"])
        for name, shown in (("eps", "epsilon"), ("momentum", "momentum"), ("weight_decay", "weight_decay")):
            if name in defaults and not defaults[name] >= 0.0:
                raise ValueError(f"Invalid {shown} value: {defaults[name]}")

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in self._OPTIONS.items():
                group.setdefault(name, default)
            for p in group["params"]:
                found = self.state.get(p, {})
                for name in self._NUMBERS:
                    if name in found and not isinstance(found[name], Tensor):
                        found[name] = number(float(found[name]), group.get("fused"))

    def step(self, closure=None):
        """Update every parameter that has a gradient. Returns the result of `closure`, if given."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            try:
                _quietly(self._step_group, group)
            except RuntimeError as error:
                errstate.another(error)(self._step_group, group)
        return loss

    def _step_group(self, group):
        if group.get("capturable") or group.get("fused") or group.get("differentiable"):
            if self._special(group):
                return
        decay = group.get("weight_decay", 0)
        if decay.__class__ is not float and decay.__class__ is not int:
            check_decay(decay, group)
        lr = group["lr"]
        if isinstance(lr, Tensor):         # torch computes with a tensor in the tensor's dtype
            lr = number_of(lr)
        bundle, others = self._parts_of(group)
        if bundle is not None:
            self._update(group, lr, *bundle.gather(), bundle.state)
            bundle.put_back()
        try:
            self._update_each(group, lr, others)
        except (TypeError, ValueError):
            refuse_arrays(group)
            raise
        if all_threads.noting_writes:
            for p in group["params"]:
                if p._grad is not None:
                    note_place(p._version_counter)
        if bundle is None and self.state:
            self._bundle(group)

    # -------------------------------------------------------------- the flags
    def _special(self, group):
        """Check the flags of a group, and do the whole step in two cases: it is differentiable, or gradients are not
        finite, so that nothing is updated. Returns whether the step is done."""
        params = [p for p in group["params"] if p._grad is not None]
        if group.get("fused"):
            check_fused(params)
            if self._unscaled(group, params):
                return True
        if not params:
            return False
        differentiable = group.get("differentiable")
        if differentiable and group["foreach"]:
            self._check_foreach()
        if group.get("capturable"):
            raise AssertionError(self._CAPTURED[bool(group["foreach"])])
        if differentiable:
            with set_grad_enabled(self.defaults["differentiable"]):
                self._recorded(group, params)
        return differentiable

    def _unscaled(self, group, params):
        """Divide the gradients by `grad_scale`, which a gradient scaler may have set on a fused optimiser together with
        `found_inf`. Returns whether `found_inf` forbids the step."""
        found, scale = getattr(self, "found_inf", None), getattr(self, "grad_scale", None)
        if found is not None and found.item():
            for p in params:
                self._state_of(p, group)
            return True
        if scale is not None:
            for p in params:
                p._grad.detach().div_(scale)
        return False

    def _check_foreach(self):
        raise AssertionError("_foreach ops don't support autograd")

    def _recorded(self, group, params):
        lr = scalar(group["lr"])
        for p in params:
            g = p.grad
            if g.is_sparse:
                self._update_sparse(group, number_of(lr) if isinstance(lr, Tensor) else lr, p, g)
                p._version_counter[0] += 1
                continue
            self._record(group, lr, p, -g if group["maximize"] else g, self._state_of(p, group))

    def _record(self, group, lr, p, g, state):
        """Update Tensor `p` in place from gradient `g`, whose sign follows `maximize`, and update `state`."""
        raise NotImplementedError(f"{type(self).__name__}: differentiable=True is not supported")

    # -------------------------------------------------------------- small parameters
    def _parts_of(self, group) -> tuple[Bundle | None, Any]:
        """The bundle of a group's small parameters, if there is a valid one, and the other parameters."""
        params = group["params"]
        before, bundle, others = self._bundles.get(id(group), _NO_BUNDLE)
        if (bundle is not None and len(before) == len(params) and all(map(is_, before, params))
                and bundle.holds(self.state)):
            return bundle, others
        return None, params

    def _bundle(self, group):
        """Let the next step update the small parameters of `group` together."""
        # Where gradients come and go, bundles do not pay, so the number of attempts is limited.
        if self._tries < 10:
            self._tries += 1
            bundle = bundled(group["params"], self.state, self._NUMBERS)
            if bundle is not None:
                inside = set(map(id, bundle.params))
                others = [p for p in group["params"] if id(p) not in inside]
                self._bundles = {**self._bundles, id(group): (list(group["params"]), bundle, others)}

    # -------------------------------------------------------------- state and updates
    def _update_each(self, group, lr, params):
        """Update the `params` that have gradients, one by one. After an error all of them have a state, because torch
        makes all states first."""
        try:
            for p in params:
                grad = p._grad
                if grad is not None:
                    if grad.is_sparse:
                        check_written(p._array)
                        self._update_sparse(group, lr, p, grad)
                    else:
                        state = self._state_of(p, group)
                        self._check_shapes(p._array, grad._array, state)
                        self._update(group, lr, p._array, grad._array, state)
                    p._version_counter[0] += 1
        except Exception:
            for p in params:
                if p._grad is not None and not p._grad.is_sparse:
                    self._state_of(p, group)
            raise

    def _state_of(self, p, group):
        state = self.state[p]
        if not state:
            state.update(self._new_state(group, p._array))
        return state

    def _new_state(self, group, p):
        """The state of array `p` before its first update: a dict of tensors."""
        raise NotImplementedError

    def _shape_of_state(self, p, key):
        return None if key in self._NUMBERS else p.shape

    def _check_shapes(self, p, g, state):
        """RuntimeError, with the message of the update's first sum, unless the gradient and the state of array `p` have
        its shape: a state dict may come from another model, and kernels only use the shape of `p`. RuntimeError also
        if `p` may not be written to, before any state is written."""
        if 0 in p.strides or not p.flags.writeable:
            check_written(p)
        shape = p.shape
        if g.shape != shape:
            refuse_sum(shape, g.shape)
        for name, value in state.items():
            if name not in self._NUMBERS and isinstance(value, Tensor) and value._array.shape != shape:
                refuse_sum(value._array.shape, shape)

    def _update(self, group, lr, p, g, state):
        """Update array `p` in place from gradient `g`, and update `state`."""
        raise NotImplementedError

    def _update_sparse(self, group, lr, p, g):
        """Update parameter `p` in place from its sparse gradient `g`."""
        raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")


def update_each(kind: type[ArrayOptimizer], lr: Any, params: list[Tensor], grads: list[Tensor], group: dict,
                **states: list[Tensor]) -> None:
    """An optimiser's update for lists of parameters and gradients. `states` are lists of the parts of their state; new
    parts are stored in these lists."""
    if not all([isinstance(t, Tensor) for t in states.get("step", ())]):
        raise RuntimeError("API has changed, `state_steps` argument must contain a list of singleton tensors")
    optimiser = object.__new__(kind)
    lr = number_of(lr) if isinstance(lr, Tensor) else lr
    for i, (p, g) in enumerate(zip(params, grads)):
        parts = {name: values[i] for name, values in states.items() if i < len(values) and values[i] is not None}
        before = dict(parts)
        if g.is_sparse:
            optimiser.state = {p: parts}
            optimiser._update_sparse(group, lr, p, g)
        else:
            optimiser._check_shapes(p._array, g._array, parts)
            optimiser._update(group, lr, p._array, g._array, parts)
        p._version_counter[0] += 1
        for name, value in parts.items():
            if before.get(name) is not value:
                states[name][i] = value


# ------------------------------------------------------------------ checks
def check_lr(lr, shown="Invalid learning rate: {}"):
    """ValueError for a rate that is negative, or a tensor of several elements."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not lr >= 0.0:
        raise ValueError(shown.format(lr))


def check_betas(betas):
    """ValueError for decay rates of averages out of range."""
    for i in range(2):
        beta = betas[i]                        # as in torch, one beta alone is an IndexError
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def check_fused(params):
    """RuntimeError unless fused kernels can update `params`."""
    for p in params:
        if p._array.dtype.kind not in dt.FLOATING:
            raise RuntimeError("`fused=True` requires all the params to be floating point Tensors of supported "
                               "devices: ['mps', 'cuda', 'xpu', 'hpu', 'cpu', 'mtia', 'privateuseone'] but "
                               f"{p.dtype} and cpu")


def refuse_sum(a, b):
    """RuntimeError for shapes that an in-place sum does not accept."""
    check_broadcast(a, b)
    whole = list(np.broadcast_shapes(a, b))
    raise RuntimeError(f"output with shape {list(a)} doesn't match the broadcast shape {whole}")


# ------------------------------------------------------------------ numbers
def scalar(x):
    """An option for autograd: a tensor of one element loses its dimensions, a number is unchanged."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() else x


def number_of(tensor):
    """The one element of a tensor, in its dtype where NumPy has it."""
    return tensor._array.reshape(())[()] if tensor._array.dtype.kind in dt.NATIVE else tensor.item()


def number(value, fused=False):
    """A state tensor for one number, in the dtype that torch uses for counts."""
    wide = dt.get_default_dtype() is dt.float64 and not fused
    return wrap(np.array(value, np.float64 if wide else np.float32))


def new_count(group):
    """A step count of zero."""
    return number(0, group.get("fused"))


def count_step(state):
    """Add one to state["step"] and return it as a Python number."""
    count = state["step"]._array
    count += 1
    return value_of(count)


def value_of(array):
    """The number in the array of a state tensor. In a bundle the array holds that number several times."""
    return array.item() if not array.ndim else array.item(0)


def half_number_of(array):
    """`value_of` for a number that a loaded state dict may have given the dtype of a parameter in half precision."""
    return value_of(dt.numbers(array))


def put_number(array, value):
    """Write a number to the array of a state tensor, of any dtype."""
    array[...] = value if array.dtype.kind != dt.WIDENED else dt.cast(np.asarray(value), array.dtype)


# ------------------------------------------------------------------ arrays
def real(array):
    """A complex array as pairs of reals, sharing memory; a real array unchanged."""
    if array.dtype.kind != dt.COMPLEX:
        return array
    if bits_of(array)[0]:
        raise RuntimeError(UNRESOLVED)
    return array[..., None].view(array.real.dtype)


def zeros_like(p):
    """A state tensor of zeros for array `p`, in p's memory order."""
    return wrap(np.zeros_like(p))


def array_of(state, name):
    """The array of a state tensor (complex as pairs of reals), or None if there is none."""
    tensor = state.get(name)
    return None if tensor is None else real(tensor._array)


# ------------------------------------------------------------------ differentiable steps
def reals(*tensors):
    """Complex tensors as pairs of reals; others unchanged."""
    return [t if t is None or not t.is_complex() else view_as_real(t) for t in tensors]


def penalised(g, p, weight_decay):
    """The gradient with its L2 penalty."""
    return g.add(p, alpha=weight_decay) if weight_decay != 0 else g


def record_square(average, share, g):
    """average = share * average + (1 - share) * g * g, recorded."""
    average.mul_(share).addcmul_(g, g, value=1 - share)
