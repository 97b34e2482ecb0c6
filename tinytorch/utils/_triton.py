"""torch.utils._triton: whether kernels for Triton can run. They cannot, whether Triton is installed or not."""

__all__ = [f"has_{_name}" for _name in """datacenter_blackwell_tma_device triton triton_experimental_host_tma
    triton_package triton_stable_tma_api triton_tensor_descriptor_host_tma triton_tma triton_tma_device""".split()]


def _made(name):
    def function():
        return False
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "False."
    return function


globals().update({_name: _made(_name) for _name in __all__})
