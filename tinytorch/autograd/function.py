"""torch.autograd.Function: operations whose derivative the user writes.

Each call makes one node. Its `ctx`, which forward and backward share, is all that the node saves. The
node's op, one for each subclass, has a joint rule that calls the user's `backward` with Tensors.
"""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..errors import warn
from ..kernels.errstate import as_outside
from ..tensor import Tensor, instance_of, wrap
from . import late_bound
from .forward_ad import check_size, has_tangent
from .grad_mode import mode, no_grad, unrecorded
from .hooks import as_tensor, checked_gradient
from .kept import KeptTensor, output_edge, refuse_none
from .node import FREED, Op, new_node
from .places import count_write
from .saved import FREED_ERROR, SavedTensor
from .torch_function import disabled
from .views import FUNCTION, MULTI, View, check_in_place, has_history, rebase, refresh

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction", "NestedIOFunction",
           "once_differentiable"]


class FunctionCtx:
    """What `forward` passes to `backward`: `save_for_backward`, and any attributes that the user sets."""

    _to_save: tuple[Tensor | None, ...]
    _saved: Any                                # KeptTensors, or FREED
    _dirty: tuple[Tensor, ...]
    _non_differentiable: tuple[Tensor, ...]
    needs_input_grad: tuple[bool, ...]
    saved_for_forward: tuple[Tensor | None, ...]
    _to_save = _saved = _dirty = _non_differentiable = ()
    _materialize, _in_jvp = True, False
    needs_input_grad = saved_for_forward = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors (or None) for backward, which reads them as `ctx.saved_tensors`. Call it at most once."""
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for `jvp`, which reads them as `ctx.saved_for_forward`."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Name the inputs that forward has modified in place. They must be outputs as well."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Name the outputs that have no derivative."""
        self._non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (True, as by default) or None for an output that has no gradient."""
        self._materialize = value

    @property
    def to_save(self) -> tuple[Tensor | None, ...]:
        """The arguments of `save_for_backward`, while forward runs."""
        return self._to_save

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The arguments of `save_for_backward` (in jvp those of `save_for_forward`). RuntimeError if a tensor among
        them has been modified in place since."""
        if self._in_jvp:
            return self.saved_for_forward
        if self._saved is FREED:
            raise RuntimeError(FREED_ERROR)
        return tuple([None if s is None else s.tensor() for s in self._saved])

    @property
    def saved_variables(self) -> tuple[Tensor | None, ...]:
        """`saved_tensors`; deprecated."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self):
        if self._saved is FREED:
            raise RuntimeError(FREED_ERROR)
        return tuple([SavedTensor(refuse_none if s is None else s.pack) for s in self._saved])


class BackwardCFunction(FunctionCtx):
    """The base of a Function's `ctx` and of its node: `forward` and `backward` receive an instance as `ctx`."""

    _forward_cls: Any                          # the Function

    def apply(self, *grads: Tensor | None) -> Any:
        """The Function's `backward`, called with gradients."""
        return backward_of(self._forward_cls)(self, *grads)

    def apply_jvp(self, *tangents: Tensor | None) -> Any:
        """The Function's `jvp`, called with tangents."""
        return self._forward_cls.jvp(self, *tangents)


def backward_of(cls: Any) -> Callable:
    """The `backward` of a Function, or its `vjp`. RuntimeError if it has both."""
    if cls.vjp is Function.vjp:
        return cls.backward
    if cls.backward is not Function.backward:
        raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should "
                           "only implement one of them.")
    return cls.vjp


class Function:
    """Base class of operations whose derivative the user writes: subclass it, call `Sub.apply(...)`.

    forward(ctx, *args)         computes; nothing in it is recorded. Or forward(*args) beside
    setup_context(ctx, inputs, output)
    backward(ctx, *grads)       a gradient, or None, for each argument of forward, from the outputs' gradients
    jvp(ctx, *tangents)         a tangent, or None, for each output, from the arguments' tangents (forward mode)

    All are static methods. Operations in backward are recorded under `create_graph`. torch.func accepts a Function that
    has a setup_context, and torch.func.vmap a Function with `generate_vmap_rule = True` (forward runs unchanged) or
    vmap(info, in_dims, *args)  (output, out_dims) for arguments with batch dimensions

    >>> import tinytorch as torch
    >>> class Exp(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         y = x.exp()
    ...         ctx.save_for_backward(y)
    ...         return y
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         y, = ctx.saved_tensors
    ...         return grad * y
    >>> x = torch.zeros(1, requires_grad=True)
    >>> Exp.apply(x)
    tensor([1.], grad_fn=<ExpBackward>)
    """

    generate_vmap_rule = False
    _ctx_class: type[BackwardCFunction]
    _ops: tuple[Op, Op]                        # the ops of nodes with one output, and with several

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn(f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you "
             "should invoke them on the class itself. Instantiating an autograd function will raise an error "
             "in a future version of PyTorch.", DeprecationWarning)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._ctx_class = type(cls.__name__ + "Backward", (BackwardCFunction,), {"_forward_cls": cls})
        cls._ops = _make_op(cls, False), _make_op(cls, True)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. Please use "
                           "new-style autograd function with static forward method. (Example: "
                           "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)")

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[Any, ...], output: Any) -> None:
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Any) -> Any:
        raise NotImplementedError("You must implement either the backward or vjp method for your custom "
                                  "autograd.Function to use it with backward mode AD.")

    vjp = backward

    @staticmethod
    def jvp(ctx: FunctionCtx, *grad_inputs: Any) -> Any:
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with "
                                  "forward mode AD.")

    @staticmethod
    def vmap(info: Any, in_dims: tuple, *args: Any) -> Any:
        raise NotImplementedError("To use autograd.Function with vmap, you must either override the vmap staticmethod "
                                  "or set generate_vmap_rule=True.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward on `args` and, if one of them requires grad, record it."""
        # In order: transforms of torch.func are asked first; forward runs unrecorded on a new ctx; marks on ctx are
        # checked; then the outputs get a node, or lose their history.
        separate = cls.setup_context is not Function.setup_context
        forward = cls.forward
        if mode.grad_levels or mode.vmap_levels:
            late_bound.custom.check_support(cls)
        if separate:
            bound = inspect.signature(forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, {}
        if mode.vmap_levels and late_bound.custom.has_own_vmap(cls, args):
            if late_bound.custom.is_outside_of_transforms():
                return late_bound.custom.through_vmap(cls, *args)
            forward = functools.partial(late_bound.custom.through_vmap, cls)
        ctx = cls._ctx_class()
        ctx.needs_input_grad = tuple([isinstance(a, Tensor) and has_history(a) for a in args])
        edges = [a._node or a if needed else None for a, needed in zip(args, ctx.needs_input_grad)]
        with unrecorded():
            if separate:
                output = forward(*args)
                cls.setup_context(ctx, args, output)
            else:
                output = forward(ctx, *args, **kwargs)
        multi = isinstance(output, tuple)
        outputs = output if multi else (output,)
        _check_marks(ctx, args, outputs)
        if mode.dual_level is not None and cls.jvp is Function.jvp and any(
                [needed and has_tangent(a) for a, needed in zip(args, ctx.needs_input_grad)]):
            cls.jvp(ctx)                       # raises: the Function has no jvp
        if mode.grad_now and any(ctx.needs_input_grad):
            results = _record(cls, ctx, args, edges, outputs, multi)
        else:
            results = [_unrecorded(o, any(o is a for a in args), _among(o, ctx._dirty)) for o in outputs]
        return tuple(results) if multi else results[0]


# ------------------------------------------------------------------ forward
def _among(x, tensors):
    return any([x is t for t in tensors])


def _check_marks(ctx, args, outputs):
    for i, t in enumerate(ctx._to_save):
        if t is not None and not isinstance(t, Tensor):
            raise TypeError(f"save_for_backward can only save variables, but argument {i} is of type "
                            f"{type(t).__name__}")
    for i, t in enumerate(ctx._dirty):
        if not isinstance(t, Tensor):
            raise RuntimeError(f"mark_dirty can only accept variables, but argument {i} is of type {type(t).__name__}")
        if not _among(t, args):
            warn("ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been "
                 "mutated should be passed to ctx.mark_dirty().")
        if not _among(t, outputs):
            raise RuntimeError("Some elements marked as dirty during the forward method were not returned as output. "
                               "The inputs that are modified inplace must all be outputs of the Function.")
    for t in ctx._non_differentiable:
        if not isinstance(t, Tensor):
            raise RuntimeError(f"mark_non_differentiable only accepts variable arguments, but got {type(t).__name__}")


def _record(cls, ctx, args, edges, outputs, multi):
    """Make the node of this call; returns the outputs with their history."""
    shapes = tuple([o._array.shape if isinstance(o, Tensor) else None for o in outputs])
    node = new_node(cls._ops[multi], edges, (), (), shapes if multi else shapes[0])
    if mode.grad_now is not True:
        mode.grad_now(node, tuple([o._array if isinstance(o, Tensor) else o for o in outputs]), args)
    ctx._inputs = [(a._array.shape, a._array.dtype) if isinstance(a, Tensor) else None for a in args]
    if any([input is not None and input[1] == dt.BFLOAT16 for input in ctx._inputs]):
        node.extras()                          # makes backward check whether this node's gradients are bfloat16
    ctx._outputs = [(o._array.shape, o._array.dtype) if isinstance(o, Tensor) else None for o in outputs]
    ctx._kinds = [_kind(o, args, ctx) for o in outputs]
    results = [_with_node(o, k, node, args, ctx, multi) for k, o in enumerate(outputs)]
    ctx._saved = [None if t is None else KeptTensor(t, node, _number(t, outputs, args, ctx)) for t in ctx._to_save]
    ctx._to_save = ctx._dirty = ctx._non_differentiable = ()     # they would keep the node alive
    node.saved, node.versions = (ctx, None, None), ()
    return results


def _with_node(o, k, node, args, ctx, multi):
    """Output number `k` of a Function with its history, by its kind."""
    if not isinstance(o, Tensor):
        return o
    kind = ctx._kinds[k]
    if kind is CONSTANT:
        return _unrecorded(o, _among(o, args), _among(o, ctx._dirty))
    edge = output_edge(node, k)
    if kind is DIRTY:
        _rewrite(o, edge)
        return o
    if kind is AS_IS:
        o = _alias(o)
    o._node, o._requires_grad = edge, True
    if o._view_info is not None:
        o._view_info.made = MULTI if multi else FUNCTION
    return o


#: Kinds of outputs: without derivative, an input that was modified, an input returned unchanged, a view, a new tensor.
CONSTANT, DIRTY, AS_IS, A_VIEW, NEW = "constant", "dirty", "as is", "view", "new"


def _kind(o, args, ctx):
    if not isinstance(o, Tensor) or o._array.dtype.kind not in dt.DIFFERENTIABLE or _among(o, ctx._non_differentiable):
        return CONSTANT
    if _among(o, ctx._dirty):
        return DIRTY
    if _among(o, args):
        return AS_IS
    return A_VIEW if o._is_view() else NEW


def _number(t, outputs, args, ctx):
    """The number of the output that `t` is; None for an input (unless it is dirty) and for any other tensor."""
    if _among(t, args) and not _among(t, ctx._dirty):
        return None
    return next((k for k, o in enumerate(outputs) if o is t), None)


def _rewrite(tensor, edge):
    """Give a tensor that forward has modified in place its new history."""
    if tensor._requires_grad and tensor._node is None and tensor._view_info is None:
        raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
    check_in_place(tensor)
    count_write(tensor)
    result = wrap(tensor._array)
    result._node, result._requires_grad = edge, True
    rebase(tensor, result)
    refresh(tensor)


def _alias(tensor):
    """A tensor for an input that forward returned unchanged: a view of it."""
    kind = type(tensor)
    alias = instance_of(Tensor if kind.__torch_function__ is disabled else kind)
    alias._array, alias._version_counter = tensor._array, tensor._version_counter
    alias._node, alias._requires_grad = None, False
    alias._view_info = View(tensor, tensor._version_counter[0])
    return alias


def _unrecorded(o, as_is, dirty):
    """An output that has no history."""
    if not isinstance(o, Tensor):
        return o
    if dirty:
        count_write(o)
    if o.requires_grad and (as_is or not o._is_view()):
        return o.detach()
    return _alias(o) if as_is and not dirty else o


# ------------------------------------------------------------------ backward
def _make_op(cls, multi):
    """The op of the nodes of a Function with one output, or with several."""
    def call(ctx):
        raise NotImplementedError("a Function runs by its apply")

    def joint(g, wanted, ctx):
        run = _linear if mode.computing_jvp else _run_backward
        return run(cls, ctx, g if multi else [g], wanted)
    op = Op(call, name=cls.__name__, multi=multi, joint=joint, backward_name=cls.__name__ + "Backward")
    op.function, op.node_classes = cls, {}
    return op


def _run_backward(cls, ctx, grads, wanted):
    """The gradients of the inputs: Tensors if they are recorded, else ndarrays."""
    given = []
    for g, output in zip(grads, ctx._outputs):
        if g is None and ctx._materialize and output is not None:
            g = np.zeros(*output)
        given.append(as_tensor(g))
    backward = backward_of(cls)
    with as_outside():
        results = backward(ctx, *given)
    if ctx._saved and not mode.graph_task.retain_graph:        # the graph is not retained
        ctx._saved = FREED
    if not isinstance(results, tuple):
        results = (results,)
    name, count = cls.__name__ + "Backward", len(wanted)
    if len(results) > count and all(r is None for r in results[count:]):
        results = results[:count]
    if len(results) != count:
        raise RuntimeError(f"function {name} returned an incorrect number of gradients (expected {count}, got "
                           f"{len(results)})")
    return [_checked(name, i, g, ctx._inputs[i], w) for i, (g, w) in enumerate(zip(results, wanted))]


def _type_name(x):
    """The name of a type as C++ prints it: with its module, unless that is builtins."""
    module, name = type(x).__module__, type(x).__name__
    return name if module in ("builtins", "__main__") else f"{module}.{name}"


def _checked(name, i, g, input, wanted):
    """The gradient that backward returned at position i, in the dtype of the input. RuntimeError if it is invalid."""
    if g is None:
        return None
    if input is None:
        raise RuntimeError(f"function {name} returned a gradient different than None at position {i + 1}, but the "
                           "corresponding forward input was not a Variable")
    if not isinstance(g, Tensor):
        raise RuntimeError(f"expected Variable or None (got {_type_name(g)})")
    if not wanted:
        return None
    shape, dtype = input
    if g.is_complex() and not dt.is_complex(dtype):
        raise RuntimeError("Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be "
                           "true, but got false.  (Could this error message be improved?  If so, please report an "
                           "enhancement request to PyTorch.)")
    checked_gradient(g, shape, f"Function {name}", i)
    if g._array.dtype != dtype:
        g = g.to(wrap(np.empty(0, dtype)).dtype)
    return g if mode.grad_now else g._array


# ------------------------------------------------------------------ forward mode
def _linear(cls, ctx, grads, wanted):
    """Tensors whose derivative is `jvp`, in place of the gradients of the inputs. Forward mode differentiates them with
    respect to `grads` to get the tangents of the outputs (see transform_levels.py)."""
    edges = [None if g is None else g._node or g for g in grads]
    node = new_node(PUSH, edges, (ctx, None, None), (), tuple([input and input[0] for input in ctx._inputs]))
    results: list[Any] = [None] * len(wanted)
    for k, input in enumerate(ctx._inputs):
        if wanted[k]:
            results[k] = wrap(np.zeros(*input))
            results[k]._node, results[k]._requires_grad = output_edge(node, k), True
    return results


def _run_jvp(tangents, wanted, ctx):
    """The tangents of the outputs: Tensors if they are recorded, else ndarrays."""
    given = []
    for t, input in zip(tangents, ctx._inputs):
        if t is None and ctx._materialize and input is not None and input[1].kind in dt.DIFFERENTIABLE:
            t = np.zeros(*input)
        t = as_tensor(t)
        given.append(t.clone() if DIRTY in ctx._kinds and t is not None else t)      # jvp modifies it in place
    ctx._in_jvp = True
    try:
        with as_outside():
            results = ctx._forward_cls.jvp(ctx, *given)
    finally:
        ctx._in_jvp = False
    if not isinstance(results, tuple):
        results = (results,)
    if len(results) != len(wanted):
        raise RuntimeError("Function's jvp returned an invalid number of forward gradients (expected "
                           f"{len(wanted)} but got {len(results)})")
    return [_checked_tangent(k, t, ctx, given) for k, t in enumerate(results)]


def _checked_tangent(k, t, ctx, given):
    """The tangent that jvp returned for output k. RuntimeError if it is invalid."""
    if t is not None and not isinstance(t, Tensor):
        raise RuntimeError(f"expected Variable or None (got {type(t).__name__}) for grad output {k}.")
    kind = ctx._kinds[k]
    if kind is CONSTANT:
        if t is not None:
            raise RuntimeError(f"Function's jvp returned a gradient at position {k}, but  the corresponding forward "
                               "output is not a differentiable Tensor.You should return None at that position instead.")
        return None
    if t is None:
        raise RuntimeError("Expected both tensor and its forward grad to be floating point or complex")
    if kind is DIRTY and not _among(t, given):
        raise RuntimeError("An inplace custom Function is not modifying the forward mode gradients inplace. If the "
                           "forward is modifying an input inplace, then the jvp function must modify the corresponding "
                           "gradient inplace.")
    if kind in (AS_IS, A_VIEW) and not t._is_view():
        raise RuntimeError("A custom Function's forward is returning a view (or an input as-is) but the jvp is not "
                           "returning a view.")
    check_size(ctx._outputs[k][0], t)
    return t if mode.grad_now else t._array


def _refuse(x):
    return x


#: The op of a Function's node while tangents are computed: its backward is the Function's jvp.
PUSH = Op(_refuse, name="jvp", multi=True, joint=lambda g, wanted, x: _run_jvp(g, wanted, x))


def _fail(g):
    raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


#: The op of the results of a once-differentiable backward under create_graph: differentiating them raises.
ERROR = Op(_refuse, name="error", rules={"x": _fail}, backward_name="torch::autograd::Error")


def once_differentiable(function: Callable) -> Callable:
    """Decorator for a `backward` that is not differentiable itself: it runs unrecorded, and differentiating its
    results raises RuntimeError."""
    @functools.wraps(function)
    def backward(ctx, *grads):
        with no_grad():
            results = function(ctx, *grads)
        if not mode.grad_now or not any(isinstance(g, Tensor) and g.requires_grad for g in grads):
            return results
        marked = tuple([_marked(r) for r in results]) if isinstance(results, tuple) else _marked(results)
        return marked
    return backward


def _marked(result):
    if result is None:
        return None
    tensor = wrap(result._array)
    tensor._node = new_node(ERROR, (result.detach().requires_grad_(),), (), (), result._array.shape)
    tensor._requires_grad = True
    return tensor


class InplaceFunction(Function):
    """The old base class of functions that may work in place. It adds nothing to Function."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


#: The metaclass of functions, and of the classes of their nodes.
FunctionMeta = type(Function)


class NestedIOFunction(Function):
    """The old class of functions of nested tuples of tensors: `apply` raises NotImplementedError."""

    @classmethod
    def apply(cls, *args, **kwargs):
        raise NotImplementedError("torch.autograd.function.NestedIOFunction is not supported: hand over the tensors "
                                  "themselves")
