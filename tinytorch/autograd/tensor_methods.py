"""Tensor's methods and attributes for the graph: grad, requires_grad, backward, detach, hooks; and
`torch.autograd.backward` and `grad`."""
from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..errors import C_NAMES, type_name, warn
from ..seam import door
from ..tensor import Size, Tensor, method, said, wrap
from . import late_bound
from .accumulate import OWN
from .engine import queue_callback, run_backward
from .grad_mode import OwnCell, carries_tangents, for_tangents_alone, mode
from .hooks import RemovableHandle, add_hook
from .node import NOWHERE, SELECT, GradientEdge, accumulator, function_of
from .public import public
from .saved import Detached
from .torch_function import disabled
from .views import give, refresh

TensorsOrEdges = Tensor | GradientEdge | Sequence[Tensor | GradientEdge]


def _requires_grad(self):
    """Whether gradients are computed for this tensor. Settable on leaves of floating dtype."""
    if self._view_info is not None and (self._node is None or self._node.op is NOWHERE):
        return self._node is None and self._requires_grad or self._view_info.base._requires_grad
    return self._requires_grad and not carries_tangents(self)


def _assign_requires_grad(self, value):
    if not isinstance(value, bool):
        raise RuntimeError("requires_grad must be a bool")
    if value and not self.is_leaf:
        raise RuntimeError("you can only change requires_grad flags of leaf variables.")
    _set_requires_grad(self, value)


def _set_requires_grad(self, value):
    if self._node is not None and self._node.op is NOWHERE:
        self._node = None
    if self._node is not None:
        if not value:
            raise RuntimeError("you can only change requires_grad flags of leaf variables. If you want to use a "
                               "computed variable in a subgraph that doesn't require differentiation use "
                               "var_no_grad = var.detach().")
        return
    if value:
        check_can_require_grad(self)
        check_not_inference(self)
    self._requires_grad = value


def check_can_require_grad(tensor: Tensor) -> None:
    """RuntimeError for a dtype that has no gradients."""
    if tensor._array.dtype.kind not in dt.DIFFERENTIABLE:
        raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")


def check_not_inference(tensor: Tensor) -> None:
    """RuntimeError for an inference tensor outside inference mode, which cannot require gradients."""
    if tensor._version_counter.__class__ is not list and not mode.inference:
        raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")


@method()
def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Set `requires_grad` in place and return the tensor."""
    if mode.grad_levels or mode.vmap_levels:
        _refuse_in_transform("Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs)",
                             "requires_grad_()")
    if not isinstance(requires_grad, bool):
        raise TypeError("requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                        f"{type(requires_grad).__name__}")
    if requires_grad and self._array.dtype.kind not in dt.DIFFERENTIABLE:
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    _set_requires_grad(self, requires_grad)
    return self


def _refuse_in_transform(what, method):
    raise RuntimeError(f"You are attempting to call {what} inside of a function being transformed by a functorch "
                       "transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, "
                       f"vjp, jacrev, jacfwd, hessian) or call {method} outside of a function being transformed "
                       "instead.")


def _grad(self):
    """The gradient that `backward` has accumulated here, or None."""
    if self._grad is None and self._node is not None and self._requires_grad and not self.retains_grad:
        warn(
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
            "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
            "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make "
            "sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.")
    return self._grad


def _set_grad(self, value):
    if value is not None:
        if not isinstance(value, Tensor):
            raise TypeError("assigned grad expected to be a Tensor or None but got grad of type "
                            f"{type(value).__name__}")
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        wanted = self._array.dtype if self._grad_dtype is OWN else self._grad_dtype
        if wanted is not None and value._array.dtype != wanted:
            name = type_name(wrap(np.empty(0, wanted)))
            raise RuntimeError(f"attempting to assign a gradient with dtype '{_c_name(value)}' to a tensor with "
                               f"grad_dtype '{name}'. The gradient must match the tensor's grad_dtype (defaults to the "
                               "tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, "
                               "or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a "
                               "tensor and its gradient may break downstream systems that assume they match.")
        if value._array.shape != self._array.shape:
            raise RuntimeError(f"attempting to assign a gradient of size '{list(value._array.shape)}' to a tensor of "
                               f"size '{list(self._array.shape)}'. Please ensure that the gradient and the tensor are "
                               "the same size")
    self._grad = value


def _del_grad(self):
    self._grad = None


def _c_name(tensor):
    return C_NAMES.get(type_name(tensor), type_name(tensor))


def _get_grad_dtype(self):
    """The dtype that gradients are converted to before they are added to `.grad`: by default the tensor's dtype. None:
    no conversion. Settable, on leaves only; RuntimeError if there is a gradient of another dtype already."""
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
    return self.dtype if self._grad_dtype is OWN else self._grad_dtype and dt.of(np.empty(0, self._grad_dtype))


def _set_grad_dtype(self, value):
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    if value is not None and not isinstance(value, dt.dtype):
        raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type(value).__name__}")
    if value is not None and self._grad is not None and self._grad.dtype is not value:
        raise RuntimeError(f"Cannot set grad_dtype to '{type_name(wrap(np.empty(0, value.numpy)))}' because there is "
                           f"already a gradient with dtype '{_c_name(self._grad)}'. Please clear the gradient (.grad = "
                           "None) before changing grad_dtype, or ensure the new grad_dtype matches the existing "
                           "gradient's dtype.")
    self._grad_dtype = value and value.numpy
    accumulator(self).extras()                 # leaves with extras take the path that reads the dtype


def _grad_fn(self):
    """The node that computed this tensor (None for a leaf)."""
    if self._view_info is not None:
        refresh(self, always=True)
    return None if self._node is None or carries_tangents(self) else function_of(self._node)[0]


def _data(self):
    """The same memory outside the graph: writes to it are not tracked, and do not count as versions."""
    if mode.vmap_levels and late_bound.vmap.differs(self):
        raise RuntimeError("accessing `data` under vmap transform is not allowed")
    tensor = wrap(self._array)
    if mode.inference != self.is_inference():  # here the mode of this moment decides, not that of `self`
        tensor._version_counter = [0] if mode.inference else OwnCell([0])
    return tensor


def _set_data(self, value):
    if mode.grad_levels or mode.vmap_levels:
        _refuse_data_in_transform(self, value)
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    if value.device is not self.device:
        raise RuntimeError("Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
                           "incompatible tensor type.")
    if self._requires_grad and value._array.dtype.kind not in dt.DIFFERENTIABLE:
        raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
    give(self, value._array)
    if self._version_counter.__class__ is OwnCell and not value.is_inference():
        self._version_counter = [self._version_counter[0]]


def _refuse_data_in_transform(self, value):
    if mode.vmap_levels and any([isinstance(x, Tensor) and late_bound.vmap.differs(x) for x in (self, value)]):
        raise RuntimeError("mutating directly with `.data` under vmap transform is not allowed.")
    if mode.grad_levels:
        raise RuntimeError("mutating directly with `.data` inside functorch transform is not allowed.")


_class: Any = Tensor                           # the stub of Tensor declares these attributes
_class.requires_grad = property(_requires_grad, _assign_requires_grad)
_class.grad = property(_grad, _set_grad, _del_grad)
_class.grad_dtype = property(_get_grad_dtype, _set_grad_dtype)
_class.grad_fn = property(_grad_fn)
_class.data = property(_data, _set_data)
# The hooks, for code that asks whether there are any: None before the first hook.
_class._backward_hooks = property(said(seen=True)(
    lambda self: self._hooks if self._node is None else self._node.hooks and self._node.hooks.tensor_hooks or None))
_class._post_accumulate_grad_hooks = property(said(seen=True)(
    lambda self: self._accumulating and self._accumulating.tensor_hooks))
_class.output_nr = property(
    lambda self: self._node.saved[0] if self._node is not None and self._node.op is SELECT else 0)


@public(hot=True, method=True, shares=True)
def detach(input: Tensor) -> Tensor:
    """The same memory outside the graph. In-place writes to it count as writes to `input`.

    >>> import tinytorch as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> (x * 2).detach().requires_grad
    False
    """
    tensor = wrap(input._array)
    if tensor._array.__class__ is late_bound.sparse_array:
        return late_bound.sparse("detach", (input,), {})
    tensor._version_counter = version = input._version_counter
    if version.__class__ is not list and not mode.inference:
        tensor._version_counter = OwnCell([0])
    return tensor


@public(method=True)
def detach_(input: Tensor) -> Tensor:
    """Take this tensor out of the graph that made it (not in inference mode). RuntimeError for a view."""
    if mode.inference:
        return input
    if input._is_view():
        raise RuntimeError("Can't detach views in-place. Use detach() instead. If you are using "
                           "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as True, "
                           "gradients are views of DDP buckets, and hence detach_() cannot be called on these "
                           "gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
                           "torch/optim/optimizer.py as the solution.")
    if input._node is not None:
        input._version_counter[0] = Detached(input._version_counter[0])
    input._node, input._requires_grad, input._view_info = None, False, None
    return input


# ------------------------------------------------------------------ running backward
@method("backward", in_python=True, autocast="within")
def backward_method(self: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None,
                    create_graph: bool = False, inputs: TensorsOrEdges | None = None) -> None:
    """Compute the gradients of this tensor with respect to the graph's leaves, into their `.grad`.

    gradient      of this tensor's shape; may be left out for a scalar
    retain_graph  keep the graph for another backward (default: the value of create_graph)
    create_graph  record the computation of the gradients too
    inputs        accumulate into these tensors only

    RuntimeError if no tensor here requires grad, or the graph has been freed by an earlier backward.
    """
    backward.__wrapped__(self, gradient, retain_graph, create_graph, inputs=inputs)      # type: ignore[attr-defined]


@said(autocast="within")
@door
def backward(tensors: TensorsOrEdges, grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
             retain_graph: bool | None = None, create_graph: bool = False,
             grad_variables: Tensor | Sequence[Tensor | None] | None = None,
             inputs: TensorsOrEdges | None = None) -> None:
    """Add the gradients of the sum of `tensors` to the `.grad` of the leaves (see `Tensor.backward`)."""
    if mode.grad_levels:
        raise RuntimeError("backward() called inside a functorch transform. This is not supported, please use "
                           "functorch.grad or functorch.vjp instead or call backward() outside of functorch "
                           "transforms.")
    if grad_variables is not None:
        warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                               "`backward()`. Please only use `grad_tensors`.")
        grad_tensors = grad_variables
    roots = _tuple(tensors)
    grads, untracked = _output_grads(roots, _tuple(grad_tensors, len(roots)))
    ends = None if inputs is None else _tuple(inputs)
    if ends is not None and not ends:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    keep, create_graph = _flags(retain_graph, create_graph)
    if untracked is not None:
        raise _untracked_root(untracked)
    if ends is not None:
        _check_inputs(ends, "can't retain_grad on Tensor that has requires_grad=False")
        for x in ends:                         # from here on, as in torch: once, even if it is named twice
            if isinstance(x, Tensor) and x._node is not None:
                retain_grad(x)
    if create_graph:
        warn("Using backward() with create_graph=True will create a reference cycle between the parameter and "
             "its gradient which can cause a memory leak. We recommend using autograd.grad when creating the "
             "graph to avoid this. If you have to use this function, make sure to reset the .grad fields of "
             "your parameters to None after use to break the cycle and avoid the leak.")
    run_backward(roots, grads, keep, create_graph, ends, True)


@said(autocast="within")
@door
def grad(outputs: TensorsOrEdges, inputs: TensorsOrEdges | dict[Hashable, Tensor],
         grad_outputs: Tensor | Sequence[Tensor | None] | None = None, retain_graph: bool | None = None,
         create_graph: bool = False, only_inputs: bool = True, allow_unused: bool | None = None,
         is_grads_batched: bool = False,
         materialize_grads: bool = False) -> tuple[Tensor | None, ...] | dict[Hashable, Tensor | None]:
    """Gradients of the sum of `outputs` with respect to each of `inputs`, as a tuple (as a dict, if that is one).

    RuntimeError for an input that the outputs do not depend on, unless `allow_unused` (then None)
    or `materialize_grads` (then zeros).

    >>> import tinytorch as torch
    >>> x = torch.tensor(3., requires_grad=True)
    >>> torch.autograd.grad(x ** 2, x)
    (tensor(6.),)
    """
    if inputs.__class__ is dict:
        found = grad(outputs, tuple(inputs.values()), grad_outputs, retain_graph, create_graph, only_inputs,
                     allow_unused, is_grads_batched, materialize_grads)
        return dict(zip(inputs, found))
    if not only_inputs:
        warn("only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
             "gradient for other parts of the graph, please use torch.autograd.backward.", FutureWarning)
    if mode.dual_level is not None:
        create_graph = True                    # the gradients carry tangents
    if is_grads_batched:
        results = _batched_grad(outputs, inputs, grad_outputs, retain_graph, create_graph,
                                allow_unused or materialize_grads)
        return _materialized(inputs, results, create_graph) if materialize_grads else results
    if allow_unused is None:
        allow_unused = materialize_grads
    elif not allow_unused and materialize_grads:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
                         "allow_unused=False.")
    roots, ends = _tuple(outputs), _tuple(inputs)
    if not ends:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    grads, untracked = _output_grads(roots, _tuple(grad_outputs, len(roots)))
    keep, create_graph = _flags(retain_graph, create_graph)
    if untracked is not None:
        raise _untracked_root(untracked)
    _check_inputs(ends)
    results = run_backward(roots, grads, keep, create_graph, ends, False)
    if materialize_grads:
        return _materialized(ends, results, create_graph)
    if not allow_unused and None in results:
        raise RuntimeError(f"The differentiated Tensor at index {results.index(None)} appears to not have been used in "
                           "the graph. Set allow_unused=True if this is the desired behavior.")
    return tuple(results)


def _materialized(inputs, grads, create_graph):
    """The gradients, with zeros like the input in place of None. With `create_graph` the zeros require grad, so that
    they can be differentiated like the others."""
    inputs = _tuple(inputs)
    if any(g is None and isinstance(t, GradientEdge) for t, g in zip(inputs, grads)):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    return tuple([wrap(np.zeros_like(t._array)).requires_grad_(create_graph) if g is None else g
                  for t, g in zip(inputs, grads)])


def _batched_grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused):
    """`grad` for each entry along the first dimension of the given gradients, stacked."""
    roots, batches = _tuple(outputs), _tuple(grad_outputs, len(_tuple(outputs)))
    if any(batch is None and root._array.size != 1 for root, batch in zip(roots, batches)):
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    for i, (root, batch) in enumerate(zip(roots, batches)):
        if batch is not None and batch.shape[1:] != root.shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
                f"output, but a mismatch was detected: grad_output[{i}] has a shape of {batch.shape[2:]} and "
                f"output[{i}] has a shape of {root.shape}. If you only want some tensors in `grad_output` to be "
                "considered batched, consider using vmap.")
    keep = create_graph if retain_graph is None else retain_graph
    sizes = {len(batch) for batch in batches if batch is not None}
    if len(sizes) != 1:
        raise ValueError("vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                         f"{sorted(sizes)} for the mapped dimension")
    return rows_of_grad(roots, _tuple(inputs), batches, keep, create_graph, allow_unused)


def rows_of_grad(roots, inputs, batches, keep, create_graph, allow_unused):
    """`grad` for all rows of the given gradients at once: a tuple of tensors, None for unreached inputs."""
    reached = []

    def of_rows(*rows):
        left = iter(rows)
        found = grad(roots, inputs, [batch if batch is None else next(left) for batch in batches], keep, create_graph,
                     True, allow_unused)
        reached.extend([g is not None for g in found])
        return tuple([g for g in found if g is not None])
    found = iter(late_bound.vmap.over(of_rows, [batch for batch in batches if batch is not None]))
    return tuple([next(found) if is_reached else None for is_reached in reached])


def _tuple(x, length=None):
    if x is None and length is not None:
        return (None,) * length
    return (x,) if isinstance(x, (Tensor, GradientEdge)) else tuple(x)


def _check_inputs(inputs, words="One of the differentiated Tensors does not require grad"):
    for t in inputs:
        if not isinstance(t, (Tensor, GradientEdge)):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")
        if isinstance(t, Tensor) and not t.requires_grad:
            raise RuntimeError(words)


def output_grads(roots: Sequence[Tensor | GradientEdge], grads: Sequence[Tensor | None]) -> list[Tensor]:
    """A gradient for each root: the given one, or ones for a scalar. RuntimeError for an object that cannot be a
    root."""
    found, untracked = _output_grads(roots, grads)
    if untracked is not None:
        raise _untracked_root(untracked)
    return found


def _output_grads(roots, grads):
    """(a gradient for each root: the given one, or ones for a scalar; the number of the first root that requires no
    grad, or None). Gradients beyond the number of roots are ignored. A root that requires no grad is refused later,
    because torch finds other errors first."""
    if len(grads) < len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(grads)} gradients")
    if len(roots) == 1 and _are_usual(roots[0], grads[0]):
        return [grads[0]], None
    checked, untracked = [], None
    for i, (root, g) in enumerate(zip(roots, grads)):
        if isinstance(root, GradientEdge):
            if g is None and root.shape() != ():
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            checked.append(wrap(np.ones((), dt.get_default_dtype().numpy)) if g is None else g)
            continue
        if not isinstance(root, Tensor):
            raise AssertionError("Expected output to be a torch.Tensor")
        refresh(root)
        if not root._requires_grad or root._node is not None and root._node.op is NOWHERE or carries_tangents(root):
            untracked = i if untracked is None else untracked
            if g is None:
                continue
        if g is None:
            g = _implicit_gradient(root)
        elif not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        elif g._array.shape != root._array.shape:
            raise RuntimeError(f"Mismatch in shape: grad_output[{i}] has a shape of {Size(g._array.shape)} and "
                               f"output[{i}] has a shape of {Size(root._array.shape)}.")
        elif dt.is_complex(g._array.dtype) != dt.is_complex(root._array.dtype):
            raise RuntimeError("For complex Tensors, both grad_output and output are required to have the same dtype. "
                               f"Mismatch in dtype: grad_output[{i}] has a dtype of {g.dtype} and output[{i}] has a "
                               f"dtype of {root.dtype}.")
        elif g._array.dtype != root._array.dtype:
            g = g.to(root.dtype)
        checked.append(g)
    return checked, untracked


def _are_usual(root, g):
    """Whether a root and its gradient are what they are in most programs, so that nothing is left to be checked."""
    if root.__class__ is not Tensor or root._node is None or root._view_info is not None or for_tangents_alone.data:
        return False
    if g.__class__ is not Tensor:
        return False
    array, of_root = g._array, root._array
    return (array.__class__ is np.ndarray and of_root.__class__ is np.ndarray
            and array.dtype is of_root.dtype and array.shape == of_root.shape and root._node.op is not NOWHERE)


def _implicit_gradient(root):
    """The gradient of a scalar root for which none was given: one. RuntimeError for any other root."""
    if root._array.size != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if dt.is_complex(root._array.dtype):
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {root.dtype}")
    if root._array.dtype.kind in dt.WIDENED:
        return wrap(dt.cast(np.ones(root._array.shape), root._array.dtype))
    if type(root._array) is not np.ndarray:    # stand-ins fake __class__
        return wrap(np.ones_like(root._array))
    g = wrap(np.empty(root._array.shape, root._array.dtype))         # np.ones takes three times as long
    g._array.fill(1)
    return g


def _untracked_root(number):
    return RuntimeError(f"element {number} of tensors does not require grad and does not have a grad_fn")


def _flags(retain_graph, create_graph):
    """Both flags as bools; retain_graph is create_graph by default. TypeError for a flag that is no integer."""
    if retain_graph is None:
        retain_graph = create_graph
    if retain_graph.__class__ is not bool or create_graph.__class__ is not bool:
        retain_graph, create_graph = operator.index(retain_graph) != 0, operator.index(create_graph) != 0
    return retain_graph, create_graph


# ------------------------------------------------------------------ hooks
@method(in_python=True, leaves=True)
def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    """Call hook(grad) when this tensor's gradient is known; a tensor that it returns replaces the gradient.

    Returns a handle with `remove()`. RuntimeError if the tensor requires no grad.
    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    refresh(self)
    if self._node is not None:
        return add_hook(self._node.extras().tensor_hooks, hook)
    if self._hooks is None:
        self._hooks = {}
    return add_hook(self._hooks, hook)


@method(in_python=True, leaves=True)
def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Call hook(tensor) after its `.grad` has been written. For leaves only."""
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if self._node is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return add_hook(accumulator(self).extras().tensor_hooks, hook)


@method(leaves=True)
def retain_grad(self: Tensor) -> None:
    """Keep the gradient of a tensor that is not a leaf in its `.grad`."""
    if not self.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if mode.grad_levels or mode.vmap_levels:
        _refuse_in_transform("Tensor.retain_grad()", "retain_grad()")
    if self.is_leaf or self.retains_grad:
        return
    self.retains_grad = True
    self._node.extras().kept.append(weakref.ref(self))      # the node must not keep the tensor alive


_class.retains_grad = False
_class._grad_dtype = OWN
_class._accumulating = None        # Extras of the leaf's AccumulateGrad
_class._accumulator = None         # weak reference to the leaf's AccumulateGrad, if it has been asked for


class _VariableType(type):
    """The metaclass of Variable: every tensor is an instance."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor)


class _ExecutionEngine:
    """The parts of torch's engine that libraries use."""

    queue_callback = staticmethod(queue_callback)


class Variable(Tensor, metaclass=_VariableType):
    """The old name of Tensor: `Variable(x, requires_grad=False)` returns x itself, in the graph or not."""

    __torch_function__ = disabled
    _execution_engine = _ExecutionEngine()

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = False,            # type: ignore[misc]
                volatile: None = None) -> Tensor:
        if volatile:
            warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
        tensor: Any = data.detach() if isinstance(data, Tensor) and data._node is None else data
        if requires_grad:
            tensor.requires_grad_()
        return tensor

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing is left to do after __new__."""
