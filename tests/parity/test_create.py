"""New tensors: dtypes, values and errors, against the real torch."""
import numpy as np
import pytest
import torch

import tinytorch

from .adapter import same_outcome


@pytest.mark.parametrize("expression", [
    "t.tensor(np.float64(1))", "t.tensor([np.float64(1)])", "t.tensor([np.float32(1)])",
    "t.tensor([np.array([1., 2.])])", "t.tensor([np.int32(1), 2])", "t.tensor([1, t.tensor(2.)])",
    "t.tensor([t.tensor(2., dtype=t.float64)])", "t.tensor([t.tensor([2., 1])])", "t.tensor([t.tensor([2.])])",
    "t.tensor([True, 2])", "t.tensor([True, 2.5])", "t.tensor([1, 2j])", "t.tensor([])", "t.tensor([[]])",
    "t.tensor([[1, 2], [3]])", "t.tensor([[1, 2], 3])", "t.tensor([1, [2, 3]])", "t.tensor([[1, 2], [3, 4, 5]])",
    "t.tensor([[[1], [2]], [[1], [2, 3]]])", "t.tensor('a')", "t.tensor(['a'])", "t.tensor(None)", "t.tensor([None])",
    "t.tensor([1, None])", "t.tensor({})", "t.tensor({1:2})", "t.tensor(300, dtype=t.uint8)",
    "t.tensor([300], dtype=t.uint8)", "t.tensor([-1], dtype=t.uint8)", "t.tensor(2**70)", "t.tensor([2**63])",
    "t.tensor([1.5], dtype=t.int64)", "t.tensor([1j], dtype=t.float32)", "t.tensor([1e50])",
    "t.tensor([1e50], dtype=t.float16)", "t.tensor(range(3))", "t.tensor((1, 2))", "t.tensor(x>1)",
    "t.tensor([1, 2], requires_grad=True)", "t.tensor(np.array(['a']))", "t.tensor(np.array([1], dtype=object))",
    "t.tensor([[1, 2], (3, 4)])", "t.tensor(1, dtype=t.bool)", "t.tensor([0.5], dtype=t.bool)",
    "t.tensor([float('nan')], dtype=t.int32)", "t.as_tensor([1, 2])", "t.as_tensor(np.arange(3), dtype=t.float32)",
    "t.asarray([1., 2])", "t.asarray(3)", "t.from_numpy([1])", "t.from_numpy(np.array(1))",
    "t.from_numpy(np.array(['a']))", "t.zeros(2.0)", "t.zeros('a')", "t.zeros(-1)", "t.zeros(())", "t.zeros([2, 3])",
    "t.zeros(2, (3, ))", "t.zeros(size=(2, ))", "t.zeros(t.tensor(2))", "t.ones(2, dtype=t.bool)",
    "t.full((2, ), True)", "t.full((2, ), 1)", "t.full((2, ), 1.)", "t.full((2, ), 1j)", "t.full((2, ), t.tensor(3))",
    "t.full(2, 1)", "t.full((2, ), 1.5, dtype=t.long)", "t.full_like(i, 1.5)", "t.arange(5, 0)", "t.arange(0, 5, 0)",
    "t.arange(1, 2.5, 0.5)", "t.arange(3, dtype=t.float16)", "t.arange(t.tensor(3))", "t.arange(t.tensor(3.))",
    "t.arange(0, 1, 0.1)[3]", "t.arange(end=3)", "t.arange(start=1, end=3)", "t.arange(True)", "t.range(0, 3)",
    "t.linspace(0, 1, 3)", "t.linspace(0, 5, 3, dtype=t.int64)", "t.linspace(0, 1, 0)", "t.linspace(0, 1, 1)",
    "t.linspace(0, 1, -1)", "t.linspace(0, 1j, 3)", "t.linspace(t.tensor(0.), 1, 2)", "t.logspace(0, 2, 3)",
    "t.eye(2)", "t.eye(2, 3, dtype=t.int64)", "t.eye(-1)", "t.empty_strided((2, 3), (1, 2)).stride()",
    "t.zeros_like(i)", "t.zeros_like(3)", "x.new_tensor([1, 2])", "x.new_zeros(2, 3).dtype", "x.new_full((2, ), 3)",
    "x.new_ones((2, ))", "x.new_empty(2, 3).shape", "t.scalar_tensor(3)", "t.scalar_tensor(True)", "t.vander(i)",
    "t.vander(i, 2, increasing=True)", "t.is_tensor(3)",
    "t.frombuffer(bytearray(b'\\x01\\x00\\x02\\x00'), dtype=t.int16)", "t.FloatTensor(2, 3).shape", "t.FloatTensor()",
    "t.FloatTensor([1, 2])", "t.FloatTensor((2, 3))", "t.LongTensor([1.5])", "t.FloatTensor(i)",
    "t.LongTensor(np.array([1, 2]))", "t.FloatTensor(np.array([1., 2]))", "t.FloatTensor(t.Size([2])).shape",
    "t.FloatTensor.dtype", "t.BoolTensor([1, 0])", "t.ByteTensor([1, 0])", "t.Tensor(3).shape", "t.Tensor([3])",
    "t.Tensor(i)", "isinstance(i, t.LongTensor)", "t.LongTensor('a')", "t.FloatTensor(2.5)",
    "t.FloatTensor([[1, 2], [3]])", "x.new(2).dtype", "x.new([1, 2])", "x.resize_(3)", "x.resize_(7).shape",
    "x.resize_as_(i).shape", "t.channels_last", "t.strided", "x.layout",
    "t.zeros(1, 2, 3, 4).contiguous(memory_format=t.channels_last).stride()",
    "x.contiguous(memory_format=t.channels_last)",
    "t.zeros(1, 2, 3, 4, device='cpu').to(memory_format=t.channels_last).is_contiguous(memory_format=t.channels_last)",
    "x.cuda()", "t.empty(2, memory_format=t.preserve_format)", "t.tensor([[1, 2], [3, 4]], dtype=float)",
    "t.tensor([1], dtype=int)", "t.zeros(2, dtype=np.float32)", "t.zeros(2, dtype=float)",
    "t.zeros(2, dtype='float32')", "x.new_zeros([2], dtype=t.int)", "t.zeros()", "t.empty(0, 3)",
    "t.ones(2, 3, out=t.zeros(1)).shape", "t.linspace(0, 1, 5, dtype=t.float64)", "t.tensor(t.Size([1, 2]))",
    "t.tensor(1.).dtype", "t.tensor(np.ones(2, dtype='>f4'))", "t.tensor([1, 'a'])", "t.tensor([[1, 'a']])",
    "t.tensor(b'ab')", "t.tensor([1, b'a'])", "t.tensor([float('nan')], dtype=t.int64)", "t.zeros(True)",
    "t.zeros((True, 2))", "t.zeros(2, True)", "t.zeros([2, 'a'])", "t.zeros((2, 3.))", "t.zeros((2., 3))",
    "t.zeros([[2]])", "t.zeros((None, ))", "t.zeros(t.tensor([2, 3]))", "t.zeros((2, t.tensor(2.)))",
    "t.randn(2, t.tensor(2)).shape", "t.rand(True)", "t.rand(2, dtype=float).dtype", "x.new_zeros((2, 2.))",
    "t.zeros(2, out=t.ones(2).double(), dtype=t.float32)", "t.full((2, ), None)", "t.full((2, ), 'a')",
    "t.full((2, ), t.tensor([1.]))", "t.full((2., ), 1)", "t.full_like(x, None)", "t.full_like(x, t.tensor([1.]))",
    "x.new_full((2, ), None)", "t.arange(3, dtype=t.bool)", "t.arange(3, dtype=t.complex64)", "t.arange(None)",
    "t.arange('a')", "t.arange(t.tensor([3]))", "t.arange(1j)", "t.linspace(0, 1, 3, dtype=t.bool)",
    "t.linspace(t.tensor([0.]), 1, 3)", "t.linspace(0, t.tensor([1., 2.]), 3)", "t.logspace(0, 1, 3, dtype=t.bool)",
    "t.eye(2.5)", "t.eye('a')", "t.eye(True)", "t.Tensor(-1)", "t.Tensor(2, -1)", "t.Tensor('a')", "t.Tensor(None)",
    "t.Tensor({})", "t.Tensor(True)", "t.Tensor([[1, 2], [3]])", "t.Tensor([1j])", "t.Tensor(2, 'a')",
    "t.Tensor([[], []]).shape", "t.Tensor(np.ones(2))", "t.Tensor(range(3))", "t.finfo(t.float16)", "t.device('foo')",
    "t.set_default_dtype(t.int64)", "t.set_default_dtype('a')", "int(x)", "float(x)", "complex(x)", "int(t.tensor(1j))",
    "float(t.tensor(1j))", "float(t.tensor(1+0j))", "int(t.tensor(2.7))",
    *[f"t.{f}({x})" for f in ("finfo", "iinfo") for x in (
        "float", "int", "bool", "complex", "str", "None", "1.0", "np.float64", "t.int8", "t.uint8", "t.complex64",
        "t.bool", "type=t.float32", "type=int")], "t.finfo()",
])
def test_same(expression):
    same_outcome(lambda t: eval(expression, dict(t=t, np=np, x=t.arange(6.).reshape(2, 3), i=t.arange(3))))


@pytest.mark.parametrize("default", ["t.DoubleTensor", "'torch.HalfTensor'"])
def test_default_tensor_type(default):
    for t in (torch, tinytorch):
        try:
            t.set_default_tensor_type(eval(default, dict(t=t)))
            assert str(t.tensor(1.).dtype) == ("torch.float64" if "Double" in default else "torch.float16")
        finally:
            t.set_default_dtype(t.float32)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_steps_are_rounded_alike(dtype):
    """arange and linspace to the last bit: torch's vector code rounds in its own order."""
    for start, step, count in [(0, 0.1, 57), (0.1, 1 / 3, 100), (-3.3, 7.1, 16), (5, -0.3, 41), (1e3, 1e-3, 200)]:
        same_outcome(lambda t: t.arange(start, start + step * count, step, dtype=getattr(t, dtype)), tolerance=0)
        same_outcome(lambda t: t.linspace(start, step, count, dtype=getattr(t, dtype)), tolerance=0)
