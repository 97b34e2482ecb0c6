"""tinytorch.viz: the tape tells the truth. Networks and operations node by node, and their bytes against what stays
alive of a forward once everything but the loss is gone: by weak references, and by NumPy's own count of its memory."""
import gc
import tracemalloc
import weakref

import numpy as np
import pytest

import tinytorch as torch
from tinytorch import dtypes as dt, nn, viz
from tinytorch.autograd.grad_mode import unwatch, watch
from tinytorch.kernels import native
from tinytorch.kinds.lazy import raw, root_of
from tinytorch.utils.checkpoint import checkpoint
from tinytorch.viz.tape import Tape

F = nn.functional


def described(step):
    """One step as text: module path, operation, backward, and of what it keeps name, kind and bytes (0: an alias)."""
    path = step.origin.calls[-1].path if step.origin.calls else ""
    kept = ", ".join(f"{k.name} {k.storage.kind} {k.nbytes}" for k in step.kept)
    return f"{path or 'model'}: {step.name} {step.backward_name}" + (f" ({kept})" if kept else "")


def memory_in_use(tracing):
    """Bytes of the arrays that NumPy has allocated since tracing began."""
    domain = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    return sum(trace.size for trace in tracing.take_snapshot().filter_traces([domain]).traces)


def check_bytes(run, graph):
    """Assert that the activations of a graph are what `run`, a forward that returns the last nodes, leaves alive."""
    run()                                      # what is made once and for all
    results = []

    def note(node, result, args):
        for array in result if isinstance(result, tuple) else (result,):
            if isinstance(array, np.ndarray) and tracemalloc.get_object_traceback(root_of(raw(array))) is not None:
                results.append(weakref.ref(root_of(raw(array))))
    tracemalloc.start()
    try:
        watch(note)
        nodes = run()
        unwatch(note)
        kept = {}
        tape = Tape(nodes, watch=lambda memory, storage: kept.update({id(memory): weakref.ref(memory)}))
        in_use = memory_in_use(tracemalloc)
        if in_use != graph.totals["activation"]:
            gc.collect()
            in_use = memory_in_use(tracemalloc)
    finally:
        tracemalloc.stop()
    empty = sum(storage.nbytes == 0 for storage in tape.storages)
    assert 0 <= in_use - graph.totals["activation"] <= 16 * empty      # NumPy gives an empty array some bytes
    alive = {id(r()) for r in results if r() is not None}
    assert alive <= kept.keys()                # no result is alive that the tape does not know of
    del tape, nodes
    assert not [r for r in results if r() is not None]


# ------------------------------------------------------------------ networks
class VanillaRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.w, self.u = nn.Parameter(torch.ones(4, 3)), nn.Parameter(torch.eye(3))
        self.b = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        h = torch.zeros(2, 3)
        for row in x:
            h = torch.tanh(row @ self.w + h @ self.u + self.b)
        return h


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 3)

    def forward(self, x):
        h = None
        for row in x:
            h = self.cell(row, h)
        return h


class Text(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.windows, self.out = nn.Embedding(10, 4), nn.Conv1d(4, 6, 3), nn.Linear(6, 2)

    def forward(self, x):
        return self.out(self.windows(self.words(x).transpose(1, 2)).relu().amax(2))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(8), nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = [y.reshape(b, t, 2, 4).transpose(1, 2) for y in self.qkv(self.norm(x)).chunk(3, -1)]
        later = torch.ones(t, t).triu(1).bool()
        scores = (q @ k.transpose(-2, -1) * 0.5).masked_fill(later, float("-inf")).softmax(-1)
        return x + self.out((scores @ v).transpose(1, 2).reshape(b, t, c))


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        square = x * x
        ctx.save_for_backward(x, square)
        ctx.sign, ctx.others, ctx.number = x.sign(), [x.detach().numpy() > 0], 3
        return square * x

    @staticmethod
    def backward(ctx, g):
        return g * 3 * ctx.saved_tensors[1]


class OwnFunction(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return Cube.apply(self.linear(x)).sin()


class InPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 6)

    def forward(self, x):
        h = self.linear(x).relu_()
        a, _ = h.chunk(2, 1)
        h = h.clone()
        h[:, :2].mul_(a[:, :2])
        h.view(-1).exp_()
        return (h * h).t()


class Checkpointed(nn.Module):
    def __init__(self, use_reentrant):
        super().__init__()
        self.one, self.three = nn.Linear(4, 8), nn.Linear(8, 2)
        self.two = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 8), nn.Tanh())
        self.use_reentrant = use_reentrant

    def forward(self, x):
        return self.three(checkpoint(self.two, self.one(x).tanh(), use_reentrant=self.use_reentrant,
                                     preserve_rng_state=False))


def columns(size):
    """What a convolution keeps in NumPy: the windows as columns. The kernels in C read the image again."""
    return "" if native.level() else f", aux activation {size}"


#: (module and input, steps).
NETWORKS = {
    "a multilayer perceptron": (
        lambda: (nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.ones(3, 4)), [
        "0: addmm AddmmBackward0 (input input 48)",
        "1: relu ReluBackward0 (result activation 96)",
        "2: addmm AddmmBackward0 (input activation 0, weight parameter 64)",
    ]),
    "a CNN without biases": (
        lambda: (nn.Sequential(nn.Conv2d(1, 4, 3, bias=False), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                                nn.Linear(36, 2, bias=False)), torch.ones(2, 1, 8, 8)), [
        f"0: convolution ConvolutionBackward0 (input input 512, weight parameter 144{columns(2592)})",
        "1: relu ReluBackward0 (result activation 1152)",
        "2: max_pool2d_with_indices MaxPool2DWithIndicesBackward0 (input activation 0, aux activation 288)",
        "3: view ViewBackward0",
        "4: mm MmBackward0 (input activation 0, weight parameter 288)",
    ]),
    "batch norm": (
        lambda: (nn.Sequential(nn.Conv2d(1, 2, 3, bias=False), nn.BatchNorm2d(2),
                                nn.Sigmoid()), torch.ones(2, 1, 5, 5)), [
        f"0: convolution ConvolutionBackward0 (input input 200, weight parameter 72{columns(648)})",
        "1: native_batch_norm NativeBatchNormBackward0 (input activation 144, weight parameter 8, "
        "running_mean parameter 8, running_var parameter 8, aux activation 8, aux activation 8)",
        "2: sigmoid SigmoidBackward0 (result activation 144)",
    ]),
    "batch norm in use": (lambda: (nn.Sequential(nn.Linear(4, 2), nn.BatchNorm1d(2)).eval(), torch.ones(3, 4)), [
        "0: addmm AddmmBackward0 (input input 48)",
        "1: native_batch_norm NativeBatchNormBackward0 (input activation 24, weight parameter 8, running_mean "
        "parameter 8, running_var parameter 8, aux activation 8, aux activation 8)",
    ]),
    "layer norm and dropout": (
        lambda: (nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.GELU(), nn.Dropout(0.5)), torch.ones(3, 4)), [
        "0: addmm AddmmBackward0 (input input 48)",
        "1: native_layer_norm NativeLayerNormBackward0 (input activation 72, weight parameter 24, bias "
        "parameter 24, aux activation 12, aux activation 12)",
        "2: gelu GeluBackward0 (input activation 72, aux activation 72)",
        "3: mul MulBackward0 (noise activation 72)",
    ]),
    "a vanilla RNN": (lambda: (VanillaRNN(), torch.ones(2, 2, 4)), [
        "model: mm MmBackward0 (input input 64)",
        "model: mm MmBackward0 (input activation 24)",
        "model: add AddBackward0",
        "model: add AddBackward0",
        "model: tanh TanhBackward0 (result activation 24)",
        "model: mm MmBackward0 (input input 0)",
        "model: mm MmBackward0 (input activation 0, mat2 parameter 36)",
        "model: add AddBackward0",
        "model: add AddBackward0",
        "model: tanh TanhBackward0 (result activation 24)",
    ]),
    "GRU cells": (lambda: (Cells(), torch.ones(2, 2, 4)), [
        "cell: gru_cell GruCellBackward0 (input input 64, hx activation 24, w_ih parameter 144, w_hh "
        "parameter 108, b_ih parameter 36, b_hh parameter 36, aux activation 96)",
        "cell: gru_cell GruCellBackward0 (input input 0, hx activation 24, w_ih parameter 0, w_hh parameter "
        "0, b_ih parameter 0, b_hh parameter 0, aux activation 96)",
    ]),
    "the fused GRU": (lambda: (nn.GRU(4, 3), torch.ones(2, 2, 4)), [
        "model: gru GruBackward0 (input input 64, w_ih parameter 144, w_hh parameter 108, b_ih parameter 36, "
        "b_hh parameter 36, aux activation 64, aux input 0, aux activation 96, aux activation 96)",
    ]),
    "the fused LSTM": (lambda: (nn.LSTM(4, 3), torch.ones(2, 2, 4)), [
        "model: lstm LstmBackward0 (input input 64, w_ih parameter 192, w_hh parameter 144, b_ih parameter "
        "48, b_hh parameter 48, aux activation 64, aux input 0, aux activation 96, aux activation 24, aux "
        "activation 24, aux activation 96, aux activation 24, aux activation 24)",
    ]),
    "a text CNN": (lambda: (Text(), torch.tensor([[1, 2, 3, 4, 5, 6, 7]] * 2)), [
        "words: embedding EmbeddingBackward0 (indices input 112)",
        "model: transpose TransposeBackward0",
        f"windows: convolution ConvolutionBackward0 (input activation 224, weight parameter 288{columns(480)})",
        "model: relu ReluBackward0 (result activation 240)",
        "model: amax AmaxBackward0 (input activation 0, result activation 48)",
        "out: addmm AddmmBackward0 (input activation 0, weight parameter 48)",
    ]),
    "an attention block": (lambda: (Attention(), torch.ones(2, 5, 8)), [
        "norm: native_layer_norm NativeLayerNormBackward0 (input input 320, weight parameter 32, bias "
        "parameter 32, aux activation 40, aux activation 40)",
        "qkv: linear ViewBackward0 (input activation 320, weight parameter 768)",
        "model: split SplitBackward0",
        "model: reshape_alias ReshapeAliasBackward0",
        "model: transpose TransposeBackward0",
        "model: reshape_alias ReshapeAliasBackward0",
        "model: transpose TransposeBackward0",
        "model: reshape_alias ReshapeAliasBackward0",
        "model: transpose TransposeBackward0",
        "model: transpose TransposeBackward0",
        "model: bmm UnsafeViewBackward0 (input activation 960, other activation 0)",
        "model: mul MulBackward0",
        "model: masked_fill MaskedFillBackward0 (mask activation 25, value activation 4)",
        "model: softmax SoftmaxBackward0 (result activation 400)",
        "model: bmm UnsafeViewBackward0 (input activation 0, other activation 0)",
        "model: transpose TransposeBackward0",
        "model: _unsafe_view UnsafeViewBackward0",
        "out: linear ViewBackward0 (input activation 320, weight parameter 256)",
        "model: add AddBackward0",
    ]),
    "a Function of one's own": (lambda: (OwnFunction(), torch.ones(3, 4)), [
        "linear: addmm AddmmBackward0 (input input 48)",
        "model: Cube CubeBackward (saved_tensors[0] activation 48, saved_tensors[1] activation 48, ctx.sign "
        "activation 48, ctx.others activation 12)",
        "model: sin SinBackward0 (input activation 48)",
    ]),
    "in-place operations and views": (lambda: (InPlace(), torch.ones(3, 4)), [
        "linear: addmm AddmmBackward0 (input input 48)",
        "model: relu ReluBackward0 (result activation 72)",
        "model: split SplitBackward0",
        "model: clone CloneBackward0",
        "model: slice SliceBackward0",
        "model: slice SliceBackward0",
        "model: mul MulBackward0 (input activation 24, other activation 0)",
        "model: copy_slices torch::autograd::CopySlices",
        "model: view ViewBackward0",
        "model: exp ExpBackward0 (result activation 72)",
        "model: copy_slices torch::autograd::CopySlices",
        "model: mul MulBackward0 (input activation 0, other activation 0)",
        "model: t TBackward0",
    ]),
    "a checkpoint": (lambda: (Checkpointed(False), torch.ones(3, 4)), [
        "one: addmm AddmmBackward0 (input input 48)",
        "model: tanh TanhBackward0 (result activation 96)",
        "two.0: addmm AddmmBackward0 (unpack activation 0)",
        "two.1: tanh TanhBackward0",
        "two.2: addmm AddmmBackward0",
        "two.3: tanh TanhBackward0",
        "three: addmm AddmmBackward0 (input activation 96, weight parameter 64)",
    ]),
    "a reentrant checkpoint": (lambda: (Checkpointed(True), torch.ones(3, 4)), [
        "one: addmm AddmmBackward0 (input input 48)",
        "model: tanh TanhBackward0 (result activation 96)",
        "model: CheckpointFunction CheckpointFunctionBackward (saved_tensors[0] activation 0)",
        "three: addmm AddmmBackward0 (input activation 96, weight parameter 64)",
    ]),
}


def last_nodes(value):
    """The nodes of the tensors in a result."""
    tensors = value if isinstance(value, tuple) else (value,)
    return [node for t in tensors for node in (last_nodes(t) if isinstance(t, tuple) else [t._node])]


@pytest.mark.parametrize("name", NETWORKS)
def test_networks(name):
    make, steps = NETWORKS[name]
    model, x = make()
    graph = viz.graph(model, x)
    assert [described(step) for step in graph.tape.steps] == steps
    check_bytes(lambda: last_nodes(model(x)), graph)


#: (function, shapes of its arguments, steps): of each family of operations one or two.
#: Of rows, which C does not keep.
SUMS = "aux activation 12, "
OPERATIONS = {
    "number": (lambda x: x * 2 + 1, [(3, 4)], [
        "mul MulBackward0",
        "add AddBackward0",
    ]),
    "product": (lambda x, y: x * y, [(3, 4), (4,)], [
        "mul MulBackward0 (input input 48, other input 16)",
    ]),
    "quotient": (lambda x, y: x / y, [(3, 4), (3, 4)], [
        "div DivBackward0 (input input 48, other input 48)",
    ]),
    "power": (lambda x: x ** 3, [(3, 4)], [
        "pow PowBackward0 (input input 48)",
    ]),
    "elementwise by its result": (lambda x: x.sigmoid(), [(3, 4)], [
        "sigmoid SigmoidBackward0 (result activation 48)",
    ]),
    "elementwise by its argument": (lambda x: x.log(), [(3, 4)], [
        "log LogBackward0 (input input 48)",
    ]),
    "comparison": (lambda x, y: torch.maximum(x, y), [(3, 4), (3, 4)], [
        "maximum MaximumBackward0 (input input 48, other input 48)",
    ]),
    "condition": (lambda x, y: torch.where(x > y, x, y), [(3, 4), (3, 4)], [
        "where WhereBackward0 (condition activation 12)",
    ]),
    "special function": (lambda x: torch.special.i0(x), [(3, 4)], [
        "i0 I0Backward0 (input input 48)",
    ]),
    "dtype": (lambda x: x.double().half(), [(3, 4)], [
        "to_copy ToCopyBackward0",
        "to_copy ToCopyBackward0",
    ]),
    "sum": (lambda x: x.sum(0), [(3, 4)], [
        "sum SumBackward1",
    ]),
    "mean": (lambda x: x.mean(), [(3, 4)], [
        "mean MeanBackward0",
    ]),
    "variance": (lambda x: x.var(1), [(3, 4)], [
        "var VarBackward0 (input input 48)",
    ]),
    "largest": (lambda x: x.max(1).values, [(3, 4)], [
        "max MaxBackward0 (index activation 24)",
    ]),
    "product of all": (lambda x: x.prod(1), [(3, 4)], [
        "prod ProdBackward1 (input input 48, result activation 12)",
    ]),
    "log of sums": (lambda x: x.logsumexp(1), [(3, 4)], [
        "logsumexp LogsumexpBackward0 (input input 48, result activation 12)",
    ]),
    "running sum": (lambda x: x.cumsum(1), [(3, 4)], [
        "cumsum CumsumBackward0",
    ]),
    "norm": (lambda x: x.norm(), [(3, 4)], [
        "linalg_vector_norm LinalgVectorNormBackward0 (input input 48, result activation 4)",
    ]),
    "sorted": (lambda x: x.sort(1).values, [(3, 4)], [
        "sort SortBackward0 (index activation 96)",
    ]),
    "matrix product": (lambda x, y: x @ y, [(3, 4), (4, 2)], [
        "mm MmBackward0 (input input 48, mat2 input 32)",
    ]),
    "batch of products": (lambda x, y: torch.bmm(x, y), [(2, 3, 4), (2, 4, 2)], [
        "bmm BmmBackward0 (input input 96, other input 64)",
    ]),
    "inverse": (lambda x: (x + 9 * torch.eye(3)).inverse(), [(3, 3)], [
        "add AddBackward0",
        "linalg_inv_ex LinalgInvExBackward0 (result activation 36)",
    ]),
    "einsum": (lambda x, y: torch.einsum("ij,kj->ik", x, y), [(3, 4), (2, 4)], [
        "permute PermuteBackward0",
        "mm MmBackward0 (input input 48, mat2 input 32)",
        "view ViewBackward0",
    ]),
    "views": (lambda x: x.t().reshape(2, 6)[1].unsqueeze(0).expand(3, 6), [(3, 4)], [
        "t TBackward0",
        "_unsafe_view UnsafeViewBackward0",
        "select SelectBackward0",
        "unsqueeze UnsqueezeBackward0",
        "expand ExpandBackward0",
    ]),
    "join": (lambda x, y: torch.cat([x, y]), [(3, 4), (2, 4)], [
        "cat CatBackward0",
    ]),
    "index": (lambda x: x[torch.tensor([0, 2])], [(3, 4)], [
        "index IndexBackward0 (indices activation 16)",
    ]),
    "gather": (lambda x: x.gather(1, torch.zeros(3, 2, dtype=torch.long)), [(3, 4)], [
        "gather GatherBackward0 (input input 48, index activation 48)",
    ]),
    "scatter": (lambda x, y: x.scatter_add(1, torch.zeros(3, 2, dtype=torch.long), y), [(3, 4), (3, 2)], [
        "scatter_add ScatterAddBackward0 (index activation 48)",
    ]),
    "padding": (lambda x: F.pad(x, (1, 1)), [(3, 4)], [
        "constant_pad_nd ConstantPadNdBackward0",
    ]),
    "softmax": (lambda x: x.log_softmax(1), [(3, 4)], [
        "log_softmax LogSoftmaxBackward0 (result activation 48)",
    ]),
    "cross entropy": (lambda x: F.cross_entropy(x, torch.tensor([0, 1, 2])), [(3, 4)], [
        f"nll_loss NllLossBackward0 (target activation 24, aux activation 48, {'' if native.level() else SUMS}aux "
        "activation 24)",
    ]),
    "squared error": (lambda x, y: F.mse_loss(x, y), [(3, 4), (3, 4)], [
        "mse_loss MseLossBackward0 (input input 48, target input 48, aux activation 48)",
    ]),
    "convolution": (lambda x, w, b: F.conv1d(x, w, b), [(2, 3, 8), (4, 3, 3), (4,)], [
        f"convolution ConvolutionBackward0 (input input 192, weight input 144{columns(432)})",
    ]),
    "average pool": (lambda x: F.avg_pool1d(x, 2), [(2, 3, 8)], [
        "avg_pool2d SqueezeBackward1 (input input 192)",
    ]),
    "group norm": (lambda x, w, b: F.group_norm(x, 2, w, b), [(2, 4, 6), (4,), (4,)], [
        "native_group_norm NativeGroupNormBackward0 (input input 192, weight input 16, aux activation "
        "16, aux activation 16)",
    ]),
    "embedding bag": (lambda w: F.embedding_bag(torch.tensor([[0, 2]]), w), [(3, 4)], [
        "embedding_bag EmbeddingBagBackward0 (indices activation 16, starts activation 8, aux "
        "activation 0, aux activation 16, aux activation 4)",
    ]),
    "dropout": (lambda x: F.dropout(x, 0.5), [(3, 4)], [
        "mul MulBackward0 (noise activation 48)",
    ]),
    "in-place": (lambda x: (x * 2).exp_().sin_(), [(3, 4)], [
        "mul MulBackward0",
        "exp ExpBackward0 (result activation 48)",
        "sin SinBackward0 (input activation 48)",
    ]),
    "assignment": (lambda x, y: torch.zeros(3, 4).index_put((torch.tensor([0]),), y) * x, [(3, 4), (4,)], [
        "index_put IndexPutBackward0 (indices activation 8)",
        "mul MulBackward0 (input activation 48, other input 48)",
    ]),
    "complex": (lambda x, y: torch.complex(x, y).abs(), [(3, 4), (3, 4)], [
        "complex ComplexBackward0 (real input 48, imag input 48)",
        "abs AbsBackward0 (input activation 96)",
    ]),
    "conjugate": (lambda x, y: (torch.complex(x, y).conj() * 2j).real, [(3, 4), (3, 4)], [
        "complex ComplexBackward0 (real input 48, imag input 48)",
        "conj ConjBackward0",
        "mul MulBackward0 (other activation 8)",
        "view_as_real ViewAsRealBackward0",
        "select SelectBackward0",
    ]),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name):
    function, shapes, steps = OPERATIONS[name]
    if dt.NARROW and name == "embedding bag":
        pytest.skip("the places that it keeps are half as large here")
    arguments = [(torch.rand(shape) + 1).requires_grad_() for shape in shapes]
    graph = viz.graph(function, *arguments)
    assert [described(step).removeprefix("model: ") for step in graph.tape.steps] == steps
    check_bytes(lambda: last_nodes(function(*arguments)), graph)
