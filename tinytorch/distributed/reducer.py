"""Reducer: averages the gradients of all ranks, bucket by bucket, while backward runs.

An iteration begins with `prepare_for_backward`. The engine then reports each gradient as soon as it is complete (see
autograd/early.py). The gradient is copied into its bucket, and a full bucket is sent after those before it, so that all
ranks send in one order. MPI makes progress only when it is called, so each report tests the pending reductions. When
backward ends, the Reducer waits for the buckets and writes the averages to `.grad`.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np

from ..autograd.early import watch
from ..autograd.paths import reached_by
from ..futures import Future
from ..tensor import Tensor, wrap
from . import reducer_errors as errors
from .buckets import Bucket, GradBucket, assign

__all__ = ["Reducer", "bucket_limits"]


class Reducer:
    """Averages the gradients of `parameters` over `group`.

    limits          the limits in bytes of the buckets of the first iteration
    rebuilt_limits  the limits afterwards, when parameters are in the order in which their gradients came
    sparse          which parameters have sparse gradients
    names           the names of the parameters, for messages
    """

    def __init__(self, parameters: Sequence[Tensor], group: object, limits: Sequence[int],
                 rebuilt_limits: Sequence[int], sparse: Sequence[bool], names: Sequence[str],
                 find_unused: bool = False, as_view: bool = False, skip_unused: bool = False) -> None:
        from .. import distributed
        self.dist, self.group, self.size = distributed, group, distributed.get_world_size(group)
        self.parameters, self.sparse, self.names = list(parameters), list(sparse), list(names)
        self.find_unused, self.as_view, self.skip_unused = find_unused, as_view, skip_unused
        self.rebuilt_limits = list(rebuilt_limits)
        self.hook, self.static, self.iteration = None, False, 0
        self.divisor, self.joined = self.size, True        # `join` may count only the ranks that still have inputs
        self.rebuilt, self.came = False, []    # came: the numbers of parameters in the order of their gradients
        self.expecting = self.unfinished = False
        self.unused, self.used = (), np.zeros(len(self.parameters), np.int32)
        self.triggers, self.left = None, None  # of a static graph: how often a gradient comes, and still has to
        self._make_buckets(list(reversed(assign(self.parameters, limits, self.sparse))))
        self._reset()
        self.unwatch = watch(self, self.parameters)

    def _make_buckets(self, assignment):
        self.buckets = [Bucket(indices, self.parameters, self.sparse[indices[0]]) for indices in assignment]
        self.places = [None] * len(self.parameters)
        for bucket in self.buckets:
            for k, i in enumerate(bucket.indices):
                self.places[i] = bucket, k

    def _reset(self):
        for bucket in self.buckets:
            bucket.pending, bucket.started = len(bucket.indices), None
        self.next, self.ready, self.unused_told = 0, set(), False

    # ------------------------------------------------------------------ an iteration
    def rebuild_buckets(self) -> bool:
        """Rebuilds the buckets once, after the first iteration, in the order in which the gradients of rank 0 came.
        RuntimeError if the iteration before has not been finished."""
        self.ensure_finished()
        if self.rebuilt or not self.came or self.find_unused and not self.static:
            return False
        order = wrap(np.array(self.came, np.int64))
        self.dist.broadcast(order, self.dist.get_global_rank(self.group, 0), group=self.group)
        self._make_buckets(assign(self.parameters, self.rebuilt_limits, self.sparse, order._array.tolist()))
        self._reset()
        self.rebuilt, self.came = True, []
        return True

    def ensure_finished(self) -> None:
        """Raises RuntimeError, in torch's words, if gradients of the last backward are missing."""
        if self.unfinished:
            missing = [i for i in range(len(self.parameters)) if i not in self.ready]
            raise RuntimeError(errors.unfinished(self, missing, self.dist.get_rank(self.group)))

    def prepare_for_backward(self, outputs: Sequence[Tensor] | None = None) -> None:
        """Makes the Reducer average the gradients of the next backward. With `outputs` it looks for the parameters
        that these do not depend on."""
        self.ensure_finished()
        self._reset()
        self.expecting, self.iteration = True, self.iteration + 1
        if self.static:
            self.left = None if self.triggers is None else self.triggers.copy()
        elif outputs is not None:
            reached = reached_by([t for t in outputs if t.grad_fn is not None or t.requires_grad], None)
            self.unused = [i for i, p in enumerate(self.parameters) if p not in reached]
            if not self.unused and self.iteration == 1:
                errors.warn_none_unused(self.dist.get_rank(self.group))

    def gradient_ready(self, index: int) -> None:
        """Backward calls this when the gradient of parameter `index` is in its `.grad`."""
        if not self.expecting:
            return
        if self._looks_for_unused() and self.parameters[index]._grad is not None:
            self.used[index] = 1
        if self.static and self.triggers is None:
            self.came.append(index)            # for a static graph the first iteration is sent at its end
            return
        if not self.unused_told:
            self.unused_told = True
            for i in self.unused:
                self._fill(i)
        if self.left is not None:
            if not self.triggers[index]:
                raise RuntimeError(errors.CHANGED)
            self.left[index] -= 1
            if self.left[index]:
                return
        self._fill(index)

    def backward_ended(self) -> None:
        """Waits for the buckets and writes the averages. Called at the end of a backward that reached a parameter."""
        if not self.expecting:
            return
        if self.static and self.triggers is None:
            self._first_of_static_graph()
        elif self.find_unused and not self.static and self.unused_told:
            for i in range(len(self.parameters)):          # parameters of outputs that the loss does not depend on
                if i not in self.ready:
                    self._fill(i)
        if self.next == len(self.buckets):
            self._finish()

    def _looks_for_unused(self):
        return self.find_unused and not self.static or self.static and self.triggers is None

    def _first_of_static_graph(self):
        triggers, self.came = np.bincount(self.came, minlength=len(self.parameters)), []
        self.unused = np.flatnonzero(triggers == 0).tolist()
        for i in range(len(self.parameters)):
            self._fill(i)
        self.triggers = triggers

    # ------------------------------------------------------------------ into the buckets
    def _fill(self, index):
        """Copies a gradient into its bucket, or zeros if there is none, and sends full buckets."""
        self.unfinished = True
        if index in self.ready:
            raise RuntimeError(errors.twice(self, index))
        self.ready.add(index)
        if not self.rebuilt and not (self.static and self.triggers is None):
            self.came.append(index)
        bucket, k = self.places[index]
        grad = self.parameters[index]._grad
        if bucket.sparse:
            bucket.grads = grad
        else:
            self._copy(bucket, k, grad, index)
        bucket.pending -= 1
        if not bucket.pending:
            buckets = self.buckets
            while self.next < len(buckets) and not buckets[self.next].pending:
                self._send(buckets[self.next])
                self.next += 1
        elif self.next:
            started = self.buckets[self.next - 1].started
            if started is not None:
                started.done()

    def _copy(self, bucket, k, grad, index):
        view = bucket.views[k]
        if grad is None:
            view[...] = np.zeros((), view.dtype)
        elif bucket.plain and grad._array.dtype == view.dtype:
            if self.hook is None:
                np.multiply(grad._array, 1.0 / self.divisor, out=view)
            elif grad is not bucket.grads[k]:
                view[...] = grad._array
        else:
            if grad is not bucket.grads[k]:
                bucket.grads[k].copy_(grad.detach())
            if self.hook is None:
                bucket.grads[k].mul_(1.0 / self.divisor)
        if self.as_view and grad is not None:
            self.parameters[index]._grad = bucket.grads[k]

    def _send(self, bucket):
        index = self.next
        if bucket.sparse:
            bucket.started = None
        elif self.hook is None:
            work = self.dist.all_reduce(bucket.buffer, group=self.group, async_op=True)
            bucket.started = _Started(work)
        else:
            state, hook = self.hook
            sent = GradBucket(index, bucket, self.parameters, index == len(self.buckets) - 1)
            bucket.started = hook(state, sent)
            if not isinstance(bucket.started, Future):
                raise RuntimeError(errors.no_future(bucket.started))

    # ------------------------------------------------------------------ out of the buckets
    def _finish(self):
        self.expecting = self.unfinished = False
        globally_used = None
        if self._looks_for_unused() or self.static and self.iteration == 1:
            flags = wrap(self.used.copy())
            self.dist.all_reduce(flags, group=self.group)
            globally_used = self.globally_used = flags._array
            self.used[:] = 0
        elif self.static:
            globally_used = self.globally_used
        for bucket in self.buckets:
            if bucket.sparse:
                self._finish_sparse(bucket)
                continue
            result = bucket.started.wait()
            if self.hook is not None:
                self._take(bucket, result)
            for k, i in enumerate(bucket.indices):
                if globally_used is not None and not globally_used[i]:
                    continue                   # no rank has a gradient: it stays as it was
                parameter = self.parameters[i]
                grad = parameter._grad
                if grad is bucket.grads[k]:
                    continue
                if self.as_view:
                    parameter._grad = bucket.grads[k]
                elif grad is None:
                    parameter._grad = wrap(bucket.views[k].copy(order="K"))
                else:
                    grad._array[...] = bucket.views[k]
                    grad._version_counter[0] += 1
            bucket.started = None

    def _take(self, bucket, result):
        """Copies the result of the hook into the bucket."""
        if not isinstance(result, Tensor):
            raise RuntimeError(f"Unable to cast {result} to Tensor")
        if result._array is not bucket.flat:
            bucket.buffer.copy_(result.detach().reshape(-1))

    def _finish_sparse(self, bucket):
        """The sum of sparse gradients: each rank gets all indices and values."""
        from .. import sparse_coo_tensor
        grad = bucket.grads
        if grad is not None:
            grad = grad.coalesce()
            grad = grad.indices()._array, grad.values()._array
        parts = self._gather_sparse(grad)
        if parts:
            parameter = self.parameters[bucket.indices[0]]
            indices = wrap(np.concatenate([i for i, _ in parts], 1))
            values = wrap(np.concatenate([v for _, v in parts], 0)) / self.divisor
            parameter._grad = sparse_coo_tensor(indices, values, parameter.shape).coalesce()

    def _gather_sparse(self, mine):
        everyone: list = [None] * self.size
        self.dist.all_gather_object(everyone, mine, group=self.group)
        return [part for part in everyone if part is not None]

    # ------------------------------------------------------------------ of DistributedDataParallel
    def register_hook(self, state: object, hook: Callable) -> None:
        """Makes hook(state, GradBucket) do the sending. RuntimeError if a hook is registered already."""
        if self.hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self.hook = state, hook

    def shadow(self) -> None:
        """Takes part in an iteration of the other processes, with zeros for gradients."""
        self._reset()
        if self.static and self.triggers is None:
            raise RuntimeError("join: a process without any input cannot know the static graph of the others")
        for bucket in self.buckets:
            if bucket.sparse:
                bucket.grads = None
            else:
                bucket.flat[...] = np.zeros((), bucket.flat.dtype)
            self._send(bucket)
            self.next += 1
        if self._looks_for_unused():
            self.dist.all_reduce(wrap(self.used.copy()), group=self.group)
        for bucket in self.buckets:
            if bucket.sparse:
                self._gather_sparse(None)
            else:
                bucket.started.wait()
        if not self.rebuilt:
            self.came = list(range(len(self.parameters)))


class _Started:
    """The sending of a bucket without a hook, with the part of a Future's interface that is used."""

    __slots__ = ("work",)

    def __init__(self, work):
        self.work = work

    def done(self):
        return self.work.is_completed()

    def wait(self):
        self.work.wait()


def bucket_limits(cap_mb: float | None, caps_mb: Sequence[float] | None, static: bool,
                  find_unused: bool) -> tuple[list[int], list[int]]:
    """The limits in bytes of the buckets of the first iteration, and of the later buckets."""
    if caps_mb:
        limits = [int(cap * 2 ** 20) for cap in caps_mb]
        return limits, limits
    cap = int((25 if cap_mb is None else cap_mb) * 2 ** 20)
    later = [2 ** 20, cap] if cap_mb is None else [cap]
    return ([sys.maxsize] if static or not find_unused else later), later
