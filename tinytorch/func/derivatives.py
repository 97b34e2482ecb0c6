"""Transforms that differentiate: grad, vjp, jvp, linearize, jacrev, jacfwd, hessian.

They nest in any order. A transform differentiates with respect to its arguments, even if an enclosing `no_grad` stops
ordinary recording. A `no_grad` inside the function has its effect. The results have a history only if tensors outside
the transform have one.
"""
import functools

import numpy as np

from .. import dtypes as dt
from ..autograd.tensor_methods import output_grads
from ..autograd.transform_levels import Transform, handle, is_tracked, pull, pusher, release, stand_in
from ..ops.creation.factories import zeros, zeros_like
from ..tensor import Tensor, wrap
from ..utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten
from .batched import Batched, new_batch
from .batching import check_randomness, draws, vmap


# ------------------------------------------------------------------ reverse mode
def vjp(func, *primals, has_aux=False):
    """(func(*primals), vjp_fn): vjp_fn takes cotangents, a tree like the outputs, and returns a tuple of
    vector-Jacobian products, one for each primal (for a single primal the product itself, in a tuple).

    With `has_aux` func returns (output, aux) and the result is (output, vjp_fn, aux). RuntimeError for
    outputs that are not floating or complex tensors, and for cotangents of another structure.

    >>> import tinytorch as torch
    >>> y, f = torch.func.vjp(torch.square, torch.tensor([1., 2.]))
    >>> f(torch.ones(2))
    (tensor([2., 4.]),)
    """
    return _vjp(func, primals, None, has_aux)


def _vjp(func, args, argnums, has_aux):
    with Transform() as level:
        chosen = args if argnums is None else _chosen(args, argnums)
        leaves, spec = tree_flatten(chosen)
        inner = [_differentiable(x, level) for x in leaves]
        stood_in = tree_unflatten(inner, spec)
        output = func(*(stood_in if argnums is None else _replaced(args, stood_in, argnums)))
        output, aux = _with_aux(output, has_aux, "vjp(f, *primals)")
        outputs, output_spec = tree_flatten(output)
        _check_outputs(outputs)
    results = tree_unflatten([release(y) for y in outputs], output_spec)

    def vjp_fn(cotangents, retain_graph=True, create_graph=None):
        grads, cotangent_spec = tree_flatten(cotangents)
        if cotangent_spec != output_spec:
            raise RuntimeError("Expected pytree structure of cotangents to be the same as pytree structure of outputs "
                               f"to the function. cotangents: {cotangent_spec.pretty()}, primal output: "
                               f"{output_spec.pretty()}")
        pairs = [(y, g) for y, g in zip(outputs, grads) if is_tracked(y)]
        roots = [y for y, _ in pairs]
        found = pull(roots, output_grads(roots, [g for _, g in pairs]), inner)
        return tree_unflatten([zeros_like(x) if g is None else g for x, g in zip(leaves, found)], spec)

    return (results, vjp_fn, _released(aux)) if has_aux else (results, vjp_fn)


def grad(func, argnums=0, has_aux=False):
    """The function that computes the gradient of `func`, which returns a scalar tensor, with respect to its
    argument (a tensor or a tree of tensors) at position `argnums`; a tuple of positions gives a tuple.

    With `has_aux` func returns (output, aux) and the result is (gradient, aux).

    >>> import tinytorch as torch
    >>> torch.func.grad(torch.func.grad(lambda x: x ** 3))(torch.tensor(2.))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @_wraps(func)
    def wrapper(*args, **kwargs):
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found
    return wrapper


def grad_and_value(func, argnums=0, has_aux=False):
    """As `grad`, but the function returns (gradient, value), or (gradient, (value, aux)).

    >>> import tinytorch as torch
    >>> torch.func.grad_and_value(torch.square)(torch.tensor(3.))
    (tensor(6.), tensor(9.))
    """
    @_wraps(func)
    def wrapper(*args, **kwargs):
        where = "grad_and_value(f)(*args)"
        with Transform() as level:
            leaves, spec = tree_flatten(_chosen(args, argnums))
            inner = [_differentiable(x, level) for x in leaves]
            output = func(*_replaced(args, tree_unflatten(inner, spec), argnums), **kwargs)
            output, aux = _with_aux(output, has_aux, where)
            if not isinstance(output, Tensor):
                raise RuntimeError(f"{where}: Expected f(*args) to return a Tensor, got {type(output)}")
            if output.dim():
                raise RuntimeError(f"{where}: Expected f(*args) to return a scalar Tensor, got tensor with "
                                   f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?")
        roots = [output] if is_tracked(output) else []
        found = pull(roots, output_grads(roots, [None] * len(roots)), inner)
        found = [zeros_like(x) if g is None else g for x, g in zip(leaves, found)]
        value = release(output)
        found = tree_unflatten(found, spec)
        if isinstance(argnums, int):
            found = found[0]
        return found, (value, _released(aux)) if has_aux else value
    return wrapper


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """The function that computes the Jacobian of `func` by reverse mode, which needs a backward for each element of the
    output. For an output of shape A and an argument of shape B it has shape A + B; trees and tuples of
    arguments give trees within the tree of the output.

    All rows are computed at once, or `chunk_size` at a time.
    RuntimeError for complex arguments or outputs.

    >>> import tinytorch as torch
    >>> torch.func.jacrev(torch.square)(torch.tensor([1., 3.]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @_wraps(func)
    def wrapper(*args):
        _refuse_complex("jacrev", args, "inputs")
        output, vjp_fn, *aux = _vjp(func, args, argnums, has_aux)
        outputs, spec = tree_flatten(output)
        _refuse_complex("jacrev", output, "outputs")
        inputs, input_spec = tree_flatten(_chosen(args, argnums))
        count = [y.numel() for y in outputs]
        if sum(count):
            found = vmap(lambda *rows: tuple(tree_leaves(vjp_fn(tree_unflatten(rows, spec)))),
                         chunk_size=chunk_size)(*_basis(outputs, count))
            found = zip(*[x.split(count) for x in found])
        else:
            found = [[zeros((0, *x.shape), dtype=x.dtype) for x in inputs] for _ in outputs]
        rows = [_as_given(tree_unflatten([_for_each(block.reshape(y.shape + x.shape), y)
                                          for block, x in zip(blocks, inputs)], input_spec), argnums)
                for blocks, y in zip(found, outputs)]
        jacobian = tree_unflatten(rows, spec)
        return (jacobian, aux[0]) if has_aux else jacobian
    return wrapper


# ------------------------------------------------------------------ forward mode
def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(func(*primals), its derivative at the tuple `primals` in the direction `tangents`).

    With `has_aux` func returns (output, aux) and the result is (output, derivative, aux). `strict`:
    RuntimeError for an output that does not depend on the primals (otherwise its derivative is zero).

    >>> import tinytorch as torch
    >>> torch.func.jvp(torch.square, (torch.tensor(3.),), (torch.tensor(1.),))
    (tensor(9.), tensor(6.))
    """
    where = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{where}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    leaves, spec = tree_flatten(primals)
    directions, tangent_spec = tree_flatten(tangents)
    if spec != tangent_spec:
        raise RuntimeError(f"{where}: Expected primals and tangents to have the same python structure. For example, if "
                           f"primals is a tuple of 3 tensors, tangents also must be. Got primals with structure {spec} "
                           f"and tangents with structure {tangent_spec}")
    for name, trees in (("primals", leaves), ("tangents", directions)):
        _need_tensors(trees, where, name)
    results, push, aux = _push_forward(func, primals, None, has_aux, where)
    for x, t in zip(leaves, directions):
        _check_tangent(x, t)
    outputs, output_spec = tree_flatten(results)
    found = push(directions)
    if strict and None in found:
        raise RuntimeError("jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. "
                           "This is not allowed with strict=True.")
    found = tree_unflatten([zeros_like(y) if t is None else t for y, t in zip(outputs, found)], output_spec)
    return (results, found, aux) if has_aux else (results, found)


def _push_forward(func, args, argnums, has_aux, where):
    """(outputs, function of flat tangents to flat derivatives of the outputs, aux)."""
    with Transform(forward=True) as level:
        chosen = args if argnums is None else _chosen(args, argnums)
        leaves, spec = tree_flatten(chosen)
        for x in leaves:
            if not (x.is_floating_point() or x.is_complex()):
                raise ValueError(f"Expected primal to be floating point or complex, but got: {x.dtype}")
        inner = [stand_in(x, level) for x in leaves]
        handles = [handle(x) for x in inner]
        stood_in = tree_unflatten(inner, spec)
        output = func(*(stood_in if argnums is None else _replaced(args, stood_in, argnums)))
        output, aux = _with_aux(output, has_aux, where)
        outputs, output_spec = tree_flatten(output)
        for y in outputs:
            if not isinstance(y, Tensor):
                raise RuntimeError(f"{where}: expected f(*primals) to return only tensors, got unsupported type "
                                   f"{type(y)}")
    push = pusher(outputs, handles)
    return tree_unflatten([release(y) for y in outputs], output_spec), push, _released(aux)


def linearize(func, *primals):
    """(func(*primals), jvp_fn): jvp_fn(*tangents) is the derivative at the primals in that direction; it
    does not run func again. Outputs of func that are not tensors are in both results, unchanged.

    >>> import tinytorch as torch
    >>> y, f = torch.func.linearize(torch.square, torch.tensor(3.))
    >>> f(torch.tensor(1.)), f(torch.tensor(10.))
    (tensor(6.), tensor(60.))
    """
    leaves, spec = tree_flatten(primals)
    _need_tensors(leaves, "linearize", "primals")
    others, output_spec = [], None             # of each output: None if it is a tensor, (output,) if not

    def tensors(*args):
        nonlocal others, output_spec
        outputs, output_spec = tree_flatten(func(*args))
        others = [None if isinstance(y, Tensor) else (y,) for y in outputs]
        return [y for y in outputs if isinstance(y, Tensor)]

    def whole(found):
        found = iter(found)
        return tree_unflatten([next(found) if other is None else other[0] for other in others], output_spec)

    outputs, push, _ = _push_forward(tensors, primals, None, False, "linearize")

    def jvp_fn(*tangents):
        directions, tangent_spec = tree_flatten(tangents)
        if tangent_spec != spec:
            raise RuntimeError(f"Expected the tangents {tangent_spec} to have the same argspec as the primals {spec}")
        for i, (x, t) in enumerate(zip(leaves, directions)):
            for what in ("shape", "device", "dtype"):
                if getattr(t, what) != getattr(x, what):
                    raise RuntimeError(f"tangent:{i} with {what} {getattr(t, what)} in flattened pytree doesn't match "
                                       f"the {what} {getattr(x, what)} of the corresponding primal.")
        found = push(directions)
        return whole([zeros_like(y) if t is None else t for y, t in zip(outputs, found)])
    return whole(outputs), jvp_fn


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """As `jacrev`, but by forward mode: the function runs once, and one pass for all elements of the arguments follows.

    >>> import tinytorch as torch
    >>> torch.func.jacfwd(torch.square)(torch.tensor([1., 3.]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    @_wraps(func)
    def wrapper(*args):
        _refuse_complex("jacfwd", args, "inputs")
        check_randomness(randomness)
        inputs, input_spec = tree_flatten(_chosen(args, argnums))
        with draws(randomness):
            results, push, aux = _push_forward(func, args, argnums, has_aux, "jvp(f, primals, tangents)")
        outputs, spec = tree_flatten(results)
        _refuse_complex("jacfwd", results, "outputs")
        count = [x.numel() for x in inputs]
        if sum(count):
            def columns(*tangents):
                return tuple([zeros_like(y) if t is None else t for y, t in zip(outputs, push(tangents))])
            found = vmap(columns, out_dims=-1, randomness=randomness)(*_basis(inputs, count))
            blocks = [[_for_each(block.reshape(y.shape + x.shape), x) for block, x in zip(row.split(count, -1), inputs)]
                      for row, y in zip(found, outputs)]
        else:
            blocks = [[zeros(y.shape + x.shape, dtype=y.dtype) for x in inputs] for y in outputs]
        rows = [_as_given(tree_unflatten(row, input_spec), argnums) for row in blocks]
        jacobian = tree_unflatten(rows, spec)
        return (jacobian, aux) if has_aux else jacobian
    return wrapper


def hessian(func, argnums=0):
    """The function that computes the Hessian of `func`, forward over reverse: jacfwd(jacrev(func)).

    >>> import tinytorch as torch
    >>> torch.func.hessian(lambda x: (x ** 3).sum())(torch.tensor([1., 2.]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)


# ------------------------------------------------------------------ arguments and results
def _wraps(func):
    return functools.wraps(func) if hasattr(func, "__name__") else lambda wrapper: wrapper


def _differentiable(x, level):
    if not isinstance(x, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    return stand_in(x, level, leaf=True)


def _with_aux(output, has_aux, where):
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(f"{where}: output of function f should be a tuple: (output, aux) if has_aux is True")
    for x in tree_leaves(output[1]):
        if not isinstance(x, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
    return output


def _released(tree):
    return tree_map(lambda x: release(x) if isinstance(x, Tensor) else x, tree)


def _check_outputs(outputs):
    if not outputs:
        raise RuntimeError("vjp(f, *primals): Expected f to be a function that has non-empty output (got output = "
                           f"{outputs})")
    for y in outputs:
        if not isinstance(y, Tensor):
            raise RuntimeError(f"vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type "
                               f"{type(y)}")
        if not (y.is_floating_point() or y.is_complex()):
            raise RuntimeError("vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor "
                               f"with dtype {y.dtype}")


def _need_tensors(leaves, where, name):
    if not leaves:
        raise RuntimeError(f"{where}: Expected {name} to contain at least one Tensor.")
    for x in leaves:
        if not isinstance(x, Tensor):
            raise RuntimeError(f"{where}: Expected {name} to only contain Tensors, got {type(x)}")


def _check_tangent(x, t):
    if not (t.is_floating_point() or t.is_complex()):
        raise ValueError(f"Expected tangent to be floating point or complex, but got: {t.dtype}")
    if t.shape != x.shape:
        raise RuntimeError("Trying to set a forward gradient that has a different size than that of the original "
                           f"Tensor, this is not supported. Tensor is of size {list(x.shape)} while the given forward "
                           f"gradient is of size {list(t.shape)}.")


def _refuse_complex(name, tree, what):
    for i, x in enumerate(tree_leaves(tree)):
        if isinstance(x, Tensor) and x.is_complex():
            raise RuntimeError(f"{name}: Expected all {what} to be real but received complex tensor at flattened input "
                               f"idx: {i}")


def _positions(argnums, count):
    """`argnums` as a tuple of positions that count from the front. RuntimeError for positions that are out of range."""
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    found = []
    for k in (argnums,) if isinstance(argnums, int) else argnums:
        if not isinstance(k, int):
            raise RuntimeError(f"argnum must be int, got: {type(k)}")
        if not -count <= k < count:
            raise RuntimeError(f"Got argnum={k}, but only {count} positional inputs")
        found.append(k % count)
    if not found:
        raise RuntimeError("argnums must be non-empty")
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return tuple(found)


def _chosen(args, argnums):
    return tuple(args[k] for k in _positions(argnums, len(args)))


def _replaced(args, new, argnums):
    args = list(args)
    for k, x in zip(_positions(argnums, len(args)), new):
        args[k] = x
    return args


def _as_given(tree, argnums):
    return tree[0] if isinstance(argnums, int) else tree


def _for_each(block, tensor):
    """A block of a Jacobian. Within a `vmap` each sample of `tensor` has its own block, as in torch, even if the block
    is the same for all samples, because the program may write to it."""
    if type(tensor._array) is not Batched or type(block._array) is Batched:
        return block
    return block + wrap(new_batch(tensor._array, block._array.shape, block._array.dtype))


def _basis(tensors, count):
    """The standard basis of all elements of the tensors together: for each tensor an array with one row for each basis
    vector. `count` is the number of elements."""
    rows, first, found = sum(count), 0, []
    for x, n in zip(tensors, count):
        e = zeros((rows, n), dtype=x.dtype)
        e._array[range(first, first + n), range(n)] = dt.cast(np.ones(()), e._array.dtype)
        found.append(e.reshape(rows, *x.shape))
        first += n
    return found
