"""Averages, as they are or in half precision. The state of each hook is a process group, None for all."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import distributed as dist
from ....dtypes import bfloat16, dtype, float16
from ....futures import Future
from ....tensor import Tensor
from ...buckets import GradBucket

__all__ = ["allreduce_hook", "bf16_compress_hook", "bf16_compress_wrapper", "fp16_compress_hook",
           "fp16_compress_wrapper"]

Hook = Callable[[Any, GradBucket], Future]


def average(group: Any, tensor: Tensor) -> Future:
    """A Future of the average of `tensor` over the group, which takes its place."""
    tensor.div_(dist.get_world_size(group))    # before the sum, which half precision might not hold
    work = dist.all_reduce(tensor, group=group, async_op=True)
    return work.get_future().then(lambda future: future.value()[0])


def allreduce_hook(process_group: Any, bucket: GradBucket) -> Future:
    """The average: what DistributedDataParallel does without a hook."""
    return average(process_group, bucket.buffer())


def _compressed(kind: dtype, group: Any, bucket: GradBucket) -> Future:
    buffer = bucket.buffer()
    return average(group, buffer.to(kind)).then(lambda future: buffer.copy_(future.value()))


def fp16_compress_hook(process_group: Any, bucket: GradBucket) -> Future:
    """The average, sent and summed in float16: half the bytes of float32."""
    return _compressed(float16, process_group, bucket)


def bf16_compress_hook(process_group: Any, bucket: GradBucket) -> Future:
    """The average, sent and summed in bfloat16: half the bytes of float32, and its range."""
    return _compressed(bfloat16, process_group, bucket)


def _wrapped(kind: dtype, hook: Hook, name: str) -> Hook:
    def wrapper(hook_state, bucket: GradBucket) -> Future:
        bucket.set_buffer(bucket.buffer().to(kind))
        return hook(hook_state, bucket).then(lambda future: bucket.buffer().copy_(future.value()))
    wrapper.__name__ = wrapper.__qualname__ = name
    return wrapper


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """A hook that gives `hook` the gradients in float16, and what it returns back in their dtype."""
    return _wrapped(float16, hook, "fp16_compress_wrapper_hook")


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """A hook that gives `hook` the gradients in bfloat16, and what it returns back in their dtype."""
    return _wrapped(bfloat16, hook, "bf16_compress_wrapper_hook")
