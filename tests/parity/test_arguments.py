"""Arguments that torch refuses, or takes in a way of its own: devices, foreign arrays and buffers, indices out of
range. The same result or the same exception; and nothing is written here when something is refused."""
import warnings

import numpy as np
import pytest
import torch

import tinytorch


def attempt(call, t):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = call()
        except Exception as error:
            text = str(error).replace("tinytorch.", "torch.").split("\nException raised from")[0]
            return type(error).__name__, text.rstrip('"')
    if isinstance(result, t.Tensor):
        return tuple(result.shape), result.stride(), str(result.dtype).split(".")[1], result.tolist()
    return repr(result).replace("tinytorch.", "torch.")


def outcome(expression, t, **names):
    return attempt(lambda: eval(expression, dict(t=t, np=np, **names)), t)


# ------------------------------------------------------------------ devices
@pytest.mark.parametrize("expression", """
t.device(-1); t.device(-129); t.device(0); t.device(300); t.device(''); t.device('cpu:'); t.device('cpu:-1')
t.device('cpu:1')
t.device('cpu:01'); t.device('cuda:0'); t.device('cuda:00'); t.device('cuda: 0'); t.device('cuda:0:1'); t.device('CPU')
t.device('cuda:99999999999'); t.device('foo'); t.device('foo:1'); t.device('cpu', 0); t.device('cpu', -1)
t.device('cpu', -2); t.device('cuda', -1); t.device('cuda', 1.); t.device('cuda', '0'); t.device('cuda', True)
t.device('cuda:0', 1); t.device('cuda:0', 0); t.device('cuda', None); t.device(type='cuda', index=1)
t.device(type='cuda')
t.device(t.device('cpu')); t.device(t.device('cpu'), 1); t.device(device='cpu'); t.device(np.int64(1))
t.device('meta:0')
t.device('cuda:\u0663'); t.device('cuda:+1'); t.device(' cpu'); t.device(':0'); t.device('cuda:1.')
t.device('cuda:1_0')
t.zeros(1, device=-1); t.zeros(1, device='cpu:1').device; t.zeros(1, device='foo'); t.zeros(1).to(-1); t.zeros(1).to('')
t.zeros(1).to('cpu:-1'); t.tensor(1, device='bar'); t.as_tensor(1, device=-1); t.arange(3, device='')
t.rand(1, device=-1)
t.nn.Linear(1, 1, device='bar'); t.device('cpu') == t.device('cpu', 0)
""".strip().replace("\n", "; ").split("; "))
def test_device(expression):
    assert outcome(expression, tinytorch) == outcome(expression, torch)


@pytest.mark.parametrize("expression", ["t.device()", "t.device(None)", "t.device(True)", "t.device(1.)",
                                        "t.device(index=1)", "t.device('cpu', 'a', 'b')", "t.zeros(1, device=1.)"])
def test_device_of_another_type(expression):
    """torch says in these words which ways of a call there are; here the kind of error counts."""
    assert outcome(expression, tinytorch)[0] == outcome(expression, torch)[0] == "TypeError"


# ------------------------------------------------------------------ tensors as ints
TENSORS_AS_INTS = """
x.hsplit(1, 2); x.hsplit(one); x.hsplit(one, 3); x.hsplit(t.tensor(2)); x.hsplit([one]); x.hsplit(sections=one)
x.hsplit(indices=one); x.hsplit(indices=[1]); x.hsplit(sections=2); x.hsplit(indices=2); t.hsplit(x, [one])
t.hsplit(x, 1, 2); t.hsplit(x, b); x.hsplit(b); x.hsplit(np.array(2)); x.hsplit(()); x.hsplit(); x.hsplit(True)
x.hsplit(1, True); x.hsplit(2.); x.hsplit(None); x.vsplit(1, 2); x.dsplit(1, 2); x.vsplit(one)
x.count_nonzero(0, 1); x.count_nonzero(one); x.count_nonzero(t.tensor(2)); x.count_nonzero(dim=one)
x.count_nonzero(b); x.count_nonzero(np.array(1)); x.count_nonzero([one]); x.count_nonzero(); x.count_nonzero(None)
x.count_nonzero(True); x.count_nonzero(()); t.count_nonzero(x, ()); t.count_nonzero(x, 0, 1)
t.count_nonzero(x, [b]); t.count_nonzero(x, b); x.squeeze(0, 1); x.squeeze(one); x.squeeze(b); x.squeeze([b])
x.squeeze(dim=one); x.squeeze(one, 1); x.squeeze(True); x.squeeze(1, True); t.squeeze(x, one); t.squeeze(x, b)
t.squeeze(x, [b]); t.squeeze(x, 1, 2); x.squeeze_(0, 1); x.squeeze_(one); x.squeeze_(b); x.squeeze(np.array(1))
t.squeeze(x, np.array(1)); x.squeeze(1.); x.tensor_split(1, 2); x.tensor_split(one); x.tensor_split(one, 0)
x.tensor_split([b]); x.tensor_split([one]); x.tensor_split(np.array(2)); t.tensor_split(x, np.array(2))
x.tensor_split(t.tensor([2], dtype=t.int32)); x.movedim(one, 0); x.movedim(t.tensor(1), 0); x.movedim([one], 0)
x.movedim([one], [0]); t.movedim(x, b, 0); x.flip(0, 1); x.flip(one); x.flip(b); x.tile(one); x.tile(b); x.tile([b])
x.repeat(one, 1, 1); x.repeat(b, 1, 1); x.permute(0, b, 2); x.permute(0, 2, one); x.split_with_sizes([b, 3])
x.split_with_sizes([one, 2]); x.split([one, 2]); x.split([b, 3]); x.split(one); x.split((one, 2)); x.sum(0, 1)
x.sum(b); x.sum([b]); x.sum(0, True); x.all(one); x.all([one]); x.all(b); x.any([b]); x.all(dim=one); t.all(x, one)
x.unflatten(one, (2, 2)); x.unflatten(0, (2, one)); x.unflatten(0, (2, b)); x.unflatten(0, one); x.unfold(one, 1, 1)
x.max(one); x.max(t.tensor(1)); x.min(b); x.argmax(one); x.gather(one, t.zeros(4, 4, 4).long()); x.narrow(0, one, 1)
x.max(dim=one); t.max(x, dim=one); x.min(dim=one, keepdim=True); x.max(dim=b); x.max(axis=one); x.max(other=one)
t.min(input=x, dim=one, out=(t.empty(0), t.empty(0).long())).values; x.max(dim=one.float()); x.max(dim=one[None])
x.narrow(0, b, 1); x.narrow(0, 0, b); x.select(0, one); x.select(0, b); x.repeat_interleave(one)
x.repeat_interleave(2, output_size=one); x.new_zeros(one); x.new_zeros(b); x.new_zeros([b]); x.new_ones(one, 2)
x.new_full([one], 2.); x.new_full(one, 2.); x.new_empty(one).shape; x.resize_(one, 1, 1).shape
x.as_strided((one,), (one,), one); x.view(b, 64); x.view(one*32); x.expand(one*2, 4, 4, 4)
x.broadcast_to([one*2, 4, 4, 4]); x.reshape(one*2, 32); x.sum_to_size(1, 4, b); x.sum_to_size(one-1, 4, 4)
x.index_select(one, one); x.cumsum(one); x.topk(one); x.kthvalue(one); x.multinomial(one); x.tril(one)
x.bernoulli(b); t.zeros(b); t.zeros(one); t.rand(b); t.rand(one); t.randn([b]); t.full([b], 2.); t.full(one, 2.)
t.empty(b); t.eye(b); t.eye(one, one); t.randint(one, (one,)); t.randint(0, one, (2,)); t.randint(b, (2,))
t.randint(5, (b,)); t.randint(5, one); t.randperm(one); t.randperm(b); t.arange(one); t.arange(b)
t.linspace(0, 1, one); t.linspace(0, 1, t.tensor(3)); t.hann_window(one); t.roll(x, one); t.roll(x, b)
t.roll(x, [b], [0]); t.roll(x, 1, b); t.roll(x, (1,), [b]); t.empty_strided((b,), (1,))
t.empty_strided([one], [one]); t.tril_indices(one, 2); t.normal(0., 1., (b,)); t.normal(0., 1., (one,))
t.ones_like(x).pow(one); t.nn.functional.pad(x, (b, 1)); t.nn.functional.pad(x, (one, 1))
t.nn.functional.one_hot(one, one+3); t.nn.functional.one_hot(one, t.tensor(3))
t.nn.functional.layer_norm(x, (4, b)); t.nn.functional.layer_norm(x, [one*2]); t.nn.functional.layer_norm(x, one*2)
t.nn.functional.avg_pool1d(x, one); t.nn.functional.avg_pool1d(x, b); t.nn.functional.avg_pool1d(x, [b])
t.nn.functional.avg_pool2d(x, one); t.nn.functional.avg_pool2d(x, (b, b)); t.nn.functional.max_pool2d(x, one)
t.nn.functional.max_pool2d(x, [one, b]); t.nn.functional.conv1d(x, x, stride=one)
t.nn.functional.conv1d(x, x, stride=b); t.nn.functional.conv1d(x, x, stride=[b])
t.nn.functional.conv1d(x, x, padding=[one]); t.nn.functional.conv1d(x, x, groups=one//2)
t.nn.functional.conv1d(x, x, groups=b); t.nn.functional.conv1d(x, x, groups=t.tensor(1))
t.nn.functional.conv1d(x, x, groups=True); t.nn.functional.adaptive_avg_pool1d(x, one)
t.nn.functional.adaptive_avg_pool1d(x, b); t.nn.functional.adaptive_avg_pool1d(x, [b])
t.nn.functional.adaptive_avg_pool2d(x, one); t.nn.functional.adaptive_avg_pool2d(x, [b, b])
t.nn.functional.adaptive_max_pool2d(x, one); t.nn.functional.adaptive_max_pool1d(x, one)
t.nn.functional.adaptive_max_pool1d(x, [b]); t.fft.fft(x, one); t.fft.fft(x, b); t.fft.fftn(x, one, [0])
t.fft.fftn(x, [b], [0]); t.fft.fftn(x, b, [0]); t.fft.fft2(x, [one, b]); t.fft.fftn(x, None, one)
t.fft.fftn(x, None, [b]); t.fft.fftfreq(one); t.bincount(one, minlength=one); t.nonzero_static(one, size=one)
t.channel_shuffle(x[None], one); t.vander(one, one); t.linalg.vander(one, N=one); t.linalg.vander(one, N=b)
t.linalg.vander(one, N=t.tensor(2)); t.tensordot(x, x, one); t.tensordot(x, x, t.tensor(2))
t.unravel_index(one, (one, 4)); t.unravel_index(one, one*3); t.broadcast_shapes(one, (1,)); t.cdist(x, x, one)
t.diff(x, one); t.stack([x], one); t.cat([x], one); t.chunk(x, one); t.block_diag(one); t.combinations(one, one)
t.cartesian_prod(one); t.quantile(x, .5, one); t.std(x, one); t.std(x, b); t.var(x, dim=one, correction=one)
t.logsumexp(x, one); t.amax(x, b); t.aminmax(x, dim=one); t.median(x, one); t.mode(x, one); t.sort(x, one)
t.rot90(x, one); t.rot90(x, 1, [0, one//2]); t.diagonal(x, one); t.diag_embed(x, one); t.trapezoid(x, dim=one)
t.renorm(x, 2, one, 1.); t.nn.functional.softmax(x, one); t.softmax(x, one); t.nn.functional.glu(x, one)
t.nn.functional.interpolate(x, one*4); t.nn.functional.interpolate(x, [one*2])
t.nn.functional.interpolate(x, t.tensor(4)); t.nn.functional.pixel_shuffle(x, one)
t.nn.functional.embedding(one, x[0], one); t.nn.functional.cross_entropy(x[0], one.expand(4), ignore_index=one)
t.nn.functional.cross_entropy(x[0], one.expand(4), ignore_index=b)
t.nn.functional.nll_loss(x[0], one.expand(4), ignore_index=one)
t.nn.functional.nll_loss(x[0], one.expand(4), ignore_index=t.tensor(2)); t.nn.functional.unfold(x[None], one)
t.nn.functional.unfold(x[None], [one, one]); t.nn.functional.unfold(x[None], t.tensor([2, 2]))
t.nn.functional.fold(t.ones(1, 4, 9), (4, 4), t.tensor([2, 2])); t.nn.functional.group_norm(x, one)
t.nn.functional.local_response_norm(x, one); t.nn.functional.lp_pool1d(x, 2, one)
t.nn.functional.fractional_max_pool2d(x, one, output_size=one); t.nn.functional.gumbel_softmax(x, dim=one).shape
t.frombuffer(bytearray(8), dtype=t.uint8, count=one); x.to(dtype=t.float64).stride(one); x.size(one)
x.size(t.tensor(1)); x.size(np.int64(1)); x.size(b); x.stride(b); x.transpose(one, 0); x.swapaxes(one, 0)
x.unsqueeze(one); x.flatten(one); x.unbind(one); x.index_fill(one, one, 0.); x.select_scatter(x[0], 0, one)
x.slice_scatter(x, 0, one*0, one*4); x.diagonal_scatter(x[0], one); x.put_(one, one.float()); t.einsum('i->i', one)
t.Size([one]); t.Size(one); t.Size([b]); t.tensor([1, 2, 3])[one]; x[one:]; x[b:]; x[t.tensor(1):]
x[np.array(1)].shape; x[np.array([1])].shape; x[:one].shape; x[:t.tensor(1.)]
""".strip().replace("\n", "; ").split("; ")


@pytest.mark.parametrize("expression", TENSORS_AS_INTS)
def test_tensor_as_int(expression):
    """A tensor of one integer (`one`), a bool tensor (`b`), arrays and bools for sizes and dimensions: what torch
    takes for an int, and what for several, given one by one or in a list."""
    def answer(t):
        names = dict(x=t.ones(4, 4, 4), one=t.tensor([2]), b=t.tensor(True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = eval(expression, dict(t=t, np=np, **names))
            except Exception as error:
                return type(error).__name__
        several = result if isinstance(result, (tuple, list)) else [result]
        return [tuple(r.shape) if isinstance(r, t.Tensor) else str(r) for r in several]
    assert answer(tinytorch) == answer(torch)


# ------------------------------------------------------------------ foreign arrays and buffers
def foreign():
    """Arrays whose elements do not lie as a tensor's do, made anew (they are shared)."""
    raw = np.arange(40, dtype=np.uint8)
    numbers = raw[:32].view(np.float32)
    records = np.zeros(4, [("a", "u1"), ("b", "f4"), ("c", "f4")])
    odd = np.zeros(4, [("a", "u1"), ("b", "f4"), ("c", "u1", (3,))])
    odd["b"] = range(4)
    read_only = np.arange(3.0)
    read_only.flags.writeable = False
    backwards = np.asarray(memoryview(bytearray(range(8)))[::-1])
    strided = np.lib.stride_tricks.as_strided
    return dict(
        field=records["b"], late_field=records["c"], aligned=np.zeros(4, np.dtype([("a", "u1"), ("b", "f4")],
        align=True))["b"],
        odd=odd["b"], bytes_of=odd["a"], misaligned=raw[1:33].view(np.float32), halves=strided(numbers, (3,), (6,)),
        one_half=strided(numbers, (1,), (6,)), no_half=strided(numbers, (0, 2), (6, 3)), read_only=read_only,
        swapped=np.arange(4, dtype=">f4"), no_swapped=np.zeros(0, ">f4"), reverse=np.arange(4.0)[::-1],
        columns=np.arange(6.0).reshape(2, 3)[:, ::-1], one_reverse=np.arange(4.0)[:1][::-1],
        empty=np.zeros((0, 3))[:, ::-1], twice_reversed=backwards[::-1],
        steps=np.asarray(memoryview(bytearray(range(8)))[::2]),
        longdouble=np.arange(3, dtype=np.longdouble), objects=np.array([1, None]), text=np.array(["a"]),
        dates=np.array(["2020"], "M8[D]"), void=np.zeros(2, "V3"), broadcast=np.broadcast_to(np.arange(3.0), (2, 3)),
        matrix=np.matrix([[1.0, 2.0]]), masked=np.ma.array([1.0, 2.0], mask=[0, 1]), zero_dim=np.array(3.0),
        unsigned=np.array([2 ** 63], np.uint64), half=np.ones(2, np.float16), complex=np.array([1j], np.complex64))


@pytest.mark.parametrize("function", ["from_numpy", "as_tensor", "asarray", "tensor", "Tensor"])
@pytest.mark.parametrize("name", foreign())
def test_foreign_array(function, name):
    here, there = (attempt(lambda: getattr(t, function)(foreign()[name]), t) for t in (tinytorch, torch))
    if len(there) == 4 and not there[-1]:      # the strides of no elements are anything
        here, there = here[::2], there[::2]
    elif len(there) == 4 and (1 in there[0] or function == "Tensor"):
        here, there = (here[0], *here[2:]), (there[0], *there[2:])
    assert here == there


@pytest.mark.parametrize("expression", """
t.from_numpy(twice_reversed).storage_offset(); t.from_numpy(twice_reversed).as_strided((8,), (1,))
t.from_numpy(steps).as_strided((7,), (1,)).shape; t.from_numpy(odd).storage_offset()
t.from_numpy(odd).as_strided((2,), (4,))
type(t.from_numpy(matrix).numpy()); t.from_numpy(odd).add_(1); t.from_numpy(misaligned).untyped_storage().nbytes() >= 32
""".strip().replace("\n", "; ").split("; "))
def test_memory_of_foreign_array(expression):
    assert outcome(expression, tinytorch, **foreign()) == outcome(expression, torch, **foreign())


@pytest.mark.parametrize("function", ["from_numpy", "as_tensor"])
def test_read_only_array(function):
    array = foreign()["read_only"]
    with pytest.warns(UserWarning, match="array is not writable"):
        x = getattr(tinytorch, function)(array)
    with pytest.raises(RuntimeError, match="read-only memory"):
        x.add_(1)
    assert array.tolist() == [0, 1, 2]


@pytest.mark.parametrize("expression", """
t.frombuffer(raw, dtype=t.float32, count=2, offset=1); t.frombuffer(raw, dtype=t.int16, count=-5)
t.frombuffer(raw, dtype=t.int16, count=-1, offset=1); t.frombuffer(raw, dtype=t.int16, count=2 ** 62)
t.frombuffer(raw, dtype=t.int16, offset=-1); t.frombuffer(raw, dtype=t.int16, offset=2 ** 63 - 1)
t.frombuffer(raw, dtype=t.int16, offset=40); t.frombuffer(raw, dtype=t.int16, offset=39, count=1)
t.frombuffer(b'abcd', dtype=t.int16); t.frombuffer(bytearray(), dtype=t.int16)
t.frombuffer(bytearray(4), dtype=t.bfloat16)
t.frombuffer(3, dtype=t.int16); t.frombuffer(bytearray(4), dtype=None); t.frombuffer(bytearray(4), dtype='f')
t.frombuffer(np.zeros((2, 2)), dtype=t.float64); t.frombuffer(np.zeros((2, 4))[:, ::2], dtype=t.float64)
t.frombuffer(memoryview(bytearray(8))[::2], dtype=t.uint8)
t.frombuffer(bytearray(8), dtype=t.int32, requires_grad=True)
t.frombuffer(bytearray(8), dtype=t.float32, count=1.); t.frombuffer(bytearray(8), dtype=t.float32, count=True)
t.asarray(raw); t.asarray(raw, dtype=t.int16); t.asarray(b'abc'); t.asarray(b'abc', dtype=t.uint8)
t.asarray(raw, copy=True)
t.asarray(memoryview(raw)[:4]); t.tensor(raw[:2]); t.as_tensor(b'ab'); t.asarray(np.float32(3))
t.asarray([1., 2.], copy=False)
""".strip().replace("\n", "; ").split("; "))
def test_buffer(expression):
    here, there = (outcome(expression, t, raw=bytearray(range(40))) for t in (tinytorch, torch))
    assert here == there


# ------------------------------------------------------------------ indices
INDICES = {"last": [0, 2], "one too large": [0, 3], "negative": [0, -1], "one too small": [0, -4], "first": [3, 0],
           "huge": [2 ** 40, 0], "wraps": [2 ** 62, 0], "least": [-2 ** 63, 0]}
CALLS = """
x.index_add(0, i, s); x.index_add_(0, i, s); x.index_add_(0, i, s, alpha=2); x.index_add_(1, i, c)
x[None].index_add(1, i, s[None])
x.index_add(0, i.int(), s); v.index_add_(0, i, o); v.index_add(0, i, o); e.index_add_(0, i, s)
x.index_copy(0, i, s); x.index_copy_(0, i, s); v.index_copy_(0, i, o); x.index_fill(0, i, 9.); x.index_fill_(0, i, 9.)
x.index_fill_(0, i, t.tensor(9.)); v.index_fill_(0, i, 9.); x.index_reduce_(0, i, s, 'prod')
v.index_reduce(0, i, o, 'amax')
x.index_select(0, i); x.index_select(1, i); x[None].index_select(2, i); v.index_select(0, i); e.index_select(0, i)
x.take(i); x.put_(i, o); x.put(i, o); x.put_(i, o, accumulate=True); x[i]; x[:, i]; x[i, i]; x.__setitem__(i, 5.)
x.__setitem__((slice(None), i), 5.); x.index_put_((i,), t.ones(())); x.index_put_((i,), t.ones(()), accumulate=True)
x.index_put_((i, i), t.ones(()), accumulate=True); v.index_put_((i,), t.ones(()), accumulate=True)
t.index_put(x, (i,), t.ones(()), accumulate=True); v.scatter_(0, i, o); v.scatter_(0, i, 5.); v.scatter_add_(0, i, o)
v.scatter_reduce_(0, i, o, 'prod'); x.scatter_(1, i[None], 1.); v.gather(0, i); x.gather(0, i[None]); z.take(i)
z.gather(0, i)
v.take_along_dim(i, 0); x.take_along_dim(i); x.take_along_dim(i[None], 1); e[i]; e.take(i)
f.embedding(i, x); f.nll_loss(x[:2], i); f.nll_loss(x[:2], i, ignore_index=3); f.cross_entropy(x[:2], i)
f.cross_entropy(x[:2], i, label_smoothing=.1); f.nll_loss(x[:2], i, weight=t.ones(4), reduction='none')
f.multi_margin_loss(x[:2], i); f.multilabel_margin_loss(x[:2, :2], i[None].expand(2, 2)); f.one_hot(i, 3)
x.index_fill(0, i.int(), 9.); x.index_fill_(0, i[None], 9.); v.take_along_dim(i.int(), 0)
f.multi_margin_loss(x[:2], i.int())
f.multilabel_margin_loss(x[:2, :2], i.double()[None].expand(2, 2)); x.index_reduce(0, i.double(), s, 'prod')
f.cross_entropy(x[:2], i.double()); f.nll_loss(x[:2], i.double()); f.one_hot(i.double()); f.nll_loss(x[:2], i * t.nan)
f.cross_entropy(x[:2], i * t.nan); f.embedding(i * t.nan, x); f.one_hot(i * t.nan); x[i * t.nan]
f.multi_margin_loss(x[:2], i * t.nan)
""".strip().replace("\n", "; ").split("; ")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("index", INDICES)
def test_index(call, index):
    answers = []
    for t in (tinytorch, torch):
        x, v, z, e = t.arange(12.0).reshape(3, 4), t.arange(3.0), t.zeros(()), t.zeros(0, 4)
        names = dict(x=x, v=v, z=z, e=e, i=t.tensor(INDICES[index]), s=t.ones(2, 4), c=t.ones(3, 2), o=t.ones(2),
                     f=t.nn.functional)
        answers.append(outcome(call, t, **names))
        if t is tinytorch and len(answers[0]) == 2:            # refused (torch may have written some by then)
            assert x.flatten().tolist() == list(range(12)) and v.tolist() == [0, 1, 2] and x._version == v._version == 0
    assert answers[0] == answers[1]
