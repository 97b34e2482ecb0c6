"""torch.utils.checkpoint: saves memory by computing activations a second time during backward."""
import contextlib
import threading
from enum import Enum

from .. import dtypes as dt
from .._refused import refused, refused_class
from ..autograd.casts import get_autocast_dtype, is_autocast_cache_enabled, is_autocast_enabled
from ..autograd.function import Function
from ..autograd.grad_mode import enable_grad, mode
from ..autograd.saved import saved_tensors_hooks
from ..autograd.tensor_methods import backward as run_backward
from ..errors import warn
from ..random import get_rng_state, set_rng_state
from ..tensor import Size, Tensor

__all__ = ["CheckpointError", "CheckpointPolicy", "DefaultDeviceType", "GraphExecGroup", "SAC_IGNORED_OPS",
           "SelectiveCheckpointContext", "checkpoint", "checkpoint_sequential",
           "create_selective_checkpoint_contexts", "get_device_states", "noop_context_fn",
           "set_checkpoint_debug_enabled", "set_checkpoint_early_stop"]


class CheckpointError(RuntimeError):
    """The second run, during backward, differs from the first run."""


def noop_context_fn():
    """Two contexts that do nothing, for the first and the second run of a function."""
    return contextlib.nullcontext(), contextlib.nullcontext()


_debug = None


class set_checkpoint_debug_enabled:
    """Context manager: overrides `debug` of `checkpoint`. True is not supported."""

    def __init__(self, enabled):
        self.enabled = enabled

    def __enter__(self):
        global _debug
        self._before, _debug = _debug, self.enabled

    def __exit__(self, *exc_info):
        global _debug
        _debug = self._before


_early_stop = None


@contextlib.contextmanager
def set_checkpoint_early_stop(enable):
    """Context manager: overrides `early_stop` of `checkpoint`."""
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


def checkpoint(function, *args, use_reentrant=None, context_fn=noop_context_fn, determinism_check="default",
               debug=False, early_stop=True, preserve_rng_state=True, **kwargs):
    """function(*args, **kwargs) without keeping its activations: backward computes them again.

    use_reentrant       True: the second run has its own backward, and only tensors among `args` get gradients
    preserve_rng_state  whether the second run draws the same random numbers
    context_fn          returns two context managers, for the first and the second run (not with use_reentrant=True)
    determinism_check   "default": the shapes and dtypes of both runs are compared (CheckpointError); or "none"
    early_stop          whether the second run stops as soon as all needed tensors are computed

    >>> import tinytorch as torch
    >>> from tinytorch.utils.checkpoint import checkpoint
    >>> x = torch.ones(2, requires_grad=True)
    >>> checkpoint(lambda t: t.exp().log(), x, use_reentrant=False).sum().backward()
    >>> x.grad
    tensor([1., 1.])
    """
    if use_reentrant is None:
        warn("torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in "
             "PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception. "
             "use_reentrant=False is recommended, but if you need to preserve the current default behavior, "
             "you can pass use_reentrant=True. Refer to docs for more details on the differences between the "
             "two variants.")
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if debug if _debug is None else _debug:
        raise NotImplementedError("checkpoint: debug=True is not supported")
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}")
    first, second = context_fn()
    frame = _Frame(function, args, kwargs, second, determinism_check == "default",
                   early_stop if _early_stop is None else _early_stop, preserve_rng_state)
    with saved_tensors_hooks(frame.pack, frame.unpack), first:
        return function(*args, **kwargs)


class _Frame:
    """One checkpointed call. Numbers stand for its saved tensors until backward reads the first of them."""

    def __init__(self, function, args, kwargs, context, check, early_stop, preserve_rng_state):
        self.function, self.args, self.kwargs, self.context = function, args, kwargs, context
        self.check, self.early_stop = check, early_stop
        self.rng_state = get_rng_state() if preserve_rng_state else None
        self.autocast = _autocast()
        self.metadata = []                     # shape and dtype of each saved tensor
        self.tensors = {}                      # {number: tensor of the second run}, until it is used

    def pack(self, tensor):
        self.metadata.append((tensor._array.shape, tensor._array.dtype))
        return len(self.metadata) - 1

    def unpack(self, number):
        if number not in self.tensors:
            self._run_again()
        kept = mode.graph_task is not None and mode.graph_task.retain_graph        # another backward may read it again
        return self.tensors[number] if kept else self.tensors.pop(number)

    def _run_again(self):
        found = []

        def keep(tensor):
            found.append(tensor.detach())
            if self.early_stop and len(found) == len(self.metadata):
                raise _Enough
            return found[-1]
        args = detach_variable(self.args)
        with (_rng(self.rng_state), enable_grad(), saved_tensors_hooks(keep, lambda kept: kept),
              _in_autocast(self.autocast), self.context):
            try:
                self.function(*args, **self.kwargs)
            except _Enough:
                pass
        self._compare(found)
        self.tensors = dict(enumerate(found))

    def _compare(self, found):
        if len(found) != len(self.metadata):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.metadata)}\nNumber of tensors "
                f"saved during recomputation: {len(found)}.")
        different = []
        for i, ((shape, dtype), tensor) in enumerate(zip(self.metadata, found)):
            if self.check and (tensor._array.shape, tensor._array.dtype) != (shape, dtype):
                saved = {"shape": Size(shape), "dtype": dt.BY_NUMPY[dtype], "device": tensor.device}
                now = {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}
                different.append(f"tensor at position {i}:\nsaved metadata: {saved}\nrecomputed metadata: {now}\n")
        if different:
            raise CheckpointError("torch.utils.checkpoint: Recomputed values for the following tensors have different "
                                  f"metadata than during the forward pass.\n{''.join(different)}.")


class _Enough(Exception):
    """Ends the second run when all saved tensors are computed."""


@contextlib.contextmanager
def _rng(state):
    """A context with the random stream of `state` (None: the present stream), which restores the stream at its end."""
    if state is None:
        yield
        return
    before = get_rng_state()
    set_rng_state(state)
    try:
        yield
    finally:
        set_rng_state(before)


def _autocast():
    """The present settings of autocast."""
    return {"enabled": is_autocast_enabled("cpu"), "dtype": get_autocast_dtype("cpu"),
            "cache_enabled": is_autocast_cache_enabled()}


def _in_autocast(settings):
    """A context with the settings of autocast of the first run."""
    if settings == _autocast():
        return contextlib.nullcontext()
    from ..amp.autocast_mode import autocast
    return autocast("cpu", **settings)


def detach_variable(inputs):
    """A tuple with the tensors detached from the graph, which require gradients if they did before; other values stay
    as they are. RuntimeError if `inputs` is not a tuple."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple([x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs])


def check_backward_validity(inputs):
    """Warns if none of the tensors among `inputs` requires gradients."""
    if not any([isinstance(x, Tensor) and x.requires_grad for x in inputs]):
        warn("None of the inputs have requires_grad=True. Gradients will be None")


class CheckpointFunction(Function):
    """Runs a function without recording it. Its backward runs the function again, recorded, and calls backward on the
    result."""

    @staticmethod
    def forward(ctx, function, preserve_rng_state, *args):
        ctx.function = function
        ctx.rng_state, ctx.autocast = get_rng_state() if preserve_rng_state else None, _autocast()
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            warn("None of the inputs have requires_grad=True. Gradients will be None")
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.save_for_backward(*[a if isinstance(a, Tensor) else None for a in args])
        return function(*args)

    @staticmethod
    def backward(ctx, *grads):
        if mode.graph_task.inputs is not None:
            raise RuntimeError("When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                               "passing an `inputs` parameter to .backward(). To resolve this error, you can either "
                               "set use_reentrant=False, or call .backward() without passing the `inputs` argument.")
        args = [other if saved is None else saved.detach().requires_grad_(saved.requires_grad)
                for saved, other in zip(ctx.saved_tensors, ctx.others)]
        with _rng(ctx.rng_state), enable_grad(), _in_autocast(ctx.autocast):
            outputs = ctx.function(*args)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [(o, g) for o, g in zip(outputs, grads) if isinstance(o, Tensor) and o.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        run_backward([o for o, _ in pairs], [g for _, g in pairs])
        return None, None, *[a.grad if isinstance(a, Tensor) else None for a in args]


def checkpoint_sequential(functions, segments, input, use_reentrant=None, preserve_rng_state=True, **kwargs):
    """Runs the functions (or the modules of a Sequential) one after the other, in `segments` segments. All segments
    except the last are checkpointed.

    >>> import tinytorch as torch
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
    >>> x = torch.ones(1, 2, requires_grad=True)
    >>> torch.utils.checkpoint.checkpoint_sequential(model, 2, x, use_reentrant=False).shape
    torch.Size([1, 1])
    """
    if use_reentrant is None:
        warn("torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed "
             "explicitly. In version 2.9 we will raise an exception if use_reentrant is not passed. "
             "use_reentrant=False is recommended, but if you need to preserve the current default behavior, "
             "you can pass use_reentrant=True. Refer to docs for more details on the differences between the "
             "two variants.")
        use_reentrant = True
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    functions = list(functions.children() if hasattr(functions, "children") else functions)
    size = len(functions) // segments
    for start in range(0, size * (segments - 1), size):
        input = checkpoint(_chain(functions[start:start + size]), input, use_reentrant=use_reentrant,
                           preserve_rng_state=preserve_rng_state)
    return _chain(functions[size * (segments - 1):])(input)


def _chain(functions):
    def run(x):
        for function in functions:
            x = function(x)
        return x
    return run


def get_device_states(*args):
    """(devices, states of their generators) for the tensors among `args`. The CPU does not count, so both are empty."""
    return [], []


def set_device_states(devices, states, *, device_type=None):
    """RuntimeError if `devices` is not empty: there is no device but the CPU."""
    if len(devices):
        raise RuntimeError(f"there is no device {devices[0]}: tinytorch computes on the CPU")


# ------------------------------------------------------------------ selective checkpoints
CheckpointPolicy = Enum("CheckpointPolicy", """MUST_SAVE PREFER_SAVE MUST_RECOMPUTE PREFER_RECOMPUTE MUST_CPU_OFFLOAD
    PREFER_CPU_OFFLOAD""", start=0, module=__name__)
CheckpointPolicy.__doc__ = "Policies for an operator in `create_selective_checkpoint_contexts` (not supported)."
SAC_IGNORED_OPS = set()
create_selective_checkpoint_contexts = refused(
    __name__, "create_selective_checkpoint_contexts", "a checkpoint computes all of its function again")
SelectiveCheckpointContext = refused_class(
    __name__, "SelectiveCheckpointContext", "a checkpoint computes all of its function again")


class DefaultDeviceType:
    """The kind of devices whose random state checkpoints keep in addition to the CPU's."""

    _kind = "cuda"

    @staticmethod
    def set_device_type(device="cuda"):
        """Sets the kind of devices."""
        DefaultDeviceType._kind = device

    @staticmethod
    def get_device_type():
        """The kind of devices that was set; "cpu" if none was set."""
        return "cpu" if DefaultDeviceType._kind == "cuda" else DefaultDeviceType._kind


class GraphExecGroup:
    """A context that groups checkpoints. In torch, all parts of a group are computed again in one run; here this is so
    without a group too. RuntimeError inside another group.
    """

    _here = threading.local()

    def __enter__(self):
        """The group."""
        inside = self._get_current_group()
        if inside is not None:
            raise RuntimeError(f"GraphExecGroup contexts cannot be nested. Already inside group {inside}")
        return vars(self._here).setdefault("group", self)      # one statement: an interrupt comes before or after it

    def __exit__(self, *error):
        """Ends the group."""
        vars(self._here).pop("group", None)

    @classmethod
    def _get_current_group(cls):
        """The group that this thread is in, or None."""
        return vars(cls._here).get("group")
