"""How operations compute on batches (batched.py): by a rule of their own if they have one, otherwise by NumPy's
functions, and sample by sample if these cannot do it.

When vmap is used for the first time, `install` gives every operation a forward function and derivative rules that take
batches too. Operations use them while the seam (seam.py) is up, and it is up while a vmap is active.
"""
from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..autograd import late_bound
from ..autograd.grad_mode import mode
from ..autograd.node import Op
from ..autograd.op import CALLS
from ..autograd.public import TABLE, Public
from ..errors import warn
from ..kinds.lazy import Lazy, resolved
from ..tensor import Tensor, wrap
from ..utils._pytree import tree_flatten, tree_leaves, tree_unflatten
from .batched import Batched, NotBatchable, Refusal, level_of, plain
from .merging import all_merged
from .vmap_levels import enter, is_batched, taken_out

#: The forward function of an operation -> rule(level, *args), which returns the result for batches, as arrays.
FORWARD: dict[Callable, Callable] = {}
#: The forward function of an operation -> function(forward function that takes batches), which returns the rule.
FAMILIES: dict[Callable, Callable] = {}
#: The forward function of an operation -> rule(level, run, g, saved, edges), which returns the gradients.
BACKWARD: dict[Callable, Callable] = {}
#: The value of `batches` in a registration (`op`) -> function(forward function that takes batches, operation), which
#: returns the rule.
WORDS: dict[str, Callable] = {}


def _enters(table: dict[Callable, Callable]) -> Callable:
    def rule_of(*calls: Callable) -> Callable:
        def decorate(rule):
            for call in calls:
                table[call.op.forward] = rule
            return rule
        return decorate
    return rule_of


#: Decorators for the rules by which the operations behind some primitives, and their derivative rules, compute on
#: batches.
forward_rule, backward_rule = _enters(FORWARD), _enters(BACKWARD)


class Samples:
    """Values that differ from sample to sample and are no arrays."""

    __slots__ = ("values",)

    def __init__(self, values):
        self.values = values


# ------------------------------------------------------------------ sample by sample
def size_of(level: int, *values: Any) -> int | None:
    """The number of samples in the batches of a level."""
    for x in values:
        if isinstance(x, Tensor):
            x = x._array
        if type(x) is Lazy:
            x = x.raw
        if type(x) is Batched:
            size = x.physical.shape[0] if x.level == level else size_of(level, x.physical)
        else:
            size = size_of(level, *x) if x.__class__ is list or x.__class__ is tuple else None
        if size is not None:
            return size
    return None


def sample(x: Any, level: int, i: int | None) -> Any:
    """Sample `i` of arrays or tensors. With None it gives zeros of the shape of a sample, which show the shapes of a
    result if there are no samples."""
    if isinstance(x, Tensor):
        return x if not level_of(x._array) else wrap(sample(x._array, level, i))
    if type(x) is Lazy:
        x = resolved(x)
    if type(x) is Batched:
        if x.level != level:
            return x
        return np.zeros(x.shape, x.dtype) if i is None else x.physical[i, ...]
    if x.__class__ is list or x.__class__ is tuple:
        return x.__class__([sample(y, level, i) for y in x])
    return x.values[i] if x.__class__ is Samples else x


def gathered(results: Sequence[Any], level: int, size: int) -> Any:
    """The results for all samples as batches."""
    first = results[0]
    if isinstance(first, Tensor):
        return wrap(gathered([r._array for r in results], level, size))
    if isinstance(first, (tuple, list)) and first.__class__ in (tuple, list) or hasattr(first, "_fields"):
        if all([len(r) == len(first) for r in results]):
            values = [gathered(column, level, size) for column in zip(*results)]
            return type(first)(*values) if hasattr(first, "_fields") else type(first)(values)
    elif isinstance(first, (np.ndarray, np.generic)):
        arrays = [resolved(r) if isinstance(r, np.ndarray) else np.asarray(r) for r in results]
        _check_alike(arrays)
        stacked = np.stack(arrays)
        return Batched(stacked if size else stacked[:0], level)
    elif first is None or all([r is first for r in results]):
        return first
    return Samples(list(results))


def _check_alike(results):
    for i, x in enumerate(results):
        if x.shape != results[0].shape:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(results[0].shape)} at entry "
                               f"0 and {list(x.shape)} at entry {i}")


def one_by_one(function: Callable, level: int, args: Sequence[Any]) -> Any:
    """function(*args) for each sample of the batches of a level."""
    size = size_of(level, args)
    if size is None:
        raise NotBatchable("no batch of this level")
    indices = range(size) if size else (None,)
    return gathered([function(*[sample(x, level, i) for x in args]) for i in indices], level, size)


def warn_of_samples(name: str) -> None:
    """Warns, in torch's words, that an operation is computed sample by sample."""
    warn("There is a performance drop because we have not yet implemented the batching rule for "
         f"aten::{name}. Please file us an issue on GitHub so that we can prioritize its implementation.")


# ------------------------------------------------------------------ in front of the operations
def forward_of(forward: Callable, name: str = "") -> Callable:
    """A forward function that takes batches too, for the operation `name`."""
    rule = FORWARD.get(forward)

    @functools.wraps(forward)
    def compute(*args):
        level = level_of(*args)
        if not level:
            return forward(*args)
        return _of_batches(lambda: forward(*args) if rule is None else rule(level, *plain(args)), compute, level, args,
                           name)
    if rule is None and forward in FAMILIES:
        rule = FAMILIES[forward](compute)
    return compute


def backward_of(run: Callable, forward: Callable, name: str) -> Callable:
    """Derivative rules that take batches too, for the operation `name`."""
    rule = BACKWARD.get(forward)

    def compute(g, saved, edges):
        def attempt():
            if rule is None or _is_recorded(g):
                return run(g, saved, edges)
            return rule(level, run, plain(g), plain(saved), edges)
        level = level_of(g, *saved)
        if not level:
            return run(g, saved, edges)
        return _of_batches(attempt, lambda g, *saved: list(compute(g, saved, edges)), level, (g, *saved),
                           f"{name}_backward")
    return compute


def _of_batches(attempt, again, level, args, name):
    """The result of attempt(). If it fails, again(*args) computes with batches of one level instead of several, or
    sample by sample."""
    try:
        return attempt()
    except Refusal as error:
        raise RuntimeError(str(error)) from None
    except NotBatchable:
        pass
    except Exception:
        one_by_one(again, level, args)         # if the caller made a mistake, this raises torch's error
        raise
    try:
        return all_merged(again, level, args)
    except NotBatchable:
        pass
    result = one_by_one(again, level, args)
    warn_of_samples(name)
    return result


def _is_recorded(g):
    """Whether gradients are tensors. A rule then consists of operations, which take batches themselves and record."""
    return isinstance(g, Tensor) or g.__class__ in (list, tuple) and any([isinstance(d, Tensor) for d in g])


# ------------------------------------------------------------------ in front of the public functions
def by_samples(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """function(*args, **kwargs), computed for each sample of the innermost vmap whose batches are among the
    arguments."""
    leaves, spec = tree_flatten((args, kwargs))
    level = _innermost(leaves)
    batched = [isinstance(x, Tensor) and (is_batched(x, level) or x.requires_grad) for x in leaves]
    with _outside(level):
        leaves = [taken_out(x, level) if differs else x for x, differs in zip(leaves, batched)]
        results = []
        for i in range(max(level.size, 1)):
            args, kwargs = tree_unflatten([_sample_of(x, i) if differs else x for x, differs in zip(leaves, batched)],
                                          spec)
            results.append(function(*args, **kwargs))
        columns, specs = zip(*map(tree_flatten, results))
        return tree_unflatten([_stacked(column, level) for column in zip(*columns)], specs[0])


def all_at_once(arrange: Callable, function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """arrange(function, *args, **kwargs), whose tensors hold all samples of that vmap in the first dimension."""
    leaves, spec = tree_flatten((args, kwargs))
    level = _innermost(leaves)
    with _outside(level):
        args, kwargs = tree_unflatten([taken_out(x, level) if isinstance(x, Tensor) else x for x in leaves], spec)
        results, spec = tree_flatten(arrange(function, *args, **kwargs))
        return tree_unflatten([enter(y, level, 0, True) if isinstance(y, Tensor) else y for y in results], spec)


def _innermost(leaves):
    """The innermost vmap whose batches are among the tensors."""
    number = level_of(*[x._array for x in leaves if isinstance(x, Tensor)])
    level = next((level for level in mode.vmap_levels if level.number == number), None)
    if level is None:
        raise NotBatchable("no batch of a vmap at work")
    return level


@contextlib.contextmanager
def _outside(level):
    """A context without the vmap of this level."""
    before, mode.vmap_levels = mode.vmap_levels, tuple([x for x in mode.vmap_levels if x is not level])
    try:
        yield
    finally:
        mode.vmap_levels = before


def _sample_of(x, i):
    return x.select(0, i) if x._array.shape[0] else wrap(np.zeros(x._array.shape[1:], x._array.dtype))


def _stacked(values, level):
    if not isinstance(values[0], Tensor):
        return values[0]
    _check_alike(values)
    together = late_bound.stack(values)
    return enter(together if level.size else together[:0], level, 0, True)


def public_of(record: Public, function: Callable) -> Callable:
    """A public function that takes batches too."""
    instead, arrange = INSTEAD.get(record.name), AT_ONCE.get(record.name)
    writes = record.name.endswith("_") or record.name == "__setitem__"
    special = instead is not None or arrange is not None

    def of_batches(*args, **kwargs):
        return function(*args, **kwargs) if arrange is None else all_at_once(arrange, compute, args, kwargs)
    if instead is not None:
        of_batches = functools.partial(instead, of_batches)

    @functools.wraps(function)
    def compute(*args, **kwargs):
        if not mode.vmap_levels:
            return function(*args, **kwargs)
        try:
            if special and any([isinstance(x, Tensor) and level_of(x._array) for x in tree_leaves((args, kwargs))]):
                return of_batches(*args, **kwargs)
            return function(*args, **kwargs)
        except NotBatchable:
            if writes:
                raise
        result = by_samples(compute, args, kwargs)
        warn_of_samples(record.name)
        return result
    compute.__wrapped__ = getattr(function, "__wrapped__", function)
    return compute


#: The name of a public function -> the function that is called for batches in its place, with it and the arguments.
INSTEAD: dict[str, Callable] = {}
#: The name of a public function -> arrange(function, *args, **kwargs), which computes it from tensors of all samples.
AT_ONCE: dict[str, Callable] = {}


# ------------------------------------------------------------------ installing
class _Installed:
    ops = 0                                    # the number of operations at the last `install`


def install() -> None:
    """Makes all operations that are loaded take batches. It is called again when further operations have been
    loaded."""
    made = Op.made[0]
    if _Installed.ops == made:
        return
    Op.through = staticmethod(forward_of)
    calls = [call for call in CALLS if call.op.batched is None]
    forwards = {}
    ops = [op for op in {**Op.registry, **{call.op: None for call in calls}}
           if op.function is None and op.batched is None]
    for op in [op for op in ops if op.batches is not None]:
        FAMILIES[op.forward] = FAMILIES[op.in_bfloat16] = functools.partial(WORDS[op.batches], o=op)
    for op in ops:
        if op.forward not in forwards:
            forwards[op.forward] = forward_of(op.forward, op.name)
        op.run_of_batches = backward_of(op.run, op.forward, op.name)
        op._widened = None
    for op in ops:
        op.batched = op.forward = forwards[op.forward]      # rules call forwards, too
    for call in calls:
        call.widened, call.stored = None, {}   # both are made again, from operations that take batches
    for record in TABLE.values():
        if record.checks == "door" and record.of_batches is None:
            record.of_batches = public_of(record, record.function)
    _Installed.ops = made                      # set last, so that the rest is done after an interrupt


__all__ = ["AT_ONCE", "INSTEAD", "Samples", "backward_rule", "forward_rule", "install", "one_by_one"]
