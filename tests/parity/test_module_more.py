"""Layers and helpers that no table of torch's has, as programs that note what they see."""
import copy
import importlib
import re

import pytest

from .adapter import same_outcome
from .test_module import same_notes

pytestmark = pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")


def _learned(t, note, module, *inputs):
    """Output, gradients and state of a module."""
    inputs = [x.requires_grad_() if x.is_floating_point() else x for x in inputs]
    result = module(*inputs)
    outputs = [result] if isinstance(result, t.Tensor) else list(result)
    sum((y * y.detach().cos()).sum() for y in outputs).backward()
    note(outputs, [x.grad for x in inputs], [p.grad for p in module.parameters()], module.state_dict(), repr(module))


# ------------------------------------------------------------------ layers
def adaptive_log_softmax(t, note):
    for bias, cutoffs in ((False, [4]), (True, [3, 7]), (True, (1, 2, 9))):
        t.manual_seed(3)
        layer = t.nn.AdaptiveLogSoftmaxWithLoss(8, 12, cutoffs, div_value=1.5, head_bias=bias)
        _learned(t, note, layer, t.randn(6, 8), t.tensor([0, 11, 3, 2, 8, 0]))
        _learned(t, note, layer, t.randn(8), t.tensor(5))
        note(layer.log_prob(t.randn(3, 8)), layer.predict(t.randn(9, 8) * 9), layer.n_clusters, layer.head_size)
        layer.reset_parameters()
        note(layer.state_dict())
    a, x = t.nn.AdaptiveLogSoftmaxWithLoss, t.ones(2, 8)
    for wrong in ([], [0], [5, 4], [4, 4], [12], [1.5]):
        note(lambda wrong=wrong: a(8, 12, wrong))
    for target in ([0], [0, 12], [[0, 1]], 1, [-1, 0]):
        note(lambda target=target: layer(x, t.tensor(target)))


def sync_batch_norm(t, note):
    t.manual_seed(3)
    for momentum in (0.1, None):
        layer = t.nn.SyncBatchNorm(3, momentum=momentum)
        _learned(t, note, layer, t.randn(4, 3)), _learned(t, note, layer, t.randn(2, 3, 4, 2, 1))
        _learned(t, note, layer.eval(), t.randn(2, 3, 4))
    note(lambda: layer(t.ones(3))), note(lambda: layer(t.ones(3, 0)))
    model = t.nn.Sequential(t.nn.BatchNorm1d(2), t.nn.Sequential(t.nn.BatchNorm2d(3, affine=False)), t.nn.ReLU()).eval()
    weight = model[0].weight
    made = t.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    note(made, made is model, made[0].weight is weight, made[0].training, made.state_dict())
    note(t.nn.SyncBatchNorm.convert_sync_batchnorm(t.nn.BatchNorm3d(1, bias=False)).state_dict())


def cross_map_norm(t, note):
    t.manual_seed(3)
    for size in (2, 3, 4, 5):
        for channels in (1, 3, 8):
            _learned(t, note, t.nn.CrossMapLRN2d(size, 0.5, 0.6, 2), t.randn(2, channels, 2, 3))
    note(lambda: t.nn.CrossMapLRN2d(2)(t.ones(2, 2))), note(t.nn.CrossMapLRN2d(3))


def classes(t, note):
    m, d, c = t.nn.modules, t.nn.modules.dropout, t.nn.modules.conv
    for cls, base in ((t.nn.Dropout2d, d._DropoutNd), (t.nn.ConvTranspose1d, c._ConvTransposeNd),
                      (t.nn.ReflectionPad2d, m.padding._ReflectionPadNd), (t.nn.ZeroPad2d, t.nn.ConstantPad2d),
                      (t.nn.InstanceNorm1d, m.instancenorm._InstanceNorm), (t.nn.SyncBatchNorm, m.batchnorm._BatchNorm),
                      (t.nn.LazyBatchNorm1d, m.batchnorm._LazyNormBase), (t.nn.NLLLoss2d, t.nn.NLLLoss),
                      (t.nn.LSTM, m.rnn.RNNBase), (t.nn.Softmax, m.activation.Softmax), (t.nn.Fold, m.fold.Fold),
                      (t.nn.MultiheadAttention, m.activation.MultiheadAttention)):
        note(cls.__name__, issubclass(cls, base))
    u = m.utils
    note(u._pair(3), u._pair([1, 2]), u._triple("abc"), u._single(None), u._quadruple(0), u._ntuple(5)(1))
    note(u._pair.__name__, u._reverse_repeat_tuple((1, 2), 2), u._list_with_default([None, 3], [4, 5, 6]))
    note(u._list_with_default(3, []))
    note(lambda: u._list_with_default([1], [2]))
    state = t.nn.DataParallel(t.nn.Sequential(t.nn.Linear(1, 1))).state_dict()
    u.consume_prefix_in_state_dict_if_present(state, "module.")
    note(list(state), list(state._metadata))


def refusals(t, note):
    n, x = t.nn, t.ones(2, 3)
    for wrong in (
            lambda: n.MultiMarginLoss(p=3), lambda: n.MultiMarginLoss(weight=t.ones(1, 1)),
            lambda: n.HuberLoss(delta="1"), lambda: n.TripletMarginLoss(margin=0),
            lambda: n.TripletMarginLoss(margin=-0.5), lambda: n.TripletMarginWithDistanceLoss(margin=0),
            lambda: n.Hardtanh(1.0, 1.0), lambda: n.Hardtanh(2.0, -1.0), lambda: n.Conv2d(3, 4, 1, groups=0),
            lambda: n.Conv2d(3, 4, 1, groups=2), lambda: n.Conv2d(2, 3, 1, groups=2),
            lambda: n.Conv2d(2, 3, 1, padding="same", stride=2),
            lambda: n.ConvTranspose1d(2, 3, 1, padding_mode="reflect"), lambda: n.Dropout(-1),
            lambda: n.AlphaDropout(1.5), lambda: n.GroupNorm(2, 3), lambda: n.GRU(0, 1),
            lambda: n.FractionalMaxPool2d(2), lambda: n.FractionalMaxPool2d(2, 2, 0.5), lambda: n.GRU(1, 1, 0),
            lambda: n.FractionalMaxPool2d(2, output_ratio=2),
            lambda: n.FractionalMaxPool3d(2, output_ratio=(1, 0, 1)), lambda: n.FractionalMaxPool3d(0, 1),
            lambda: n.FractionalMaxPool3d((1, 0, 1), 1), lambda: n.GRU(2, 3, dropout=2),
            lambda: n.GRU(2, 3, proj_size=1), lambda: n.RNN(2, 3, nonlinearity="no"),
            lambda: n.LSTM(2, 3, proj_size=3), lambda: n.LSTM(2, 3, proj_size=-1), lambda: n.LSTM(2.0, 3),
            lambda: n.LSTM(2, 3, bias=1), lambda: n.LSTM(2, -3), lambda: n.RNNBase("no", 2, 3),
            lambda: n.RNNCell(2, 3)(t.ones(1, 1, 2)), lambda: n.LSTMCell(2, 3)(t.tensor(1.)),
            lambda: n.GRUCell(2, 3)(t.ones(1, 2), t.ones(1, 1, 3)),
            lambda: n.RNNCell(2, 3, nonlinearity="no")(t.ones(2)),
            lambda: n.LSTMCell(2, 3)(t.ones(1, 2), (t.ones(1, 3), t.ones(1, 1, 3))), lambda: n.Embedding(2, 3, 2),
            lambda: n.Embedding(2, 3, -3), lambda: n.Embedding(2, 3, _weight=t.ones(2, 2)),
            lambda: n.EmbeddingBag(2, 3, 5), lambda: n.EmbeddingBag(2, 3, padding_idx=2),
            lambda: n.EmbeddingBag(2, 3, _weight=t.ones(1)), lambda: n.MultiheadAttention(0, 1),
            lambda: n.MultiheadAttention(3, 2), lambda: n.Unflatten(1, 2), lambda: n.Unflatten(1, ("a", 2)),
            lambda: n.BatchNorm1d(3)(t.ones(3)), lambda: n.BatchNorm2d(3)(x), lambda: n.InstanceNorm1d(3)(t.ones(3)),
            lambda: n.InstanceNorm2d(2, affine=True)(t.ones(1, 3, 2, 2)), lambda: n.CircularPad2d(1)(x),
            lambda: n.Softmax2d()(x), lambda: n.Linear(2, 3, True, "cpu", None, 1), lambda: n.Module(1),
            lambda: n.Module(a=1), lambda: n.BatchNorm1d(3)(t.ones(1, 3)), lambda: n.PReLU(2)(x),
            lambda: n.modules.batchnorm._BatchNorm(3)(x), lambda: n.modules.instancenorm._InstanceNorm(3)(x),
            lambda: n.ModuleDict({"a.b": n.ReLU()}), lambda: n.Upsample(2, 2.0)(t.ones(1, 1, 2)),
            lambda: n.modules.lazy.LazyModuleMixin()):
        note(wrong)


def unknown_padding_mode(t, note):
    """The message prints a set, whose order is another in every process: its words are compared sorted."""
    try:
        t.nn.Conv2d(2, 3, 1, padding_mode="no")
    except ValueError as e:
        note(sorted(re.findall(r"[\w=']+", str(e))))


def cross_entropy_in_pieces(t, note):
    t.manual_seed(3)
    options, f = t.nn.LinearCrossEntropyOptions, t.nn.functional.linear_cross_entropy
    y, of_classes = t.tensor([0, 5, -100, 2, 2, 1, 4]), t.rand(6)
    for given in (options(), options(batch_chunk_size=2), options(chunking_method="aspect_ratio:4"),
                  options(True, chunking_method=None), options(batch_chunk_size=3, acc_policy="compact")):
        note(repr(given))
        for reduction in ("mean", "sum", "none"):
            for bias in (None, t.randn(6, requires_grad=True)):
                x, w = t.randn(7, 3, requires_grad=True), t.randn(6, 3, requires_grad=True)
                loss = f(x, w, y, linear_bias=bias, weight=of_classes, reduction=reduction, options=given)
                (loss * t.arange(1., 8.) if reduction == "none" else loss).sum().backward(retain_graph=True)
                note(loss.detach(), x.grad, w.grad, None if bias is None else bias.grad, loss.requires_grad)
                note(lambda loss=loss: loss.sum().backward(), x.grad)
    note(f(x[0], w, y[0], options=given).detach())
    with t.no_grad():
        note(f(x, w, y, options=given))
    for wrong in (lambda: options(acc_policy="no"), lambda: options(chunking_method="no"),
                  lambda: options(batch_chunk_size=0), lambda: options(acc_dtype=t.int8),
                  lambda: f(x, w, y, options=options(batch_chunk_size=3, chunking_method="aspect_ratio"))):
        note(wrong)


# ------------------------------------------------------------------ helpers
def parallel(t, note):
    p, layer = t.nn.parallel, t.nn.Linear(2, 1)
    note(lambda: p.DistributedDataParallel(layer)), note(lambda: p.replicate(layer, [0]))
    note(lambda: p.gather([t.ones(1)], 0)), note(p.gather([None], 0), p.gather([{"a": None}] * 2, 0))
    note(lambda: p.gather([{"a": None}, {}], 0)), note(lambda: p.data_parallel(layer, t.ones(1, 2)))
    note(lambda: p.parallel_apply([layer], [t.ones(1, 2)])), note(lambda: p.parallel_apply([layer], []))
    note(p.scatter((1, [2, "a"], {"k": None}, ()), [0, 1]), p.scatter_gather.scatter_kwargs((1,), {"a": 2}, [0, 1, 2]))
    note(p.scatter_gather.scatter_kwargs((), {"a": 2}, [0]), t.nn.DataParallel(layer)(t.ones(1, 2)).shape)


def gradients_of_convolutions(t, note):
    t.manual_seed(3)
    for n, size, of_weight, settings in ((1, (2, 4, 7), (6, 2, 3), (1, 2, (1,), 2)),
                                         (2, (1, 2, 6, 5), (4, 2, 2, 3), (2, 1)),
                                         (3, (1, 2, 4, 4, 4), (3, 2, 2, 2, 2), (1, 0, 2))):
        x, w = t.randn(size), t.randn(of_weight, requires_grad=True)
        y = getattr(t.nn.functional, f"conv{n}d")(x, w, None, *settings)
        g = t.ones_like(y)
        by_input = getattr(t.nn.grad, f"conv{n}d_input")(size, w, g, *settings)
        note(by_input, getattr(t.nn.grad, f"conv{n}d_weight")(x, of_weight, g, *settings), by_input.requires_grad)
        note(t.autograd.grad(by_input.sum(), w)[0])


def attention(t, note):
    a = t.nn.attention
    bias = importlib.import_module(a.__name__ + ".bias")       # whose class overrides what is looked up after it
    attend = t.nn.functional.scaled_dot_product_attention
    t.manual_seed(3)
    q = t.randn(1, 2, 4, 8, requires_grad=True)
    backends = a.SDPBackend
    note([(name, int(value)) for name, value in backends.__members__.items()], str(backends.MATH))
    for chosen in (backends.MATH, [backends.MATH, backends.FLASH_ATTENTION], [], backends.EFFICIENT_ATTENTION):
        with a.sdpa_kernel(chosen):
            note(lambda: attend(q, q, q).grad_fn.name()), note(lambda: attend(q[0], q[0], q[0]))
    note(lambda: a.sdpa_kernel(3).__enter__()), note(attend(q, q, q).grad_fn.name())
    for make in (bias.causal_lower_right, bias.causal_upper_left):
        mask = make(2, 4)
        note(attend(q[:, :, :2], q, q, mask), repr(mask), int(mask.variant), attend(q, q, q, attn_mask=make(4, 4)))
        note(lambda make=make: make(1)), note(lambda mask=mask: attend(q, q, q, mask, is_causal=True))


def fusion(t, note):
    t.manual_seed(3)
    u = t.nn.utils
    for layer, bn in ((t.nn.Conv2d(2, 3, 2), t.nn.BatchNorm2d(3)),
                      (t.nn.Conv1d(2, 3, 2, bias=False), t.nn.BatchNorm1d(3)),
                      (t.nn.ConvTranspose2d(2, 3, 2), t.nn.BatchNorm2d(3, affine=False))):
        bn(t.randn(4, 3, 5, *[2] * (layer.weight.dim() - 3)))
        note(lambda layer=layer, bn=bn: u.fuse_conv_bn_eval(layer, bn))
        note(u.fuse_conv_bn_eval(layer.eval(), bn.eval(), "Transpose" in type(layer).__name__).state_dict())
    linear, bn = t.nn.Linear(2, 3).eval(), t.nn.BatchNorm1d(3).eval()
    note(u.fuse_linear_bn_eval(linear, bn).state_dict())
    note(lambda: u.fuse_linear_bn_eval(linear, t.nn.BatchNorm1d(2).eval()))
    note(lambda: u.fuse_linear_bn_eval(linear, t.nn.BatchNorm1d(3, track_running_stats=False).eval()))
    model = t.nn.Sequential(t.nn.Conv2d(2, 3, 2), t.nn.Conv3d(2, 3, 2))
    note([p.stride() for p in u.convert_conv2d_weight_memory_format(model, t.channels_last).parameters()])
    note([p.stride() for p in u.convert_conv3d_weight_memory_format(model, t.channels_last_3d).parameters()])
    note(u.skip_init(t.nn.Linear, 3, 1), t.rand(2))
    note(lambda: u.skip_init(t.nn.ReLU), lambda: u.skip_init(int))


# ------------------------------------------------------------------ Module
def overwriting(t, note):
    future = t.__future__
    note(future.get_overwrite_module_params_on_conversion(), future.get_swap_module_params_on_conversion())
    for overwrite in (True, False):
        future.set_overwrite_module_params_on_conversion(overwrite)
        try:
            layer = t.nn.Sequential(t.nn.Linear(2, 1), t.nn.BatchNorm1d(1))
            layer(t.ones(3, 2)).sum().backward()
            layer[0].bias.requires_grad_(False)
            before = list(layer.parameters())
            layer.double()
            note([p is q for p, q in zip(before, layer.parameters())], [p.dtype for p in before])
            note([p.grad for p in layer.parameters()], [p.requires_grad for p in layer.parameters()])
        finally:
            future.set_overwrite_module_params_on_conversion(False)
    empty = layer.to_empty(device="cpu", recurse=False)
    note(empty is layer, [(p.shape, p.dtype) for p in layer.to_empty(device="cpu").parameters()])


def devices(t, note):
    layer = t.nn.Linear(2, 1)
    note(lambda: layer.xpu(), lambda: layer.cuda(), t.nn.ReLU().xpu(0))
    replica = layer._replicate_for_data_parallel()
    note(list(replica.parameters()), sorted(set(vars(replica)) - {"_hooked"}), replica.in_features)
    note(t.nn.Module.dump_patches, t.nn.Module.call_super_init, t.nn.Module._version, t.nn.BatchNorm1d._version)


# ------------------------------------------------------------------ pruning
def pruning(t, note):
    t.manual_seed(3)
    p, x = importlib.import_module(t.__name__ + ".nn.utils.prune"), t.randn(5, 4)
    for prune in (lambda m: p.l1_unstructured(m, "weight", 3), lambda m: p.random_unstructured(m, "bias", 0.5),
                  lambda m: p.random_structured(m, "weight", 0.3, 0),
                  lambda m: p.ln_structured(m, "weight", 0.4, 2, -1),
                  lambda m: p.identity(m, "weight"), lambda m: p.custom_from_mask(m, "bias", t.tensor([1, 0, 1]))):
        layer = t.nn.Linear(4, 3)
        for _ in range(3):
            prune(layer)
            layer(x).cos().sum().backward()
            note(layer.state_dict(), layer(x), [q.grad for q in layer.parameters()], list(layer._buffers))
            note(type(next(iter(layer._forward_pre_hooks.values()))).__name__, p.is_pruned(layer))
        p.l1_unstructured(layer, "weight", 0.25), p.random_structured(layer, "weight", 0.3, 1)
        note(layer.state_dict(), lambda: copy.deepcopy(layer))
        p.remove(layer, "weight")
        note(layer.state_dict(), type(layer.weight).__name__)


def pruning_of_many(t, note):
    t.manual_seed(3)
    p = importlib.import_module(t.__name__ + ".nn.utils.prune")
    model = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.Linear(4, 2))
    both = [(model[0], "weight"), (model[1], "weight"), (model[1], "bias")]
    p.global_unstructured(both, p.L1Unstructured, amount=0.3)
    note(model.state_dict())
    p.global_unstructured(both, p.RandomUnstructured, amount=4)
    p.global_unstructured(both, p.L1Unstructured, {both[0]: t.rand(4, 3)}, amount=2)
    note(model.state_dict(), model(t.ones(1, 3)), p.is_pruned(model), p.is_pruned(t.nn.ReLU()))
    note(p.L1Unstructured(2).prune(t.tensor([3., -1., 2., 0.5])))
    layer = t.nn.Linear(3, 2)
    for wrong in (lambda: p.l1_unstructured(layer, "weight", "a"), lambda: p.l1_unstructured(layer, "weight", 1.5),
                  lambda: p.l1_unstructured(layer, "weight", -1), lambda: p.l1_unstructured(layer, "weight", 7),
                  lambda: p.random_structured(layer, "bias", 1, 0), lambda: p.ln_structured(layer, "weight", 1, 2, 3),
                  lambda: p.remove(layer, "weight"), lambda: p.global_unstructured(3, p.Identity),
                  lambda: p.global_unstructured(both, p.RandomStructured, amount=1),
                  lambda: p.custom_from_mask(layer, "weight", t.ones(2)), lambda: p.PruningContainer(3),
                  lambda: p.l1_unstructured(layer, "weight", 1, t.ones(3)), lambda: p.BasePruningMethod()):
        note(wrong)
    note(layer.state_dict())


PROGRAMS = [adaptive_log_softmax, sync_batch_norm, cross_map_norm, classes, refusals, unknown_padding_mode, parallel,
            cross_entropy_in_pieces, gradients_of_convolutions, attention, fusion, overwriting, devices,
            pruning, pruning_of_many]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same(program):
    def noting(t, note):
        program(t, lambda *values: [note(value) for value in values])
    noting.__name__ = program.__name__
    same_notes(noting)


@pytest.mark.parametrize("kwargs", [
    None, {}, {"dtype": 1}, {"device": 2, "factory_kwargs": {"dtype": 3}}, {"factory_kwargs": {"other": 4}},
    {"memory_format": 5, "dtype": 6}, {"out": 7}, {"dtype": 8, "factory_kwargs": {"dtype": 9}}], ids=str)
def test_keywords_of_layers_for_factories(kwargs):
    same_outcome(lambda t: sorted(t.nn.factory_kwargs(kwargs).items()))
