"""Makes batches of samples: default_collate and default_convert."""
import contextlib
import copy
import re
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from .... import dtypes as dt
from ....ops.creation.factories import as_tensor, tensor
from ....ops.layout.join import stack
from ....tensor import Tensor, wrap

__all__ = ["collate", "default_collate", "default_collate_fn_map", "default_convert"]

np_str_obj_array_pattern = re.compile("[SaUO]")                      # in a NumPy dtype string: no numbers
_REFUSED = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def _rebuilt(original, items, mutable, plain):
    """A collection like `original` with new `items`: a changed copy if it can be changed, else a new one of its
    type, else a `plain` one (some types cannot be made that way)."""
    try:
        if not isinstance(original, mutable):
            return type(original)(items)
        changed = copy.copy(original)
        if isinstance(items, dict):
            changed.update(items)
        else:
            for i, item in enumerate(items):
                changed[i] = item
        return changed
    except TypeError:
        return plain(items)


def default_convert(data):
    """`data` with tensors in place of NumPy arrays and scalars. A DataLoader without batches does this.

    >>> import tinytorch as torch, numpy as np
    >>> torch.utils.data.default_convert({"a": np.array([1, 2]), "b": "text"})
    {'a': tensor([1, 2]), 'b': 'text'}
    """
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        if np_str_obj_array_pattern.search(data.dtype.str):
            return data
        return as_tensor(data)
    if isinstance(data, Mapping):
        return _rebuilt(data, {key: default_convert(data[key]) for key in data}, MutableMapping, dict)
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(item) for item in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _rebuilt(data, [default_convert(item) for item in data], MutableSequence, list)
    return data


def collate(batch, *, collate_fn_map=None):
    """A batch of a list of samples, by `collate_fn_map`: a dict from the type of a sample to
    function(batch, collate_fn_map=...); mappings and sequences are collated part by part.

    RuntimeError for sequences of different lengths, TypeError for a type that is not known.
    """
    sample = batch[0]
    kind = type(sample)
    if collate_fn_map is not None:
        if kind in collate_fn_map:
            return collate_fn_map[kind](batch, collate_fn_map=collate_fn_map)
        for known in collate_fn_map:
            if isinstance(sample, known):
                return collate_fn_map[known](batch, collate_fn_map=collate_fn_map)
    if isinstance(sample, Mapping):
        by_key = {key: collate([one[key] for one in batch], collate_fn_map=collate_fn_map) for key in sample}
        return _rebuilt(sample, by_key, MutableMapping, dict)
    named = isinstance(sample, tuple) and hasattr(sample, "_fields")
    if not isinstance(sample, Sequence):
        raise TypeError(_REFUSED.format(kind))
    if not named and set(map(len, batch)) != {len(sample)}:
        raise RuntimeError("each element in list of batch should be of equal size")
    parts = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch)]
    if named:
        return kind(*parts)
    return parts if isinstance(sample, tuple) else _rebuilt(sample, parts, MutableSequence, list)


def _collate_tensors(batch, *, collate_fn_map=None):
    rows = _rows([one._array for one in batch if one.__class__ is Tensor and not one._requires_grad and (
        one._view_info is None or not one._view_info.base._requires_grad)], len(batch))
    return stack(list(batch), 0) if rows is None else wrap(rows)


def _rows(arrays, count):
    """The stack of `count` small arrays, in a fraction of the time that `stack` takes. None unless all arrays have the
    same dtype and shape and are dense in memory."""
    first: Any = arrays[0] if arrays else None
    if (len(arrays) != count or set(map(type, arrays)) != {np.ndarray} or first.ndim > 2 or not 0 < first.nbytes < 4096
            or {array.dtype for array in arrays} != {first.dtype}
            or [array.shape for array in arrays].count(first.shape) != count):
        return None
    try:
        together = bytearray().join(arrays)
    except TypeError:                          # not dense
        return None
    return np.frombuffer(together, first.dtype).reshape(count, *first.shape)


def _collate_arrays(batch, *, collate_fn_map=None):
    if np_str_obj_array_pattern.search(batch[0].dtype.str):
        raise TypeError(_REFUSED.format(batch[0].dtype))
    return collate([as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def _collate_scalars(batch, *, collate_fn_map=None):
    return as_tensor(np.array(batch))


def _collate_floats(batch, *, collate_fn_map=None):
    numbers = _numbers(batch, float, np.float64)
    return tensor(batch, dtype=dt.float64) if numbers is None else numbers


def _collate_ints(batch, *, collate_fn_map=None):
    numbers = _numbers(batch, int, np.int64)
    return tensor(batch) if numbers is None else numbers


def _numbers(batch, kind, dtype):
    """A tensor of numbers that all have this type; None if some have another type."""
    if set(map(type, batch)) == {kind}:
        with contextlib.suppress(OverflowError):
            return wrap(np.fromiter(batch, dtype, len(batch)))
    return None


def _collate_text(batch, *, collate_fn_map=None):
    return batch


#: {type of samples: function of default_collate}. Programs may add types.
default_collate_fn_map = {
    Tensor: _collate_tensors, np.ndarray: _collate_arrays, (np.bool_, np.number, np.object_): _collate_scalars,
    float: _collate_floats, int: _collate_ints, str: _collate_text, bytes: _collate_text}


def default_collate(batch):
    """A batch of a list of samples: tensors, arrays and numbers are stacked along a new first dimension, text stays
    a list, and dicts, sequences and namedtuples are collated part by part.

    >>> import tinytorch as torch
    >>> torch.utils.data.default_collate([(1, 2.), (3, 4.)])
    [tensor([1, 3]), tensor([2., 4.], dtype=torch.float64)]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
