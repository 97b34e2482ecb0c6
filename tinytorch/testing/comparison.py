"""assert_close: two trees of tensors and numbers, compared leaf by leaf."""
from __future__ import annotations

import cmath
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..errors import warn
from ..memory_format import strided
from ..ops.creation.factories import as_tensor, tensor
from ..ops.elementwise.compare import isclose
from ..ops.layout.masked import nonzero
from ..tensor import Tensor

#: Tolerances (rtol, atol) by dtype; 0 for other dtypes.
_DEFAULT = {dt.float16: (1e-3, 1e-5), dt.bfloat16: (1.6e-2, 1e-5), dt.float32: (1.3e-6, 1e-5),
            dt.float64: (1e-7, 1e-7), dt.complex32: (1e-3, 1e-5), dt.complex64: (1.3e-6, 1e-5),
            dt.complex128: (1e-7, 1e-7)}
#: The tolerances of assert_allclose.
_OLDER = {dt.float16: (1e-3, 1e-3), dt.float32: (1e-4, 1e-5), dt.float64: (1e-5, 1e-8)}
#: The dtypes whose tolerances Python's numbers have.
_OF_NUMBERS = {int: dt.int64, float: dt.float64, complex: dt.complex128}


class _Different(Exception):
    """The class and the message of the error to raise, and its place in the trees."""

    def __init__(self, kind, words, path=()):
        super().__init__(words)
        self.kind, self.words = kind, words
        if path:
            self.words += "\n\nThe failure occurred for item " + "".join([str([key]) for key in path])


def assert_close(actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None,
                 atol: float | None = None, equal_nan: bool = False, check_device: bool = True,
                 check_dtype: bool = True, check_layout: bool = True, check_stride: bool = False,
                 msg: str | Callable[[str], str] | None = None) -> None:
    """AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere.

    Operands are tensors, anything that `as_tensor` takes, numbers, bools, None, and sequences and mappings of these. By
    default the tolerances follow the dtypes, and dtypes and devices must be the same (strides with `check_stride`);
    without `check_dtype` operands are promoted. `msg`: another message for the error, or a function that gets the
    message and returns another one. ValueError for one tolerance without the other, TypeError for operands that cannot
    be compared.

    >>> import tinytorch as torch
    >>> torch.testing.assert_close(torch.tensor([1., 2.]), torch.tensor([1., 2.0000001]))
    >>> torch.testing.assert_close({"a": [1, 2]}, {"a": [1, 3]})
    Traceback (most recent call last):
        ...
    AssertionError: Scalars are not equal!
    <BLANKLINE>
    Expected 3 but got 2.
    Absolute difference: 1
    Relative difference: 0.3333333333333333
    <BLANKLINE>
    The failure occurred for item ['a'][1]
    """
    __tracebackhide__ = True                   # pytest leaves this frame out
    options = dict(allow_subclasses=allow_subclasses, rtol=rtol, atol=atol, equal_nan=equal_nan,
                   check_dtype=check_dtype, check_layout=check_layout, check_stride=check_stride)
    try:
        pairs = list(_pairs(actual, expected, (), options))     # all pairs, before the first is compared
    except _Different as found:
        raise found.kind(found.words) from None
    for compare, path in pairs:
        try:
            compare()
        except _Different as found:
            words = _Different(found.kind, found.words, path).words
            if msg is not None:
                words = msg(words) if callable(msg) else msg
            raise found.kind(words) from None


def assert_allclose(actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None,
                    equal_nan: bool = True, msg: str = "") -> None:
    """The older `assert_close`: numbers and lists become tensors, dtypes may differ, and NaN equals NaN."""
    warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please "
        "use `torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.", FutureWarning)
    actual = actual if isinstance(actual, Tensor) else tensor(actual)
    expected = expected if isinstance(expected, Tensor) else tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = _loosest(_OLDER, actual.dtype, expected.dtype)
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


# ------------------------------------------------------------------ trees
def _pairs(actual, expected, path, options) -> Iterator[tuple[Callable, tuple]]:
    """Yields (function that compares, path) for each pair of leaves."""
    if all([isinstance(x, Sequence) and not isinstance(x, str) for x in (actual, expected)]):
        if len(actual) != len(expected):
            raise _Different(AssertionError, "The length of the sequences mismatch: "
                             f"{len(actual)} != {len(expected)}", path)
        keys = range(len(actual))
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        keys, wanted = set(actual), set(expected)
        if keys != wanted:
            raise _Different(AssertionError, "The keys of the mappings do not match:\n"
                             f"Missing keys in the actual mapping: {sorted(wanted - keys)}\n"
                             f"Additional keys in the actual mapping: {sorted(keys - wanted)}", path)
        with contextlib.suppress(TypeError):   # keys may have no order
            keys = sorted(keys)
    else:
        yield _pair(actual, expected, path, options)
        return
    for key in keys:
        yield from _pairs(actual[key], expected[key], (*path, key), options)


def _pair(actual, expected, path, options):
    # In this order: None, two bools, two numbers, then anything that can become tensors: torch's order of classes.
    both = actual, expected
    if actual is None or expected is None:
        return lambda: _compare_identity(actual, expected, "None"), path
    if all([isinstance(x, (bool, np.bool_)) for x in both]):
        return lambda: _compare_identity(bool(actual), bool(expected), "Booleans"), ()     # torch names no item
    if all([isinstance(x, (int, float, complex, np.number)) for x in both]):
        numbers = [x.item() if isinstance(x, np.number) else x for x in both]
        if bool in map(type, numbers):
            raise _Different(RuntimeError, f"{actual!r} and {expected!r} cannot be compared: one is a bool")
        tolerances = _tolerances(options, path, *[_OF_NUMBERS[type(x)] for x in numbers])
        return lambda: _compare_numbers(*numbers, *tolerances, options), path
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    # Sparse tensors have a class of their own here, but not in torch.
    classes = [Tensor if isinstance(x, Tensor) and x.layout is not strided else type(x) for x in both]
    if related and (options["allow_subclasses"] or classes[0] is classes[1]):
        try:
            tensors = [x if isinstance(x, Tensor) else as_tensor(x) for x in both]
        except Exception:
            tensors = None                     # they cannot become tensors
        if tensors:
            tolerances = _tolerances(options, path, *[x.dtype for x in tensors])
            return lambda: _compare_tensors(*tensors, *tolerances, options), path
    raise _Different(TypeError, f"No comparison pair was able to handle inputs of type {type(actual)} and "
                     f"{type(expected)}.", path)


def _tolerances(options, path, *dtypes):
    rtol, atol = options["rtol"], options["atol"]
    if (rtol is None) != (atol is None):
        raise _Different(ValueError, "Both 'rtol' and 'atol' must be either specified or omitted, but got no "
                         f"{'rtol' if rtol is None else 'atol'}.", path)
    return (rtol, atol) if rtol is not None else _loosest(_DEFAULT, *dtypes)


def _loosest(table, *dtypes):
    rtols, atols = zip(*[table.get(dtype, (0.0, 0.0)) for dtype in dtypes])
    return max(rtols), max(atols)


# ------------------------------------------------------------------ leaves
def _compare_identity(actual, expected, what):
    if actual is not expected:
        raise _Different(AssertionError, f"{what} mismatch: {actual} is not {expected}")


def _compare_numbers(actual, expected, rtol, atol, options):
    if options["check_dtype"] and type(actual) is not type(expected):
        raise _Different(AssertionError, f"The (d)types do not match: {type(actual)} != {type(expected)}.")
    if actual == expected or options["equal_nan"] and cmath.isnan(actual) and cmath.isnan(expected):
        return
    difference = abs(actual - expected)
    if not (cmath.isfinite(difference) and difference <= atol + rtol * abs(expected)):
        raise _numbers_differ(actual, expected, rtol, atol)


def _numbers_differ(actual, expected, rtol, atol, what="Scalars"):
    difference = abs(actual - expected)
    relative = float("inf") if expected == 0 else difference / abs(expected)
    return _not_close(what, f"Expected {expected} but got {actual}.", rtol, atol, difference, relative)


def _not_close(what, first, rtol, atol, absolute, relative, absolute_at=None, relative_at=None):
    exact = rtol == 0 and atol == 0
    lines = [f"{what} are not {'equal' if exact else 'close'}!\n", first]
    for kind, value, at, allowed in (("absolute", absolute, absolute_at, atol),
                                     ("relative", relative, relative_at, rtol)):
        start = f"{kind.title()} difference: {value}" if at is None else (
            f"Greatest {kind} difference: {value} at index {at}")
        lines.append(start if exact else f"{start} (up to {allowed} allowed)")
    return _Different(AssertionError, "\n".join(lines))


def _compare_tensors(actual, expected, rtol, atol, options):
    dense = actual.layout is strided and expected.layout is strided
    attributes = {"shape": True, "layout": options["check_layout"], "stride()": dense and options["check_stride"],
                  "dtype": options["check_dtype"]}
    for name, checked in attributes.items():
        if not checked:
            continue
        ours, theirs = (x.stride() if name == "stride()" else getattr(x, name) for x in (actual, expected))
        if ours != theirs:
            raise _Different(AssertionError, f"The values for attribute '{name}' do not match: {ours} != {theirs}.")
    if actual.dtype is not expected.dtype:
        dtypes = [dt.int64 if x.dtype in (dt.uint16, dt.uint32, dt.uint64) else x.dtype for x in (actual, expected)]
        common = dt.promote_types(*dtypes)
        actual, expected = actual.to(common), expected.to(common)
    if dense:
        _compare_values(actual, expected, rtol, atol, options)
    elif actual.layout is not expected.layout:
        _compare_values(*[x if x.layout is strided else x.to_dense() for x in (actual, expected)], rtol, atol, options)
    else:
        _compare_sparse(actual, expected, rtol, atol, options)


#: Compressed sparse layout -> the methods that return the compressed and the plain indices.
_COMPRESSED = {"csr": ("crow_indices", "col_indices"), "csc": ("ccol_indices", "row_indices"),
               "bsr": ("crow_indices", "col_indices"), "bsc": ("ccol_indices", "row_indices")}


def _compare_sparse(actual, expected, rtol, atol, options):
    """Compares the indices, which must be equal, and the values."""
    letters = str(actual.layout).rpartition("_")[2]
    kind = f"Sparse {letters.upper()}"
    counts = [("sparse dimensions", actual.sparse_dim(), expected.sparse_dim())] if letters == "coo" else []
    for what, ours, theirs in (*counts, ("specified values", actual._nnz(), expected._nnz())):
        if ours != theirs:
            raise _Different(AssertionError, f"The number of {what} in s{kind[1:]} tensors does not match: {ours} != "
                             f"{theirs}")
    for name in _COMPRESSED.get(letters, ("_indices",)):
        a, b = getattr(actual, name)(), getattr(expected, name)()
        if a.dtype is not b.dtype:             # one is int32, the other int64
            a, b = a.to(dt.int64), b.to(dt.int64)
        _compare_values(a, b, 0, 0, options, f"{kind} {name.strip('_')}")
    of_values = "_values" if letters == "coo" else "values"
    _compare_values(getattr(actual, of_values)(), getattr(expected, of_values)(), rtol, atol, options, f"{kind} values")


def _compare_values(actual, expected, rtol, atol, options, what=None):
    small = actual.dtype.is_floating_point and actual.dtype.itemsize == 1
    if small and (rtol != 0 or atol != 0):
        raise _Different(AssertionError, f"Rtol={rtol} and atol={atol} are not supported for bitwise comparison of low "
                         "dimensional floats. Please use rtol=0.0 and atol=0.0.")
    close = isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=options["equal_nan"])
    if bool(close.all()):
        return
    if not close.dim():
        raise _numbers_differ(actual.item(), expected.item(), rtol, atol, what or "Scalars")
    count, n = close.numel() - int(close.sum()), close.numel()
    first = f"Mismatched elements: {count} / {n} ({count / n:.1%})"
    if small:
        at = tuple(nonzero(close.logical_not())[0].tolist())
        raise _Different(AssertionError, f"Tensor-likes are not 'equal'!\n\n{first}\nThe first mismatched element is "
                         f"at index {at}.")
    raise _tensors_differ(actual, expected, close, first, rtol, atol, what or "Tensor-likes")


def _tensors_differ(actual, expected, close, first, rtol, atol, what):
    """The error with the largest differences of the elements that are not close."""
    a, b, matches = actual.detach().flatten(), expected.detach().flatten(), close.flatten()
    if not a.dtype.is_floating_point and not a.dtype.is_complex:
        a, b = a.to(dt.int64), b.to(dt.int64)
    absolute = (a - b).abs().masked_fill(matches, 0)
    relative = (absolute / b.abs()).masked_fill(matches, 0)
    (greatest, i), (largest, j) = absolute.max(0), relative.max(0)
    at_i, at_j = (tuple(map(int, np.unravel_index(int(k), actual.shape))) for k in (i, j))
    return _not_close(what, first, rtol, atol, greatest.item(), largest.item(), at_i, at_j)
