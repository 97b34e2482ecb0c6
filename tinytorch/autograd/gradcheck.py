"""gradcheck and gradgradcheck: derivatives against central differences.

The numerical derivative perturbs the inputs' memory directly, one element at a time; `fast_mode`
compares one random projection of the Jacobian instead of all of it. The derivative of a real
number s by a complex input x + iy is ds/dx + i ds/dy, torch's convention; the real and imaginary
parts of complex outputs are checked one after the other.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..errors import warn
from ..tensor import Tensor, wrap
from ..types import _TensorOrTensors
from .node import Node
from .paths import reached_by
from .tensor_methods import grad, rows_of_grad
from .transform_levels import Level, handle, pusher, stand_in

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """Raised by gradcheck and gradgradcheck if the derivatives differ."""


def gradcheck(func: Callable, inputs: _TensorOrTensors, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
              raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
              check_grad_dtypes: bool = False, check_batched_grad: bool = False,
              check_batched_forward_grad: bool = False, check_forward_ad: bool = False, check_backward_ad: bool = True,
              fast_mode: bool = False, masked: bool | None = None) -> bool:
    """True if the gradients of func(*inputs) agree with central differences, for inputs that require grad.

    eps, atol, rtol       step of the differences; tolerances of the comparison
    raise_exception       False: return False instead of raising GradcheckError
    nondet_tol            by how much two backward passes may differ
    check_undefined_grad  outputs without a gradient must count as zeros
    check_grad_dtypes     gradients must have the dtype of their input
    check_batched_grad    accepted and not used, like check_batched_forward_grad: gradients are not batched here
    check_forward_ad      check forward mode too; check_backward_ad=False checks forward mode alone
    fast_mode             compare a random projection of the Jacobian
    masked                accepted and not used: it applies to sparse tensors

    ValueError if no input requires grad. Inputs should be of double precision.

    >>> import tinytorch as torch
    >>> torch.autograd.gradcheck(torch.sin, torch.tensor([1., 2.], dtype=torch.double, requires_grad=True))
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    inputs = _as_tuple(inputs)
    _check_inputs(inputs)
    check = _Check(func, inputs, eps, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode)
    try:
        if not check.outputs:
            check.no_derivative()
        if check_backward_ad:
            check.backward()
        if check_forward_ad:
            check.forward()
        if check_backward_ad:
            check.linear_in_gradient()
            if check_undefined_grad:
                check.undefined_gradients()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func: Callable, inputs: _TensorOrTensors, grad_outputs: _TensorOrTensors | None = None, *,
                  eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False,
                  raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
                  check_grad_dtypes: bool = False, check_batched_grad: bool = False, check_fwd_over_rev: bool = False,
                  check_rev_over_rev: bool = True, fast_mode: bool = False, masked: bool = False) -> bool:
    """True if the second derivatives of func(*inputs) agree with differences of the first ones: it runs `gradcheck` on
    the gradients as functions of the inputs and of the outputs' gradients (random, unless `grad_outputs` is given).

    check_fwd_over_rev           check forward mode through the backward too
    gen_non_contig_grad_outputs  the random gradients have gaps in memory

    >>> import tinytorch as torch
    >>> torch.autograd.gradgradcheck(torch.sin, torch.tensor([1., 2.], dtype=torch.double, requires_grad=True))
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    for name, flag in (("check_undefined_grad", check_undefined_grad), ("check_batched_grad", check_batched_grad)):
        if flag and not check_rev_over_rev:
            raise AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True")
    inputs = _as_tuple(inputs)
    if grad_outputs is None:
        grad_outputs = tuple(_random_gradient(y, gen_non_contig_grad_outputs) for y in _differentiable(func(*inputs)))
    else:
        grad_outputs = _as_tuple(grad_outputs)
    count = len(grad_outputs)
    wanted = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]

    def first_derivative(*args):
        outputs = _differentiable(func(*args[:-count]))
        found = grad(outputs, [args[i] for i in wanted], args[-count:], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(first_derivative, (*inputs, *grad_outputs), eps=eps, atol=atol, rtol=rtol,
                     raise_exception=raise_exception, nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad,
                     check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
                     check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev, fast_mode=fast_mode,
                     masked=masked)


class _Check:
    """The checks of one function at one point. A failed check raises GradcheckError."""

    def __init__(self, func, inputs, eps, atol, rtol, nondet_tol, check_dtypes, fast):
        self.func, self.inputs, self.eps, self.atol, self.rtol = func, inputs, eps, atol, rtol
        self.nondet_tol, self.check_dtypes, self.fast = nondet_tol, check_dtypes, fast
        self.wanted = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
        self.all_outputs = _as_tuple(func(*inputs))
        self.outputs = _differentiable(self.all_outputs)
        self._requires_grad = [y.requires_grad for y in self.all_outputs]
        random = np.random.default_rng(0)
        # The directions and weights of the comparison: every element of an input, or one random direction.
        self.directions = [[_unit(random, x._array)] if fast else list(_basis(x._array)) for x in self.wanted]
        self.weights = [[_unit(random, y._array.real)] if fast else list(_basis(y._array.real)) for y in self.outputs]
        self._slopes = {}

    # -------------------------------------------------------------- numerical
    def slopes(self, j):
        """For each direction of input `j`, and for its real and imaginary part: the derivatives of all outputs."""
        if j not in self._slopes:
            factors = (1, 1j) if self.wanted[j].is_complex() else (1,)
            self._slopes[j] = [[self._slope(self.wanted[j]._array, d * f) for f in factors] for d in self.directions[j]]
        return self._slopes[j]

    def _slope(self, x, direction):
        original = x.copy()
        values = []
        for sign in (1, -1):
            x[...] = original + sign * self.eps * direction
            try:                               # copies: an output may be a view of x
                values.append([y._array.copy() for y in _as_tuple(self.func(*self.inputs))])
            finally:
                x[...] = original
        for i, (a, b) in enumerate(zip(*values)):
            if a.shape != b.shape or a.dtype != b.dtype:
                what = "shape" if a.shape != b.shape else "dtype"
                raise RuntimeError(f"Expected `func` to return outputs with the same {what} when inputs are perturbed "
                                   f"on index {i} by {self.eps}, but got: {what}s {getattr(a, what)} and "
                                   f"{getattr(b, what)}.")
        return [(a - b) / (2 * self.eps) if a.dtype.kind in dt.NATIVE + dt.COMPLEX else np.zeros(a.shape)
                for a, b in zip(*values)]

    def _tracked_slopes(self, j, i):
        """The slopes of output `i`, counted among the outputs that require grad."""
        k = [n for n, tracked in enumerate(self._requires_grad) if tracked][i]
        return [[slope[k] for slope in parts] for parts in self.slopes(j)]

    # -------------------------------------------------------------- the checks
    def no_derivative(self):
        """Raise if the outputs change with the inputs, although no output requires grad."""
        for j in range(len(self.wanted)):
            if any(slope.any() for parts in self.slopes(j) for outputs in parts for slope in outputs):
                raise GradcheckError("Numerical gradient for function expected to be zero")

    def backward(self):
        for i, y in enumerate(self.outputs):
            for unit, part in ((1j, "imaginary"), (1, "real")) if y.is_complex() else ((1, ""),):
                rows = self._rows(i, unit)
                for j, x in enumerate(self.wanted):
                    numerical = np.array([
                        self._weighted(sum(f * _part(slope, unit) for f, slope in zip((1, 1j), parts)), i)
                        for parts in self._tracked_slopes(j, i)])
                    if self.fast:              # a complex random direction has both parts already
                        numerical = numerical.real
                        d, = self.directions[j]
                        analytical = np.array([[(d.conj() * row[j]).sum().real for row in rows]])
                    else:
                        analytical = np.array([row[j].reshape(-1) for row in rows]).T
                    self._compare(analytical, numerical, i, j, part and f"{part} part of complex outputs", x)

    def _weighted(self, slope, i):
        """The sums of the slopes of output `i` times its weights; without fast mode each element is one sum."""
        return [(slope * w).sum() for w in self.weights[i]] if self.fast else slope.reshape(-1)

    def _rows(self, i, unit):
        """The gradients of all inputs for each weight of output `i`."""
        y, rows = self.outputs[i], []
        weights = np.array([np.asarray(w * unit, y._array.dtype) for w in self.weights[i]])
        for first, second in zip(*[self._pulled(y, weights) for _ in range(2)]):
            for x, a, b in zip(self.wanted, first, second):
                if a is None:
                    continue
                if self.check_dtypes and a.dtype != x.dtype:
                    raise GradcheckError("Gradient has dtype mismatch")
                if a.shape != x.shape:
                    raise GradcheckError("Analytical gradient has incorrect size")
                if not _agree(a._array, b._array, self.nondet_tol):
                    raise GradcheckError("Backward is not reentrant, i.e., running backward with same input and "
                                         "grad_output multiple times gives different values, although analytical "
                                         f"gradient matches numerical gradient.The tolerance for nondeterminism was "
                                         f"{self.nondet_tol}.")
            rows.append([np.zeros_like(x._array) if a is None else a._array for x, a in zip(self.wanted, first)])
        return rows

    def _pulled(self, y, weights):
        """The gradients of all inputs for each of the weights. They are computed for all weights at once, unless
        the user's functions or hooks would see batches."""
        watched = any([node.hooks is not None or node.op.function is not None or node.op.one_by_one
                       if isinstance(node, Node) else node._hooks for node in reached_by([y], None)])
        if len(weights) > 1 and not watched:
            found = rows_of_grad((y,), self.wanted, (wrap(weights),), True, False, True)
            return [[None if g is None else wrap(g._array[k]) for g in found] for k in range(len(weights))]
        return [grad(y, self.wanted, wrap(w), retain_graph=True, allow_unused=True) for w in weights]

    def forward(self):
        with Level(forward=True) as level:
            duals = {id(x): stand_in(x.detach(), level) for x in self.wanted}
            handles = [handle(dual) for dual in duals.values()]
            outputs = _as_tuple(self.func(*(duals.get(id(x), x) for x in self.inputs)))
        outputs = [y for y, tracked in zip(outputs, self._requires_grad) if tracked]
        push = pusher(outputs, handles)
        for j, x in enumerate(self.wanted):
            for unit, part in ((1j, "imaginary"), (1, "real")) if x.is_complex() else ((1, ""),):
                columns = self._columns(push, j, unit)
                for i, y in enumerate(self.outputs):
                    found = [np.zeros_like(y._array) if column[i] is None else column[i]._array for column in columns]
                    if self.check_dtypes and any(f.dtype != y._array.dtype for f in found):
                        raise GradcheckError("Forward AD gradient has dtype mismatch.")
                    slopes = [parts[1 if unit == 1j else 0] for parts in self._tracked_slopes(j, i)]
                    analytical, numerical = (np.array([self._weighted(row, i) for row in rows])
                                             for rows in (found, slopes))
                    self._compare(analytical, numerical, i, j, part and f"{part} part of complex inputs", x,
                                  "computed with forward mode ")

    def _columns(self, push, j, unit):
        """The tangents of the outputs for each direction of input `j` times `unit`."""
        columns = []
        for d in self.directions[j]:
            tangents = [np.asarray(d * unit if k == j else np.zeros_like(x._array), x._array.dtype)
                        for k, x in enumerate(self.wanted)]
            columns.append(push([wrap(t) for t in tangents]))
        return columns

    def _compare(self, analytical, numerical, i, j, part, x, how=""):
        atol = self.atol
        if self.fast:                          # a projection sums up the tolerances of all elements
            d, = self.directions[j]
            atol *= (np.abs(d.real).sum() + np.abs(d.imag).sum()) * self.weights[i][0].sum()
        if numerical.shape == analytical.shape and np.allclose(numerical, analytical, self.rtol, atol, equal_nan=False):
            return
        text = f"While considering the {part} only, " if part else ""
        text += (f"Jacobian {how}mismatch for output {i} with respect to input {j},\n"
                 f"numerical:{_shown(numerical, self.fast)}\nanalytical:{_shown(analytical, self.fast)}\n")
        if self.fast:
            text += ("\nThe above quantities are a random projection of the numerical and analytical jacobians (fast "
                     "mode). With fast_mode=False they are compared element by element.\n")
        raise GradcheckError(text)

    def linear_in_gradient(self):
        """Zero gradients of the outputs must give zero gradients of the inputs, in the inputs' dtype and size."""
        if not self.outputs:
            return
        zeros = [wrap(np.zeros_like(y._array)) for y in self.outputs]
        for x, g in zip(self.wanted, grad(self.outputs, self.wanted, zeros, retain_graph=True, allow_unused=True)):
            if g is None:
                continue
            if g._array.any():
                raise GradcheckError("backward not multiplied by grad_output")
            if g.dtype != x.dtype:
                raise GradcheckError("grad is incorrect type")
            if g.shape != x.shape:
                raise GradcheckError("grad is incorrect size")

    def undefined_gradients(self):
        """Outputs whose gradient is undefined, one at a time, must count as outputs with a gradient of zeros."""
        for left_out in range(len(self.outputs) if len(self.outputs) > 1 else 0):
            outputs = [y for k, y in enumerate(_differentiable(self.func(*self.inputs))) if k != left_out]
            zeros = [wrap(np.zeros_like(y._array)) for y in outputs]
            try:
                found = grad(outputs, self.wanted, zeros, allow_unused=True)
            except RuntimeError as error:
                raise GradcheckError("Expected backward function to handle undefined output grads. "
                                     f"{_NOTES}") from error
            if any(g is not None and g._array.any() for g in found):
                raise GradcheckError("Expected all input grads to be undefined or zero when all output grads are "
                                     f"undefined or zero. {_NOTES}")


_NOTES = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'


# ------------------------------------------------------------------ parts
def _as_tuple(x):
    if isinstance(x, list):
        return tuple(x)
    return x if isinstance(x, tuple) else (x,)


def _differentiable(outputs):
    return tuple(y for y in _as_tuple(outputs) if y.requires_grad)


def _check_inputs(inputs):
    wanted = False
    for i, x in enumerate(inputs):
        if not (isinstance(x, Tensor) and x.requires_grad):
            continue
        wanted = True
        if x._array.dtype not in (np.float64, np.complex128):
            warn(f"Input #{i} requires gradient and is not a double precision floating point or complex. This "
                 "check will likely fail if all the inputs are not of double precision floating point or "
                 "complex. ")
        steps: Any = x.stride()
        if any(step == 0 and size > 1 for step, size in zip(steps, x.shape)):
            raise RuntimeError(f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that "
                               "are non-overlapping to be able to compute the numerical gradients correctly. You "
                               "should call .contiguous on the input before passing it to gradcheck.")
    if not wanted:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have "
                         "requires_grad=True.")


def _basis(like):
    for k in range(like.size):
        e = np.zeros(like.shape, like.dtype)
        e.reshape(-1)[k] = 1
        yield e


def _unit(random, like):
    """A random direction of length one, with positive parts."""
    u = random.random(like.shape)
    if like.dtype.kind == dt.COMPLEX:
        u = u + 1j * random.random(like.shape)
    return (u / max(np.sqrt((np.abs(u) ** 2).sum()), 1e-300)).astype(like.dtype)


def _agree(a, b, tolerance):
    return np.array_equal(a, b) or np.allclose(a, b, rtol=0, atol=tolerance, equal_nan=True)


def _part(slope, unit):
    return slope.imag if unit == 1j else slope.real


def _shown(values, fast):
    return wrap(values.reshape(()) if fast and values.size == 1 else values)


def _random_gradient(output, gaps):
    """A gradient for an output, random in [-1, 1), that requires grad."""
    random = np.random.default_rng(0)
    shape = output.shape[:-1] + (2 * output.shape[-1],) if gaps and output.dim() else output.shape
    values = random.uniform(-1, 1, shape)
    if output.is_complex():
        values = values + 1j * random.uniform(-1, 1, shape)
    values = np.asarray(values, output._array.dtype)
    return wrap(values[..., ::2] if gaps and output.dim() else values).requires_grad_()
