"""Names that libraries import, against torch: what they do, or that they refuse when they are used."""
import collections
import dataclasses
import gc
import importlib
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch

import tinytorch

pytestmark = pytest.mark.any_kernels

ROOT = Path(tinytorch.__file__).parent.parent
BOTH = [torch, tinytorch]


def part(t, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(f"{t.__name__}.{name}")


def told(f, t):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(f(t)).replace("tinytorch", "torch")
        except Exception as error:
            return type(error).__name__, str(error).replace("tinytorch", "torch")


def _said_once(t, text):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        part(t, "_dynamo.utils").warn_once(text)
    return given


def _patched(config):
    seen = [config.verbose]
    with config.patch(verbose=True):
        seen.append(config.verbose)
    with config.patch("verbose", 3), config.patch({"suppress_errors": True}):
        seen += [config.verbose, config.suppress_errors]
    config.patch(verbose=7)(lambda: seen.append(config.verbose))()
    return seen + [config.verbose, config.suppress_errors]


def _adafactor(t):
    p, g = [t.ones(2, 2), t.ones(3)], [t.arange(4.).reshape(2, 2), t.ones(3)]
    rows, columns, variances = [t.zeros(2, 1), None], [t.zeros(1, 2), None], [None, t.zeros(3)]
    steps = [t.tensor(0.), t.tensor(0.)]
    part(t, "optim._adafactor").adafactor(p, g, rows, columns, variances, steps, d=1., lr=.1, beta2_decay=-.8,
                                          weight_decay=.1, eps1=None, eps2=1e-3, maximize=False)
    return p, rows[0], columns[0], variances[1], steps


CHECKS = {
    "_check": lambda t: t._check(False), "said": lambda t: t._check(False, lambda: "no"),
    "number": lambda t: t._check(1), "words": lambda t: t._check(False, "no"), "holds": lambda t: t._check(True),
    "index": lambda t: t._check_index(False, lambda: 3), "value": lambda t: t._check_value(False),
    "type": lambda t: t._check_type(False), "size": lambda t: t._check_is_size(-1),
    "largest": lambda t: t._check_is_size(5, max=4), "with": lambda t: t._check_with(KeyError, False, lambda: "k"),
    "not implemented": lambda t: t._check_not_implemented(False), "assert": lambda t: t._assert(False, "words"),
    "a tensor": lambda t: t._assert(t.tensor(True), ""), "all": lambda t: t._check_tensor_all(t.tensor([True, False])),
    "no tensor": lambda t: t._check_tensor_all(3), "numbers": lambda t: t._check_tensor_all(t.ones(2)),
    "in chunks": lambda t: [part(t, "_functorch.apis").chunk_vmap(lambda x, y: x.sum() + y, dims, chunks=n)(
        t.arange(6.).reshape(3, 2), t.ones(3) if dims == 0 else t.ones(()))
        for n in (1, 2, 5) for dims in (0, (0, None))],
    "said once": lambda t: [len(_said_once(t, text)) for text in ("a", "a", "b")],
    "a mode to leave": lambda t: part(t, "_subclasses.fake_tensor").unset_fake_temporarily().__enter__(),
    "settings for a while": lambda t: _patched(part(t, "_dynamo").config),
    "gradients of convolutions": lambda t: t.nn.functional.grad.conv1d_input((1, 1, 4), t.ones(1, 1, 2),
                                                                             t.ones(1, 1, 3)),
    "adafactor": lambda t: _adafactor(t), "nuclear norm": lambda t: t.nuclear_norm(t.arange(6.0).view(2, 3)),
    "one": lambda t: t.nuclear_norm(t.ones(2, 2, 2), True).shape,
    "of one axis": lambda t: t.nuclear_norm(t.ones(2, 2), 0), "device": lambda t: t.get_device_module("xx"),
    "shuffled": lambda t: t.native_channel_shuffle(t.arange(8.0).view(1, 4, 2, 1), 2),
    "storages": lambda t: (t.FloatStorage([1, 2]).tolist(), isinstance(t.ones(1).storage(), t.FloatStorage),
                           isinstance(t.ones(1).storage(), t.LongStorage), type(t.LongStorage(2)).__name__),
    "split": lambda t: t.unsafe_split_with_sizes(t.arange(5), [2, 3]),
    "no views": lambda t: [x._is_view() for x in t.arange(5).unsafe_split_with_sizes([2, 3])],
    "dtypes": lambda t: (t.qint8, t.quint8, t.qint32),
    "renormed": lambda t: t.embedding_renorm_(t.tensor([[3.0, 4.0], [6.0, 8.0]]), t.tensor([1]), 1.0, 2.0),
    "aten.index": lambda t: t.ops.aten.index(t.arange(6).view(2, 3), [None, t.tensor([1])]),
    "aten.index_put": lambda t: t.ops.aten.index_put(t.zeros(2, 3), [None, t.tensor([1])], t.tensor(2.0)),
    "aten._convolution": lambda t: t.ops.aten._convolution(
        t.ones(1, 1, 4), t.ones(1, 1, 2), None, [1], [0], [1], False, [0], 1, False, False, False, False),
    "cuda": lambda t: (t.cuda._initialized, part(t, "cuda.random").initial_seed.__name__),
    "nvtx": lambda t: part(t, "cuda.nvtx").range_push("a"),
    "mixed precision": lambda t: part(t, "cuda.amp.common").amp_definitely_not_available(),
    "protocol": lambda t: t.serialization.DEFAULT_PROTOCOL,
    "order": lambda t: (t.serialization.get_default_load_endianness(), t.serialization.get_crc32_options()),
    "state": lambda t: part(t, "utils.data._utils.worker")._generate_state(123456789012, 3),
    "pattern": lambda t: part(t, "utils.data._utils.collate").np_str_obj_array_pattern,
    "sigmoid": lambda t: part(t, "distributions.transforms")._clipped_sigmoid(t.tensor([-200.0, 0.0, 200.0])),
    "inverse": lambda t: isinstance(t.distributions.ExpTransform().inv,
                                    part(t, "distributions.transforms")._InverseTransform),
    "lazy": lambda t: isinstance(t.nn.LazyLinear(2).weight, part(t, "nn.parameter").UninitializedTensorMixin),
    "variables": lambda t: part(t, "utils.checkpoint").detach_variable((t.ones(1), 2)),
    "no variables": lambda t: part(t, "utils.checkpoint").detach_variable([1]),
    "checkpoints": lambda t: t.autograd._is_checkpoint_valid(),
}


@pytest.mark.parametrize("name", CHECKS)
def test_as_torch(name):
    assert told(CHECKS[name], tinytorch) == told(CHECKS[name], torch)


@pytest.mark.parametrize("name", ["eig", "symeig", "solve", "lstsq", "matrix_rank"])
def test_what_was_removed(name):
    for t in BOTH:
        with pytest.raises(RuntimeError, match="This function was deprecated since version 1.9 and is now removed"):
            getattr(t, name)(t.eye(2), *[t.eye(2)] * (name in ("solve", "lstsq")))


@pytest.mark.parametrize("name", """utils.cpp_extension nn.quantized quantization jit._state cuda.amp.autocast_mode
    cuda.amp.grad_scaler distributed.fsdp.fully_sharded_data_parallel utils._foreach_utils utils.weak
    utils.module_tracker utils.flop_counter utils._contextlib cuda.nvtx cuda.random""".split())
def test_modules(name):
    for t in BOTH:
        assert part(t, name).__name__.endswith(name.split(".")[-1])


def test_what_cannot_be_done_says_so_when_it_is_used():
    for use in (lambda t: t.zeros(2, dtype=t.qint8), lambda t: part(t, "utils.cpp_extension").load("a", ["a.cpp"]),
                lambda t: part(t, "quantization").FakeQuantizeBase(), lambda t: t._C.ScriptMethod(),
                lambda t: t.serialization.skip_data().__enter__()):
        with pytest.raises(NotImplementedError):
            use(tinytorch)


def point(t):
    """A dataclass of its own for each library."""
    @dataclasses.dataclass
    class Point:
        x: int
        y: int
    part(t, "utils._pytree").register_dataclass(Point)
    return Point


def test_pytrees():
    found = []
    for t in BOTH:
        tree = part(t, "utils._pytree")
        Point = point(t)
        data = {"a": [1, (2, 3)], "b": Point(4, 5), "c": np.zeros(0).shape}
        paths, spec = tree.tree_flatten_with_path({k: data[k] for k in "abc"})
        named = tree.tree_map_with_path(lambda path, x, y, tree=tree: (tree.keystr(path), x + y), data["a"], data["a"])
        words = json.loads(tree.treespec_dumps(tree.tree_flatten(data["a"])[1]))
        back = tree.tree_unflatten([7, 8, 9], tree.treespec_loads(json.dumps(words)))
        found.append(([(tree.keystr(path), x) for path, x in paths], named, words, back,
                      tree.tree_map(lambda x: -x, data["b"]).y, tree._list_flatten([1, 2]),
                      tree._tuple_flatten((1, 2))))
    assert found[0] == found[1]


def test_weak_dictionaries():
    for t in BOTH:
        names = part(t, "utils.weak").WeakIdKeyDictionary()
        x, y = t.ones(2), t.ones(2)
        names[x], names[y] = "x", "y"
        assert names[x] == "x" and len(names) == 2 and x in names and t.ones(2) not in names
        del x
        gc.collect()
        assert [*names.values()] == ["y"]


def test_groups_of_tensors():
    found = []
    for t in BOTH:
        group = part(t, "utils._foreach_utils")._group_tensors_by_device_and_dtype
        a, b, c = t.ones(1), t.ones(2).double(), t.ones(3)
        grouped = group([[a, b, c], [a * 2, b * 2, c * 2]], with_indices=True)
        found.append(sorted((str(device), str(dtype).split(".")[1], [[x.tolist() for x in tensors]
                             for tensors in lists], numbers)
                            for (device, dtype), (lists, numbers) in grouped.items()))
    assert found[0] == found[1]


OPTIMISERS = {
    "sgd": (dict(momentum_buffer_list=None), dict(weight_decay=0.1, momentum=0.9, lr=0.1, dampening=0.0, nesterov=False,
                                                  maximize=False)),
    "adam": (dict(exp_avgs=0, exp_avg_sqs=0, max_exp_avg_sqs=0, state_steps=1),
             dict(amsgrad=True, beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.1, eps=1e-8, maximize=False)),
    "adamw": (dict(exp_avgs=0, exp_avg_sqs=0, max_exp_avg_sqs=[], state_steps=1),
              dict(amsgrad=False, beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.1, eps=1e-8, maximize=True)),
    "adagrad": (dict(state_sums=0, state_steps=1),
                dict(lr=0.1, weight_decay=0.1, lr_decay=0.1, eps=1e-8, maximize=False)),
    "adadelta": (dict(square_avgs=0, acc_deltas=0, state_steps=1),
                 dict(lr=0.1, rho=0.9, eps=1e-6, weight_decay=0.1, maximize=False)),
    "adamax": (dict(exp_avgs=0, exp_infs=0, state_steps=1),
               dict(eps=1e-8, beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.1)),
    "rmsprop": (dict(square_avgs=0, grad_avgs=0, momentum_buffer_list=0, state_steps=1),
                dict(lr=0.1, alpha=0.9, eps=1e-8, weight_decay=0.1, momentum=0.9, centered=True)),
    "nadam": (dict(exp_avgs=0, exp_avg_sqs=0, mu_products="one", state_steps=1),
              dict(beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.1, momentum_decay=4e-3, eps=1e-8)),
    "radam": (dict(exp_avgs=0, exp_avg_sqs=0, state_steps=1),
              dict(beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.1, eps=1e-8)),
    "rprop": (dict(prevs=0, step_sizes=0.1, state_steps=1),
              dict(step_size_min=1e-6, step_size_max=50.0, etaminus=0.5, etaplus=1.2)),
    "asgd": (dict(axs=0, mus="one", etas="one", state_steps=1),
             dict(lambd=1e-4, lr=0.1, t0=1e6, alpha=0.75, weight_decay=0.1)),
}


@pytest.mark.parametrize("name", OPTIMISERS)
def test_steps_as_functions(name):
    states, options = OPTIMISERS[name]
    found = []
    for t in BOTH:
        t.manual_seed(0)
        params, kept = [t.randn(3, 4), t.randn(5)], {}
        for key, start in states.items():
            if start == []:
                kept[key] = []
            elif start is None:
                kept[key] = [None, None]
            elif key == "state_steps" or start == "one":
                kept[key] = [t.tensor(0.0 if key == "state_steps" else 1.0) for _ in params]
            else:
                kept[key] = [t.full_like(p, start) for p in params]
        step = getattr(part(t, f"optim.{name}"), name)
        for _ in range(3):
            step(params, [t.randn(p.shape) for p in params], *kept.values(), **options)
        found.append([x for values in (params, *kept.values()) for x in values])
    for ours, expected in zip(found[1], found[0]):
        np.testing.assert_allclose(ours.numpy(), expected.numpy(), rtol=2e-6, atol=1e-6)


def test_parts_that_the_import_of_torch_loads():
    """Those of them that are here are attributes of their packages too, as in torch."""
    def printed(program, **options):
        done = subprocess.run([sys.executable, *program], cwd=ROOT, capture_output=True, text=True, **options)
        assert done.returncode == 0, done.stderr[-500:]
        return done.stdout
    names = printed(["-c", "import sys, torch; print(*[n for n in sys.modules if n.startswith('torch.')])"])
    missing = printed(["-W", "ignore", "-m", "tinytorch", "-c", """
import importlib, torch
for name in input().split():
    where = torch
    try:
        for part in name.split(".")[1:]:
            where = getattr(where, part)
    except AttributeError:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        print(name)
"""], input=names)
    assert len(names) > 10_000 and missing == ""


def containers(t):
    p, made = part(t, "utils._pytree"), collections.namedtuple("Pair", "a b")
    values = {"list": [1, [2]], "tuple": (1, 2), "dict": {"b": 1, "a": 2}, "namedtuple": made(1, 2),
              "ordereddict": collections.OrderedDict(x=1, y=2), "deque": collections.deque([1, 2], 5),
              "defaultdict": collections.defaultdict(int, {"k": 3})}
    for name, x in values.items():
        children, context = getattr(p, f"_{name}_flatten")(x)
        yield children, context is made or context, getattr(p, f"_{name}_unflatten")(children, context) == x
        if name != "tuple":
            yield [(type(key).__name__, key.get(x), child) for key, child in getattr(
                p, f"_{name}_flatten_with_keys")(x)[0]]
    tree = {"a": [1, "x"], "b": (2.0, made(3, 4))}
    yield p.tree_all_only(int, lambda x: x > 0, tree), p.tree_any_only((int, float), lambda x: x > 3, tree)
    yield p.map_only(int)(lambda x: -x)(3), p.map_only(int)(lambda x: -x)("3"), p.arg_tree_leaves(1, [2], c={"d": 3})
    found = []
    yield p.tree_map_only_(str, found.append, tree) is tree, found
    yield p.is_namedtuple_class(made), p.is_namedtuple_instance(made)
    yield p.is_structseq(time.localtime()), p.is_structseq(tree)
    yield [p.key_get(tree, path) for path, _ in p.tree_flatten_with_path(tree)[0]]
    yield p.treespec_leaf().num_leaves, p.treespec_tuple([p.treespec_leaf()]).num_leaves
    yield p.treespec_dict(a=p.treespec_leaf()) == p.tree_structure({"a": 1})
    yield p.treespec_pprint(p.tree_structure([1, {"a": (2,)}]))
    yield str(p.tree_structure({"a": made(1, [2])})), p.tree_structure(values["defaultdict"]).context
    for kind in (collections.OrderedDict, made, dict):         # tensordict takes some out of the table
        taken = collections.namedtuple if kind is made else kind
        node = p.SUPPORTED_NODES.pop(taken)
        try:
            yield kind.__name__, p.tree_leaves([values["ordereddict"], values["namedtuple"], {"k": 1}])
        finally:
            p.SUPPORTED_NODES[taken] = node
    constant = dataclasses.make_dataclass("Constant", ["n"], frozen=True)
    p.register_constant(constant)
    leaves, spec = p.tree_flatten([1, constant(2)])
    yield leaves, p.tree_unflatten([5], spec)[1] == constant(2), p.is_constant_class(constant)
    yield told(lambda _: p.register_constant(type("Plain", (), {})), t), told(lambda _: p.treespec_tuple([1]), t)


def test_containers_of_trees():
    ours, theirs = list(containers(tinytorch)), list(containers(torch))
    assert len(theirs) > 20 and ours == theirs


def members(t):
    p = part(t, "nn.utils._named_member_accessor")
    net = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.BatchNorm1d(3))
    accessor, plain = p.NamedMemberAccessor(net), t.zeros(3)
    yield accessor.swap_tensor("0.bias", plain).requires_grad, net[0].bias is plain
    for call in (lambda _: accessor.get_tensor("0.none"), lambda _: accessor.get_tensor("0.in_features"),
                 lambda _: accessor.get_submodule("3"), lambda _: accessor.swap_tensor("0.none", plain),
                 lambda _: accessor.swap_tensor("0.in_features", plain), lambda _: accessor.set_tensor("0.bias", 3),
                 lambda _: p.swap_submodule(net, "2", net[0]), lambda _: p.swap_tensor(net, "0.bias", plain),
                 lambda _: accessor.swap_tensors_dict({"0.bias": None, "0.none": plain}),
                 lambda _: p.swap_tensor(net, "", plain), lambda _: p.swap_submodule(net, "0", plain)):
        yield told(call, t)
    yield net[0].bias is plain, accessor.check_keys(["0.bias", "9"]), len(accessor.get_tensors(["0.bias", "1.weight"]))
    accessor.del_tensor("0.bias")
    yield hasattr(net[0], "bias"), [name for name, _ in accessor.named_tensors()]
    accessor.set_tensors_dict({"1.running_mean": plain, "0.bias": plain})
    yield net[1].running_mean is plain, [name for name, _ in accessor.named_tensors()]


def test_members_by_name():
    ours, theirs = list(members(tinytorch)), list(members(torch))
    assert len(theirs) > 10 and ours == theirs


class Pair(NamedTuple):
    first: int


class Asked(Pair):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return "asked"


def rare(t):
    dynamo, x = part(t, "_dynamo"), t.ones(2)
    yield dynamo.mark_static(x), dynamo.mark_static_address(x)
    yield dynamo.mark_dynamic(x, 0), dynamo.maybe_mark_dynamic(x, 0)
    yield t.add(x, Asked(1)), t.add(Asked(1), x), t.cat([x, Asked(1)])
    part(t, "library").impl(f"{t.__name__}_later::twice", "CPU")(lambda x: x * 2)
    part(t, "library").define(f"{t.__name__}_later::twice", "(Tensor x) -> Tensor")
    yield getattr(t.ops, f"{t.__name__}_later").twice(x).tolist()


def test_marks_named_tuples_and_kernels_before_their_operators():
    assert list(rare(tinytorch)) == list(rare(torch))


def test_placements_of_distributed_tensors():
    """Libraries make tables of them when they are imported, wherever there can be several processes."""
    found = []
    for name in "torch", "tinytorch":
        t = importlib.import_module(f"{name}.distributed.tensor")
        strided = importlib.import_module(f"{name}.distributed.tensor.placement_types")._StridedShard
        some = [t.Shard(1), t.Shard(dim=0), t.Replicate(), t.Partial(), t.Partial("avg"), strided(0, split_factor=2)]
        found.append([(repr(x), str(x), x.is_shard(), x.is_shard(1), x.is_replicate(), x.is_partial(),
                       x.is_partial("sum"), isinstance(x, t.Placement), isinstance(x, t.Shard), x == t.Shard(1))
                      for x in some[:5]] + [(repr(some[5]), str(some[5]), some[5].is_shard())])
        assert len({t.Shard(0), t.Shard(0), t.Replicate(), t.Replicate(), t.Partial()}) == 3
    assert found[0] == found[1]


def test_public_names_of_tensor_are_torchs():
    """A subclass may have attributes of any other name. NumPy's `conjugate` serves arrays and tensors alike."""
    extra = {name for name in dir(tinytorch.Tensor) if not name.startswith("_")} - set(dir(torch.Tensor))
    assert extra == {"conjugate"}
    for name in ("alias", "rsub", "array", "node", "version", "view_info"):
        kind = type("Sub", (tinytorch.Tensor,), {name: property(lambda self: 5)})
        x = (tinytorch.ones(3, requires_grad=True) * 2).as_subclass(kind)
        y = (3 - x).permute(0).sum()
        assert getattr(y, name) == 5 and tinytorch.autograd.grad(y, x)[0].tolist() == [-1, -1, -1]


def _by_its_own_stages(t):
    home, seen = part(t, "_functorch.vmap"), []
    before = home._create_batched_inputs, home._unwrap_batched

    def create(dims, leaves, level, spec):
        seen.append(("in", list(dims), level > 0))
        return before[0](dims, leaves, level, spec)

    def unwrap(output, dims, level, size, func):
        seen.append(("out", dims, size))
        return before[1](output, dims, level, size, func)
    home._create_batched_inputs, home._unwrap_batched = create, unwrap
    try:
        x, w = [t.arange(n * 1.0).reshape(shape).requires_grad_() for n, shape in ((12, (4, 3)), (3, (3,)))]
        sums, products = t.vmap(lambda a, b: ((a * b).sum(), (a * b).cos()), (0, None), (0, 1))(x, w)
        (sums.square().sum() + products.sum()).backward()
        slopes = t.func.vmap(t.func.grad(lambda v: v.pow(3).sum()))(x.detach())
        nested = t.vmap(t.vmap(lambda a, b: a * b, (0, None)), (0, 0))(x.detach(), t.arange(4.0))
        refused = []
        for f, keywords in ((lambda v: v, {"out_dims": 5}), (lambda v: 1, {}), (lambda v: v, {"out_dims": None})):
            try:
                t.vmap(f, **keywords)(x)
            except Exception as error:
                refused.append((type(error).__name__, str(error)))
    finally:
        home._create_batched_inputs, home._unwrap_batched = before
    return [v.tolist() for v in (sums, products, x.grad, w.grad, slopes, nested)], seen, refused


def test_vmap_goes_by_stages_that_a_library_puts_there():
    ours, theirs = [_by_its_own_stages(t) for t in (tinytorch, torch)]
    assert ours[1:] == theirs[1:]
    for a, b in zip(ours[0], theirs[0]):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_operators_of_aten_are_there_by_name_and_refuse_if_nothing_runs_them():
    for line in (ROOT / "tinytorch" / "capture" / "unsupported.txt").read_text().splitlines():
        for name in line.split():
            assert hasattr(torch.ops.aten, name) and hasattr(tinytorch.ops.aten, name), name
    assert not hasattr(tinytorch.ops.aten, "no_such_operator")
    with pytest.raises(NotImplementedError, match=r"torch\.ops\.aten\.gelu_backward is not supported"):
        tinytorch.ops.aten.gelu_backward(tinytorch.ones(2), tinytorch.ones(2))
    for t in BOTH:
        x = t.ones(4, requires_grad=True)
        same = t.ops.aten.alias.default(x)
        assert same is not x and same.data_ptr() == x.data_ptr() and type(same.grad_fn).__name__ == "AliasBackward0"
        assert t.ops.aten.sym_numel.default(x[1:]) == 3 and t.ops.aten.sym_storage_offset(x[1:]) == 1


def _listed():
    """(module, name, kind) of refused.txt, but for operators."""
    from tinytorch import _refused
    return [(module, name, kind) for module, names in _refused.table().items() if not module.startswith("torch.ops.")
            for name, (kind, _) in names.items()]


_TOLD = """
import importlib, inspect, json, sys, warnings
warnings.simplefilter("ignore")
if sys.argv[1] == "tinytorch":
    import tinytorch
    tinytorch.install()
import torch
if sys.argv[1] == "torch":
    import torch._inductor.compile_fx
found = {}
for module, name, kind in json.load(sys.stdin):
    try:
        value = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        found[module + "." + name] = str(error)
        continue
    found[module + "." + name] = "*" if inspect.isclass(value) else "" if inspect.isroutine(value) else "="
    if sys.argv[1] == "tinytorch":
        try:
            value.anything if kind == "=" else value()
            found[module + "." + name] += " does not refuse"
        except NotImplementedError as error:
            if f"{name} is not supported: " not in str(error):
                found[module + "." + name] += str(error)
print(json.dumps(found))
"""


def test_listed_names_are_as_in_torch_and_refuse_when_they_are_used():
    asked = _listed()
    told_by = {}
    for which in ("torch", "tinytorch"):
        done = subprocess.run([sys.executable, "-c", _TOLD, which], input=json.dumps(asked), capture_output=True,
                              text=True, cwd=ROOT)
        assert not done.returncode, done.stderr
        told_by[which] = json.loads(done.stdout.splitlines()[-1])
    for module, name, kind in asked:
        key = f"{module}.{name}"
        assert told_by["tinytorch"][key] == kind, (key, told_by["tinytorch"][key])
        assert told_by["torch"][key] in (kind, "=" if kind == "" else kind), (key, told_by["torch"][key])
    assert len(asked) > 200


def test_settings_are_among_the_functions_that_no_class_overrides():
    """Libraries that wrap every other function read the settings in their wrappers."""
    for t in BOTH:
        ignored = t.overrides.get_ignored_functions()
        for name in filter(tinytorch.__all__.__contains__, torch.__all__):
            if "autocast" in name and name[0] in "gsic" or name.startswith(("get_default", "is_grad", "set_grad")):
                assert getattr(t, name) in ignored or isinstance(getattr(t, name), type), name
