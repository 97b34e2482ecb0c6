"""The one bridge to torch's own test tables (`op_db`, `module_db`, `optim_db`: private API, torch is pinned).

`convert` carries a tree of torch objects over to tinytorch, strides and requires_grad included;
`same` compares what comes back. The test files beside this one are short because of it.
"""
import functools
import inspect
import types
import warnings
from collections.abc import Mapping

import numpy as np
import pytest
import torch

import tinytorch
from tinytorch.ops.creation.buffers import plain_array
from tinytorch.tensor import wrap

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import BinaryUfuncInfo, op_db  # noqa: F401
    from torch.testing._internal.common_modules import module_db
    from torch.testing._internal.common_optimizers import optim_db

OPS = {(o.name + "." + o.variant_test_name).strip("."): o for o in op_db}
MODULES = {m.name: m for m in module_db}
OPTIMIZERS = {o.optim_cls.__name__: o for o in optim_db}

#: Absolute and relative tolerance by dtype: a few roundings, grown by sums of some hundred terms.
TOLERANCE = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 3e-5, torch.float64: 1e-9,
             torch.complex32: 2e-3, torch.complex64: 3e-5, torch.complex128: 1e-9}


#: Dtypes that NumPy lacks -> integers of as many bits.
BITS = {torch.bfloat16: torch.int16, torch.complex32: torch.int32,
        **dict.fromkeys((torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz,
                         torch.float8_e8m0fnu), torch.uint8)}
WIDER = {str(d) for d in BITS}


def skip_without_avx512(applies=True):
    """Skip a test of what torch does otherwise on a machine without AVX-512: there it has no bfloat16 by oneDNN, whose
    convolutions come in other memory formats and refuse less, and vectors of eight, whose powers are rounded otherwise.
    tinytorch does on every machine what torch does where it has both."""
    if applies and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        pytest.skip("torch computes this otherwise on a machine without AVX-512")


class Different(AssertionError):
    """tinytorch's answer is not torch's."""


class Untranslatable(Exception):
    """The sample holds something that is no part of a dense CPU library (sparse layout, other dtypes)."""


# ------------------------------------------------------------------ torch -> tinytorch
def convert(x, memo=None):
    """`x` with every torch object in it replaced by tinytorch's; the same tensor stays the same."""
    memo = {} if memo is None else memo
    if isinstance(x, torch.Tensor):
        if id(x) not in memo:
            memo[id(x)] = _tensor(x, memo)
        return memo[id(x)]
    if isinstance(x, torch.Size):
        return tinytorch.Size(x)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(convert(v, memo) for v in x))
    if isinstance(x, (list, tuple)):
        return type(x)(convert(v, memo) for v in x)
    if isinstance(x, dict):
        return {k: convert(v, memo) for k, v in x.items()}
    if isinstance(x, (torch.dtype, torch.memory_format, torch.layout)):
        name = str(x).removeprefix("torch.")
        if not hasattr(tinytorch, name):
            raise Untranslatable(str(x))
        return getattr(tinytorch, name)
    if isinstance(x, torch.device):
        return tinytorch.device(str(x))
    if isinstance(x, torch.Generator):
        return tinytorch.Generator().manual_seed(x.initial_seed())
    if isinstance(x, slice):
        return slice(convert(x.start, memo), convert(x.stop, memo), convert(x.step, memo))
    if isinstance(x, torch.nn.LinearCrossEntropyOptions):
        return tinytorch.nn.LinearCrossEntropyOptions(*(convert(getattr(x, name), memo) for name in x.__slots__))
    return _callable(x, memo) if callable(x) else x


def _tensor(x, memo):
    if x.layout != torch.strided or x.device.type != "cpu" or x.is_quantized:
        raise Untranslatable(str(x.layout))
    conj, neg = x.is_conj(), x.is_neg()
    if conj or neg:
        memory = x.detach().conj() if conj else x.detach()
        result = _tensor(torch._neg_view(memory) if neg else memory, memo)
        result = result.conj() if conj else result
        result = (tinytorch._neg_view(result) if neg else result).detach()
        return result.requires_grad_() if x.requires_grad else result
    plain = _plain(x).view(BITS[x.dtype]) if x.dtype in BITS else _plain(x)
    try:
        memory = _memory(plain, memo)
    except TypeError as error:
        raise Untranslatable(str(x.dtype)) from error
    item = memory.itemsize
    array = np.lib.stride_tricks.as_strided(memory[plain.storage_offset():], tuple(plain.shape),
                                            [s * item for s in plain.stride()])
    result = wrap(plain_array(array))              # memory of tinytorch's own, which may grow; from_numpy's may not
    if x.dtype in BITS:
        result = result.view(convert(x.dtype)).detach()
    if isinstance(x, torch.nn.Parameter):
        return tinytorch.nn.Parameter(result, requires_grad=x.requires_grad)
    if x.is_leaf and x._is_view():             # of a sample, which torch makes outside grad mode
        with tinytorch.no_grad():
            result = result[...]
    return result.requires_grad_() if x.requires_grad else result


def _memory(x, memo):
    """A copy of all the memory that `x` is a view of; tensors that share memory share the copy."""
    storage = x.untyped_storage()
    key = storage._cdata, x.dtype
    if key not in memo:
        count = storage.nbytes() // x.element_size()
        memo[key] = torch.as_strided(x, (count,), (1,), 0).numpy().copy(), storage   # the key is good while it lives
    return memo[key][0]


def _plain(x):
    """`x` without history, conjugation and negation bits, or the lazy zeros that torch's derivatives give."""
    x = x.detach()
    return torch.zeros(x.shape, dtype=x.dtype) if x._is_zerotensor() else x.resolve_conj().resolve_neg()


def _callable(x, memo):
    """A module or function of torch, or a function of its tests, found in a sample, as tinytorch's."""
    if isinstance(x, torch.nn.Module):
        return _module(x, memo)
    if getattr(torch.nn.functional, getattr(x, "__name__", ""), None) is x:
        return getattr(tinytorch.nn.functional, x.__name__)
    if _is_test_code(x):
        return _rebound(x)
    return x


def _module(x, memo):
    """A module of torch with its attributes, parameters and submodules as tinytorch's."""
    cls = _class_of(type(x))
    module = cls.__new__(cls)
    tinytorch.nn.Module.__init__(module)
    vars(module).update({name: convert(value, memo) for name, value in vars(x).items() if name not in _OF_EVERY_MODULE})
    for held in ("_parameters", "_buffers", "_modules"):
        vars(module)[held].update({name: convert(value, memo) for name, value in vars(x)[held].items()})
    return module.train(x.training)


def _class_of(cls):
    """tinytorch's class, in torch.nn or in the file that has it alone."""
    if hasattr(tinytorch.nn, cls.__name__):
        return getattr(tinytorch.nn, cls.__name__)
    return getattr(getattr(tinytorch.nn.modules, cls.__module__.rpartition(".")[2]), cls.__name__)


_OF_EVERY_MODULE = set(vars(torch.nn.Module()))


def _is_test_code(x):
    return isinstance(x, types.FunctionType) and x.__module__.startswith("torch.testing")


def namesake(function, name):
    """tinytorch's function for the entry `name` of op_db, or None. Lambdas of torch's tests are run with
    tinytorch in the place of torch, if what the entry names exists."""
    target = tinytorch
    for part in name.split("."):
        target = getattr(target, part, None)
    if isinstance(target, (tinytorch.dtype, types.ModuleType)):      # cdouble: the method is meant
        target = None
    if target is None and "." not in name:
        target = getattr(tinytorch.Tensor, name, None)
    if _refuses(target):
        return None
    if not _is_test_code(function):
        return target
    return _rebound(function) if target is not None or hasattr(tinytorch.Tensor, name + "_") else None


def _refuses(target):
    """Whether a name is there to be imported alone: a call raises NotImplementedError."""
    packet = getattr(target, "_packet", target)
    if isinstance(packet, tinytorch._ops.OpOverloadPacket):
        runs = tinytorch._ops._schemas().runs(packet.__name__)
        return not runs and tinytorch._ops._function(packet.namespace, packet.__name__) is None
    return isinstance(target, types.FunctionType) and (target.__doc__ or "").startswith("NotImplementedError:")


def in_place_method(entry):
    """The name of the in-place method of an op_db entry or of an alias of one, or None."""
    name = getattr(entry.inplace_variant, "__name__", "<lambda>")
    return name if hasattr(torch.Tensor, name) else None


def _rebound(function):
    """A copy of a function of torch's tests, and of those it calls, whose global `torch` is tinytorch."""
    scope = dict(function.__globals__, torch=tinytorch)
    for called in function.__code__.co_names:
        value = scope.get(called)
        if _is_test_code(value):
            scope[called] = _rebound(value)
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


# ------------------------------------------------------------------ comparing
def array_of(t):
    """The numbers of a tensor of either library as an ndarray (of a dtype that NumPy lacks, as float32 or
    complex64)."""
    if isinstance(t, torch.Tensor):
        t = _plain(t)
    else:
        t = t.detach().resolve_conj().resolve_neg()
    if str(t.dtype) in WIDER:
        t = t.cfloat() if t.is_complex() else t.float()
    return t.numpy()


class Comparisons:
    """How much `same` (tensors, numbers ...) and `same_error` have compared: a test marked `counted` (conftest.py) must
    have added to the one or the other."""
    values = 0
    errors = 0


def same(ours, theirs, where="result", **how):
    """Raise Different unless the trees have the same structure, types, shapes, dtypes and values.

    `how` may say values=False: the numbers in tensors and Python's floats are left out; history=False: requires_grad is
    left out; bits=False: so are is_conj and is_neg; tolerance: absolute and relative, one for all dtypes or by torch's
    dtype instead of TOLERANCE (0: to the last bit, the signs of zeros too); scale: what that is multiplied by. What is
    of no known kind is different.
    """
    if isinstance(ours, tinytorch.autograd.graph.Node) and isinstance(theirs, torch.autograd.graph.Node):
        ours, theirs = ours.name(), theirs.name()
    if type(ours) is not _counterpart(type(theirs)) and not _defined_by_program(type(ours), type(theirs)):
        raise Different(f"{where}: {_kind(ours)} {described(ours)} for {_kind(theirs)}")
    if isinstance(theirs, torch.Tensor):
        _same_tensor(ours, theirs, where, **how)
    elif isinstance(theirs, (list, tuple, torch.Size)):
        if len(ours) != len(theirs) or _fields(ours) != _fields(theirs):
            raise Different(f"{where}: {len(ours)} results {_fields(ours)} for {len(theirs)} {_fields(theirs)}")
        for i, (a, b) in enumerate(zip(ours, theirs)):
            same(a, b, f"{where}[{i}]", **how)
    elif isinstance(theirs, Mapping):
        same(list(ours), list(theirs), f"{where}: keys")
        for key, b in zip(theirs, theirs.values()):
            same(ours[key], b, f"{where}[{key!r}]", **how)
    elif isinstance(theirs, slice):
        for part in ("start", "stop", "step"):
            same(getattr(ours, part), getattr(theirs, part), f"{where}.{part}", **how)
    elif isinstance(theirs, torch.nn.Module):
        same(repr(ours), repr(theirs), f"{where}: text")
        same(ours.state_dict(), theirs.state_dict(), f"{where}: state", **how)
    elif isinstance(theirs, torch.Generator):
        same(ours.initial_seed(), theirs.initial_seed(), f"{where}: initial_seed")
        same(ours.get_state(), theirs.get_state(), f"{where}: get_state")
    else:
        _same_leaf(ours, theirs, where, **how)


def _same_tensor(ours, theirs, where, values=True, history=True, bits=True, tolerance=TOLERANCE, scale=1.0):
    Comparisons.values += 1
    empty = isinstance(theirs, torch.nn.parameter.UninitializedTensorMixin)
    bits = bits and not empty
    a, b = (f"{() if empty else tuple(t.shape)} {t.dtype}{', requires_grad' * (history and t.requires_grad)}"
            f"{', conjugate' * (bits and t.is_conj())}{', negative' * (bits and t.is_neg())}" for t in (ours, theirs))
    if a != b:
        raise Different(f"{where}: {a} for {b}")
    if values and not empty:
        tolerance = tolerance if isinstance(tolerance, dict) else dict.fromkeys(TOLERANCE, tolerance)
        _close(array_of(ours), array_of(theirs), tolerance.get(theirs.dtype, 0) * scale, where)


def _same_leaf(ours, theirs, where, values=True, tolerance=None, **how):
    Comparisons.values += 1
    if isinstance(theirs, (float, complex, np.ndarray, np.generic)):
        _same_numbers(np.asarray(ours), np.asarray(theirs), where, values, tolerance)
        return
    if isinstance(theirs, (bool, int, str, bytes, range, set, frozenset, np.dtype, types.NoneType, types.EllipsisType)):
        good = ours == theirs
    elif isinstance(theirs, (torch.dtype, torch.device, torch.layout, torch.memory_format)):
        good = str(ours) == str(theirs)
    elif isinstance(theirs, (torch.finfo, torch.iinfo)):
        good = repr(ours) == repr(theirs)
    elif isinstance(theirs, type):
        good = ours is _counterpart(theirs) or _defined_by_program(ours, theirs)
    elif ours is theirs:                       # what a test gives to both
        good = True
    else:
        raise Different(f"{where}: nothing is known of how to compare {_kind(theirs)}")
    if not good:
        raise Different(f"{where}: {ours!r} for {theirs!r}")


def _same_numbers(ours, theirs, where, values, tolerance):
    """Of NumPy, and Python's floats: those of float32 tensors too."""
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        raise Different(f"{where}: {ours.shape} {ours.dtype} for {theirs.shape} {theirs.dtype}")
    if values:
        inexact = 1e-6 if theirs.dtype.kind in "fc" else 0
        _close(ours, theirs, tolerance if isinstance(tolerance, (int, float)) else inexact, where)


def described(*tree):
    """Arguments as text for messages: tensors as their shapes alone."""
    if len(tree) != 1:
        return " ".join(described(x) for x in tree)
    tree, = tree
    if isinstance(tree, (torch.Tensor, tinytorch.Tensor)):
        return f"{str(tree.dtype).removeprefix('torch.')}{list(tree.shape)}"
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{k}: {described(v)}" for k, v in tree.items()) + "}"
    if isinstance(tree, (list, tuple)):
        return "(" + ", ".join(described(x) for x in tree) + ")"
    return f"{tree!r:.60}"


def _kind(x):
    return _kind_of(type(x))


def _kind_of(cls):
    return f"{cls.__module__}.{cls.__qualname__}"


#: Classes of torch that are named after private modules.
ELSEWHERE = {torch.Generator: tinytorch.Generator, torch.linalg.LinAlgError: tinytorch.linalg.LinAlgError}


@functools.cache
def _counterpart(cls):
    """The class of tinytorch that stands for a class of torch; any other class for itself; None where there is none."""
    if cls in ELSEWHERE:
        return ELSEWHERE[cls]
    if cls.__module__.split(".")[0] != "torch" or cls.__module__.startswith("torch.testing"):
        return cls
    found = tinytorch
    for part in (*cls.__module__.split(".")[1:], *cls.__qualname__.split(".")):
        found = getattr(found, part, None)
    return found


def _defined_by_program(ours, theirs):
    """Whether these are the two classes that a program of the tests makes when it is run with either library."""
    return theirs.__module__.startswith("tests.") and _kind_of(ours) == _kind_of(theirs)


def _fields(x):
    """The names of the fields of a named tuple, of a structure of torch's too."""
    return list(getattr(x, "_fields", getattr(x, "__match_args__", ()))) if isinstance(x, tuple) else []


def same_error(ours, theirs, where="call", words=False):
    """Raise Different unless both are errors of the same type, with the same first line if `words`."""
    Comparisons.errors += 1
    if ours is None or type(ours) is not _counterpart(type(theirs)):
        raise Different(f"{where}: {ours!r} for {theirs!r}") from ours
    if words and str(ours).split("\n")[0] != str(theirs).split("\n")[0]:
        raise Different(f"{where}: {ours} for {theirs}")


def _close(a, b, tolerance, where):
    if tolerance:
        good = np.isclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
        if a.dtype.kind == "c":                # one part may be infinite
            good |= np.logical_and(*[np.isclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True)
                                     for x, y in ((a.real, b.real), (a.imag, b.imag))])
    else:
        good = a == b
        if a.dtype.kind in "fc":
            signs = (np.signbit(a.real) == np.signbit(b.real)) & (np.signbit(a.imag) == np.signbit(b.imag))
            good = good & signs | np.isnan(a) & np.isnan(b)
    if not np.all(good):
        # Long sums may cancel: errors are measured against the largest value of the result as well.
        finite = np.abs(b[np.isfinite(b)]) if np.ndim(b) else np.abs(b)
        size = finite.max() if np.size(finite) else 0
        if tolerance and np.all(good | (np.abs(a - b) <= tolerance * size)):
            return
        i = np.unravel_index(np.argmin(good), np.shape(good))
        raise Different(f"{where}: {a[i]!r} for {b[i]!r} at {tuple(int(k) for k in i)} of {np.shape(b)}")


def same_outcome(program, cut=lambda text: text, **how):
    """Raise Different unless program(module) returns the same (see `same`) under tinytorch and torch, or raises the
    same error, with the same text but for what `cut` takes away."""
    (error, expected), (our_error, result) = (error_of(lambda: program(module)) for module in (torch, tinytorch))
    if error is not None and our_error is not None and cut(str(our_error)) != cut(str(error)):
        raise Different(f"{our_error!r} for {error!r}") from our_error
    if not refused(our_error, error, "error"):
        if expected is None:
            raise Different("the program gives nothing to compare")
        same(result, expected, **how)


def refused(ours, theirs, where):
    """Whether torch raised: Different unless tinytorch raised the same type of error. What it raises alone goes on."""
    if theirs is None and ours is not None:
        raise ours
    if theirs is not None:
        same_error(ours, theirs, where)
    return theirs is not None


def error_of(call):
    """(exception or None, result) of a call, without torch's warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return None, call()
        except Exception as error:
            return error, None


# ------------------------------------------------------------------ samples
def spread(items, count):
    """At most `count` of `items`, evenly, the first and last among them."""
    items = list(items)
    if len(items) <= count:
        return items
    return [items[round(i * (len(items) - 1) / (count - 1))] for i in range(count)]


def _as_leaf(x):
    """Of a view that was made without grad of what requires it, which no gradient reaches: the same as a leaf."""
    if isinstance(x, torch.Tensor) and x.layout is torch.strided and x._is_view() and x.is_leaf and x.requires_grad:
        return x.detach().requires_grad_()
    return x


def samples(op, dtype, count, requires_grad=False):
    """A few (input, args, kwargs) of an op_db entry, always the same, none of them large: spread over the first 400
    that the entry has, or if three at most are wanted, over the first 24 (most of the time goes into making them)."""
    enough = 400 if count > 3 else 24
    torch.manual_seed(0)
    np.random.seed(0)
    found = []
    for sample in op.sample_inputs("cpu", dtype, requires_grad=requires_grad):
        if sum(t.numel() for t in tensors((sample.input, sample.args, sample.kwargs))) <= 20_000:
            sample = sample.transform(_as_leaf)
            found.append((sample.input, sample.args, sample.kwargs, sample.output_process_fn_grad))
        if len(found) >= enough:
            break
    return spread(found, count)


def tensors(tree, kind=(torch.Tensor, tinytorch.Tensor)):
    """All tensors in a tree, in order."""
    if isinstance(tree, kind):
        return [tree]
    if isinstance(tree, dict):
        tree = list(tree.values())
    return [t for x in tree for t in tensors(x, kind)] if isinstance(tree, (list, tuple)) else []


def accepts(function, name):
    """Whether a callable takes a keyword of that name."""
    return name in inspect.signature(function).parameters
