"""ZeroRedundancyOptimizer: the state of an optimiser, shared out among processes."""
from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ... import distributed as dist
from ...autograd.grad_mode import no_grad
from ...device import device
from ...optim.optimizer import Optimizer
from ...runtime import typename
from ...tensor import Tensor, wrap
from ..agreement import broadcast_coalesced
from ..algorithms.join import Join, Joinable, JoinHook
from ..world import default_group

__all__ = ["ZeroRedundancyOptimizer"]

_ONE_TYPE = "ZeroRedundancyOptimizer only supports using the same dense type for all parameters but got"


class _ZeROJoinHook(JoinHook):
    """A step with the gradients that there are: the others need the parameters of this process."""

    def __init__(self, zero):
        self.zero = zero

    def main_hook(self):
        self.zero.step()


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """An optimiser of `optimizer_class` whose state each process keeps for a part of the parameters alone: it makes the
    step for these, and sends them to the others. The gradients have to be equal in all processes, as those of
    DistributedDataParallel are.

    The parameters are shared out by size, the largest first, each to the process that has the least so far.
    `parameters_as_bucket_view` lays those of a process into one piece of memory. `defaults` go to the optimiser.

    `consolidate_state_dict(to)`, called by all, brings the state together in one process, which can then ask for
    `state_dict()`. TypeError or ValueError, in torch's words, for parameters that are none; NotImplementedError for
    `overlap_with_ddp`.

    Source: S. Rajbhandari and others, ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, 2020.
    """

    def __init__(self, params: Iterable, optimizer_class: type[Optimizer], process_group: Any = None,
                 parameters_as_bucket_view: bool = False, overlap_with_ddp: bool = False, **defaults: Any) -> None:
        params = self._verify(params)
        if overlap_with_ddp:
            raise NotImplementedError("ZeroRedundancyOptimizer: overlap_with_ddp is not supported")
        self.initialized = False
        Optimizer.__init__(self, params, defaults)
        Joinable.__init__(self)
        self.process_group = default_group() if process_group is None else process_group
        self.world_size, self.rank = dist.get_world_size(self.process_group), dist.get_rank(self.process_group)
        self.global_rank = dist.get_global_rank(self.process_group, self.rank)
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._all_state_dicts: list[dict] = []
        self._partition()
        self.optim = optimizer_class(self._parts[self.rank], **defaults)
        self._copy_settings(self.optim.param_groups, self.param_groups)
        self._lay_out()
        self.initialized = True

    def _verify(self, params):
        if isinstance(params, Tensor):
            raise TypeError(f"`params` argument should be an iterable of Tensors, but got {typename(params)}")
        try:
            params = list(params)
        except TypeError as error:
            raise TypeError("`params` argument should be an iterable of Tensors or dicts, but got "
                            f"{typename(params)}") from error
        if not params:
            raise ValueError("ZeroRedundancyOptimizer got an empty parameter list")
        dicts = [isinstance(p, dict) for p in params]
        if not all(dicts) and (any(dicts) or not all([isinstance(p, Tensor) for p in params])):
            raise TypeError("`params` argument should be an iterable of Tensors or dicts")
        if any(dicts) and any(["params" not in group for group in params]):
            raise ValueError("Each parameter group passed-in via `params` must have a 'params' key mapping to the "
                             "parameters in the group")
        tensors = [p for group in params for p in group["params"]] if any(dicts) else params
        for tensor in tensors:
            if tensor.is_sparse:
                raise ValueError(f"{_ONE_TYPE} {typename(tensor)}")
            if typename(tensor) != typename(tensors[0]):
                raise ValueError(f"{_ONE_TYPE} both {typename(tensors[0])} and {typename(tensor)}")
        return params

    # ------------------------------------------------------------------ who has what
    def _partition(self):
        """`_parts`: the parameter groups of each rank. What a rank has it keeps when a group is added."""
        sizes, self._parts = [0] * self.world_size, [[] for _ in range(self.world_size)]
        for group in self.param_groups:
            shares: list = [[] for _ in range(self.world_size)]
            for p in sorted(group["params"], key=lambda p: p.numel(), reverse=True):
                rank = sizes.index(min(sizes))
                shares[rank].append(p)
                sizes[rank] += p.numel()
            for part, share in zip(self._parts, shares):
                part.append({**group, "params": share})
        everything = [p for group in self.param_groups for p in group["params"]]
        self._index = {p: i for i, p in enumerate(everything)}
        self._rank_of = {p: rank for rank in range(self.world_size) for p in self._of_rank(rank)}

    def _of_rank(self, rank):
        return [p for group in self._parts[rank] for p in group["params"]]

    def _lay_out(self):
        """With parameters_as_bucket_view: the parameters of each rank and dtype in one piece of memory."""
        self._buckets: list[list[Tensor]] = [[] for _ in range(self.world_size)]
        if not self.parameters_as_bucket_view:
            return
        for rank in range(self.world_size):
            by_dtype: dict = {}
            for p in self._of_rank(rank):
                by_dtype.setdefault(p._array.dtype, []).append(p)
            for together in by_dtype.values():
                flat = np.concatenate([p._array.reshape(-1) for p in together])
                self._buckets[rank].append(wrap(flat))
                end = 0
                for p in together:
                    begin, end = end, end + p._array.size
                    p.data = wrap(flat[begin:end].reshape(p._array.shape))

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group of parameters, which are shared out as well. To be called by all processes."""
        super().add_param_group(param_group)
        if self.initialized:
            self._partition()
            self.optim.add_param_group(self._parts[self.rank][-1])
            self._lay_out()

    @staticmethod
    def _copy_settings(source, target):
        for one, other in zip(source, target):
            for name, value in one.items():
                if name != "params":
                    other[name] = value

    # ------------------------------------------------------------------ step
    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        """The step of this process's part, and then everyone's parameters for everyone. Returns what the optimiser's
        step does."""
        work = Join.notify_join_context(self)
        if work is not None:
            work.wait()
        self._copy_settings(self.param_groups, self.optim.param_groups)
        loss = self.optim.step(**kwargs) if closure is None else self.optim.step(closure=closure, **kwargs)
        with no_grad():
            for rank in range(self.world_size):
                for bucket in self._buckets[rank]:
                    dist.broadcast(bucket, dist.get_global_rank(self.process_group, rank), group=self.process_group)
                if not self.parameters_as_bucket_view:
                    broadcast_coalesced(self.process_group, self._of_rank(rank), rank)
        return loss

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What a process does for this optimiser when it has no inputs left: its steps, with the gradients it has."""
        return _ZeROJoinHook(self)

    @property
    def join_device(self) -> device:
        """The device of the parameters."""
        return self.param_groups[0]["params"][0].device

    @property
    def join_process_group(self) -> Any:
        """The group."""
        return self.process_group

    # ------------------------------------------------------------------ state
    def consolidate_state_dict(self, to: int = 0) -> None:
        """Brings the state of all processes to rank `to`. To be called by all."""
        self._copy_settings(self.param_groups, self.optim.param_groups)
        everyone: list | None = [None] * self.world_size if self.rank == to else None
        dist.gather_object(self.optim.state_dict(), everyone, dst=dist.get_global_rank(self.process_group, to),
                           group=self.process_group)
        self._all_state_dicts = everyone or []

    def state_dict(self) -> dict[str, Any]:
        """The state of the whole, as the optimiser without shares would have it, of the last consolidate_state_dict.
        RuntimeError if that has not brought it here."""
        if not self._all_state_dicts:
            raise RuntimeError("Optimizer state has not been consolidated on this rank. Please call "
                               f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant to save "
                               "the global state.")
        result = super().state_dict()
        for rank, local in enumerate(self._all_state_dicts):
            for local_group, group in zip(local["param_groups"], self._parts[rank]):
                for i, p in zip(local_group["params"], group["params"]):
                    if i in local["state"]:
                        result["state"][self._index[p]] = local["state"][i]
        result["state"] = dict(sorted(result["state"].items()))
        return result

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes this process's part of the state of the whole."""
        everything = list(self._index)
        for i, value in state_dict["state"].items():
            p = everything[i]
            if self._rank_of[p] == self.rank:
                self.optim.state[p] = copy.deepcopy(value)
            else:
                state_dict["state"][i] = None
        super().load_state_dict(state_dict)
        self._copy_settings(state_dict["param_groups"], self.param_groups)
        self._copy_settings(self.param_groups, self.optim.param_groups)
