"""torch.autograd.functional: products with Jacobians and Hessians, and the matrices themselves.

All of them run a backward, or a backward through a recorded backward. `func` takes tensors and returns
a tensor or a tuple of tensors. Results have a history only with `create_graph`. With `strict` an input
that the result does not depend on is a RuntimeError instead of a zero.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .. import dtypes as dt
from ..tensor import Tensor, wrap
from ..types import _TensorOrTensors
from . import late_bound
from .grad_mode import enable_grad, is_grad_enabled, set_grad_enabled
from .tensor_methods import grad, rows_of_grad
from .transform_levels import Level, handle, pusher, stand_in

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

_OUTPUTS = "outputs of the user-provided function"
_SCALAR_INPUT = ("The vector v can only be None if the input to the user-provided function is a single Tensor with a "
                 "single element.")


# ------------------------------------------------------------------ products
def vjp(func: Callable, inputs: _TensorOrTensors, v: _TensorOrTensors | None = None, create_graph: bool = False,
        strict: bool = False) -> tuple[_TensorOrTensors, _TensorOrTensors]:
    """(func(*inputs), product of `v` with the Jacobian); `v` has the shapes of the outputs.

    `v` may be left out for a single output of one element.

    >>> import tinytorch as torch
    >>> torch.autograd.functional.vjp(torch.exp, torch.zeros(2), torch.ones(2))
    (tensor([1., 1.]), tensor([1., 1.]))
    """
    with enable_grad():
        many_in, inputs = _tensors(inputs, "inputs", "vjp")
        inputs = _tracked(inputs, create_graph)
        many_out, outputs = _tensors(func(*inputs), _OUTPUTS, "vjp")
        _check_tracked(outputs, _UNTRACKED_OUTPUT, strict)
        v = _vector(v, outputs, many_out, "vjp", create_graph,
                    "The vector v can only be None if the user-provided function returns a single Tensor with a single "
                    "element.")
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _grad(outputs, inputs, v, create_graph)
        found = _filled(found, inputs, strict, create_graph, *_BACK)
    return _finished(outputs, create_graph, many_out), _finished(found, create_graph, many_in)


def jvp(func: Callable, inputs: _TensorOrTensors, v: _TensorOrTensors | None = None, create_graph: bool = False,
        strict: bool = False) -> tuple[_TensorOrTensors, _TensorOrTensors]:
    """(func(*inputs), product of the Jacobian with `v`); `v` has the shapes of the inputs.

    `v` may be left out for a single input of one element.

    >>> import tinytorch as torch
    >>> torch.autograd.functional.jvp(torch.exp, torch.zeros(2), torch.ones(2))
    (tensor([1., 1.]), tensor([1., 1.]))
    """
    with enable_grad():
        many_in, inputs = _tensors(inputs, "inputs", "jvp")
        inputs = _tracked(inputs, create_graph)
        v = _vector(v, inputs, many_in, "jvp", create_graph, _SCALAR_INPUT)
        many_out, outputs = _tensors(func(*inputs), _OUTPUTS, "jvp")
        _check_tracked(outputs, _UNTRACKED_OUTPUT, strict)
        dummies = _dummies(outputs)
        back = _grad(outputs, inputs, dummies, True)
        _check_tracked(back, _UNTRACKED_GRADIENT, strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _filled(_grad(back, dummies, v, create_graph), outputs, strict, create_graph, *_BACK_TRICK)
    return _finished(outputs, create_graph, many_out), _finished(found, create_graph, many_out)


def vhp(func: Callable, inputs: _TensorOrTensors, v: _TensorOrTensors | None = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Tensor, _TensorOrTensors]:
    """(func(*inputs), product of `v` with the Hessian); `v` has the shapes of the inputs, func returns one element.

    >>> import tinytorch as torch
    >>> torch.autograd.functional.vhp(lambda x: (x ** 3).sum(), torch.ones(2), torch.ones(2))
    (tensor(2.), tensor([6., 6.]))
    """
    many, inputs, v, outputs, jac = _first_derivative(func, inputs, v, create_graph, strict, "vhp")
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _filled(_grad(jac, inputs, v, create_graph), inputs, strict, create_graph, *_DOUBLE_BACK)
    return _finished(outputs, create_graph, False), _finished(found, create_graph, many)


def hvp(func: Callable, inputs: _TensorOrTensors, v: _TensorOrTensors | None = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Tensor, _TensorOrTensors]:
    """(func(*inputs), product of the Hessian with `v`). For a symmetric Hessian `vhp` returns the same, faster.

    >>> import tinytorch as torch
    >>> torch.autograd.functional.hvp(lambda x: (x ** 3).sum(), torch.ones(2), torch.ones(2))
    (tensor(2.), tensor([6., 6.]))
    """
    many, inputs, v, outputs, jac = _first_derivative(func, inputs, v, create_graph, strict, "hvp")
    with enable_grad():
        dummies = _dummies(inputs)
        back = _grad(jac, inputs, dummies, True)
        _check_tracked(jac, _UNTRACKED_HESSIAN, strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _filled(_grad(back, dummies, v, create_graph), inputs, strict, create_graph, *_DOUBLE_BACK_TRICK)
    return _finished(outputs, create_graph, False), _finished(found, create_graph, many)


def _first_derivative(func, inputs, v, create_graph, strict, name):
    """The first steps of vhp and hvp: (several inputs?, inputs, v, outputs, gradients of the output)."""
    with enable_grad():
        many, inputs = _tensors(inputs, "inputs", name)
        inputs = _tracked(inputs, create_graph)
        v = _vector(v, inputs, many, name, create_graph, _SCALAR_INPUT)
        many_out, outputs = _tensors(func(*inputs), _OUTPUTS, name)
        _check_tracked(outputs, _UNTRACKED_OUTPUT, strict)
        _check_scalar(outputs, many_out, name)
        jac = _grad(outputs, inputs, (None,), True)
        _check_tracked(jac, _UNTRACKED_JACOBIAN, strict)
    return many, inputs, v, outputs, jac


# ------------------------------------------------------------------ matrices
def jacobian(func: Callable, inputs: _TensorOrTensors, create_graph: bool = False, strict: bool = False,
             vectorize: bool = False, strategy: str = "reverse-mode") -> Tensor | Sequence:
    """The Jacobian of `func`, of shape output.shape + input.shape; in tuples by output and input if there are several.

    `vectorize` computes all rows at once. `strategy` "forward-mode" runs func once, and one pass for all elements of
    an input; it needs `vectorize`, and allows neither `create_graph` (NotImplementedError) nor `strict` (RuntimeError).

    >>> import tinytorch as torch
    >>> torch.autograd.functional.jacobian(torch.square, torch.tensor([1., 3.]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function '
                             'has more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, '
                             'prefer to use "reverse-mode".')
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError("torch.autograd.functional.jacobian: `create_graph=True` and "
                                      '`strategy="forward-mode"` are not supported together (yet). Please either set '
                                      '`create_graph=False` or `strategy="reverse-mode"`.')
        return _forward_jacobian(func, inputs, strict, vectorize)
    with enable_grad():
        many_in, inputs = _tensors(inputs, "inputs", "jacobian")
        inputs = _tracked(inputs, create_graph)
        many_out, outputs = _tensors(func(*inputs), _OUTPUTS, "jacobian")
        _check_tracked(outputs, _UNTRACKED_OUTPUT, strict)
        if not vectorize:
            for y in outputs:
                if y.is_complex() and y.requires_grad and y.numel():
                    raise RuntimeError("grad can be implicitly created only for real scalar outputs but got "
                                       f"{y.dtype}")
        if vectorize and strict:
            raise RuntimeError("torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
                               "supported together. Please either set `strict=False` or `vectorize=False`.")
        rows = [_finished(_rows_at_once(y, inputs, create_graph) if vectorize and y.requires_grad and y.numel() else
                          _rows(i, y, inputs, create_graph, strict), create_graph, many_in)
                for i, y in enumerate(outputs)]
    return tuple(rows) if many_out else rows[0]


def _rows(i, output, inputs, create_graph, strict):
    """The Jacobian of one output: a block for each input."""
    columns: list[list[Tensor]] = [[] for _ in inputs]
    for direction in _basis(output):
        for k, (x, g) in enumerate(zip(inputs, _grad((output,), inputs, (direction,), create_graph, True))):
            if strict and g is None:
                raise RuntimeError(f"Output {i} of the user-provided function is independent of input {k}. This is not "
                                   "allowed in strict mode.")
            if strict and create_graph and not g.requires_grad:
                raise RuntimeError("The jacobian of the user-provided function is independent of "
                                   f"input {i}. This is not allowed in strict mode when create_graph=True.")
            columns[k].append(_zeros(x) if g is None else g)
    return tuple(_block(column, 0, output.shape + x.shape, x) for column, x in zip(columns, inputs))


def _rows_at_once(output, inputs, create_graph):
    """`_rows` for all elements of the output at once."""
    found = rows_of_grad((output,), inputs, (_directions(output),), True, create_graph, True)
    shapes = [output.shape + x.shape for x in inputs]
    return tuple([wrap(np.zeros(shape, x._array.dtype)) if g is None else g.reshape(shape)
                  for g, x, shape in zip(found, inputs, shapes)])


def _directions(x):
    """A batch with one row for each element of `x`: that element is one, all others are zero."""
    return wrap(dt.cast(np.eye(x._array.size), x._array.dtype).reshape(-1, *x._array.shape))


def _forward_jacobian(func, inputs, strict, vectorize):
    if strict:
        raise RuntimeError('torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not '
                           'supported together (yet). Please either set `strict=False` or `strategy="reverse-mode"`.')
    many_in, inputs = _tensors(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly "
                                  "implemented for `vectorize=True`.")
    with Level(forward=True) as level:
        duals = [stand_in(x, level) for x in inputs]
        handles = [handle(x) for x in duals]
        many_out, outputs = _tensors(func(*duals), "outputs", None)
    push = pusher(outputs, handles)
    blocks: list[list[Tensor]] = [[] for _ in outputs]
    for k, x in enumerate(inputs):
        if not x._array.size:
            for i, y in enumerate(outputs):
                blocks[i].append(_block([], -1, y.shape + x.shape, y))
            continue

        def column(direction, k=k):
            found = push([direction if i == k else _zeros(other) for i, other in enumerate(inputs)])
            return tuple([_zeros(y) if t is None else t for y, t in zip(outputs, found)])
        for i, (y, found) in enumerate(zip(outputs, late_bound.vmap.over(column, [_directions(x)]))):
            blocks[i].append(found.movedim(0, -1).reshape(y.shape + x.shape))
    found = blocks if many_in else tuple([row for row, in blocks])
    return found if many_out else found[0]     # lists for several inputs, as in torch


def hessian(func: Callable, inputs: _TensorOrTensors, create_graph: bool = False, strict: bool = False,
            vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode") -> Tensor | Sequence:
    """The Hessian of `func`, which returns one element: of shape input.shape + input.shape; in tuples of tuples for
    several inputs.

    The other arguments are those of `jacobian`, which is applied to the gradient.

    >>> import tinytorch as torch
    >>> torch.autograd.functional.hessian(lambda x: (x ** 3).sum(), torch.tensor([1., 2.]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    many, inputs = _tensors(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def scalar(*inputs):
        many_out, outputs = _tensors(func(*inputs), _OUTPUTS, "hessian")
        _check_tracked(outputs, _UNTRACKED_OUTPUT, strict)
        _check_scalar(outputs, many_out, "hessian")
        return outputs[0].squeeze()

    def gradient(*inputs):
        found = jacobian(scalar, inputs, create_graph=True)
        _check_tracked(found, _UNTRACKED_JACOBIAN, strict)
        return found
    rows = jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return rows if many else rows[0][0]


# ------------------------------------------------------------------ arguments and results
def _tensors(x, what, function):
    """(whether it is a tuple, the tuple). TypeError for an element that is no tensor."""
    many = isinstance(x, tuple)
    for i, t in enumerate(x if many else (x,)):
        if not isinstance(t, Tensor):
            place = f"value at index {i}" if many else f"given {what}"
            raise TypeError(f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but the "
                            f"{place} has type {type(t)}.")
    return many, x if many else (x,)


def _tracked(inputs, create_graph):
    """New tensors to differentiate by, so that the original tensors are constants where the function captures them."""
    return tuple(x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in inputs)


def _vector(v, like, many, function, create_graph, missing):
    """The vector of a product as a tuple. RuntimeError if it does not fit the tensors `like`."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(missing)
        return (None,)
    _, v = _tensors(v, "v", function)
    if len(v) != len(like):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}." if many else
                           "The given v should contain a single Tensor.")
    for i, (given, wanted) in enumerate(zip(v, like)):
        if given.shape != wanted.shape:
            raise RuntimeError((f"Entry {i} in " if many else "") + f"v has invalid size: should be {wanted.shape} but "
                               f"got {given.shape}.")
    return tuple(x if create_graph and x.requires_grad else x.detach() for x in v)


def _check_scalar(outputs, many, function):
    if many:
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {function} should contain a single element")


def _grad(outputs, inputs, grads, create_graph, retain_graph=None):
    """Gradients from the outputs that require grad; None for inputs that they do not reach."""
    pairs = [(y, g) for y, g in zip(outputs, grads) if y is not None and y.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    return grad([y for y, _ in pairs], inputs, [g for _, g in pairs], retain_graph, create_graph, allow_unused=True)


def _dummies(tensors):
    """The points where the derivative of a backward is taken. A backward is linear, so their values do not matter."""
    return tuple(_zeros(x).requires_grad_() for x in tensors)


def _zeros(x):
    return wrap(np.zeros_like(x._array))


def _basis(x):
    """For each element of `x`, the tensor in which that element is one, and all others are zero."""
    for k in range(x.numel()):
        e = np.zeros_like(x._array, order="C")
        e.reshape(-1)[k] = dt.cast(np.ones(()), e.dtype)
        yield wrap(e)


def _block(tensors, dim, shape, like):
    return late_bound.stack(tensors, dim).reshape(shape) if tensors else wrap(np.zeros(shape, like._array.dtype))


def _finished(tensors, create_graph, many):
    tensors = tuple(t if create_graph else t.detach() for t in tensors)
    return tensors if many else tensors[0]


# ------------------------------------------------------------------ strict mode
_USER = "The output of the user-provided function is independent of "
_UNTRACKED_OUTPUT = ("Output {} of the user-provided function does not require gradients. The outputs must be computed "
                     "in a differentiable manner from the input when running in strict mode.")
_UNTRACKED_GRADIENT = ("The gradient with respect to input {} is independent of the inputs of the user-provided "
                       "function. This is not allowed in strict mode.")
_UNTRACKED_JACOBIAN = ("While computing the hessian, found that the jacobian of the user-provided function with "
                       "respect to input {} is independent of the input. This is not allowed in strict mode. You "
                       "should ensure that your function is twice differentiable and that the jacobian depends on the "
                       "inputs (this would be violated by a linear function for example).")
_UNTRACKED_HESSIAN = ("The hessian of the user-provided function with respect to input {} is independent of the input. "
                      "This is not allowed in strict mode. You should ensure that your function is thrice "
                      "differentiable and that the hessian depends on the inputs.")

# At each stage: the message for a missing gradient, and for a gradient without history.
_NO_HISTORY = ("The {} of the user-provided function is independent of input {{}}. This is not allowed in strict mode "
               "when create_graph=True.")
_BACK = (_USER + "input {}. This is not allowed in strict mode.", _NO_HISTORY.format("jacobian"))
_BACK_TRICK = ("The gradient with respect to the input is independent of entry {} in the grad_outputs when using the "
               "double backward trick to compute forward mode gradients. This is not allowed in strict mode.", _BACK[1])
_DOUBLE_BACK = ("The jacobian of the user-provided function is independent of input {}. This is not allowed in "
                "strict mode.", _NO_HISTORY.format("hessian"))
_DOUBLE_BACK_TRICK = ("The hessian of the user-provided function is independent of entry {} in the grad_jacobian. This "
                      "is not allowed in strict mode as it prevents from using the double backward trick to replace "
                      "forward mode AD.", _DOUBLE_BACK[1])


def _check_tracked(tensors, message, strict):
    """In strict mode, RuntimeError for a tensor without history."""
    for i, t in enumerate(tensors if strict else ()):
        if t is None:
            raise RuntimeError(f"{_USER}input {i}. This is not allowed in strict mode.")
        if not t.requires_grad:
            raise RuntimeError(message.format(i))


def _filled(grads, like, strict, create_graph, missing, no_history):
    """The gradients, with zeros in place of missing ones; RuntimeErrors in strict mode."""
    for i, g in enumerate(grads):
        if strict and g is None:
            raise RuntimeError(missing.format(i))
        if strict and create_graph and not g.requires_grad:
            raise RuntimeError(no_history.format(i))
    return tuple(_zeros(x) if g is None else g for g, x in zip(grads, like))


# ------------------------------------------------------------------ private functions of torch that libraries use
def _as_tuple(inp, arg_name=None, fn_name=None):
    """(whether `inp` is a tuple, the tuple); TypeError for an element that is no tensor. Without names, the tuple
    alone."""
    if arg_name is None and fn_name is None:
        return inp if isinstance(inp, tuple) else (inp,)
    return _tensors(inp, arg_name, fn_name)


def _grad_postprocess(inputs, create_graph):
    """Tensors, or tuples of tensors, without their history unless `create_graph`."""
    if create_graph or not inputs:
        return inputs
    if isinstance(inputs[0], Tensor):
        return tuple([x.detach() for x in inputs])
    return tuple([_grad_postprocess(x, create_graph) for x in inputs])


def _tuple_postprocess(res, to_unpack):
    """Undo the tuples that `_as_tuple` made: `res` stays a tuple if to_unpack, or to_unpack[0], is true, and its
    members stay tuples if to_unpack[1] is true."""
    outer, inner = to_unpack if isinstance(to_unpack, tuple) else (to_unpack, True)
    res = res if inner else tuple([x[0] for x in res])
    return res if outer else res[0]


def _construct_standard_basis_for(tensors, tensor_numels):
    """For each tensor its block of the identity matrix, with a column for each of its elements."""
    total, start, found = sum(tensor_numels), 0, []
    for x, count in zip(tensors, tensor_numels, strict=True):
        rows = x.new_zeros(total, count)
        rows.diagonal(-start).fill_(1)
        found.append(rows)
        start += count
    return tuple(found)
