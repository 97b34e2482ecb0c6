"""DistributedDataParallel: one model in several processes, with averaged gradients."""
from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ... import distributed as dist
from ...autograd.grad_mode import mode
from ...distributed.agreement import broadcast_coalesced, verify_shapes
from ...distributed.algorithms.join import Join, Joinable, JoinHook
from ...distributed.buckets import GradBucket
from ...distributed.reducer import Reducer, bucket_limits
from ...distributed.world import default_group
from ...errors import warn
from ...futures import Future
from ...tensor import Tensor, wrap
from ..modules.module import Module
from ..modules.sparse import Embedding, EmbeddingBag
from ..parameter import UninitializedParameter

__all__ = ["DistributedDataParallel"]

_DEPRECATED_BROADCAST = (
    "`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. IMPORTANT: unlike "
    "`broadcast_buffers=False`, `forward_sync_buffers=False` still syncs buffers at init. If you rely on buffers NOT "
    "being synced at init (e.g. rank-local buffers), keep using `broadcast_buffers=False` until `init_sync_buffers` is "
    "available.")
_BOTH_BROADCASTS = (
    "Both `broadcast_buffers` and `forward_sync_buffers` were specified. `broadcast_buffers` is deprecated and its "
    "value is ignored when `forward_sync_buffers` is provided.")
_STATIC_AND_UNUSED = (
    "You passed find_unused_parameters=true to DistributedDataParallel, `_set_static_graph` will detect unused "
    "parameters automatically, so you do not need to set find_unused_parameters=true, just be sure these unused "
    "parameters will not change during training loop while calling `_set_static_graph`.")
_PICKLING = (
    "DDP Pickling/Unpickling are only supported when using DDP with the default process group. That is, when you have "
    "called init_process_group and have not passed process_group argument to DDP constructor")


def _tensors_in(output):
    """The tensors in nested tuples, lists, dicts and dataclasses."""
    if isinstance(output, Tensor):
        return [output]
    if isinstance(output, dict):
        output = output.values()
    elif hasattr(output, "__dataclass_fields__"):
        output = vars(output).values()
    elif not isinstance(output, (tuple, list)):
        return []
    return [tensor for item in output for tensor in _tensors_in(item)]


class DistributedDataParallel(Module, Joinable):
    """A model of which each process of a group has a copy. Each process gives its copy other data; after backward, each
    `.grad` is the average over the processes. All copies start as the copy of rank 0, and stay equal if all processes
    take the same optimizer steps.

    The gradients are packed into buckets in the order in which they are ready. A full bucket is sent at once, while the
    rest of backward runs. The first bucket has 1 MiB, the others `bucket_cap_mb` (25 by default), or all have the sizes
    `bucket_cap_mb_list`.

    forward_sync_buffers    each forward starts with the buffers of rank 0; `broadcast_buffers` is its old name
    init_sync               parameters and buffers are those of rank 0 from the start
    find_unused_parameters  parameters that the output does not depend on get no gradient on this rank; it counts as
                            zero in the average with those of the other ranks
    static_graph            each iteration uses the same parameters as the first one, and equally often
    gradient_as_bucket_view `.grad` is a view of the bucket and not a copy

    The state_dict has the prefix "module.". ValueError or RuntimeError, in torch's words, for a module without
    parameters that require a gradient, for devices, and for models that differ between the ranks. RuntimeError in the
    next forward if a parameter got no gradient in a backward. NotImplementedError for `mixed_precision` and the
    parameters to delay.

    Source: S. Li and others, PyTorch Distributed: Experiences on Accelerating Data Parallel Training, 2020.

    >>> import tinytorch as torch
    >>> torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    Traceback (most recent call last):
    ValueError: Default process group has not been initialized, please make sure to call init_process_group.
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=None, init_sync=True,
                 process_group=None, bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False,
                 gradient_as_bucket_view=False, static_graph=False, delay_all_reduce_named_params=None,
                 param_to_hook_all_reduce=None, mixed_precision=None, device_mesh=None,
                 skip_all_reduce_unused_params=False, bucket_cap_mb_list=None, batched_grad_copy=False,
                 forward_sync_buffers=None):
        super().__init__()
        Joinable.__init__(self)
        if (delay_all_reduce_named_params is None) != (param_to_hook_all_reduce is None):
            raise ValueError("delay_all_reduce_named_params and param_to_hook_all_reduce need to be set at the same "
                             "time.")
        for name, given in (("delay_all_reduce_named_params", delay_all_reduce_named_params),
                            ("mixed_precision", mixed_precision), ("device_mesh", device_mesh)):
            if given is not None:
                raise NotImplementedError(f"DistributedDataParallel: {name} is not supported")
        self.process_group = default_group() if process_group is None else process_group
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        self._module_parameters = [p for n, p in module.named_parameters() if n not in self.parameters_to_ignore]
        self._check_parameters(device_ids, output_device)
        self.is_multi_device_module, self.device_ids, self.output_device = False, None, None
        self.module, self.dim, self.static_graph = module, dim, False
        self.device = self._module_parameters[0].device
        self.device_type = self.device.type
        if broadcast_buffers is not None:
            warn(_DEPRECATED_BROADCAST if forward_sync_buffers is None else _BOTH_BROADCASTS, FutureWarning)
        if check_reduction:
            warn("The `check_reduction` argument in `DistributedDataParallel` module is deprecated. Please "
                 "avoid using it.", FutureWarning)
        self.forward_sync_buffers = forward_sync_buffers if forward_sync_buffers is not None else (
            broadcast_buffers is None or broadcast_buffers)
        self.find_unused_parameters, self.gradient_as_bucket_view = find_unused_parameters, gradient_as_bucket_view
        self.skip_all_reduce_unused_params, self.batched_grad_copy = skip_all_reduce_unused_params, batched_grad_copy
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self.mixed_precision, self.broadcast_bucket_size = None, 250 * 2 ** 20
        self._bucket_caps = bucket_cap_mb, bucket_cap_mb_list, static_graph
        self._assign_modules_buffers()
        if init_sync:
            verify_shapes(self.process_group, self._reduced()[0])
            self._sync_module_states(0, forward_sync_buffers is not None or self.forward_sync_buffers)
        self._make_reducer()
        if static_graph:
            self._set_static_graph()

    def _check_parameters(self, device_ids, output_device):
        if not any([p.requires_grad for p in self._module_parameters]):
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameter that "
                               "requires a gradient.")
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError("device_ids can only be None or contain a single element.")
        types = {p.device.type for p in self._module_parameters}
        if len(types) != 1:
            raise ValueError("DistributedDataParallel's input module must be on the same type of devices, but input "
                             f"module parameters locate in {types}.")
        if device_ids or output_device:
            devices = {p.device for p in self._module_parameters}
            raise ValueError("DistributedDataParallel device_ids and output_device arguments only work with "
                             "single-device/multiple-device GPU modules or CPU modules, but got device_ids "
                             f"{device_ids}, output_device {output_device}, and module parameters {devices}.")
        if any([isinstance(p, UninitializedParameter) for p in self._module_parameters]):
            raise RuntimeError("Modules with uninitialized parameters can't be used with `DistributedDataParallel`. "
                               "Run a dummy forward pass to correctly initialize the modules")

    def _reduced(self):
        """(parameters whose gradients are averaged, whether each has sparse gradients, their names)."""
        found = {}
        for prefix, module in self.module.named_modules():
            sparse = isinstance(module, (Embedding, EmbeddingBag)) and bool(module.sparse)
            for name, p in module.named_parameters(recurse=False):
                if p.requires_grad and f"{prefix}.{name}" not in self.parameters_to_ignore and (
                        prefix or name not in self.parameters_to_ignore):
                    found.setdefault(p, (sparse, f"{prefix}.{name}"))
        return list(found), [sparse for sparse, _ in found.values()], [name for _, name in found.values()]

    def _make_reducer(self):
        parameters, sparse, names = self._reduced()
        cap, caps, static = self._bucket_caps
        limits, later = bucket_limits(cap, caps, static, self.find_unused_parameters)
        self.reducer = Reducer(parameters, self.process_group, limits, later, sparse, names,
                               self.find_unused_parameters, self.gradient_as_bucket_view)

    def _assign_modules_buffers(self):
        self.named_module_buffers = {name: buffer for name, buffer in self.module.named_buffers()
                                     if name not in self.parameters_to_ignore}
        self.modules_buffers = list(self.named_module_buffers.values())

    @property
    def broadcast_buffers(self) -> bool:
        """The old name of `forward_sync_buffers`."""
        return self.forward_sync_buffers

    @broadcast_buffers.setter
    def broadcast_buffers(self, value):
        self.forward_sync_buffers = value

    # ------------------------------------------------------------------ forward
    def forward(self, *inputs, **kwargs):
        synchronises = mode.grad_now and self.require_backward_grad_sync
        if self._join_config.enable:
            self._notify_joined()
        if mode.grad_now:
            self.reducer.rebuild_buckets()
        if self.will_sync_module_buffers():
            self._sync_buffers()
        if self._join_config.enable:
            self._check_global_requires_backward_grad_sync(False)
        output = self.module(*inputs, **kwargs)
        self.require_forward_param_sync = bool(synchronises)
        if synchronises:
            looks = self.find_unused_parameters and not self.static_graph
            self.reducer.prepare_for_backward(_tensors_in(output) if looks else None)
        return output

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Context manager: inside, each process accumulates its own gradients. The first forward and backward after it
        average the accumulated gradients. The forward must be inside, too."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def will_sync_module_buffers(self) -> bool:
        """Whether the next forward starts with the buffers of rank 0."""
        return bool(self.require_forward_param_sync and self.forward_sync_buffers and self.modules_buffers)

    def _sync_buffers(self):
        source = self._find_common_rank(self._distributed_rank, True) if self._join_config.enable else 0
        self._assign_modules_buffers()
        broadcast_coalesced(self.process_group, self.modules_buffers, source)

    def _sync_module_states(self, source, buffers):
        states = [p for n, p in self.module.named_parameters() if n not in self.parameters_to_ignore]
        if buffers:
            states += self.modules_buffers
        broadcast_coalesced(self.process_group, states, source)

    # ------------------------------------------------------------------ hooks
    def register_comm_hook(self, state: object, hook: Callable[[object, GradBucket], Future]) -> None:
        """Let hook(state, bucket) send each bucket. It returns a Future of the flat gradients that replace the bucket;
        they are not divided by the number of processes. Only one hook can be registered. TypeError if it is not
        callable, ValueError if its annotations name other types, RuntimeError for a second hook."""
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        signature = inspect.signature(hook)
        if signature.parameters["bucket"].annotation not in (inspect.Parameter.empty, GradBucket, "GradBucket",
                                                             "dist.GradBucket"):
            raise ValueError("Communication hook: bucket annotation should be dist.GradBucket.")
        returned = signature.return_annotation
        if returned is not inspect.Signature.empty and returned is not Future and "Future" not in str(returned):
            raise ValueError("Communication hook: return annotation should be torch.futures.Future[torch.Tensor].")
        self.reducer.register_hook(state, hook)

    def _set_static_graph(self):
        if self.static_graph:
            warn("You've set static_graph to be True, no need to set it again.")
            return
        self.static_graph = self.reducer.static = True
        if self.find_unused_parameters:
            warn(_STATIC_AND_UNUSED)

    def _check_reducer_finalized(self):
        self.reducer.ensure_finished()

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module, params_and_buffers_to_ignore):
        module._ddp_params_and_buffers_to_ignore = params_and_buffers_to_ignore

    def _get_ddp_logging_data(self):
        return {"world_size": self.reducer.size, "rank": self._distributed_rank,
                "module_name": type(self.module).__name__, "backend_name": dist.get_backend(self.process_group),
                "bucket_sizes": ", ".join([str(b.flat.nbytes) for b in self.reducer.buckets if b.flat is not None]),
                "has_rebuilt_buckets": int(self.reducer.rebuilt), "iteration": self.reducer.iteration,
                "num_parameter_tensors": len(self.reducer.parameters), "pid": os.getpid()}

    @property
    def _distributed_rank(self):
        return dist.get_rank(self.process_group)

    # ------------------------------------------------------------------ uneven inputs
    def join(self, divide_by_initial_world_size: bool = True, enable: bool = True,
             throw_on_early_termination: bool = False) -> Join:
        """Context manager for processes with different numbers of inputs. A process without further inputs takes part
        in the averages of the others with zeros until they finish; then all processes get the parameters of a process
        that finished last. Averages are divided by the number of all processes, or by the number of processes that
        still have inputs."""
        return Join([self], enable, throw_on_early_termination,
                    divide_by_initial_world_size=divide_by_initial_world_size)

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """The hook for this model in a process without further inputs."""
        self.reducer.joined = kwargs.get("divide_by_initial_world_size", True)
        return _DDPJoinHook(self)

    @property
    def join_device(self):
        """The device of the parameters."""
        return self.device

    @property
    def join_process_group(self):
        """The process group."""
        return self.process_group

    def _notify_joined(self):
        work = Join.notify_join_context(self)
        if work is not None:
            work.wait()
            if not self.reducer.joined:
                self.reducer.divisor = int(work.result()[0].item())

    def _check_global_requires_backward_grad_sync(self, is_joined_rank):
        flag = wrap(np.full(1, float(not is_joined_rank and self.require_backward_grad_sync), np.float32))
        dist.all_reduce(flag, group=self.process_group)
        return flag.item() != 0

    def _find_common_rank(self, rank, candidate):
        found = wrap(np.array([rank if candidate else -1]))
        dist.all_reduce(found, dist.ReduceOp.MAX, group=self.process_group)
        return found.item()

    # ------------------------------------------------------------------ pickling
    def __getstate__(self):
        if self.process_group is not default_group():
            raise RuntimeError(_PICKLING)
        state = super().__getstate__()
        del state["process_group"], state["reducer"]
        return {**state, "broadcast_buffers": self.forward_sync_buffers}

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("forward_sync_buffers", self.__dict__.pop("broadcast_buffers", True))
        self.__dict__.pop("broadcast_buffers", None)
        self.process_group = default_group()
        self._make_reducer()
        self.reducer.static = self.static_graph


class _DDPJoinHook(JoinHook):
    """Runs, in a process without further inputs, the collectives of the others' forward and backward."""

    def __init__(self, model):
        self.model = model

    def main_hook(self):
        model, reducer = self.model, self.model.reducer
        reducer.rebuild_buckets()
        if model.will_sync_module_buffers():
            source = model._find_common_rank(model._distributed_rank, False)
            broadcast_coalesced(model.process_group, model.modules_buffers, source)
        model.require_forward_param_sync = model._check_global_requires_backward_grad_sync(True)
        if model.require_forward_param_sync:
            reducer.shadow()

    def post_hook(self, is_last_joiner):
        model = self.model
        source = model._find_common_rank(model._distributed_rank, is_last_joiner)
        model._sync_module_states(source, model.forward_sync_buffers)
        model.reducer.divisor = model.reducer.size
