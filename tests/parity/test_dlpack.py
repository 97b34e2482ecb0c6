"""DLPack: memory shared with NumPy and with torch, both ways."""
import gc

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import same_outcome

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "float32",
          "float64", "complex64", "complex128", "bfloat16", "complex32", "float8_e4m3fn", "float8_e5m2",
          "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]
LAYOUTS = [lambda t: t, lambda t: t.t(), lambda t: t[1:, ::2], lambda t: t[0, 1], lambda t: t[:0],
           lambda t: t[:1].expand(3, 4)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_memory_is_shared(name, layout):
    """torch -> tinytorch -> NumPy -> tinytorch -> torch, with and without a version in the capsule: one memory."""
    for by_capsule in (False, True):
        first = layout(torch.arange(12).reshape(3, 4).to(getattr(torch, name)))
        ours = tinytorch.from_dlpack(torch.utils.dlpack.to_dlpack(first) if by_capsule else first)
        array = ours if ours._array.dtype.kind == "V" else np.from_dlpack(ours)     # a dtype that NumPy lacks
        again = tinytorch.from_dlpack(array)
        last = torch.from_dlpack(tinytorch.utils.dlpack.to_dlpack(again) if by_capsule else again)
        assert ours.dtype is again.dtype is getattr(tinytorch, name) and last.dtype is first.dtype
        assert ours.shape == first.shape == last.shape and ours.tolist() == first.tolist()
        if first.numel():
            assert ours.stride() == first.stride() == again.stride()
            assert len({x.data_ptr() for x in (first, ours, again, last)}) == 1
            if 0 not in first.stride():
                ours.fill_(1)
                assert first.tolist() == last.tolist() == array.tolist() == ours.tolist()


def test_memory_outlives_its_first_owner():
    ours = [tinytorch.from_dlpack(torch.full((50000,), 7.)), tinytorch.from_dlpack(np.full(50000, 7.)),
            tinytorch.from_dlpack(torch.utils.dlpack.to_dlpack(torch.full((50000,), 7.)))]
    theirs = [torch.from_dlpack(tinytorch.full((50000,), 7.)), np.from_dlpack(tinytorch.full((50000,), 7.))]
    gc.collect()
    churn = [np.zeros(50000) for _ in range(20)] + [torch.zeros(50000) for _ in range(20)]
    assert [float(x.sum()) for x in ours + theirs] == [350000.] * 5 and churn


def test_what_is_read_only_stays_so():
    array = np.arange(3.)
    array.flags.writeable = False
    shared = tinytorch.from_dlpack(array)
    assert shared.data_ptr() == array.ctypes.data
    with pytest.raises(RuntimeError, match="read-only memory"):
        shared.add_(1)
    tinytorch.from_dlpack(array, copy=True).add_(1)


@pytest.mark.parametrize("program", [
    lambda torch: torch.ones(2).__dlpack_device__() == (torch.utils.dlpack.DLDeviceType.kDLCPU, 0),
    lambda torch: torch.ones(2, requires_grad=True).__dlpack__(),
    lambda torch: torch.ones(2, dtype=torch.complex64).conj().__dlpack__(),
    lambda torch: torch.ones(2).__dlpack__(stream=1),
    lambda torch: torch.ones(2).__dlpack__(stream="a"),
    lambda torch: torch.ones(2).__dlpack__(dl_device=3),
    lambda torch: repr(torch.ones(2).__dlpack__(stream=-1))[:20],
    lambda torch: repr(torch.ones(2).__dlpack__(max_version=(1, 0), dl_device=(1, 0)))[:26],
    lambda torch: repr(torch.ones(2).__dlpack__(max_version=(0, 8)))[:20],
    lambda torch: torch.from_dlpack(3),
    lambda torch: torch.from_dlpack([1]),
    lambda torch: torch.from_dlpack(torch.ones(2).__dlpack__(), copy=True),
    lambda torch: torch.from_dlpack(torch.ones(2), device=3),
    lambda torch: torch.from_dlpack(torch.ones(2), device="cpu"),
    lambda torch: torch.from_dlpack(torch.ones(2, requires_grad=True)),
    lambda torch: torch.from_dlpack(np.arange(3, dtype=">i4")),
    lambda torch: torch.from_dlpack(np.array(["a"])),
    lambda torch: torch.from_dlpack(np.zeros((0, 3))),
    lambda torch: (lambda t: torch.from_dlpack(t, copy=True).data_ptr() == t.data_ptr())(torch.ones(2)),
    lambda torch: (lambda t: torch.from_dlpack(t, copy=False).data_ptr() == t.data_ptr())(torch.ones(2)),
    lambda torch: torch.to_dlpack(3),
    lambda torch: (lambda c: (torch.from_dlpack(c), torch.from_dlpack(c)))(torch.to_dlpack(torch.ones(2))),
    lambda torch: sorted((d.name, int(d)) for d in torch.utils.dlpack.DLDeviceType),
])
def test_what_is_asked_and_refused(program):
    same_outcome(program)


def test_negative_strides_are_refused():
    """torch ends the process."""
    with pytest.raises(ValueError, match="negative"):
        tinytorch.from_dlpack(np.arange(3)[::-1])
