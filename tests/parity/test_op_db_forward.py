"""Forward mode of every operator of torch's op_db that exists here, with random tangents for all differentiable inputs:
the tangents of its outputs, of its gradients, and of what its in-place form writes are torch's."""
import numpy as np
import pytest
import torch
import torch.autograd.forward_ad as their_forward

import tinytorch
import tinytorch.autograd.forward_ad as our_forward

from .adapter import (
    OPS,
    Untranslatable,
    array_of,
    convert,
    described,
    error_of,
    in_place_method,
    namesake,
    same,
    samples,
    tensors,
)
from .test_op_db import FOR_GPUS, HERE, SWEEP, random_weights

DTYPES = {torch.float64: 4, torch.complex128: 2}
FEWER = dict.fromkeys(DTYPES, 2)
FORWARD = [name for name in HERE if OPS[name].supports_autograd]
#: (entry, dtype) whose tangents in torch are not the derivative: it is asked for reverse mode twice instead.
INEXACT = {
    ("cholesky_inverse", torch.float64), ("cholesky_inverse", torch.complex128),     # right if the matrices commute
    ("logcumsumexp", torch.float64),                                # 1e-13 is added to numerator and denominator
    ("logcumsumexp", torch.complex128),                             # NaN where exponentials overflow
    ("scatter_reduce.prod", torch.float64),                         # no tangent is given, as if it were constant
    ("triangular_solve", torch.float64), ("triangular_solve", torch.complex128),     # it takes the other triangle's too
}
#: What torch derives in reverse mode only, and only once.
BY_DIFFERENCES = ["cdist", "nn.functional.embedding_bag", "nn.functional.multi_margin_loss",
                  "nn.functional.multilabel_margin_loss", "nn.functional.pdist"]
#: What torch has no forward mode of is compared with reverse mode twice as well, but for these.
NO_OTHER_WAY = {
    "cholesky": "its gradient is made symmetric; tangents are taken as they are (linalg.cholesky's are compared)",
    "nn.functional.ctc_loss": "torch derives it once (test_none_for_ctc_loss)",
    **dict.fromkeys(["_segment_reduce.lengths", "_segment_reduce.offsets"], "torch derives it once "
                                                                            "(test_none_for_segment_reduce)"),
    **dict.fromkeys(BY_DIFFERENCES, "torch derives it once (test_tangents_by_differences)")}
#: Entries without a tangent to compare.
NOTHING = {**FOR_GPUS, **NO_OTHER_WAY, "nn.functional.one_hot": "no input is differentiable"}


@pytest.mark.counted(nothing=NOTHING)
@pytest.mark.parametrize("name", FORWARD)
def test_tangents(name):
    _compare_tangents(name, DTYPES)


@pytest.mark.sweep
@pytest.mark.counted(nothing=NOTHING)
@pytest.mark.parametrize("name", FORWARD)
def test_tangents_sweep(name):
    _compare_tangents(name, dict.fromkeys(DTYPES, SWEEP))


def _compare_tangents(name, dtypes):
    op = OPS[name]
    function = namesake(op.op, op.name)

    _compare(op, dtypes, lambda dtype, *arguments: _expected(name, dtype, *arguments),
             lambda process, *arguments: _tangents(tinytorch, function, process, *arguments), 10)


def _expected(name, dtype, process, *arguments):
    """(error, torch's tangents of an entry's outputs), by reverse mode where forward mode has none, or others."""
    op = OPS[name]
    error, result = error_of(lambda: _tangents(torch, op.op, process, *arguments))
    if (name, dtype) in INEXACT or _lacking(error) and name not in NO_OTHER_WAY:
        torch.manual_seed(0)
        error, result = error_of(lambda: _by_reverse_mode(op.op, process, *arguments))
    return error, result


@pytest.mark.counted
@pytest.mark.parametrize("name", BY_DIFFERENCES)
def test_tangents_by_differences(name):
    op = OPS[name]
    function = namesake(op.op, op.name)
    _compare(op, {torch.float64: 10}, lambda dtype, *arguments: error_of(lambda: _by_differences(op.op, *arguments)),
             lambda *arguments: _tangents(tinytorch, function, *arguments), 1000)


def test_none_for_ctc_loss():
    """Its gradient is right for normalised inputs alone, and is not derived again."""
    for library in (torch, tinytorch):
        with _forward(library).dual_level():
            scores = _forward(library).make_dual(library.zeros(4, 1, 3), library.ones(4, 1, 3))
            with pytest.raises(NotImplementedError, match="forward AD with _ctc_loss"):
                loss = library.nn.functional.ctc_loss(scores, library.tensor([[1, 2]]), (4,), (2,))
                _forward(library).unpack_dual(loss)


def test_none_for_segment_reduce():
    for library in (torch, tinytorch):
        lengths, x = library.tensor([3]), library.ones(3, requires_grad=True)
        with _forward(library).dual_level():
            dual = _forward(library).make_dual(library.ones(3), library.ones(3))
            with pytest.raises(NotImplementedError, match="forward AD with segment_reduce"):
                _forward(library).unpack_dual(library.segment_reduce(dual, "sum", lengths=lengths))
        dx, = library.autograd.grad(library.segment_reduce(x, "max", lengths=lengths).sum(), x, create_graph=True)
        with pytest.raises(RuntimeError, match="_segment_reduce_backward is not implemented"):
            dx.sum().backward()


GRADIENTS = [name for name in FORWARD if OPS[name].supports_fwgrad_bwgrad and name not in {n for n, _ in INEXACT}]


@pytest.mark.counted(nothing=FOR_GPUS)
@pytest.mark.parametrize("name", GRADIENTS)
def test_tangents_of_gradients(name):
    _compare_gradients(name, FEWER)


@pytest.mark.sweep
@pytest.mark.counted(nothing=FOR_GPUS)
@pytest.mark.parametrize("name", GRADIENTS)
def test_tangents_of_gradients_sweep(name):
    _compare_gradients(name, dict.fromkeys(DTYPES, SWEEP))


def _compare_gradients(name, dtypes):
    op = OPS[name]
    function = namesake(op.op, op.name)
    _compare(op, dtypes, lambda dtype, *arguments: error_of(lambda: _tangents_of_gradients(torch, op.op, *arguments)),
             lambda *arguments: _tangents_of_gradients(tinytorch, function, *arguments), 100)


IN_PLACE = [name for name in FORWARD if in_place_method(OPS[name])]


@pytest.mark.counted
@pytest.mark.parametrize("name", IN_PLACE)
def test_tangents_in_place(name):
    _compare_in_place(name, FEWER)


@pytest.mark.sweep
@pytest.mark.counted
@pytest.mark.parametrize("name", IN_PLACE)
def test_tangents_in_place_sweep(name):
    _compare_in_place(name, dict.fromkeys(DTYPES, SWEEP))


def _compare_in_place(name, dtypes):
    op = OPS[name]
    method = in_place_method(op)

    def written(x, *args, **kwargs):
        return getattr(x.clone(), method)(*args, **kwargs)

    def theirs(dtype, _, *arguments):
        error, result = error_of(lambda: _tangents(torch, written, None, *arguments))
        if isinstance(error, NotImplementedError) or (name, dtype) in INEXACT:     # as torch derives it out of place
            torch.manual_seed(0)
            error, result = _expected(name, dtype, None, *arguments)
        return error, result

    _compare(op, dtypes, theirs,
             lambda _, *arguments: _tangents(tinytorch, written, None, *arguments), 10)


def _decomposition(library, kind, matrix, tangent):
    """The factors of a matrix whose columns are unique up to a sign or phase each, as ndarrays, and their tangents."""
    functions = {"svd": lambda x: library.linalg.svd(x, full_matrices=False)[::2], "qr": library.linalg.qr,
                 "eigh": lambda x: library.linalg.eigh(x)[1:]}
    with _forward(library).dual_level():
        factors = functions[kind](_forward(library).make_dual(matrix, tangent))
        pairs = [_forward(library).unpack_dual(y) for y in factors]
        return [(array_of(y), array_of(tangent)) for y, tangent in pairs]


@pytest.mark.parametrize("kind, shape", [("svd", (4, 4)), ("svd", (5, 3)), ("svd", (3, 5)), ("svd", (2, 3, 3)),
                                         ("qr", (4, 4)), ("qr", (5, 3)), ("eigh", (4, 4)), ("eigh", (2, 3, 3))])
@pytest.mark.parametrize("dtype", DTYPES)
def test_tangents_of_factors(kind, shape, dtype):
    """What op_db looks at only through absolute values: which sign or phase torch's forward mode keeps."""
    random = np.random.RandomState(0)
    matrix, tangent = (random_weights(random, torch.empty(shape, dtype=dtype)) for _ in range(2))
    if kind == "eigh":
        matrix = matrix + matrix.mH
    ours = _decomposition(tinytorch, kind, convert(matrix), convert(tangent))
    for k, ((a, da), (b, db)) in enumerate(zip(ours, _decomposition(torch, kind, matrix, tangent))):
        axis = -1 if k else -2                 # Vh and R: their rows
        turn = (a.conj() * b).sum(axis, keepdims=True)
        turn /= abs(turn)
        assert np.allclose(a * turn, b, rtol=0, atol=1e-10)
        assert np.allclose(da * turn, db, rtol=0, atol=1e-10)


# ------------------------------------------------------------------ one way to compare all of them
def _compare(op, dtypes, theirs, ours, scale):
    """Compare theirs(dtype, process, sample, inputs, tangents), which gives (error, result), with
    ours(process, sample, inputs, tangents). What torch has no tangents of is passed over."""
    for dtype, count in dtypes.items():
        if not op.supports_dtype(dtype, "cpu"):
            continue
        for *sample, process in samples(op, dtype, count, requires_grad=True):
            try:
                twin = convert(sample)
            except Untranslatable:
                continue
            pairs = [(a, b) for a, b in zip(tensors(twin), tensors(sample)) if b.requires_grad]
            inputs = [b for _, b in pairs]
            directions = _directions(inputs)
            if op.variant_test_name == "subgradients_at_zero" and sample[1] == (0.5,):
                continue                       # the slope at zero is infinite: what is taken for it has no derivative
            torch.manual_seed(0)
            error, expected = theirs(dtype, process, sample, inputs, directions)
            if error is not None:
                continue
            directions = [convert(t) for t in directions]
            tinytorch.manual_seed(0)
            error, result = error_of(lambda: ours(convert(process), twin, [a for a, _ in pairs], directions))
            if error is not None:
                raise error
            same(result, expected, f"{op.name} {dtype} {described(sample)}", scale=scale, history=False, bits=False)


def _lacking(error):
    """Whether it says that torch has no forward mode of something."""
    return isinstance(error, NotImplementedError) and "forward AD" in str(error)


def _directions(inputs):
    """Random tangents, the same for a tensor that is given twice."""
    random = np.random.RandomState(0)
    found = {}
    for t in inputs:
        if id(t) not in found:
            found[id(t)] = random_weights(random, t)
    return [found[id(t)] for t in inputs]


def _forward(library):
    return our_forward if library is tinytorch else their_forward


def _duals(library, inputs, directions):
    """The dual numbers of the inputs, by their ids."""
    return {id(t): _forward(library).make_dual(t, v) for t, v in zip(inputs, directions)}


def replaced(tree, duals):
    """A tree with the tensors whose duals are given replaced by these."""
    if id(tree) in duals:
        return duals[id(tree)]
    if isinstance(tree, (list, tuple)) and not hasattr(tree, "_fields"):
        return type(tree)(replaced(v, duals) for v in tree)
    return {k: replaced(v, duals) for k, v in tree.items()} if isinstance(tree, dict) else tree


def outputs_of(function, process, sample):
    x, args, kwargs = sample
    outputs = function(x, *args, **kwargs)
    return tensors(process(outputs) if process else outputs)


def _unpacked(library, outputs):
    """The tangents of the differentiable ones; None, which stands for no dependence, as zeros."""
    pairs = [_forward(library).unpack_dual(y) for y in outputs if y.is_floating_point() or y.is_complex()]
    return [y.detach() * 0 if tangent is None else tangent.detach() for y, tangent in pairs]


def _tangents(library, function, process, sample, inputs, directions):
    with _forward(library).dual_level():
        duals = _duals(library, inputs, directions)
        return _unpacked(library, outputs_of(function, process, replaced(sample, duals)))


def _tangents_of_gradients(library, function, process, sample, inputs, directions):
    """The tangents of the gradients of all inputs, for random weights of the outputs."""
    with _forward(library).dual_level():
        duals = _duals(library, inputs, directions)
        outputs = [y for y in outputs_of(function, process, replaced(sample, duals)) if y.requires_grad]
        weights = _weights_for(library, outputs)
        return _unpacked(library, library.autograd.grad(outputs, list(duals.values()), weights, create_graph=True,
                                                        allow_unused=True, materialize_grads=True))


def _weights_for(library, outputs):
    """The same random weights in both libraries."""
    random = np.random.RandomState(0)
    likes = [torch.empty(tuple(y.shape), dtype=getattr(torch, str(y.dtype).removeprefix("torch."))) for y in outputs]
    weights = [random_weights(random, t) for t in likes]
    return convert(weights) if library is tinytorch else weights


def _by_differences(function, process, sample, inputs, directions, step=1e-5):
    """Tangents as central differences, which are good to some 1e-10."""
    def at(distance):
        moved = {id(t): t.detach() + distance * v for t, v in zip(inputs, directions)}
        return [y for y in outputs_of(function, process, replaced(sample, moved)) if y.is_floating_point()]
    return [(b - a) / (2 * step) for a, b in zip(at(-step), at(step))]


def _by_reverse_mode(function, process, sample, inputs, directions):
    """Tangents without forward mode: the derivative of a vector-Jacobian product in its vector."""
    outputs = [y for y in outputs_of(function, process, sample) if y.requires_grad]
    dummies = [torch.ones_like(y, requires_grad=True) for y in outputs]
    products = torch.autograd.grad(outputs, inputs, dummies, create_graph=True, materialize_grads=True)
    pairs = [(w, t) for w, t in zip(products, directions) if w.requires_grad]
    return list(torch.autograd.grad([w for w, _ in pairs], dummies, [t for _, t in pairs], materialize_grads=True))
