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
import torch

import tinytorch

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
             torch.complex64: 3e-5, torch.complex128: 1e-9}


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
    return _callable(x) if callable(x) else x


def _tensor(x, memo):
    if x.layout != torch.strided or x.device.type != "cpu" or x.is_quantized:
        raise Untranslatable(str(x.layout))
    plain = _plain(x)
    wide = plain.float() if x.dtype == torch.bfloat16 else plain
    try:
        memory = _memory(wide, memo)
    except TypeError as error:
        raise Untranslatable(str(x.dtype)) from error
    item = memory.itemsize
    array = np.lib.stride_tricks.as_strided(memory[wide.storage_offset():], tuple(wide.shape),
                                            [s * item for s in wide.stride()])
    result = tinytorch.from_numpy(array)
    if x.dtype == torch.bfloat16:
        result = result.bfloat16()
    if isinstance(x, torch.nn.Parameter):
        return tinytorch.nn.Parameter(result, requires_grad=x.requires_grad)
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


def _callable(x):
    """A module of torch or a function of its tests, found in a sample, as tinytorch's."""
    if isinstance(x, torch.nn.Module):
        module = getattr(tinytorch.nn, type(x).__name__)()
        vars(module).update({name: value for name, value in vars(x).items() if not name.startswith("_")})
        return module
    if _is_test_code(x):
        return _rebound(x)
    return x


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
    if not _is_test_code(function):
        return target
    return _rebound(function) if target is not None or hasattr(tinytorch.Tensor, name + "_") else None


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
    return types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)


# ------------------------------------------------------------------ comparing
def array_of(t):
    """The numbers of a tensor of either library as an ndarray (bfloat16 as float32)."""
    if isinstance(t, torch.Tensor):
        t = _plain(t)
        return (t.float() if t.dtype == torch.bfloat16 else t).numpy()
    t = t.detach()
    return (t.float() if t.dtype == tinytorch.bfloat16 else t).numpy()


class Comparisons:
    """What `same` (tensors, numbers ...) and `same_error` have compared: a test marked `counted` (conftest.py) must have
    added to the one or the other."""
    values = 0
    errors = 0


def same(ours, theirs, where="result", values=True, scale=1.0, exact=False, history=True):
    """Raise Different unless the trees have the same structure, types, shapes, dtypes and values.

    Without `values` the numbers in tensors and Python's floats are left out; with `exact` they must be torch's to the
    last bit, the signs of zeros too; without `history`, requires_grad is left out. `scale` widens the tolerance of the
    dtype. What is of no known kind is different.
    """
    if type(ours) is not _counterpart(type(theirs)):
        raise Different(f"{where}: {_kind(ours)} {described(ours)} for {_kind(theirs)}")
    if isinstance(theirs, torch.Tensor):
        _same_tensor(ours, theirs, where, values, scale, exact, history)
    elif isinstance(theirs, (list, tuple, torch.Size)):
        if len(ours) != len(theirs) or _fields(ours) != _fields(theirs):
            raise Different(f"{where}: {len(ours)} results {_fields(ours)} for {len(theirs)} {_fields(theirs)}")
        for i, (a, b) in enumerate(zip(ours, theirs)):
            same(a, b, f"{where}[{i}]", values, scale, exact, history)
    elif isinstance(theirs, Mapping):
        same(list(ours), list(theirs), f"{where}: keys")
        for key, b in zip(theirs, theirs.values()):
            same(ours[key], b, f"{where}[{key!r}]", values, scale, exact, history)
    elif isinstance(theirs, slice):
        for part in ("start", "stop", "step"):
            same(getattr(ours, part), getattr(theirs, part), f"{where}.{part}", values, scale, exact, history)
    elif isinstance(theirs, torch.Generator):
        same(ours.initial_seed(), theirs.initial_seed(), f"{where}: initial_seed")
        same(ours.get_state(), theirs.get_state(), f"{where}: get_state")
    else:
        _same_leaf(ours, theirs, where, values, exact)


def _same_tensor(ours, theirs, where, values, scale, exact, history):
    Comparisons.values += 1
    a, b = (f"{tuple(t.shape)} {t.dtype}{', requires_grad' * (history and t.requires_grad)}" for t in (ours, theirs))
    if a != b:
        raise Different(f"{where}: {a} for {b}")
    if values and "Uninitialized" not in type(theirs).__name__:
        _close(array_of(ours), array_of(theirs), 0 if exact else TOLERANCE.get(theirs.dtype, 0) * scale, where)


def _same_leaf(ours, theirs, where, values, exact):
    Comparisons.values += 1
    if isinstance(theirs, (float, complex)):
        if values:
            _close(np.asarray(ours), np.asarray(theirs), 0 if exact else 1e-6, where)
        return
    if isinstance(theirs, (bool, int, str, bytes, range, set, frozenset, np.dtype, types.NoneType, types.EllipsisType)):
        good = ours == theirs
    elif isinstance(theirs, (torch.dtype, torch.device, torch.layout, torch.memory_format)):
        good = str(ours) == str(theirs)
    elif isinstance(theirs, type):
        good = ours is _counterpart(theirs)
    elif isinstance(theirs, np.ndarray):
        good = ours.dtype == theirs.dtype and ours.shape == theirs.shape
        if good and values:
            _close(ours, theirs, 0 if exact else TOLERANCE.get(getattr(torch, theirs.dtype.name, None), 0), where)
    else:
        raise Different(f"{where}: nothing is known of how to compare {_kind(theirs)}")
    if not good:
        raise Different(f"{where}: {ours!r} for {theirs!r}")


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
    return f"{type(x).__module__}.{type(x).__qualname__}"


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
    else:
        good = (a == b) & (np.signbit(a.real) == np.signbit(b.real)) & (np.signbit(a.imag) == np.signbit(b.imag)) \
            | (np.isnan(a) & np.isnan(b))
    if not np.all(good):
        # Long sums may cancel: errors are measured against the largest value of the result as well.
        finite = np.abs(b[np.isfinite(b)]) if np.ndim(b) else np.abs(b)
        size = finite.max() if np.size(finite) else 0
        if tolerance and np.all(good | (np.abs(a - b) <= tolerance * size)):
            return
        i = np.unravel_index(np.argmin(good), np.shape(good))
        raise Different(f"{where}: {a[i]!r} for {b[i]!r} at {tuple(int(k) for k in i)} of {np.shape(b)}")


def refused(ours, theirs, where):
    """Whether torch raised; Different unless tinytorch did so too and with the same type of error, else what it raised."""
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


def samples(op, dtype, count, requires_grad=False):
    """A few (input, args, kwargs) of an op_db entry, always the same, none of them large."""
    torch.manual_seed(0)
    np.random.seed(0)
    found = []
    for sample in op.sample_inputs("cpu", dtype, requires_grad=requires_grad):
        if sum(t.numel() for t in tensors((sample.input, sample.args, sample.kwargs))) <= 20_000:
            found.append((sample.input, sample.args, sample.kwargs, sample.output_process_fn_grad))
        if len(found) >= 400:
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
