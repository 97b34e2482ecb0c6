"""What each registration says of calls is so: which arguments are written to, whether random numbers are drawn, whether
the result is in fresh memory, and whether its shape follows from numbers. On torch's samples (op_db), and on some for
what those do not reach."""
import inspect
import warnings

import numpy as np
import pytest
import torch

import tinytorch
from tinytorch.autograd.overridable import spaces
from tinytorch.autograd.public import TABLE

from .adapter import OPS, Comparisons, Untranslatable, convert, error_of, namesake, samples, tensors
from .test_op_db import HERE

spaces()                                       # those that are loaded when they are asked for are
F = tinytorch.nn.functional
RECORDS = {id(record): function for function, record in TABLE.items()}


def registered(entry):
    """The public function that an entry of op_db is about; None of methods that are no functions."""
    function = namesake(OPS[entry].op, OPS[entry].name)
    for found in (function, getattr(function, "twin_of", None), getattr(function, "__wrapped__", None)):
        record = getattr(found, "record", None)
        if id(record) in RECORDS:
            return RECORDS[id(record)]
    return None


ENTRIES = {entry: function for entry in HERE if (function := registered(entry)) is not None
           and not entry.startswith("masked.")}            # which are made of others


def dense(tree):
    return [x for x in tensors(tree, tinytorch.Tensor) if type(x._array) is np.ndarray]


def called_with(function, args, kwargs):
    """{name: the tensors in that argument}."""
    bound = inspect.signature(function.record.function).bind(*args, **kwargs)
    return {name: dense([value]) for name, value in bound.arguments.items()}


def shape_of(tree):
    """Shapes of tensors and values of all else in a result."""
    if isinstance(tree, tinytorch.Tensor):
        return tuple(tree.shape)
    if isinstance(tree, (tuple, list)):
        return [shape_of(x) for x in tree]
    return tree


def seen_of(function, args, kwargs):
    """(names of arguments written to, whether numbers were drawn, whether the result shares memory with arguments) of a
    call; None if it fails."""
    given = called_with(function, args, kwargs)
    before = {name: [x._array.tobytes() for x in found] for name, found in given.items()}
    tinytorch.manual_seed(1)
    state = tinytorch.get_rng_state()._array.tobytes()
    error, result = error_of(lambda: function(*args, **kwargs))
    if error is not None:
        return None
    after = {name: [x._array.tobytes() for x in found] for name, found in given.items()}
    flat = [x for name, found in given.items() if name != "out" for x in found]
    return ({name for name in given if before[name] != after[name]},
            tinytorch.get_rng_state()._array.tobytes() != state,
            any([np.shares_memory(x._array, y._array) for x in dense([result]) if x.numel() for y in flat]))


def check(function, args, kwargs, claims):
    found = seen_of(function, args, kwargs)
    if found is None:
        return
    Comparisons.values += 1
    written, drew, shared = found
    name = function.__name__
    assert written <= {*claims.writes, "out"}, f"{name} wrote to {written}"
    assert claims.draws or not drew, f"{name} drew random numbers"
    assert claims.shares or not shared, f"the result of {name} is in the memory of an argument"


def other_numbers(tree):
    """The same with zeros in tensors: what does not look at numbers gives results of the same shapes."""
    return torch.utils._pytree.tree_map(
        lambda x: tinytorch.zeros_like(x) if isinstance(x, tinytorch.Tensor) else x, tree)


@pytest.mark.counted(nothing={"nn.functional.batch_norm.without_cudnn": "its samples are for GPUs"})
@pytest.mark.parametrize("entry", ENTRIES)
def test_claims(entry):
    function, op = ENTRIES[entry], OPS[entry]
    claims = function.record.claims()
    for dtype in (torch.float32, torch.int64, torch.bool, torch.complex64):
        if not op.supports_dtype(dtype, "cpu"):
            continue
        for sample in samples(op, dtype, 3):
            try:
                x, args, kwargs = convert(sample[:3])
            except (NotImplementedError, Untranslatable):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if not claims.looks and not claims.writes:
                    error, result = error_of(lambda: function(x, *args, **kwargs))
                    given = other_numbers((x, args, kwargs))
                    other_error, other = error_of(lambda: function(given[0], *given[1], **given[2]))
                    if error is other_error is None and not claims.draws:
                        assert shape_of(result) == shape_of(other), f"{entry} looks at numbers"
                check(function, (x, *args), kwargs, claims)


T, G = tinytorch.tensor, tinytorch.Generator
X = [[1., -2., 3.], [4., 5., 6.]]
#: Function -> arguments with which it draws.
DRAWING = {
    "bernoulli": lambda: (T([.5, .5]),), "binomial": lambda: (T([5., 9.]), T([.5, .5])),
    "multinomial": lambda: (T([1., 2.]), 1), "normal": lambda: (T([1., 2.]),), "poisson": lambda: (T([3., 4.]),),
    "rand": lambda: (3,), "randn": lambda: (3,), "randint": lambda: (0, 9, (3,)), "randperm": lambda: (5,),
    "rand_like": lambda: (T(X),), "randn_like": lambda: (T(X),), "randint_like": lambda: (T(X), 9),
    "_standard_gamma": lambda: (T([2., 3.]),), "_sample_dirichlet": lambda: (T([2., 3.]),),
    "rrelu": lambda: (T(X), .1, .3, True), "gumbel_softmax": lambda: (T(X),),
    **{name: lambda: (T(X), .5, True) for name in """alpha_dropout alpha_dropout_ dropout_ dropout feature_alpha_dropout
        feature_alpha_dropout_ feature_dropout feature_dropout_ native_dropout""".split()},
    "dropout1d": lambda: (tinytorch.ones(2, 3, 4),), "dropout2d": lambda: (tinytorch.ones(2, 3, 4, 4),),
    "dropout3d": lambda: (tinytorch.ones(2, 3, 4, 4, 4),),
    "svd_lowrank": lambda: (tinytorch.ones(5, 4), 2), "pca_lowrank": lambda: (tinytorch.rand(5, 4), 2),
    "lobpcg": lambda: (tinytorch.eye(9), 2),
    "scaled_dot_product_attention": lambda: (*[tinytorch.ones(1, 1, 4, 4)] * 3, None, .5),
    "multi_head_attention_forward": lambda: (
        *[tinytorch.ones(2, 1, 4)] * 3, 4, 2, tinytorch.ones(12, 4), None, None, None, False, .5, tinytorch.ones(4, 4),
        None, True),
    **{f"fractional_max_pool{n}d{ending}": lambda n=n: (tinytorch.ones(1, 2, *[8] * n), 2, 4)
       for n in (2, 3) for ending in ("", "_with_indices")},
    **{name: lambda name=name: recurrent(name) for name in ("rnn_tanh", "rnn_relu", "gru", "lstm")},
    "bernoulli_": lambda: (T(X),), "geometric_": lambda: (T(X), .5), "random_": lambda: (T(X),),
    **{f"{name}_": lambda: (T(X),) for name in "cauchy exponential log_normal normal uniform".split()},
}


def recurrent(name):
    """Two layers with dropout between them."""
    rows = 2 * {"gru": 3, "lstm": 4}.get(name, 1)
    state = tinytorch.zeros(2, 1, 2)
    weights = [tinytorch.ones(rows, 2), tinytorch.ones(rows, 2)] * 2
    states = (state, state) if name == "lstm" else state
    return tinytorch.ones(3, 1, 2), states, weights, False, 2, .5, True, False, False


def test_what_draws_does():
    said = {function.__name__: function for function, record in TABLE.items() if record.claims().draws}
    assert said.keys() == DRAWING.keys()
    for name, function in said.items():
        state = tinytorch.manual_seed(3).get_state()._array.tobytes()
        function(*DRAWING[name]())
        assert tinytorch.get_rng_state()._array.tobytes() != state, name


def test_what_writes_does():
    running = [tinytorch.zeros(3), tinytorch.ones(3)]
    x = tinytorch.tensor([[[1., 2.], [3., 4.], [5., 7.]]] * 2)
    calls = {
        "batch_norm": (F.batch_norm, (x, *running, None, None, True)),
        "instance_norm": (F.instance_norm, (x, *running)),
        "native_batch_norm": (tinytorch.native_batch_norm, (x, None, None, *running, True, .1, 1e-5)),
        "embedding": (F.embedding, (tinytorch.tensor([0]), tinytorch.ones(2, 4), None, .5)),
    }
    said = {function.__name__ for function, record in TABLE.items() if set(record.claims().writes) - {
        record.parameters()[0][0] if record.parameters()[0] else None}}
    assert calls.keys() <= said
    for name, (function, args) in calls.items():
        written, _, shared = seen_of(function, args, {})
        assert written == set(function.record.claims().writes) and not shared, name


def test_in_place_forms_write_to_their_tensor_and_return_it():
    tried = 0
    for record in TABLE.values():
        for name in record.methods:
            if name[-1] != "_" or name[:2] == "__" or not record.elementwise:
                continue
            x = tinytorch.tensor([.25, .5])
            count = sum([p.default is p.empty for p in inspect.signature(getattr(tinytorch.Tensor, name[:-1])
                                                                         ).parameters.values()]) - 1
            error, result = error_of(lambda: getattr(x, name)(*[tinytorch.tensor([2., 3.])] * count))
            if error is None:
                claims = record.claims(in_place=True)
                assert result is x and claims.shares and claims.writes
                tried += 1
    assert tried > 60


LOOKING = {
    "allclose": [(T([1.]), T([1.])), (T([1.]), T([2.]))], "equal": [(T([1.]), T([1.])), (T([1.]), T([2.]))],
    "argwhere": [(T([0.]),), (T([1.]),)], "nonzero": [(T([0.]),), (T([1.]),)], "is_nonzero": [(T(0.),), (T(1.),)],
    "masked_select": [(T([0.]), T([True])), (T([0.]), T([False]))],
    "unique": [(T([1, 1]),), (T([1, 2]),)], "unique_consecutive": [(T([1, 1]),), (T([1, 2]),)],
    "repeat_interleave": [(T([1, 2]), T([1, 1])), (T([1, 2]), T([2, 1]))], "bincount": [(T([1]),), (T([2]),)],
    "lstsq": [(tinytorch.zeros(3, 2), tinytorch.zeros(3, 1)), (tinytorch.ones(3, 2).tril(), tinytorch.zeros(3, 1))],
    "one_hot": [(T([1]),), (T([2]),)], "where": [(T([True]),), (T([False]),)],
    "tensor_split": [(T([1, 2, 3]), T(2)), (T([1, 2, 3]), T(3))],
}


def test_what_looks_at_numbers_does():
    said = {function.__name__: function for function, record in TABLE.items() if record.claims().looks}
    assert said.keys() == LOOKING.keys()
    for name, (one, other) in LOOKING.items():
        options = {"driver": "gelsd"} if name == "lstsq" else {}
        assert shape_of(said[name](*one, **options)) != shape_of(said[name](*other, **options)), name


def test_what_shares_memory_does():
    """All that say so do for some sample of op_db, but those that are not in it."""
    found = set()
    for entry, function in ENTRIES.items():
        if not function.record.claims().shares:
            continue
        for dtype in (torch.float32, torch.complex64):
            if OPS[entry].supports_dtype(dtype, "cpu"):
                for sample in samples(OPS[entry], dtype, 4):
                    x, args, kwargs = convert(sample[:3])
                    seen = seen_of(function, (x, *args), kwargs)
                    found |= {function.__name__} if seen is not None and seen[2] else set()
    said = {function.__name__ for function, record in TABLE.items() if record.claims().shares and not (
        record.claims().writes)}
    rest = said - found
    assert len(found) > 30 and rest <= {"_conj", "_neg_view", "adjoint", "as_tensor", "asarray", "detach", "expand_as",
                                        "from_dlpack", "from_numpy", "frombuffer", "moveaxis", "reshape_as", "swapaxes",
                                        "swapdims", "unsafe_split_with_sizes", "view_as", "as_strided"}, rest
