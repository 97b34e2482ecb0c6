"""torch.utils._foreach_utils: tensors grouped by device and dtype, as optimisers use them."""
from __future__ import annotations

from ..tensor import Tensor

__all__: list[str] = []


def _get_foreach_kernels_supported_devices() -> list[str]:
    return ["cuda", "xpu", "mtia"]


def _get_fused_kernels_supported_devices() -> list[str]:
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia"]


def _group_tensors_by_device_and_dtype(tensorlistlist: list[list[Tensor | None]], with_indices: bool = False) -> dict:
    """{(device, dtype) in the first list: ([tensors of each list], their indices if `with_indices`)}."""
    groups: dict = {}
    for i, first in enumerate(tensorlistlist[0]):
        lists, numbers = groups.setdefault((first.device, first.dtype), ([[] for _ in tensorlistlist], []))
        for group, tensors in zip(lists, tensorlistlist):
            if tensors:
                group.append(tensors[i])
        if with_indices:
            numbers.append(i)
    return groups


def _device_has_foreach_support(device: object) -> bool:
    return False


def _has_foreach_support(tensors: list[Tensor], device: object) -> bool:
    return False
