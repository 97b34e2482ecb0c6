"""The device `meta`: the shapes, strides, dtypes and texts of what has no numbers, and the errors where they would be
needed, as torch's; and modules that are built on it and filled afterwards."""
import copy
import io
import pickle
import re
import tracemalloc
import warnings

import numpy as np
import pytest
import torch

import tinytorch

M = {"device": "meta"}


def described(result, t):
    if isinstance(result, t.Tensor):
        text = re.sub("0x[0-9a-f]+", "", repr(result))
        return text, str(result.dtype), tuple(result.shape), result.stride(), result.is_meta, result.requires_grad
    if isinstance(result, (tuple, list)):
        return type(result).__name__, [described(x, t) for x in result]
    return re.sub("0x[0-9a-f]+", "", repr(result)).replace("tinytorch", "torch")


def outcome(line, t):
    def meta(*size, **options):
        return t.empty(*size, device="meta", **options)
    names = dict(t=t, nn=t.nn, F=t.nn.functional, np=np, M=M, m=meta(2, 3), c=t.ones(2, 3), s=t.tensor(2.), m3=meta(
        5, 2, 4), mi=meta(2, 3, dtype=t.int64), mb=meta(2, 3, dtype=t.bfloat16, requires_grad=True), m4=meta(
            2, 4, 8, 8, requires_grad=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return described(eval(line, names), t)
        except NotImplementedError as error:
            return "NotImplementedError", str(error)
        except Exception as error:
            return type(error).__name__, str(error)


@pytest.mark.parametrize("line", [line.strip() for line in """
    m; mi; mb; t.empty((), **M); t.empty((0, 2), **M); t.ones(3, device='meta:0').device
    t.ones(3, device=t.device('meta'), dtype=t.complex64); m.device, m.is_meta, m.is_cpu, m.get_device(); m.item()
    t.empty((), **M).item(); float(t.empty((), **M)); bool(t.empty((), **M)); int(t.empty((), **M))
    t.empty((), **M, dtype=t.int64).__index__(); m.tolist(); m.numpy(); m.numpy(force=True); m.cpu(); m.to('cpu')
    m.to('cuda'); c.to('meta'); c.to(m); m.to(t.float64); m.to('meta') is m; m + c; c + m; m + s; s + m; m + 1; m + m
    m * 2.5; mi + 1.5; m == m; m.sum(); m.sum(0); m.sum(0, keepdim=True); m.mean(1); m.max(); m.max(1); m.argmax(1)
    m @ m.T; m.t(); m.view(3, 2); m.reshape(6); m.t().reshape(6); m[0]; m[:, 1:]; m[mi]; m.expand(4, 2, 3)
    m.unsqueeze(0).transpose(0, 1).contiguous(); m.chunk(2); m.split(1); t.cat([m, m]); t.cat([m, c]); t.stack([m, m])
    m.clone(); m.detach(); m.half(); m.bfloat16(); F.linear(m, t.empty(4, 3, **M)); F.softmax(m, -1); F.relu(m)
    F.gelu(m); F.layer_norm(m, (3, )); F.embedding(mi, t.empty(10, 4, **M))
    F.conv2d(t.empty(1, 3, 8, 8, **M), t.empty(4, 3, 3, 3, **M)); t.where(m>0, m, m); m.storage().nbytes()
    m.untyped_storage().nbytes(); m.untyped_storage().device; m.untyped_storage().data_ptr()
    m.untyped_storage().size(); m.storage(); m.storage().dtype; m.data_ptr()
    m.numel(), m.element_size(), m.nbytes, m.itemsize, m.storage_offset(), m.stride(), m.is_contiguous()
    m[1].storage_offset(); m.fill_(3); m.zero_(); m.normal_(); m.uniform_(); m.copy_(c); c.copy_(m); m.copy_(m)
    m.add_(1); c.clone().copy_(mi); t.zeros_like(m); t.zeros_like(m, device='cpu'); t.zeros_like(c, **M)
    t.rand_like(m); t.rand_like(c, **M); t.randn(2, 2, **M); t.randint(0, 5, (2, 2), **M); t.randperm(4, **M)
    t.arange(4, **M); t.linspace(0, 1, 4, **M); t.eye(3, **M); t.full((2, ), 3, **M); t.tensor([1, 2], **M)
    t.as_tensor([1, 2], **M); t.as_tensor(c, **M); t.asarray([1., 2], **M); t.scalar_tensor(2, **M)
    t.hann_window(4, **M); t.tril_indices(2, 2, **M); t.empty_strided((2, 3), (1, 2), **M)
    t.empty_permuted((2, 3), (1, 0), **M); t.logspace(0, 1, 4, **M); t.fft.fftfreq(4, **M); m.new_zeros(2)
    m.new_empty(2, dtype=t.int64); m.new_tensor([1.]); c.new_zeros(2, **M); m.new_zeros(2, device='cpu'); m.data
    m.grad; mb.is_leaf, mb.grad_fn; (mb*2).grad_fn; (mb*2).sum().backward(); mb.grad; t.nn.Parameter(m)
    nn.Linear(3, 4, **M); nn.Linear(3, 4, **M).weight; str(m), format(t.empty((), **M)); m.shape, len(m); list(m)
    m.pin_memory(); m.is_pinned(); m.share_memory_(); m.is_shared(); m.type(); m.__array__(); m.__dlpack__()
    t.device('meta'); t.zeros(2, out=m); t.add(m, m, out=t.empty(2, 3)); t.add(c, c, out=t.empty(2, 3, **M))
    m.masked_fill(m>0, 0.); m.masked_fill_(m>0, 0.); t.tril(m); m.index_select(0, t.tensor([0])); m[t.tensor([0])]
    m.gather(0, mi); m.scatter_(0, mi, 1.); m.sort(); m.cumsum(0); m.norm(); m.std(); m.var(0); m.unbind()
    m.permute(1, 0).is_contiguous(); m.repeat(2, 2); m.flatten(); m.pow(2); m.exp(); m.log_softmax(0)
    F.dropout(m, 0.5); F.cross_entropy(m, t.empty(2, dtype=t.int64, **M)); F.mse_loss(m, m)
    t.bmm(t.empty(1, 2, 3, **M), t.empty(1, 3, 4, **M)); t.einsum('ij, kj->ik', m, m)
    t.manual_seed(0), t.randn(3, **M), t.rand(1); t.Generator(**M); m.set_(c); m.resize_(3, 4).shape
    m.requires_grad_(); m.int(); m.is_floating_point(); m.is_same_size(c); m.eq(1); m.any(); m.isnan().any()
    t.isfinite(m); m.abs().max(); m.conj(); t.view_as_real(t.empty(2, **M, dtype=t.complex64))
    t.is_nonzero(t.empty((), **M)); m.clamp(0, 1); m.lerp(m, 0.5); m.addcmul(m, m); m.addcdiv_(m, m)
    t.lerp(m, m, 0.5); c.type_as(m); m.type_as(c); c.view_as(m); m.element_size(); m.sigmoid(); t.get_default_device()
    nn.init.normal_(m); nn.init.kaiming_uniform_(m); nn.init.orthogonal_(m); nn.init.trunc_normal_(m)
    nn.init.sparse_(m, 0.1); nn.init.eye_(m); nn.init.dirac_(t.empty(2, 2, 3, **M)); nn.init.xavier_normal_(m)
    nn.Linear(3, 4).to('meta').weight; nn.Linear(3, 4, **M).to_empty(device='cpu').weight.is_meta
    nn.Linear(3, 4, **M).to('cpu'); nn.Linear(3, 4, **M).cpu(); nn.Linear(3, 4, **M).half().weight
    nn.Linear(3, 4, **M).to('meta', t.float64).bias
    [p.is_meta for p in nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)).to('meta').state_dict().values()]
    [(k, v.is_meta, v.dtype) for k, v in nn.BatchNorm2d(2, **M).state_dict().items()]
    nn.Linear(3, 4, **M).load_state_dict(nn.Linear(3, 4).state_dict())
    nn.Linear(3, 4).load_state_dict(nn.Linear(3, 4, **M).state_dict()); nn.LSTM(3, 4, **M).weight_ih_l0
    nn.MultiheadAttention(4, 2, **M)(m3, m3, m3)[0]; nn.TransformerEncoderLayer(4, 2, 8, **M)(m3)
    nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, **M), 2).layers[0].linear1.weight
    nn.Conv2d(4, 8, 3, **M)(m4); nn.ConvTranspose2d(4, 8, 3, **M)(m4); nn.BatchNorm2d(4, **M)(m4)
    nn.GroupNorm(2, 4, **M)(m4); nn.InstanceNorm2d(4, **M)(m4); nn.MaxPool2d(2)(m4); nn.AvgPool2d(2)(m4)
    nn.AdaptiveAvgPool2d(1)(m4); nn.Flatten()(m4); nn.Embedding(5, 3, **M)(mi); nn.Embedding(5, 3, padding_idx=0, **M)
    nn.EmbeddingBag(5, 3, **M).weight; nn.Bilinear(3, 3, 4, **M)(m, m); nn.LayerNorm(3, **M)(m); nn.RMSNorm(3, **M)(m)
    nn.Softmax(-1)(m); nn.LogSoftmax(-1)(m); nn.ReLU()(m); nn.GELU()(m); nn.SiLU()(m); nn.Tanh()(m); nn.Sigmoid()(m)
    nn.ELU()(m); nn.LeakyReLU()(m); nn.Dropout()(m); nn.PReLU(**M)(m); nn.Upsample(scale_factor=2)(m4)
    nn.CrossEntropyLoss()(m, t.empty(2, dtype=t.int64, **M)); nn.MSELoss()(m, m); nn.L1Loss()(m, m)
    nn.BCEWithLogitsLoss()(m, m); nn.LazyLinear(3, **M).weight
    nn.AdaptiveLogSoftmaxWithLoss(4, 8, [3], **M).head.weight
    nn.utils.parametrizations.weight_norm(nn.Linear(2, 2, **M)); nn.utils.skip_init(nn.Linear, 2, 3).weight.is_meta
    sum(p.numel() for p in nn.Transformer(16, 2, 1, 1, **M).parameters()); nn.Linear(100000, 100000, **M).weight
    nn.Linear(3, 4, **M)(m).sum().backward(); nn.Linear(3, 4, **M)(c); nn.Linear(3, 4)(m)
    t.optim.SGD(nn.Linear(3, 4, **M).parameters(), lr=0.1)
    nn.utils.clip_grad_norm_(nn.Linear(3, 4, **M).parameters(), 1.); t.Tensor(2, 3).to('meta')
    t.nn.parameter.UninitializedParameter(**M); t.nn.Buffer(m); nn.ParameterList([nn.Parameter(m)])
    nn.Parameter(m).device; nn.Parameter(m).data; t.nn.utils.parameters_to_vector([m, m]); m.detach().requires_grad_()
    t.isnan(m); m.unfold(1, 2, 1); m.as_strided((2, 2), (1, 1)); m.view(t.int32); m.T.contiguous(); m.squeeze()
    m.flip(0); m.roll(1); m.index_copy(0, t.tensor([0], **M), m[:1]); m.scatter_add(0, mi, m); t.outer(m[0], m[0])
    t.addmm(t.empty(3, **M), m.T, m); t.baddbmm(t.empty(1, 1, 1, **M), m[None], m.T[None])
    t.meshgrid(m[0], m[1], indexing='ij'); t.cumsum(m, 0); m.argsort(); m.prod(); m.all(); m.amax(0); m.logsumexp(0)
    m.median(); m.floor_divide(2); m // 2; m % 2; m ** 2; -m; m > 1; ~mi; mi & 1; m.bool(); m.where(m>0, 0.)
    t.maximum(m, m); m.rsqrt(); m.tan(); m.erf(); m.softmax(0).log(); m.bernoulli_(); m.exponential_(); m.random_()
    mi.random_(0, 4); m.bernoulli(); t.normal(m, 1.); m.squeeze_(); m.t_(); m.unsqueeze_(0); m.resize_(7, 7); m.set_()
    m.storage_offset(); m[0] = 1; m.__setitem__(0, 1.); m.__setitem__((0, 0), c[0, 0]); m.__setitem__(0, c[0])
    c.__setitem__(0, 1.); t.tensor(m); t.as_tensor(m); t.stack([m, m]).mean(); t.complex(m, m); m.real
    t.polar(m, m).imag; t.result_type(m, 1); t.promote_types(m.dtype, t.float64); t.broadcast_tensors(m, m[0])
    F.pad(m, (1, 1)); F.interpolate(m4, scale_factor=2); F.normalize(m); F.cosine_similarity(m, m); F.silu(m)
    F.mish(m); F.hardtanh(m); F.softplus(m); F.logsigmoid(m); F.glu(t.empty(2, 4, **M)); F.kl_div(m, m)
    F.smooth_l1_loss(m, m); F.nll_loss(m, t.empty(2, dtype=t.int64, **M))
    F.conv1d(t.empty(1, 3, 8, **M), t.empty(4, 3, 3, **M), padding=1)
    """.split(";")])
def test_expression(line):
    assert outcome(line, tinytorch) == outcome(line, torch)


@pytest.mark.parametrize("line", [line.strip() for line in """
    F.gelu(x); F.softmax(x, -1); F.log_softmax(x, 0); F.layer_norm(x, (100,)); F.silu(x); F.relu(x); x.tanh(); x.std(0);
    F.embedding(i, x); F.cross_entropy(x, i); F.conv1d(x, t.empty(4, 100, 3, **M)); F.batch_norm(x, None, None,
    training=True); F.group_norm(x, 4); F.pad(x, (1, 2)); x @ x.t(); x.cumsum(0); x.tril()
    """.split(";")])
def test_gradients(line):
    def computed(t):
        x = t.empty(100, 100, device="meta", requires_grad=True)
        y = eval(line.replace("\n", " "), dict(t=t, F=t.nn.functional, M=M, x=x, i=t.empty(100, dtype=t.long, **M)))
        y.sum().backward()
        return described((y, x.grad), t)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert computed(tinytorch) == computed(torch)


@pytest.mark.parametrize("line", [line.strip() for line in """
    m[m > 0]; m.nonzero(); m.unique(); t.equal(m, m); m.is_set_to(m); m.masked_select(m > 0);
    m.histc(); t.linalg.svd(m)
    """.split(";")])
def test_what_is_refused(line):
    """torch refuses some of them too; where it computes a shape, nothing is made up here either."""
    name, text = outcome(line, tinytorch)
    assert name == "NotImplementedError" and "meta" in text


@pytest.mark.parametrize("line", ["m.add_(c)", "c.add_(m)", "F.linear(c, m)", "F.linear(m, c)", "t.allclose(m, m)",
                                  "c.__setitem__(0, m[0])", "t.tensor([m[0, 0], 1.])", "np.add(m, c)", "np.asarray(m)"])
def test_no_number_comes_out(line):
    """Where torch reads memory that is not there, or none."""
    assert outcome(line, tinytorch)[0] in ("NotImplementedError", "RuntimeError", "TypeError")


def model(t):
    nn = t.nn
    return nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ModuleDict({"e": nn.Embedding(3, 4)})["e"],
                         nn.BatchNorm1d(8), nn.Conv1d(2, 3, 3), nn.LSTM(3, 4), nn.LazyLinear(3), nn.PReLU(),
                         nn.TransformerEncoderLayer(4, 2, 8), nn.GroupNorm(2, 4), nn.Bilinear(2, 2, 3))


def contexts(t):
    """What is made where, with a default device and without."""
    seen = []
    with t.device("meta") as entered:
        seen += [str(entered), str(t.get_default_device())]
        m = model(t)
        seen += [(name, str(p.device), p.requires_grad) for name, p in m.named_parameters()]
        seen += [(name, str(b.device)) for name, b in m.named_buffers()]
        seen += [t.randn(2).is_meta, t.tensor([1.]).is_meta, t.arange(3).is_meta, t.Tensor(2).is_meta,
                 t.from_numpy(np.ones(2)).is_meta, t.rand_like(t.ones(2, device="cpu")).is_meta,
                 t.ones(2, device="cpu").new_zeros(2).is_meta, t.fft.fftfreq(4).is_meta, t.as_tensor(1).is_meta]
        with t.device("cpu"):
            seen.append(t.empty(2).is_meta)
            with t.device("meta"):
                seen.append(t.empty(2).is_meta)
        seen.append(t.ones(2).is_meta)
    t.set_default_device("meta")
    try:
        seen += [str(t.get_default_device()), t.empty(2).is_meta, t.nn.Linear(2, 2).weight.is_meta]
        with t.device("cpu"):
            seen.append(t.empty(2).is_meta)
    finally:
        t.set_default_device(None)
    with pytest.raises(AssertionError) as error, t.device("cuda"):
        t.empty(2)
    return seen + [str(t.get_default_device()), t.empty(2).is_meta, str(error.value)]


def rounded(x):
    return np.round(x.detach().numpy(), 5).tolist()


def filled(t):
    """A model built without numbers, given memory, and then numbers."""
    t.manual_seed(3)
    trained = t.nn.Sequential(t.nn.Linear(4, 8), t.nn.BatchNorm1d(8), t.nn.Linear(8, 2))
    with t.device("meta"):
        empty = t.nn.Sequential(t.nn.Linear(4, 8), t.nn.BatchNorm1d(8), t.nn.Linear(8, 2))
    x = t.randn(5, 4)                          # nothing was drawn in between
    shapes = empty(x.to("meta"))
    assigned = copy.deepcopy(empty)
    keys = assigned.load_state_dict(trained.state_dict(), assign=True)
    weight = empty[0].weight
    memory = empty.to_empty(device="cpu")
    memory.load_state_dict(trained.state_dict())
    with pytest.warns(UserWarning) as told:
        t.nn.Linear(2, 2, device="meta").load_state_dict(t.nn.Linear(2, 2).state_dict())
    return [shapes.shape, shapes.is_meta, str(keys), memory[0].weight is weight, weight.is_meta, rounded(memory(x)),
            rounded(assigned(x)), assigned[0].weight.requires_grad, type(assigned[0].weight).__name__,
            [str(w.message) for w in told], memory.to("meta")[2].bias.is_meta, empty is memory]


def initialised(t):
    """torch.nn.init on `meta` draws nothing."""
    t.manual_seed(0)
    w, init = t.empty(4, 4, device="meta"), t.nn.init
    for fill in (init.uniform_, init.normal_, init.trunc_normal_, init.xavier_uniform_, init.kaiming_normal_,
                 init.orthogonal_, init.ones_, init.zeros_, init.eye_):
        assert fill(w) is w
    init.constant_(w, 3), init.sparse_(w, 0.5)
    return w._version, t.rand(2).tolist()


def registered(t):
    """Parameters that are moved to `meta` as they are registered, as libraries do that load large models."""
    plain = t.nn.Module.register_parameter

    def register(module, name, param):
        plain(module, name, param)
        if param is not None:
            held = module._parameters[name]
            module._parameters[name] = type(held)(held.to("meta"), requires_grad=held.requires_grad, **held.__dict__)
    t.nn.Module.register_parameter = register
    try:
        m = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.Embedding(5, 3))
    finally:
        t.nn.Module.register_parameter = plain
    for name, p in list(m.named_parameters()):
        module, _, key = name.rpartition(".")
        module = m.get_submodule(module)
        value = t.full(p.shape, 0.5)
        setattr(module, key, None) if key == "none" else module._parameters.__setitem__(key, t.nn.Parameter(value))
    return [p.is_meta for p in m.parameters()], m[0](t.ones(1, 3)).tolist()


@pytest.mark.parametrize("program", [contexts, filled, initialised, registered])
def test_program(program):
    assert program(tinytorch) == program(torch)


@pytest.mark.parametrize("write, read", [(torch, tinytorch), (tinytorch, torch), (tinytorch, tinytorch)])
def test_files(write, read):
    """Tensors without numbers in a checkpoint, and a checkpoint read without its numbers."""
    file = io.BytesIO()
    write.save({"m": write.empty_strided((2, 3), (1, 2), device="meta"), "p": write.nn.Parameter(write.ones(
        2, device="meta")), "c": write.ones(2, 2)}, file)
    file.seek(0)
    found = read.load(file)
    assert found["m"].is_meta and found["m"].stride() == (1, 2) and found["c"].tolist() == [[1, 1], [1, 1]]
    assert type(found["p"]) is read.nn.Parameter and found["p"].is_meta and found["p"].requires_grad
    file.seek(0)
    assert all(x.is_meta for x in read.load(file, map_location="meta").values())


def test_no_memory_is_taken():
    tracemalloc.start()
    layer = tinytorch.nn.Linear(1 << 20, 1 << 16, device="meta")
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert layer.weight.nbytes == 1 << 38 and used < 1 << 20
    assert layer(tinytorch.empty(3, 1 << 20, device="meta")).shape == (3, 1 << 16)
    assert pickle.loads(pickle.dumps(layer)).weight.shape == layer.weight.shape


@pytest.mark.parametrize("line", ["nn.LSTM(4, 3, 2, bidirectional=True, **M)(m3)", "nn.RNN(4, 3, **M)(m3)[1]",
                                  "nn.GRU(4, 3, batch_first=True, **M)(m3)", "nn.LSTM(4, 6, proj_size=2, **M)(m3)[1]",
                                  "F.max_pool2d(m4, 2)", "nn.MaxPool2d(2, return_indices=True)(m4)",
                                  "nn.AdaptiveAvgPool2d(2)(m4)", "nn.PixelShuffle(2)(m4)", "nn.PixelUnshuffle(2)(m4)"])
def test_shapes_of_layers(line):
    ours, theirs = outcome(line, tinytorch), outcome(line, torch)
    assert shapes(ours) == shapes(theirs)


def shapes(described):
    """What was described, without the texts, which name the nodes."""
    if isinstance(described, tuple) and len(described) == 6:
        return described[1:]
    return [shapes(x) for x in described] if isinstance(described, (list, tuple)) else described


def optimised(t):
    """Steps of optimisers on `meta`: their state is there too, and counts."""
    found = []
    for width in 3, 3000:
        for name in "SGD Adam AdamW RMSprop Adagrad Adadelta Adamax NAdam RAdam".split():
            layer = t.nn.Linear(width, 10, device="meta")
            optimizer = getattr(t.optim, name)(layer.parameters(), lr=0.1)
            for _ in range(2):
                optimizer.zero_grad()
                layer(t.empty(2, width, device="meta")).sum().backward()
                optimizer.step()
            state = optimizer.state[layer.weight]
            found.append((name, {key: (x.is_meta, tuple(x.shape)) for key, x in state.items()}, layer.weight.is_meta))
            assert "step" not in state or state["step"] == 2
    return found


def test_optimisers():
    assert optimised(tinytorch) == optimised(torch)
