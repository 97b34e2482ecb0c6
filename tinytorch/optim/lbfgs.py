"""LBFGS."""
from typing import NamedTuple

from ..autograd.grad_mode import enable_grad, no_grad
from ..ops.elementwise.complex import view_as_real
from ..ops.layout.join import cat
from ..tensor import Tensor
from .array_optimizer import check_lr, scalar
from .optimizer import Optimizer

#: The values that an iteration takes from the one before, in the order of state dicts.
_LAST = "d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss"


class LBFGS(Optimizer):
    """Limited-memory BFGS (Nocedal 1980), with steps of `lr`, or steps to where the strong Wolfe conditions hold.

    A step takes up to `max_iter` iterations and evaluates `closure` up to `max_eval` times (max_iter * 5 / 4 unless
    given). Each moves all parameters by t d, where d = -H g: H is the inverse Hessian that follows from the last
    `history_size` differences of parameters and gradients (two-loop recursion). t is `lr`, in the very first iteration
    at most lr / sum |g|; with `line_search_fn="strong_wolfe"` the search starts there (Nocedal and Wright 2006,
    algorithms 3.5 and 3.6). The step ends early if no gradient is above `tolerance_grad`, or if neither parameters
    nor loss change by more than `tolerance_change`.

    ValueError for several groups and a negative lr; RuntimeError for any other `line_search_fn`.

    >>> import tinytorch as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> optimizer = torch.optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((w - 3) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure), w
    (tensor(5., grad_fn=<SumBackward0>), tensor([3.0000, 3.0000], requires_grad=True))
    """

    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9,
                 history_size=100, line_search_fn=None):
        check_lr(lr)
        super().__init__(params, dict(
            lr=lr, max_iter=max_iter, max_eval=max_iter * 5 // 4 if max_eval is None else max_eval,
            tolerance_grad=tolerance_grad, tolerance_change=tolerance_change, history_size=history_size,
            line_search_fn=line_search_fn))
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    # -------------------------------------------------------------- parameters as one vector
    @property
    def _params(self):
        return self.param_groups[0]["params"]

    def _shape_of_state(self, p, key):
        flat = (sum(p.numel() * (2 if p.is_complex() else 1) for p in self._params),)
        return flat if key in ("d", "prev_flat_grad", "old_dirs", "old_stps") else None

    def _gather_flat_grad(self):
        parts = []
        for p in self._params:
            g = p._grad
            if g is None:
                g = p.new_zeros(p.numel())
            g = (g.to_dense() if g.is_sparse else g).view(-1)
            parts.append(view_as_real(g).view(-1) if g.is_complex() else g)
        return cat(parts, 0)

    def _add_grad(self, step_size, update):
        at = 0
        for p in self._params:
            p = view_as_real(p) if p.is_complex() else p
            p.add_(update[at:at + p.numel()].view_as(p), alpha=step_size)
            at += p.numel()

    def _evaluate(self, closure, start, t, d):
        """The loss and the gradient at `start` + t d. The parameters have the values `start` before and after."""
        self._add_grad(t, d)
        loss = _number(closure())
        gradient = self._gather_flat_grad()
        for p, value in zip(self._params, start):
            p.copy_(value)
        return loss, gradient

    # -------------------------------------------------------------- the step
    @no_grad()
    def step(self, closure):
        """Update the parameters; returns the loss before the update. `closure` clears the gradients, computes the loss
        and its gradients, and returns the loss; it is called several times."""
        if len(self.param_groups) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {len(self.param_groups)}")
        closure = enable_grad()(closure)
        group = self.param_groups[0]
        state = self.state[self._params[0]]    # the state of all parameters is that of the first one
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        loss, evaluations = _number(first_loss), 1
        state["func_evals"] += 1
        g = self._gather_flat_grad()
        if g.abs().max() <= group["tolerance_grad"]:
            return first_loss
        last = {name: state.get(name) for name in _LAST}
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            d = last["d"] = self._direction(state, last, g, group["history_size"])
            if last["prev_flat_grad"] is None:
                last["prev_flat_grad"] = g.clone()
            else:
                last["prev_flat_grad"].copy_(g)
            before = last["prev_loss"] = loss
            t = scalar(group["lr"])
            if state["n_iter"] == 1:
                t = min(1.0, 1.0 / g.abs().sum()) * t
            last["t"] = t
            slope = g.dot(d)
            if slope > -group["tolerance_change"]:
                break
            calls = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                start = [p.clone() for p in self._params]
                search = _Search(lambda t, start=start, d=d: self._evaluate(closure, start, t, d), d,
                                 _Point(0, loss, g, slope), group["max_eval"] - evaluations)
                (t, loss, g, _), calls = search.run(t), search.evaluations
                last["t"] = t
                self._add_grad(t, d)
            else:
                self._add_grad(t, d)
                if n != group["max_iter"]:     # the loss after the last iteration is not used
                    loss, g, calls = _number(closure()), self._gather_flat_grad(), 1
            evaluations += calls
            state["func_evals"] += calls
            if n == group["max_iter"] or evaluations >= group["max_eval"]:
                break
            if g.abs().max() <= group["tolerance_grad"] or _largest(d, t) <= group["tolerance_change"]:
                break
            if abs(loss - before) < group["tolerance_change"]:
                break
        state.update(last)
        return first_loss

    def _direction(self, state, last, g, history_size):
        """-H g, from the history in `last`. The last step is added to the history if its curvature was positive."""
        if state["n_iter"] == 1:
            last.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return g.neg()
        changes, steps, inverses = last["old_dirs"], last["old_stps"], last["ro"]
        change, step = g.sub(last["prev_flat_grad"]), last["d"].mul(last["t"])
        curvature = change.dot(step)
        if curvature > 1e-10:
            if len(changes) == history_size:
                del changes[0], steps[0], inverses[0]
            changes.append(change)
            steps.append(step)
            inverses.append(1.0 / curvature)
            last["H_diag"] = curvature / change.dot(change)
        shares = state.setdefault("al", [None] * history_size)
        d = g.neg()
        for i in reversed(range(len(changes))):
            shares[i] = steps[i].dot(d) * inverses[i]
            d.add_(changes[i], alpha=-shares[i])
        d.mul_(last["H_diag"])
        for i, step in enumerate(steps):
            d.add_(step, alpha=shares[i] - changes[i].dot(d) * inverses[i])
        return d


def _number(loss):
    return float(loss.detach() if isinstance(loss, Tensor) else loss)


def _largest(d, t):
    """The largest change of a parameter in a step."""
    return d.mul(t).abs().max()


# ------------------------------------------------------------------ line search
class _Point(NamedTuple):
    """A point of a search: step size, loss, gradient and the gradient's component along the direction."""

    t: float | Tensor
    loss: float
    gradient: Tensor | None
    slope: Tensor


class _Search:
    """A search along `d` for a point where the strong Wolfe conditions hold: the loss falls by a fraction of the fall
    that the initial slope predicts, and the slope is at most a fraction of the initial one. `evaluate(t)` returns loss
    and gradient."""

    _FALL, _SLOPE, _CHANGE = 1e-4, 0.9, 1e-9

    def __init__(self, evaluate, d, start, most):
        self.evaluate, self.d, self.start, self.most = evaluate, d, start, most
        self.evaluations = self.tries = 0

    def run(self, t):
        """The point where the search ends that begins at step size `t`."""
        bracket = self._bracket(t)
        return bracket[0] if len(bracket) == 1 else self._zoom(*bracket)

    def _at(self, t):
        loss, gradient = self.evaluate(t)
        self.evaluations += 1
        return _Point(t, loss, gradient, gradient.dot(self.d))

    def _too_high(self, point):
        return point.loss > self.start.loss + self._FALL * point.t * self.start.slope

    def _flat(self, point):
        return abs(point.slope) <= -self._SLOPE * self.start.slope

    def _bracket(self, t):
        """Two points between which the conditions hold somewhere, or one point where they hold. Steps grow."""
        before, point = self.start, self._at(t)
        while self.tries < self.most:
            if self._too_high(point) or self.tries > 1 and point.loss >= before.loss:
                return before, point
            if self._flat(point):
                return point,
            if point.slope >= 0:
                return before, point
            bounds = point.t + 0.01 * (point.t - before.t), point.t * 10
            before, point = point, self._at(_interpolated(before, point, bounds))
            self.tries += 1
        return self.start, point

    def _zoom(self, *bracket):
        """The point between two points where the conditions hold, or the lower end when the search has to stop."""
        ends, size = list(bracket), self.d.abs().max()
        stuck = False
        low = 0 if ends[0].loss <= ends[1].loss else 1
        while self.tries < self.most and not abs(ends[1].t - ends[0].t) * size < self._CHANGE:
            t = _interpolated(*ends)
            least, most = min(ends[0].t, ends[1].t), max(ends[0].t, ends[1].t)
            margin = 0.1 * (most - least)
            stuck_before, stuck = stuck, min(most - t, t - least) < margin
            if stuck and (stuck_before or t >= most or t <= least):    # too near to an end twice: move inwards
                t = most - margin if abs(t - most) < abs(t - least) else least + margin
                stuck = False
            point = self._at(t)
            self.tries += 1
            if self._too_high(point) or point.loss >= ends[low].loss:
                ends[1 - low] = point
                low = 0 if ends[0].loss <= ends[1].loss else 1
                continue
            flat = self._flat(point)
            if not flat and point.slope * (ends[1 - low].t - ends[low].t) >= 0:
                ends[1 - low] = ends[low]
            ends[low] = point
            if flat:
                break
        return ends[low]


def _interpolated(a, b, bounds=None):
    """The minimum of the cubic through two points with their slopes, within `bounds` (by default between them)."""
    if a.t > b.t:
        a, b = b, a
    least, most = (a.t, b.t) if bounds is None else bounds
    mean = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = mean ** 2 - a.slope * b.slope
    if not square >= 0:
        return (least + most) / 2.0
    root = square.sqrt()
    t = b.t - (b.t - a.t) * ((b.slope + root - mean) / (b.slope - a.slope + 2 * root))
    return min(max(t, least), most)


# ------------------------------------------------------------------ private functions of torch that libraries use
def _strong_wolfe(obj_func, x, t, d, f, g, gtd, c1=1e-4, c2=0.9, tolerance_change=1e-9, max_ls=25):
    """(loss, gradient, step size, evaluations) at the end of a search along `d`; obj_func(x, t, d): the first two."""
    search = _Search(lambda t: obj_func(x, t, d), d, _Point(0, f, g, gtd), max_ls)
    search._FALL, search._SLOPE, search._CHANGE = c1, c2, tolerance_change
    end = search.run(t)
    return end.loss, end.gradient, end.t, search.evaluations


def _cubic_interpolate(x1, f1, g1, x2, f2, g2, bounds=None):
    """The minimum of the cubic through (x1, f1) and (x2, f2) with the slopes g1 and g2, within `bounds`."""
    return _interpolated(_Point(x1, f1, None, g1), _Point(x2, f2, None, g2), bounds)
