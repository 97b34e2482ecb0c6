"""Reductions, statistics, extremes, running results, order, norms and distances: dtypes, dimensions, `dtype=`, special
values, strides, and derivatives."""
from .values import COMPLEX, DTYPES, FLOATS, shape, strided

#: Functions by what they take behind the tensor: {dim} of a dimension, {dims} of one or several or none.
REDUCTIONS = [f"{name}({{dims}})" for name in (
    "sum mean nansum nanmean amax amin all any var std var_mean std_mean count_nonzero").split()] + [
    f"{name}({{dim}})" for name in (
        "prod argmax argmin max min median nanmedian mode logsumexp cumsum cumprod cummax cummin logcumsumexp sort "
        "argsort aminmax softmax log_softmax diff msort").split()] + [
    "quantile({q}{one})", "nanquantile({q}{one})", "topk({k}, {axis})", "kthvalue({k}, {axis})",
    "norm({p}, {axes})", "linalg.vector_norm({p}, {axes})", "linalg.matrix_norm({p})", "linalg.norm({p})",
    "renorm({p}, {axis}, 1.)", "histc(4)", "histc(3, -1, 2)", "unique()", "unique_consecutive()", "bincount()",
    "trapezoid()", "cumulative_trapezoid()"]
PAIRS = ["dist(a, b, {p})", "cdist(a, b, {p})", "pairwise_distance(a, b, {p})", "cosine_similarity(a, b, {axis})",
         "searchsorted(a.flatten().sort()[0], b)", "trapezoid(a, b)"]
WITH_DTYPE = ("sum", "mean", "nansum", "nanmean", "prod", "cumsum", "cumprod", "softmax", "log_softmax")
KEEPING = ("sum", "mean", "nansum", "amax", "amin", "all", "any", "var", "std", "var_mean", "std_mean", "prod", "max",
           "min", "argmax", "argmin", "median", "mode", "logsumexp")


def _filled(rng, text, n, dtypes):
    """A call with its arguments, for a tensor of n dimensions. dtypes: what `dtype=` may be."""
    axis = rng.randint(-n, n - 1) if n and rng.random() < .95 else rng.randint(-2, 2)
    several = str(tuple(rng.sample(range(n), rng.randint(0, n))) or "()") if n else "()"
    every = "" if rng.random() < .4 else str(axis)
    name = text.split("(")[0].split(".")[-1]
    if name == "aminmax" and every:
        every = f"dim={every}"
    if name in ("logsumexp", "cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "softmax", "log_softmax"):
        every = str(axis)
    if name in ("msort", "diff"):
        every = ""
    values = dict(dim=every, dims=rng.choice([every, every, several]), axis=axis,
                  axes=rng.choice([every or "None", several]),
                  q=round(rng.random(), 1), one=f", {axis}" if rng.random() < .5 else "", k=rng.randint(0, 3),
                  p=rng.choice(["0", "1", "2", "3", "0.5", "float('inf')", "-float('inf')", "1.5"]))
    call = text.format(**values)
    if name in WITH_DTYPE and rng.random() < .2:
        call = call[:-1] + (", " if call[-2] != "(" else "") + f"dtype=T.{rng.choice(dtypes)})"
    elif name in KEEPING and call[-2] != "(" and rng.random() < .3:
        call = call[:-1] + ", keepdim=True)"
    return call


def program(rng):
    sizes = shape(rng)
    dtype = rng.choice(DTYPES)
    grad = dtype in FLOATS + COMPLEX and rng.random() < .6
    lines = [f"a = {strided(rng, sizes, dtype)}"]
    if grad:
        lines.append("a.requires_grad_()")
    # Where gradients are compared in a dtype, it is not more precise than what they were computed in.
    dtypes = DTYPES if not grad else [d for d in DTYPES if d in ("int64", "bool", dtype, "complex128", "float64")]
    if rng.random() < .75:
        call = _filled(rng, rng.choice(REDUCTIONS), len(sizes), dtypes)
        lines.append(f"c = T.{call.replace('(', '(a, ', 1).replace('(a, )', '(a)')}")
    else:
        lines.append(f"b = {strided(rng, sizes, dtype if rng.random() < .8 else rng.choice(DTYPES))}")
        lines.append(f"c = T.{_filled(rng, rng.choice(PAIRS), len(sizes), dtypes)}")
    if grad:
        lines.append("g = T.autograd.grad(loss(c), [a], create_graph=True, allow_unused=True)")
        lines.append("gg = T.autograd.grad(loss(*[x for x in g if x is not None]), [a], allow_unused=True)")
    return lines
