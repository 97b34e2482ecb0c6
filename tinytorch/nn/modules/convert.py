"""The part of Module that converts all of its tensors to another dtype or to new memory."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ... import __future__  # type: ignore[attr-defined]  # a file of standins
from ...arguments import parse_to
from ...autograd.grad_mode import no_grad
from ...errors import warn
from ...kinds.lazy import NO_DATA
from ...ops.creation.factories import empty_like
from ..parameter import Parameter


class Convertible:
    """Base of Module with `to` and similar methods. Each of them calls `_apply`."""

    if TYPE_CHECKING:                          # attributes of Module
        _parameters: dict[str, Any]
        _buffers: dict[str, Any]
        children: Callable
        parameters: Callable
        buffers: Callable

    def _apply(self, fn, recurse=True):
        """Replace each parameter's data, its gradient and each buffer by the result of `fn`."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        overwrite = __future__.get_overwrite_module_params_on_conversion()
        grad_data: Any
        for name, param in self._parameters.items():
            if param is not None:
                grad = param.grad
                with no_grad():
                    data, grad_data = fn(param), None if grad is None else fn(grad)
                if overwrite or data.device is not param.device:
                    self._parameters[name] = param = Parameter(data, param.requires_grad)
                    param.grad = None if grad is None else grad_data.requires_grad_(grad.requires_grad)
                else:
                    param.data = data
                    if grad is not None:
                        grad.data = grad_data
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """Convert floating and complex parameters and buffers in place: to(dtype), to(device, dtype), to(tensor).

        dtype, device, non_blocking, memory_format    also by name; memory_format acts on tensors of 4 and 5 dimensions
        TypeError for a dtype that is neither floating nor complex. Returns self.
        """
        device, dtype, _, memory_format = parse_to(*args, **kwargs)
        if device is None and dtype is None and memory_format is None:
            return self
        if dtype is not None and dtype.is_complex:
            warn(
                "Complex modules are a new feature under active development whose design may change, and some "
                "modules might not work as expected when using complex tensors as parameters or buffers. Please file "
                "an issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a complex "
                "module does not work as expected.")
        elif dtype is not None and not dtype.is_floating_point:
            raise TypeError("nn.Module.to only accepts floating point or complex dtypes, but got desired "
                            f"dtype={dtype}")

        def convert(t):
            target = dtype if t.is_floating_point() or t.is_complex() else None
            if memory_format is not None and t.dim() in (4, 5):
                return t.to(device, target, memory_format=memory_format)
            try:
                return t.to(device, target)
            except NotImplementedError as error:
                if str(error) != NO_DATA:
                    raise
                raise NotImplementedError(f"{NO_DATA} Please use torch.nn.Module.to_empty() instead of "
                                          "torch.nn.Module.to() when moving module from meta to a different "
                                          "device.") from None
        return self._apply(convert)

    def to_empty(self, *, device, recurse=True):
        """Replace the memory of all parameters and buffers. The contents of the new memory are arbitrary."""
        return self._apply(lambda t: empty_like(t, device=device), recurse)

    def type(self, dst_type):
        """Convert all parameters and buffers to a dtype (or its name), integers included."""
        return self._apply(lambda t: t.type(dst_type))

    def half(self):
        """Convert floating parameters and buffers to float16."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self):
        """Convert floating parameters and buffers to bfloat16."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def float(self):
        """Convert floating parameters and buffers to float32."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self):
        """Convert floating parameters and buffers to float64."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def cpu(self):
        """The module itself. NotImplementedError if a tensor is on `meta`, since it has no numbers."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device=None):
        """AssertionError if there is a tensor to move: tinytorch has no CUDA."""
        return self._apply(lambda t: t.cuda(device))

    def ipu(self, device=None):
        """RuntimeError if there is a tensor to move: tinytorch has no IPU."""
        return self._apply(lambda t: t.ipu(device))

    def mtia(self, device=None):
        """AssertionError if there is a tensor to move: tinytorch has no MTIA."""
        return self._apply(lambda t: t.mtia(device))

    def xpu(self, device=None):
        """AssertionError if there is a tensor to move: tinytorch has no XPU."""
        return self._apply(lambda t: t.xpu(device))

    def share_memory(self):
        """Move all parameters, their gradients and all buffers to shared memory (see Tensor.share_memory_)."""
        for tensor in [*self.parameters(), *self.buffers()]:
            tensor.share_memory_()
            if tensor.grad is not None:
                tensor.grad.share_memory_()
        return self
