"""Views and sizes that a caller names: nothing reaches outside the memory, and what cannot be had is a RuntimeError.

tests/parity/test_memory.py compares the messages with torch's.
"""
import numpy as np
import pytest

import tinytorch as torch
from tinytorch.kernels.layout import strided


@pytest.mark.parametrize("size, stride, offset", [
    ((1000, 1000), (1000, -1), 0), ((2,), (-1,), 1), ((-1,), (1,), 0), ((2,), (2 ** 60,), 0), ((2,), (2 ** 61 - 1,), 0),
    ((5,), (2 ** 62,), 0), ((3,), (2 ** 62,), 1), ((2 ** 61 + 1,), (8,), 0), ((1,), (1,), 2 ** 61), ((1,), (1,), -1),
    ((7,), (1,), 0), ((2 ** 40, 2 ** 40), (0, 0), 0), ((1,) * 65, (1,) * 65, 0), ((1,), (2 ** 62,), 0)])
def test_strided_refuses_what_lies_outside(size, stride, offset):
    with pytest.raises(RuntimeError):
        strided(np.arange(6.), size, stride, offset)


@pytest.mark.parametrize("count", [0, 1, 6])
def test_strided_of_no_elements_has_no_memory(count):
    view = strided(np.arange(float(count)), (0, 3), (5, 1), 2 ** 40)
    assert view.shape == (0, 3) and not view.size


def test_empty_strided_refuses_negative_strides():
    with pytest.raises(RuntimeError, match=r"sizes=\[1000, 1000\] and strides=\[1000, -1\]"):
        torch.empty_strided((1000, 1000), (1000, -1))
    with pytest.raises(RuntimeError):
        torch.ones(2).new_empty_strided((2, 2), (-1, 1))


def test_a_refused_view_leaves_the_tensor_alone():
    x = torch.arange(4.)
    for call in (lambda: x.as_strided_((5,), (1,)), lambda: x.set_(torch.zeros(3), 0, (9,), (1,)),
                 lambda: x.resize_(2 ** 50), lambda: x.set_(torch.zeros(3).untyped_storage(), 0, (2,), (2 ** 62,))):
        with pytest.raises(RuntimeError):
            call()
        assert x.tolist() == [0, 1, 2, 3] and x._version == 0


def test_view_as_a_larger_dtype_keeps_whole_elements():
    x = torch.zeros(4, 3, dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="must be divisible by 2"):
        x[:, :2].view(torch.int16)


@pytest.mark.parametrize("call", [
    lambda: torch.empty(2 ** 50), lambda: torch.zeros(2 ** 40, 2 ** 40), lambda: torch.rand(2 ** 62),
    lambda: torch.ones(1).expand(2 ** 50).clone(), lambda: torch.ones(1).expand(2 ** 50) * 2,
    lambda: torch.cat([torch.ones(1).expand(2 ** 50)] * 2), lambda: torch.ones(1).expand(2 ** 50).exp(),
    lambda: torch.eye(2 ** 33), lambda: torch.linspace(0, 1, 2 ** 60), lambda: torch.UntypedStorage(2 ** 50),
    lambda: torch.ones(1).expand(2 ** 62), lambda: torch.ones(2).expand(-2, 2), lambda: torch.arange(1e18)])
def test_more_than_any_machine_has(call):
    with pytest.raises(RuntimeError, match="allocate memory|overflow"):
        call()


def test_other_errors_of_a_kernel_stay_what_they_are():
    from tinytorch.autograd.op import op

    @op(name="fails", x=lambda g: g)
    def fails(x):
        raise ValueError("not about memory")
    with pytest.raises(ValueError, match="not about memory"):
        fails(torch.ones(2))
