"""Forms of calls by groups: memory formats and aliases, what is refused, the range of uint8, memory that is filled."""
import numpy as np
import pytest

from .adapter import same_outcome

RESIZE = r"""
x = torch.arange(24.).reshape(1, 2, 3, 4); x.resize_(1, 2, 3, 4, memory_format=channels_last); x
x = torch.zeros(0); x.resize_(1, 2, 3, 4, memory_format=channels_last); x.stride()
x = torch.zeros(0); x.resize_((1, 2, 3, 4), memory_format=channels_last); x.stride()
x = torch.zeros(100); x.resize_(1, 2, 3, 4, memory_format=channels_last); x
x = torch.zeros(100); x.resize_(2, 3, memory_format=channels_last); x
x = torch.zeros(100); x.resize_(2, 3, memory_format=torch.preserve_format); x
x = torch.zeros(100); x.resize_(2, 3, memory_format=torch.contiguous_format); x
x = torch.zeros(100); x.resize_(1, 2, 2, 2, 2, memory_format=channels_last_3d); x.stride()
x = torch.arange(6.); x.resize_as_(torch.zeros(1, 2, 3, 1).contiguous(memory_format=channels_last)); x
x = torch.arange(32.); x.resize_as_(image, memory_format=torch.preserve_format); x
x = torch.arange(24.); x.resize_as_(torch.zeros(1, 2, 3, 4), memory_format=channels_last); x
x = torch.arange(24.).reshape(4, 6).t(); x.resize_(6, 4); x.stride()
x = torch.arange(24.).reshape(4, 6).t(); x.resize_(3, 8); x
x = torch.arange(24.).reshape(4, 6).t(); x.resize_(6, 4, memory_format=torch.contiguous_format); x.stride()
x = torch.zeros(3, requires_grad=True); x.resize_(3)
x = torch.zeros(3); y = x.view(3); y.resize_(2); (x.shape, y.shape, y.storage_offset())
x = torch.zeros(6)[2:]; x.resize_(2); (x.storage_offset(), x.untyped_storage().nbytes())
"""
POOLING = r"""
F.max_pool2d(image, 2)
F.max_pool2d(image, 2, return_indices=True)
F.avg_pool2d(image, 2)
F.adaptive_avg_pool2d(image, 2)
F.adaptive_avg_pool2d(image, 1)
F.adaptive_max_pool2d(image, 2)
F.adaptive_max_pool2d(image, 2, return_indices=True)
F.lp_pool2d(image, 2, 2).stride()
F.max_pool3d(torch.arange(64.).reshape(1, 2, 2, 4, 4).contiguous(memory_format=channels_last_3d), 2)
F.avg_pool3d(torch.arange(64.).reshape(1, 2, 2, 4, 4).contiguous(memory_format=channels_last_3d), 2)
F.adaptive_avg_pool3d(torch.arange(64.).reshape(1, 2, 2, 4, 4).contiguous(memory_format=channels_last_3d), 2)
F.adaptive_max_pool3d(torch.arange(64.).reshape(1, 2, 2, 4, 4).contiguous(memory_format=channels_last_3d), 2)
F.max_pool2d(torch.arange(32.).reshape(2, 4, 4).permute(0, 2, 1), 2).stride()
F.avg_pool2d(torch.arange(32.).reshape(2, 4, 4).permute(0, 2, 1), 2).stride()
F.max_pool2d(torch.arange(32.).reshape(1, 4, 4, 2).permute(0, 3, 1, 2), 2).stride()
F.avg_pool2d(torch.arange(32.).reshape(1, 4, 4, 2).permute(0, 3, 1, 2), 2).stride()
F.avg_pool2d(torch.arange(32.).reshape(1, 4, 4, 2).permute(0, 3, 1, 2).bfloat16(), 2).stride()
F.max_pool1d(torch.arange(32.).reshape(1, 4, 8).permute(0, 2, 1), 2).stride()
F.max_unpool2d(*F.max_pool2d(image, 2, return_indices=True), 2).stride()
F.avg_pool2d(torch.arange(16.).reshape(1, 1, 4, 4).contiguous(memory_format=channels_last), 2).stride()
F.max_pool2d(torch.arange(16.).reshape(1, 1, 4, 4).contiguous(memory_format=channels_last), 2).stride()
image.requires_grad_(); F.max_pool2d(image, 2).sum().backward(); image.grad.stride()
image.requires_grad_(); F.avg_pool2d(image, 2).sum().backward(); image.grad.stride()
image.requires_grad_(); torch.autograd.grad(F.avg_pool2d(image, 2).sum(), image)[0].stride()
image.requires_grad_(); torch.autograd.grad(F.max_pool2d(image, 2).sum(), image)[0].stride()
image.requires_grad_(); torch.autograd.grad(F.adaptive_avg_pool2d(image, 2).sum(), image)[0].stride()
image.requires_grad_(); torch.autograd.grad(F.adaptive_max_pool2d(image, 2).sum(), image)[0].stride()
"""
EMBEDDING_BAG = r"""
F.embedding_bag(torch.tensor([0, 1, 2]), table, torch.tensor([0, 2]))
F.embedding_bag(torch.tensor([0, 1, 2]), table, torch.tensor([1, 2]))
F.embedding_bag(torch.tensor([0, 1, 2]), table, torch.tensor([0, 5]))
F.embedding_bag(torch.tensor([0, 1, 2]), table, torch.tensor([0., 2.]))
F.embedding_bag(torch.tensor([0, 1, 2]), table, torch.tensor([0, 2], dtype=torch.int32))
F.embedding_bag(torch.tensor([0, 1, 3]), table, torch.tensor([0, 2]))
F.embedding_bag(torch.tensor([0, 1, -1]), table, torch.tensor([0, 2]))
F.embedding_bag(torch.tensor([0., 1]), table, torch.tensor([0, 2]))
F.embedding_bag(torch.tensor([0, 1]), torch.ones(3, 2, dtype=long), torch.tensor([0, 2]))
F.embedding_bag(torch.tensor([0, 1]), torch.ones(3), torch.tensor([0, 2]))
F.embedding_bag(torch.tensor([0, 1]), table)
F.embedding_bag(torch.tensor([[0, 1]]), table, torch.tensor([0]))
F.embedding_bag(torch.tensor([[[0, 1]]]), table)
F.embedding_bag(torch.tensor([0, 1]), table, torch.tensor([[0]]))
F.embedding_bag(two, table, start, mode="bogus")
F.embedding_bag(two, table, start, mode="mean", per_sample_weights=torch.ones(2))
F.embedding_bag(two, table, start, mode="sum", per_sample_weights=torch.ones(3))
F.embedding_bag(two, table, start, mode="sum", per_sample_weights=torch.ones(2, dtype=torch.float64))
F.embedding_bag(two, table, start, mode="sum", per_sample_weights=torch.ones(2, 1))
F.embedding_bag(two, table, start, mode="max", sparse=True)
F.embedding_bag(two, table, start, mode="max", scale_grad_by_freq=True)
F.embedding_bag(two, table, start, padding_idx=3)
F.embedding_bag(two, table, start, padding_idx=-4)
F.embedding_bag(two, table, start, padding_idx=1)
F.embedding_bag(two, table, start, include_last_offset=True)
F.embedding_bag(torch.tensor([0, 1]), table, torch.tensor([0, 3]), include_last_offset=True)
F.embedding_bag(torch.tensor([], dtype=long), table, torch.tensor([0, 0]))
F.embedding_bag(torch.tensor([], dtype=long), table, torch.tensor([], dtype=long))
F.embedding_bag(torch.tensor([], dtype=long), table, torch.tensor([], dtype=long), include_last_offset=True)
F.embedding_bag(torch.tensor([0, 1]), table, torch.tensor([], dtype=long))
F.embedding_bag(torch.tensor([0, 1]), table, torch.tensor([-1]))
F.embedding_bag(two, table, start, max_norm=1.)
"""
ALIASES = r"""
a = np.arange(3.); t = torch.asarray(a); a[0] = 5; t
a = np.arange(3.); t = torch.asarray(a, copy=True); a[0] = 5; t
a = np.arange(3.); t = torch.asarray(a, dtype=torch.float32); a[0] = 5; t
a = np.arange(3.); torch.asarray(a, dtype=torch.float32, copy=False)
x = torch.ones(3); torch.asarray(x) is x
x = torch.ones(3); torch.asarray(x, copy=False) is x
x = torch.ones(3); torch.asarray(x, copy=True) is x
x = torch.ones(3, requires_grad=True); torch.asarray(x)
x = torch.ones(3, requires_grad=True); torch.asarray(x, requires_grad=True) is x
x = torch.ones(3, requires_grad=True); y = torch.asarray(x*2, requires_grad=True); (y.is_leaf, y.grad_fn is None)
x = torch.ones(3, requires_grad=True); y = torch.asarray(x*2); (y.is_leaf, y.requires_grad)
x = table.requires_grad_(); y = torch.asarray(x, dtype=torch.float64, requires_grad=True); (y.is_leaf, y.requires_grad)
b = bytearray(8); t = torch.asarray(b); b[0] = 1; t
b = bytearray(8); t = torch.asarray(b, dtype=torch.int8); b[0] = 1; t
b = bytearray(8); t = torch.asarray(b, dtype=torch.int8, copy=True); b[0] = 1; t
torch.asarray(memoryview(bytearray(8)), dtype=torch.int16)
torch.asarray([1, 2], copy=False)
torch.asarray([1, 2], copy=True)
torch.asarray(3)
torch.asarray(3., copy=False)
torch.asarray(np.float64(3))
torch.asarray(np.float32(3), dtype=torch.float64)
torch.asarray([np.float32(3)])
torch.asarray(np.array(3.))
torch.asarray([torch.ones(2), torch.ones(2)])
torch.asarray([torch.tensor(1), torch.tensor(2)])
torch.asarray("abc")
torch.asarray(None)
torch.asarray([1, 2], requires_grad=True)
torch.asarray([1., 2], requires_grad=True)
torch.asarray(np.arange(3)[::-1])
torch.asarray(np.array(["a"]))
torch.asarray((1, 2), dtype=torch.bool)
torch.asarray(range(3))
torch.asarray(True)
torch.asarray([[1, 2], [3]])
torch.asarray(np.arange(4, dtype=np.int16), copy=None)
torch.frombuffer(b"", dtype=torch.int8)
a = bytearray([1, 2, 3, 4]); t = torch.frombuffer(a, dtype=torch.uint8); t[0] = 9; a[0]
a = bytearray([1, 2, 3, 4]); t = torch.frombuffer(a, dtype=torch.uint8, offset=1, count=2); a[1]=7; t
a = bytearray([1, 2, 3, 4]); torch.frombuffer(a, dtype=torch.float32, requires_grad=True).requires_grad
a = bytearray([1, 2, 3, 4]); torch.frombuffer(a, dtype=torch.int32, requires_grad=True)
a = np.arange(4, dtype=np.int16); t = torch.frombuffer(a, dtype=torch.int16); a[0] = 5; t
"""
ERRORS = r"""
torch.take_along_dim(torch.ones(2, 3), torch.tensor([[0., 1]]), 1)
torch.take_along_dim(torch.ones(2, 3), torch.tensor([0, 1]), 1)
torch.take_along_dim(torch.ones(2, 3), torch.tensor([[0, 5]]), 1)
torch.take_along_dim(torch.ones(2, 3), torch.tensor([[0, 1]]), 2)
torch.take_along_dim(torch.ones(2, 3), torch.tensor([0, 5]))
torch.take_along_dim(torch.ones(2, 3), torch.tensor([[0, 1]], dtype=torch.int32), 1)
torch.take_along_dim(torch.ones(2, 3), torch.zeros(3, 3, dtype=long), 1)
torch.take_along_dim(torch.ones(2, 3), torch.zeros(2, 1, 1, dtype=long), 1)
torch.take_along_dim(torch.tensor(1.), torch.tensor(0), 0)
torch.take_along_dim(torch.ones(2, 3), [0], 1)
torch.addr(torch.ones(2), torch.ones(2, 2), torch.ones(2))
torch.addr(torch.ones(2), torch.ones(2), torch.ones(2, 2))
torch.addr(torch.ones(5, 3), torch.ones(2), torch.ones(2))
torch.addr(torch.ones(2, 2, dtype=torch.bool), torch.ones(2, dtype=torch.bool), torch.ones(2, dtype=torch.bool), beta=2)
torch.addr(torch.ones(2, 2, dtype=long), torch.ones(2, dtype=long), torch.ones(2, dtype=long), beta=2.5)
torch.addr(torch.ones(2, 2, dtype=long), torch.ones(2, dtype=long), torch.ones(2, dtype=long), alpha=2.5)
torch.addr(torch.ones(2, 2), torch.ones(2), torch.ones(2), beta=2j)
v = torch.ones(2, dtype=torch.bool); torch.addr(torch.ones(2, 2, dtype=torch.bool), v, v, beta=True, alpha=1.)
torch.addr(torch.ones(2, 2), torch.ones(2, dtype=long), torch.ones(2))
torch.ones(2, 2, dtype=long).addr_(torch.ones(2), torch.ones(2))
torch.ones(2, 1).addr_(torch.ones(2), torch.ones(2))
torch.addr(torch.ones(2, 2), torch.ones(2), torch.ones(2), out=torch.ones(2, 2, dtype=long))
torch.addr(torch.ones(2, 2), torch.ones(2), torch.ones(2), out=torch.ones(3, 3))
torch.vander(torch.ones(2, 2))
torch.vander(torch.tensor(1.))
torch.vander(torch.ones(2), -1)
torch.vander(torch.ones(2), N=0)
torch.vander(torch.ones(0))
torch.vander(torch.tensor([1, 2, 3]), increasing=True)
torch.vander(torch.tensor([True, False]))
torch.vander(torch.tensor([1., 2], dtype=torch.bfloat16), 3)
torch.vander(torch.ones(2), 2.5)
torch.linalg.vander(torch.ones(2), N=-1)
torch.linalg.vander(torch.ones(2), N=0)
torch.linalg.vander(torch.ones(2), N=1)
torch.linalg.vander(torch.tensor(1.))
torch.linalg.vander(torch.tensor([True, False]))
torch.linalg.vander(torch.ones(2, 3))
torch.flip(torch.ones(2, 2), 0)
torch.flip(torch.ones(2, 2), (0, 0))
torch.flip(torch.ones(2, 2), (0, 2))
torch.flip(torch.ones(2, 2), (0, -3))
torch.flip(torch.ones(2, 2), ())
torch.flip(torch.tensor(1.), (0, ))
torch.flip(torch.tensor(1.), (0, 0))
torch.flip(torch.ones(2, 2), (0.5, ))
torch.flip(torch.ones(2, 2), "a")
torch.flip(torch.ones(0), (1, ))
torch.flip(torch.ones(2, 2))
torch.ones(2, 2).flip(0, 1)
torch.ones(2, 2).flip(0, -2)
torch.fliplr(torch.ones(2))
torch.flipud(torch.tensor(1.))
torch.dstack([])
torch.dstack(())
torch.dstack(torch.ones(2))
torch.dstack([torch.ones(2), torch.ones(3)])
torch.dstack([torch.ones(2), 1])
torch.dstack([torch.ones(2), torch.ones(2, dtype=long)])
torch.dstack((torch.tensor(1.), torch.tensor(2.)))
torch.dstack([torch.ones(2), torch.ones(1, 2, 3)])
torch.dstack([torch.ones(2)], out=torch.ones(2, 2, dtype=long))
torch.dstack([torch.ones(1, 2, 1)], out=torch.ones(0, dtype=long))
torch.dstack(1)
torch.hstack([])
torch.vstack([])
torch.column_stack([])
torch.hstack([torch.ones(2), torch.ones(2, 2)])
torch.vstack([torch.ones(2), torch.ones(3)])
"""
ANY_AND_ALL = r"""
some.any(())
some.all(dim=())
torch.any(some, dim=(), keepdim=True)
torch.all(some.to(torch.uint8), dim=())
torch.any(some > 0, ())
torch.any(some, (0, 1))
torch.all(some, (0, -1), keepdim=True)
torch.all(torch.tensor(2.), dim=())
torch.any(torch.ones(0, 2), dim=())
torch.any(torch.ones(0, 2), dim=(0, ))
torch.all(some, (0, 0))
torch.any(some, (2, ))
torch.any(some, (0, ), out=torch.zeros(3, dtype=torch.uint8))
torch.any(some, (), out=torch.zeros(0, dtype=torch.bool))
torch.any(some, None)
torch.all(some, dim=None, keepdim=True)
"""
DETERMINISTIC = r"""
torch.utils.deterministic.fill_uninitialized_memory
torch.empty(3)
torch.empty(3, dtype=long)
torch.empty(3, dtype=torch.bool)
torch.empty(3, dtype=torch.complex64)
torch.empty(3, dtype=torch.uint8)
torch.empty(3, dtype=torch.bfloat16)
torch.empty(3, dtype=torch.uint16)
torch.empty(3, dtype=torch.uint64)
x = torch.empty(3, dtype=torch.float8_e5m2); str(x.tolist())
torch.empty_like(torch.ones(2))
torch.empty_strided((2, 2), (1, 2))
torch.empty_strided((2, 2), (1, 4))
torch.empty_permuted((2, 2), (1, 0))
torch.ones(2).new_empty(2)
torch.ones(2).new_empty_strided((2, ), (1, ))
torch.ones(2).resize_(4)
torch.ones(0).resize_(4)
torch.ones(4)[:2].resize_(3)
torch.Tensor(3)
torch.FloatTensor(3)
torch.ones(2, dtype=torch.int32).new(3)
torch.empty(3)
torch.utils.deterministic.fill_uninitialized_memory
torch.empty(2, out=torch.ones(3))
torch.empty(5, out=torch.ones(3))
torch.empty(3, out=torch.ones(8)[::2][:3])
x = torch.ones(8); torch.empty(4, out=x[::2]); x
x = torch.ones(2); torch.empty(2, out=x); x._version
torch.nn.Parameter(torch.empty(2))
torch.empty(0, 3)
torch.empty_like(torch.ones(2, 2).t())
torch.empty(2, requires_grad=True)
"""
UINT8 = r"""
torch.arange(3, dtype=torch.uint8)-1
torch.tensor(300, dtype=torch.uint8)
torch.tensor(-1, dtype=torch.uint8)
torch.tensor([-1], dtype=torch.uint8)
torch.tensor([256], dtype=torch.uint8)
torch.tensor([-256], dtype=torch.uint8)
torch.tensor([-255], dtype=torch.uint8)
torch.full((2, ), -1, dtype=torch.uint8)
torch.full((2, ), 256, dtype=torch.uint8)
torch.zeros(2, dtype=torch.uint8).fill_(-1)
torch.zeros(2, dtype=torch.uint8).fill_(256)
torch.zeros(2, dtype=torch.uint8).fill_(-256)
torch.zeros(2, dtype=torch.uint8).fill_(1.5)
torch.zeros(2, dtype=torch.uint8).fill_(-1.5)
torch.zeros(2, dtype=torch.uint8)+300
torch.zeros(2, dtype=torch.uint8)-300
torch.zeros(2, dtype=torch.uint8)*-1
torch.zeros(2, dtype=torch.uint8)==256
torch.zeros(2, dtype=torch.uint8)==-1
torch.zeros(2, dtype=torch.uint8)>-1
torch.zeros(2, dtype=torch.uint8)<256
torch.zeros(2, dtype=torch.uint8).clamp(-1, 300)
torch.zeros(2, dtype=torch.uint8).masked_fill(torch.tensor([True, False]), -1)
torch.zeros(2, dtype=torch.uint8).masked_fill(torch.tensor([True, False]), 256)
torch.arange(250, 260, dtype=torch.uint8)
torch.arange(-3, 3, dtype=torch.uint8)
torch.tensor([1., -1., 300.]).to(torch.uint8)
torch.tensor([3], dtype=torch.uint8).neg()
torch.tensor([3], dtype=torch.uint8)//-2
torch.tensor([3], dtype=torch.uint8)%-2
torch.tensor([3], dtype=torch.uint8).pow(-1)
torch.tensor([3], dtype=torch.uint8)<<9
torch.tensor([3], dtype=torch.uint8).bitwise_not()
torch.randint(-1, 5, (2, ), dtype=torch.uint8)
torch.randint(0, 257, (2, ), dtype=torch.uint8)
torch.randint(0, 256, (2, ), dtype=torch.uint8)
torch.zeros(2, dtype=torch.uint8).random_(-1, 5)
torch.zeros(2, dtype=torch.uint8).random_(0, 257)
torch.where(torch.tensor([True, False]), torch.zeros(2, dtype=torch.uint8), -1)
torch.where(torch.tensor([True, False]), torch.zeros(2, dtype=torch.uint8), 256)
torch.zeros(2, dtype=torch.uint8).index_fill(0, torch.tensor([0]), -1)
torch.zeros(2, dtype=torch.uint8).index_fill(0, torch.tensor([0]), 256)
torch.zeros(2, dtype=torch.uint8).scatter(0, torch.tensor([0]), 256)
torch.zeros(2, dtype=torch.uint8).scatter(0, torch.tensor([0]), -1)
torch.scalar_tensor(-1, dtype=torch.uint8)
torch.scalar_tensor(256, dtype=torch.uint8)
torch.linspace(-1, 3, 5, dtype=torch.uint8)
torch.nan_to_num(torch.tensor([1], dtype=torch.uint8))
torch.zeros(2, dtype=torch.uint8).add(torch.ones(2, dtype=torch.uint8), alpha=-1)
torch.zeros(2, dtype=torch.uint8).sub(torch.ones(2, dtype=torch.uint8), alpha=300)
torch.eye(2, dtype=torch.uint8)-2
u = torch.ones(2, dtype=torch.uint8); torch.addcmul(u, u, u, value=-1)
u = torch.ones(2, dtype=torch.uint8); torch.addcmul(u, u, u, value=256)
u = torch.ones(2, dtype=torch.uint8); F.pad(u, (1, 1), value=-1)
u = torch.ones(2, dtype=torch.uint8); F.pad(u, (1, 1), value=2.5)
torch.tensor([1.5, 2], dtype=torch.uint8)
torch.tensor([-1.5], dtype=torch.uint8)
torch.tensor([255.5], dtype=torch.uint8)
torch.tensor([256.], dtype=torch.uint8)
"""


def _run(torch, line):
    """The value of the last expression of a line, with the strides of a tensor."""
    names = dict(torch=torch, np=np, F=torch.nn.functional, long=torch.int64, channels_last=torch.channels_last,
                 channels_last_3d=torch.channels_last_3d, two=torch.tensor([0, 1]), start=torch.tensor([0]),
                 table=torch.ones(3, 2), some=torch.tensor([[1., 0, 1], [1, 1, 0]]),
                 image=torch.arange(32.).reshape(1, 2, 4, 4).contiguous(memory_format=torch.channels_last))
    *statements, last = line.split("; ")
    torch.manual_seed(0)
    for statement in statements:
        exec(statement, names)
    result = eval(last, names)
    return result, result.stride() if isinstance(result, torch.Tensor) else None


def _filled(torch, line):
    torch.use_deterministic_algorithms(True)
    try:
        return _run(torch, line)
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.filterwarnings("ignore:The given:UserWarning", "ignore:An output:UserWarning",
                            "ignore:torch.asarray:UserWarning", "ignore:ComplexHalf:UserWarning")
@pytest.mark.parametrize("group", ["resize", "pooling", "embedding_bag", "aliases", "errors", "uint8", "deterministic",
                                   "any_and_all"])
def test_forms(group):
    lines = globals()[group.upper()].strip().splitlines()
    for line in lines:
        run = _filled if group == "deterministic" else _run
        same_outcome(lambda torch: run(torch, line), cut=lambda text: "")
    assert len(lines) > 10
