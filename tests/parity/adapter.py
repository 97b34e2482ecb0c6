"""The one bridge to torch's own test tables (`op_db`, `module_db`, `optim_db`: private API, torch is pinned).

`convert` carries a tree of torch objects over to tinytorch, strides and requires_grad included;
`same` compares what comes back. The test files beside this one are short because of it.
"""
import inspect
import types
import warnings

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


def same(ours, theirs, where="result", values=True, scale=1.0):
    """Raise Different unless the trees have the same structure, shapes, dtypes and values."""
    if isinstance(theirs, torch.Tensor):
        if not isinstance(ours, tinytorch.Tensor):
            raise Different(f"{where}: {type(ours).__name__} for a tensor")
        if tuple(ours.shape) != tuple(theirs.shape) or str(ours.dtype) != str(theirs.dtype):
            raise Different(f"{where}: {tuple(ours.shape)} {ours.dtype} for {tuple(theirs.shape)} {theirs.dtype}")
        if values:
            _close(array_of(ours), array_of(theirs), TOLERANCE.get(theirs.dtype, 0) * scale, where)
    elif isinstance(theirs, (list, tuple)):
        if not isinstance(ours, (list, tuple)) or len(ours) != len(theirs):
            raise Different(f"{where}: {ours!r} for {len(theirs)} results")
        for i, (a, b) in enumerate(zip(ours, theirs)):
            same(a, b, f"{where}[{i}]", values, scale)
    elif isinstance(theirs, dict):
        if list(ours) != list(theirs):
            raise Different(f"{where}: keys {list(ours)} for {list(theirs)}")
        for key in theirs:
            same(ours[key], theirs[key], f"{where}[{key!r}]", values, scale)
    elif isinstance(theirs, (int, float, complex)) and values:
        _close(np.asarray(ours), np.asarray(theirs), 1e-6, where)
    elif isinstance(theirs, (torch.dtype, torch.device, torch.Size)) and str(ours) != str(theirs):
        raise Different(f"{where}: {ours} for {theirs}")


def _close(a, b, tolerance, where):
    good = np.isclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True) if tolerance else a == b
    if not np.all(good):
        # Long sums may cancel: errors are measured against the largest value of the result as well.
        finite = np.abs(b[np.isfinite(b)]) if np.ndim(b) else np.abs(b)
        size = finite.max() if np.size(finite) else 0
        if tolerance and np.all(good | (np.abs(a - b) <= tolerance * size)):
            return
        i = np.unravel_index(np.argmin(good), np.shape(good))
        raise Different(f"{where}: {a[i]!r} for {b[i]!r} at {tuple(int(k) for k in i)} of {np.shape(b)}")


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
