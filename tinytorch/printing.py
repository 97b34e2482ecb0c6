"""The text of a tensor, as torch writes it, and the options for it."""
from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from . import dtypes as dt
from .kernels.errstate import ignored
from .kinds.lazy import StandIn
from .tensor import Tensor, method, wrap

__all__ = ["get_printoptions", "set_printoptions"]

_DEFAULTS = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80}
_PROFILES = {
    "default": _DEFAULTS,
    "short": {**_DEFAULTS, "precision": 2, "edgeitems": 2},
    "full": {**_DEFAULTS, "threshold": float("inf")},
}
_options = {**_DEFAULTS, "sci_mode": None}


def set_printoptions(precision: int | None = None, threshold: float | None = None, edgeitems: int | None = None,
                     linewidth: int | None = None, profile: str | None = None, sci_mode: bool | None = None) -> None:
    """Set how tensors are printed from now on. Options that are not given stay, except `sci_mode`.

    precision  digits after the point (4)
    threshold  a tensor of more elements is summarised (1000)
    edgeitems  elements that a summary shows at each end of a dimension (3)
    linewidth  characters in a line (80)
    profile    'default', 'short' or 'full': a set of the options above
    sci_mode   scientific notation: True, False, or None to decide by the numbers

    >>> import tinytorch as torch
    >>> torch.set_printoptions(precision=2)
    >>> torch.tensor([1.12345])
    tensor([1.12])
    >>> torch.set_printoptions(profile="default")
    """
    _options.update(_PROFILES.get(profile, {}))
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    _options.update({name: value for name, value in given.items() if value is not None})
    _options["sci_mode"] = sci_mode


def get_printoptions() -> dict:
    """The options as a dict that `set_printoptions` takes.

    >>> import tinytorch as torch
    >>> torch.get_printoptions()["precision"]
    4
    """
    return dict(_options)


def tensor_text(tensor: Tensor, contents: str | None = None) -> str:
    """repr(tensor); `contents` replaces the numbers.

    >>> import tinytorch as torch
    >>> tensor_text(torch.tensor([1.0, 2.5]))
    'tensor([1.0000, 2.5000])'
    """
    kind = type(tensor).__name__
    prefix = "tensor(" if kind in ("Tensor", "Parameter") else kind + "("
    if contents is None and tensor.is_meta:
        contents = "..."
    if contents is None:
        contents = array_text(tensor._array, len(prefix))
    text = with_suffixes(prefix + contents, _suffixes(tensor), len(prefix))
    return f"Parameter({text})" if getattr(tensor, "_is_param", False) else text


def _suffixes(tensor):
    """The texts after the numbers: size, dtype, and grad_fn, where they differ from the default."""
    found = []
    array, d = tensor._array, tensor.dtype
    default = dt.get_default_dtype()
    if tensor.is_meta:
        found += ["device='meta'", f"size={array.shape}"]
        if d is not default:
            found.append(f"dtype={d}")
    elif array.size == 0:
        if array.ndim != 1:
            found.append(f"size={array.shape}")
        if d is not default:
            found.append(f"dtype={d}")
    else:
        if not _options["edgeitems"]:
            found.append(f"size={array.shape}")
        if d not in default_dtypes():
            found.append(f"dtype={d}")
    return found + graph_suffix(tensor)


def default_dtypes():
    """The dtypes that are not printed."""
    default = dt.get_default_dtype()
    return default, dt.complex128 if default is dt.float64 else dt.complex64, dt.int64, dt.bool


class dual:
    """unpacked(tensor): the plain tensor, and its tangent or None. Set by autograd/forward_ad.py."""

    unpacked: Any = None


def graph_suffix(tensor):
    """The last texts: the node, or that a leaf requires grad; and the tangent inside a dual level."""
    primal, tangent = (tensor, None) if tensor._node is None else dual.unpacked(tensor)
    if tangent is None:
        return _history(tensor)
    return _history(tensor if primal.requires_grad else primal) + [f"tangent={tangent}"]


def _history(tensor):
    try:
        node = tensor.grad_fn
    except RuntimeError:                       # the view was made without gradients, and has been written to
        return ["grad_fn=<Invalid>"]
    if node is not None:
        return [f"grad_fn=<{node.name().rpartition(':')[2]}>"]
    return ["requires_grad=True"] if tensor.requires_grad else []


def with_suffixes(text, suffixes, indent, new_line=False):
    """`text` with its closing bracket and the suffixes: on its last line or, where they do not fit, on separate lines.
    With `new_line` the first one begins a line too."""
    length = len(text) - text.rfind("\n") + 1
    for i, suffix in enumerate(suffixes):
        if new_line and not i or length + len(suffix) + 2 > _options["linewidth"]:
            text += ",\n" + " " * indent + suffix
            length = indent + len(suffix)
        else:
            text += ", " + suffix
            length += len(suffix) + 2
    return text + ")"


def array_text(array: np.ndarray, indent: int) -> str:
    """The numbers of `array` in brackets; lines after the first are indented by `indent`."""
    if array.size == 0:
        return "[]"
    without_zero = array.dtype == dt.FLOAT8_E8M0FNU
    array = dt.numbers(array)
    if without_zero:                           # the dtype has no zero; torch prints its least number as zero
        array = np.where(array == dt.finfo(dt.float8_e8m0fnu).tiny, np.float32(0), array)
    edge = _options["edgeitems"]
    cut = [array.size > _options["threshold"] and n > 2 * edge for n in array.shape]
    for axis, shortened in enumerate(cut):
        if shortened:
            n = array.shape[axis]
            array = array.take([*range(edge), *range(n - edge, n)], axis)
    if array.dtype.kind == dt.COMPLEX:
        texts, width = _complex_texts(array)
    else:
        texts, width = _texts(array)
    return _layout(texts, array.shape, cut, indent, width)


def _texts(array):
    """The numbers as strings of one width, flat; and that width."""
    values = array.ravel().tolist()
    if array.dtype.kind != dt.NATIVE:
        texts = [str(v) for v in values]
        width = max(map(len, texts), default=1)
    else:
        texts, width = _float_texts(array.ravel().astype(np.float64), values)
    return [t.rjust(width) for t in texts], width


def _float_texts(array, values):
    # Only finite numbers other than zero decide about notation and width.
    decisive = np.isfinite(array) & (array != 0)
    numbers = array[decisive]
    sci, whole, width = False, True, 1
    if numbers.size:
        magnitude = np.abs(numbers)
        low, high = magnitude.min(), magnitude.max()
        whole = bool((numbers == np.ceil(numbers)).all())
        sci = _options["sci_mode"]
        if sci is None:
            with ignored():
                sci = high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4
    if sci:
        spec = f".{_options['precision']}e"
    else:
        spec = ".0f" if whole else f".{_options['precision']}f"
    texts = [format(v, spec) for v in values]
    if whole and not sci:
        finite = np.isfinite(array).tolist()
        texts = [t + "." if f else t for t, f in zip(texts, finite)]
    return texts, max([len(t) for t, d in zip(texts, decisive.tolist()) if d], default=width)


def _complex_texts(array):
    real, real_width = _texts(array.real)
    imag, imag_width = _texts(array.imag)
    imag = [t.lstrip() + "j" for t in imag]
    return [r + (i if i[0] in "+-" else "+" + i) for r, i in zip(real, imag)], real_width + imag_width + 1


def _layout(texts, shape, cut, indent, width):
    """Nested brackets around the texts of an array of `shape`, with dots where dimensions are `cut`."""
    if not shape:
        return texts[0]
    edge = _options["edgeitems"]
    if len(shape) == 1:
        if cut[0]:
            texts = texts[:edge] + [" ..." if edge else "..."] + texts[edge:]
        per_line = max(1, (_options["linewidth"] - indent) // (width + 2))
        lines = [", ".join(texts[i:i + per_line]) for i in range(0, len(texts), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    step = len(texts) // shape[0] if shape[0] else 0
    parts = [_layout(texts[i * step:(i + 1) * step], shape[1:], cut[1:], indent + 1, width) for i in range(shape[0])]
    if cut[0]:
        parts.insert(edge, "...")
    return "[" + ("," + "\n" * (len(shape) - 1) + " " * (indent + 1)).join(parts) + "]"


@method("__repr__", in_python=True, leaves=True)
def _repr(self: Tensor, *, tensor_contents: str | None = None) -> str:
    samples = self._array.samples() if isinstance(self._array, StandIn) else None
    if samples is None:
        return tensor_text(self, tensor_contents)
    level, array = samples
    value = textwrap.indent(_repr(wrap(array)), "    ")
    return f"BatchedTensor(lvl={level}, bdim=0, value=\n{value}\n)"
