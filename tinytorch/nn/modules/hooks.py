"""Hooks of modules: the global hooks, and how a call with hooks runs."""
from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...autograd.grad_mode import mode
from ...autograd.hooks import RemovableHandle, as_tensor, check_replacement
from ...autograd.op import op
from ...autograd.views import FUNCTION, track_view
from ...errors import warn
from ...tensor import Tensor, wrap

#: Counts all writes to modules, except changes of a tensor's numbers. Code that has recorded a module compares it to
#: know whether the recording still holds.
changes = [0]
#: Global hooks: each dict maps the number of a handle to a hook, for all modules.
buffer_registration: OrderedDict[int, Callable] = OrderedDict()
module_registration: OrderedDict[int, Callable] = OrderedDict()
parameter_registration: OrderedDict[int, Callable] = OrderedDict()
forward_pre: OrderedDict[int, Callable] = OrderedDict()
forward: OrderedDict[int, Callable] = OrderedDict()
forward_with_kwargs: OrderedDict[int, bool] = OrderedDict()
forward_always: OrderedDict[int, bool] = OrderedDict()
backward_pre: OrderedDict[int, Callable] = OrderedDict()
backward: OrderedDict[int, Callable] = OrderedDict()
backward_not_full: OrderedDict[int, Callable] = OrderedDict()


class Hooks(OrderedDict):
    """A module's hooks of one kind. Any write to it other than by `add` sets Module._hooked (see there)."""

    note_write: Any = None                     # set by module.py

    def __setitem__(self, key, hook):
        changes[0] += 1
        self.note_write()
        super().__setitem__(key, hook)

    def __reduce__(self):
        return OrderedDict, (), None, None, iter(self.items())     # as torch pickles it

    def __deepcopy__(self, memo):
        memo[id(self)] = hooks = type(self)()
        for key, hook in self.items():
            OrderedDict.__setitem__(hooks, key, copy.deepcopy(hook, memo))
        return hooks


def add(hooks, hook, *marks, prepend=False):
    """Put `hook` into the ordered dict `hooks` and return its handle.

    marks    (dict, bool): whether to note the hook's id in that dict
    """
    handle = RemovableHandle(hooks, extra_dict=[d for d, _ in marks])
    OrderedDict.__setitem__(hooks, handle.id, hook)
    for d, wanted in marks:
        if wanted:
            d[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class Hooked:
    """The part of Module that registers hooks of one module."""

    if TYPE_CHECKING:                          # attributes that Module.__init__ sets
        _backward_pre_hooks: dict[int, Callable]
        _backward_hooks: dict[int, Callable]
        _is_full_backward_hook: bool | None
        _forward_hooks: dict[int, Callable]
        _forward_hooks_with_kwargs: dict[int, bool]
        _forward_hooks_always_called: dict[int, bool]
        _forward_pre_hooks: dict[int, Callable]
        _forward_pre_hooks_with_kwargs: dict[int, bool]

    def _add_hook(self, registry, hook, *marks, prepend=False):
        changes[0] += 1
        self.__dict__["_hooked"] = True
        return add(registry, hook, *marks, prepend=prepend)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Call hook(module, args) before `forward`. A result other than None replaces the arguments.

        with_kwargs    the hook is hook(module, args, kwargs) -> None or (args, kwargs)
        prepend        run it before the hooks registered so far
        Returns a handle with `remove()`.
        """
        return self._add_hook(self._forward_pre_hooks, hook, (self._forward_pre_hooks_with_kwargs, with_kwargs),
                              prepend=prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Call hook(module, args, output) after `forward`. A result other than None replaces the output.

        with_kwargs    the hook is hook(module, args, kwargs, output)
        prepend        run it before the hooks registered so far
        always_call    run it even if `forward` raises
        Returns a handle with `remove()`.
        """
        return self._add_hook(self._forward_hooks, hook, (self._forward_hooks_with_kwargs, with_kwargs),
                              (self._forward_hooks_always_called, always_call), prepend=prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Call hook(module, grad_output) when the gradients of the output are known. A result other than None (a
        tuple) replaces them."""
        return self._add_hook(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """Call hook(module, grad_input, grad_output) when the gradients of the inputs are known. A result other than
        None (a tuple) replaces grad_input."""
        self._want_backward_hooks(True)
        return self._add_hook(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook):
        """Deprecated: call hook(module, grad_input, grad_output) with the gradients of the last operation of `forward`
        (use register_full_backward_hook). RuntimeError if the module has full backward hooks."""
        self._want_backward_hooks(False)
        return self._add_hook(self._backward_hooks, hook)

    def _want_backward_hooks(self, full):
        if self._is_full_backward_hook is not None and self._is_full_backward_hook is not full:
            raise RuntimeError("Cannot use both regular backward hooks and full backward hooks on a single Module. "
                               "Please use only one of them.")
        self.__dict__["_is_full_backward_hook"] = full


def registered(hooks, module, name, value):
    """`value`, or its replacement by the global registration hooks."""
    for hook in hooks.values():
        result = hook(module, name, value)
        if result is not None:
            value = result
    return value


# ------------------------------------------------------------------ a call with hooks
def call(module, args, kwargs):
    """Run module.forward(*args, **kwargs) between the hooks of the module and the global hooks, or the compiled form
    of this if `Module.compile` was called."""
    compiled = module.__dict__.get("_compiled_call_impl")
    return call_as_written(module, args, kwargs) if compiled is None else compiled(*args, **kwargs)


def call_as_written(module, args, kwargs):
    """Run a module that is not compiled: `forward` between the hooks."""
    if not (module._forward_hooks or module._forward_pre_hooks or module._backward_hooks or module._backward_pre_hooks
            or forward or forward_pre or backward or backward_pre or backward_not_full):
        return module.forward(*args, **kwargs)             # all hooks have been removed
    state = _Call(module, args, kwargs)
    try:
        return state.run()
    except Exception:
        state.run_always_called()
        raise


class _Call:
    """One call of a module: its arguments, its result, and which always-called hooks have run."""

    def __init__(self, module, args, kwargs):
        self.module, self.args, self.kwargs = module, args, kwargs
        self.result, self.done = None, set()

    def run(self):
        module = self.module
        self.run_pre_hooks()
        hook = None
        own = list(module._backward_hooks.values())
        full = [*backward.values(), *(own if module._is_full_backward_hook else ())]
        not_full = [*backward_not_full.values(), *(() if module._is_full_backward_hook else own)]
        pre = [*backward_pre.values(), *module._backward_pre_hooks.values()]
        if full or pre:
            hook = _BackwardHook(module, full, pre)
            self.args = hook.on_inputs(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        for id, f in [*forward.items(), *module._forward_hooks.items()]:
            self.done.add(id)
            self.run_hook(id, f)
        if hook is not None:
            self.result = hook.on_output(self.result)
        if not_full:
            _hook_last_node(module, not_full, self.args, self.result)
        return self.result

    def run_pre_hooks(self):
        module = self.module
        for id, f in [*forward_pre.items(), *module._forward_pre_hooks.items()]:
            if id in module._forward_pre_hooks_with_kwargs:
                result = f(module, self.args, self.kwargs)
                if result is None:
                    continue
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError("forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                                       f"but got {result}.")
                self.args, self.kwargs = result
            else:
                result = f(module, self.args)
                if result is not None:
                    self.args = result if isinstance(result, tuple) else (result,)

    def run_hook(self, id, f):
        if id in self.module._forward_hooks_with_kwargs or id in forward_with_kwargs:
            result = f(self.module, self.args, self.kwargs, self.result)
        else:
            result = f(self.module, self.args, self.result)
        if result is not None:
            self.result = result

    def run_always_called(self):
        """After an error: run the hooks with always_call that have not run. Their errors become warnings."""
        module = self.module
        for kind, hooks, always in [("global module", forward, forward_always),
                                    ("module", module._forward_hooks, module._forward_hooks_always_called)]:
            for id, f in list(hooks.items()):
                if id in always and id not in self.done:
                    try:
                        self.run_hook(id, f)
                    except Exception as error:
                        warn(f"{kind} forward hook with ``always_call=True`` raised an exception that was "
                             f"silenced as another error was raised in forward: {error}")


# ------------------------------------------------------------------ backward hooks
@op(name="backward_hook_function", first=1, multi=True, joint=lambda g, wanted, hook: hook(g),
    backward_name="BackwardHookFunctionBackward")      # a Function in torch
def _pass_through(hook, *tensors):
    return [array[...] for array in tensors]


class _BackwardHook:
    """Runs a module's backward hooks: watches the gradients of its output and of its inputs."""

    def __init__(self, module, hooks, pre_hooks):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs = None
        self.inputs: Sequence[Any] = ()
        self.inputs_watched: Sequence[int] = ()

    def on_inputs(self, args):
        # Of each tensor among the arguments, a later step needs shape and dtype alone, to make zeros.
        self.inputs = [(a._array.shape, a._array.dtype) if isinstance(a, Tensor) else None for a in args]
        args, self.inputs_watched = self.watch(args, self.inputs_done)
        return args

    def on_output(self, result):
        if not isinstance(result, (Tensor, tuple)):
            warn("For backward hooks to be called, module output should be a Tensor or a tuple of Tensors "
                 f"but received {type(result)}")
            return result
        outputs = result if isinstance(result, tuple) else (result,)
        outputs, self.outputs_watched = self.watch(outputs, self.outputs_done)
        self.output_count = len(outputs)
        return outputs if isinstance(result, tuple) else outputs[0]

    def watch(self, values, done):
        """(values, places): `values` with its tensors that require gradients passed through an op whose backward rule
        is done(gradients), and the positions of these tensors."""
        places: Sequence[int] = [i for i, v in enumerate(values) if isinstance(v, Tensor) and v.requires_grad]
        if not places or not mode.grad_now:
            return values, ()
        watched = [values[i] for i in places]
        fresh = list(values)
        for i, tensor, source in zip(places, _pass_through(done, *watched), watched):
            track_view(tensor, source, FUNCTION)   # writes to it or its base are refused
            fresh[i] = tensor
        kept_type = type(values)
        return (tuple(fresh) if kept_type is tuple else kept_type(*fresh)), places

    def outputs_done(self, g):
        grads = _spread(g, self.outputs_watched, self.output_count)
        for hook in self.pre_hooks:
            result = hook(self.module, grads)
            if result is None:
                continue
            if len(result) != len(grads):
                raise RuntimeError("Backward pre hook returned an invalid number of grad_output, "
                                   f"got {len(result)}, but expected {len(grads)}")
            grads = result
        if self.inputs_watched:
            self.grad_outputs = grads
        else:
            self.without_inputs(grads)
        return _like(g, [grads[i] for i in self.outputs_watched])

    def without_inputs(self, grads):
        if not self.hooks:
            return
        warn("Full backward hook is firing when gradients are computed with respect to module outputs since "
             "no inputs require gradients. See https://docs.pytorch.org/docs/main/generated/"
             "torch.nn.Module.html#torch.nn.Module.register_full_backward_hook for more details.")
        for hook in self.hooks:
            result = hook(self.module, (None,) * len(self.inputs), grads)
            if result is not None and not (isinstance(result, tuple) and all(r is None for r in result)):
                raise RuntimeError("Backward hook for Modules where no input requires gradient should always return "
                                   "None or None for all gradients.")

    def inputs_done(self, g):
        if self.grad_outputs is None:          # the output was bypassed: no gradient came through it
            return g
        grads = _spread(g, self.inputs_watched, len(self.inputs))
        grads = tuple(wrap(np.zeros(*like)) if d is None and like else d for d, like in zip(grads, self.inputs))
        for hook in self.hooks:
            result = hook(self.module, grads, self.grad_outputs)
            if result is None:
                continue
            if len(result) != len(grads):
                raise RuntimeError("Backward hook returned an invalid number of grad_input, "
                                   f"got {len(result)}, but expected {len(grads)}")
            grads = result
        self.grad_outputs = None
        return _like(g, [grads[i] for i in self.inputs_watched])


def _spread(g, places, count):
    """A tuple of `count` Tensors: the gradients `g` at `places`, None elsewhere."""
    grads: list[Tensor | None] = [None] * count
    for i, d in zip(places, g):
        grads[i] = wrap(np.asarray(d)) if d is not None and not isinstance(d, Tensor) else d
    return tuple(grads)


def _like(g, grads):
    """`grads` in the kind (ndarrays or Tensors) of the engine's gradients `g`."""
    for new, old in zip(grads, g):
        if new is not None and old is not None:
            check_replacement("hook", new, as_tensor(old))
    if any(isinstance(d, Tensor) for d in g):
        return grads
    return [d._array if isinstance(d, Tensor) else d for d in grads]


# ------------------------------------------------------------------ the old backward hooks
def _hook_last_node(module, hooks, args, result):
    """Register hooks of the old kind, which see only the gradients of the last operation."""
    tensor = result
    while not isinstance(tensor, Tensor):
        tensor = next(v for v in tensor.values() if isinstance(v, Tensor)) if isinstance(tensor, dict) else tensor[0]
    node = tensor.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(_WithModule(hook, module))
    missing = _what_is_missed(node, args, result)
    if missing:
        warn(f"Using {missing}", FutureWarning)


class _WithModule:
    """A hook that gets its module as first argument."""

    def __init__(self, hook, module):
        self.hook, self.module = hook, module

    def __call__(self, *args):
        return self.hook(self.module, *args)


def _what_is_missed(node, args, result):
    """The text of the warning if a hook on `node` misses some gradients of a module's arguments or result, or None."""
    instead = "Please use register_full_backward_hook to get the documented behavior."
    later = "is deprecated and will be removed in future versions. This hook will be missing"
    outputs = (result,) if isinstance(result, Tensor) else result
    if not isinstance(outputs, tuple) or not all(isinstance(r, Tensor) for r in outputs):
        return ("non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors "
                f"{later} some of the grad_output. {instead}")
    if not all(isinstance(a, Tensor) for a in args):
        return ("non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of Tensors "
                f"{later} some of the grad_input. {instead}")
    makers = {r.grad_fn for r in outputs} - {None}
    if len(makers) == 1 and node not in makers:
        return ("a non-full backward hook when outputs are nested in python data structure "
                f"{later} some grad_output.")
    if len(makers) > 1:
        return ("a non-full backward hook when outputs are generated by different autograd Nodes "
                f"{later} some grad_output. {instead}")
    if {a.grad_fn for a in args} - {None} != {f for f, _ in node.next_functions}:
        return ("a non-full backward hook when the forward contains multiple autograd Nodes "
                f"{later} some grad_input. {instead}")


# ------------------------------------------------------------------ torch.nn.modules.module.register_module_*
_full_backward_hooks = None                    # whether the global backward hooks are full hooks; None: none yet


def want_backward_hooks(full):
    """RuntimeError if global backward hooks of the other kind have been registered."""
    global _full_backward_hooks
    if _full_backward_hooks is not None and _full_backward_hooks is not full:
        raise RuntimeError("Cannot use both regular backward hooks and full backward hooks as a global Module hook. "
                           "Please use only one of them.")
    _full_backward_hooks = full


def register_module_buffer_registration_hook(hook):
    """Call hook(module, name, buffer) whenever a buffer is registered. Its result, unless None, replaces the buffer."""
    return add(buffer_registration, hook)


def register_module_module_registration_hook(hook):
    """Call hook(module, name, submodule) whenever a submodule is registered. Its result, unless None, replaces it."""
    return add(module_registration, hook)


def register_module_parameter_registration_hook(hook):
    """Call hook(module, name, parameter) whenever a parameter is registered. Its result, unless None, replaces it."""
    return add(parameter_registration, hook)
