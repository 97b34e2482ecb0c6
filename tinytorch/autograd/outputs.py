"""The part of op.py for operations with many outputs."""
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..tensor import wrap
from .grad_mode import mode
from .node import ANS, SELECT, UNWATCHED, new_node
from .views import MULTI, track_view

NOTHING: tuple = ()


def wrap_outputs(o, args, arrays, tensors, edges, mask, results, extra, recording):
    """Tensors for the outputs of an op. Each differentiable output has a small node, which hands its gradient to the
    op's node."""
    outputs = tuple([wrap(r if r.__class__ is np.ndarray else np.asarray(r)) for r in results])
    if o.view:
        for output in outputs:
            track_view(output, args[o.first], MULTI)
    if recording:
        node = new_node(o, edges, NOTHING, NOTHING, tuple(t._array.shape for t in outputs))
        _save(node, args, arrays, tensors, o.kept(mask), outputs, extra)
        for k, output in enumerate(outputs):
            if output._array.dtype.kind in dt.DIFFERENTIABLE:
                output._node = new_node(SELECT, (node,), (k, None, None), NOTHING, output._array.shape)
                output._requires_grad = True
    return outputs


def _save(node, args, saved, tensors, kept, outputs, extra):
    """Fill the saved arrays and versions of a node of many outputs with the values that rules read. `saved` holds the
    arguments with arrays in place of tensors; `tensors` are the positions of the tensors."""
    versions: list[Any] = []
    for i in tensors:
        if i in kept:
            versions += (args[i]._version_counter, args[i]._version_counter[0])
        else:
            saved[i] = None
    if ANS in kept:
        numbers = range(len(outputs)) if node.op.saved_outputs is None else node.op.saved_outputs
        saved.append(tuple([t._array if k in numbers else None for k, t in enumerate(outputs)]))
        for t in [outputs[k] for k in numbers]:
            versions += (t._version_counter, t._version_counter[0])
    else:
        saved.append(None)
    saved.append(extra)
    node.saved, node.versions = saved, tuple(versions) or (NOTHING if extra is None else UNWATCHED)
    if mode.grad_now is not True:
        mode.grad_now(node, tuple([t._array for t in outputs]), args)
