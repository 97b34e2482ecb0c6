"""Views, indexing, assignment, scattering and gathering, joining and parting, and writes to views: dtypes, strides,
tensors without dimensions or elements, gradients."""
import torch

from .values import COMPLEX, DTYPES, FLOATS, broadcastable, number, shape, strided, tensor


def _axis(rng, n):
    return rng.randint(-n, n - 1) if n and rng.random() < .97 else rng.randint(-1, 0) if not n else n


def _span(rng, sizes, axis):
    """The size of a dimension, 1 for one that is not there."""
    return sizes[axis] if -len(sizes) <= axis < len(sizes) else 1


def _indices(rng, sizes, size, low=None, dtypes=("int64", "int64", "int64", "int32")):
    """A tensor of indices into a dimension of a size, rarely one outside it."""
    low = -size if low is None else low
    outside = rng.random() < .02

    def nested(left):
        if not left:
            return str(size if outside or not size else rng.randint(low, size - 1))
        return "[" + ", ".join(nested(left[1:]) for _ in range(left[0])) + "]"
    dtype = rng.choice(dtypes)
    return f"T.zeros({sizes}, dtype=T.{dtype})" if 0 in sizes else f"T.tensor({nested(sizes)}, dtype=T.{dtype})"


def _slice(rng, size):
    ends = ["" if rng.random() < .4 else str(rng.randint(-size - 1, size + 1)) for _ in range(2)]
    return ":".join(ends) + (f":{rng.randint(1, 3)}" if rng.random() < .3 else "")


def _index(rng, sizes, advanced=True):
    """What may stand in brackets behind a tensor."""
    left, items, several = list(sizes), [], rng.choice([(), (1,), (2,), (3,), (2, 1)])
    while left and rng.random() < .8:
        way, size = rng.random(), left[0]
        if way < .25 and size:
            items.append(str(rng.randint(-size, size - 1)))
        elif way < .5 or not size:
            items.append(_slice(rng, size))
        elif way < .6:
            items.append("None")
            continue
        elif way < .65 and "..." not in items:
            items.append("...")
            left = left[:rng.randint(0, len(left))]
            continue
        elif not advanced:
            items.append(":")
        elif way < .8:
            items.append(_indices(rng, several, size, dtypes=("int64", "int64", "int64", "int32")))
        elif way < .85:
            items.append(str([rng.randint(-size, size - 1) for _ in range(several[0] if several else 1)]))
        elif way < .95:
            many = 1 if rng.random() < .75 else 2
            items.append(tensor(rng, tuple(left[:many]), "bool"))
            left = left[many:]
            continue
        else:
            items.append(rng.choice(["True", "False", ":", ":"]))
            if items[-1] != ":":
                continue
        left = left[1:]
    return ", ".join(items) or rng.choice(["...", "()", "None", "..., None"])


def _view(rng, v, sizes):
    """A view (sometimes a copy) of v."""
    n, axis = len(sizes), _axis(rng, len(sizes))
    other, size = _axis(rng, n), _span(rng, sizes, axis)
    order, count = rng.sample(range(n), n), max(size, 1)
    start = rng.randint(0, max(size - 1, 0))
    pieces = [start, size - start]
    return v + rng.choice([
        f"[{_index(rng, sizes, advanced=False)}]", f"[{_index(rng, sizes, advanced=False)}]",
        f".transpose({axis}, {other})", f".permute({tuple(order)})", f".unsqueeze({rng.randint(-n - 1, n)})",
        ".squeeze()", f".squeeze({axis})", f".reshape({tuple(sizes[k] for k in order)})", ".reshape(-1)", ".flatten()",
        f".reshape({(*sizes[:-1], 1, sizes[-1]) if n else (1, 1)})", f".view({(1, *sizes)})",
        f".movedim({axis}, {other})",
        f".narrow({axis}, {start}, {rng.randint(0, size - start)})", f".select({axis}, {start})",
        f".expand({(rng.randint(1, 3), *sizes)})", f".unfold({axis}, {rng.randint(1, count)}, {rng.randint(1, 2)})",
        f".split({rng.randint(1, 3)}, {axis})[-1]", f".split({pieces}, {axis})[0]",
        f".chunk({rng.randint(1, 4)}, {axis})[0]",
        f".tensor_split({rng.randint(1, 4)}, {axis})[-1]", f".tensor_split({tuple(pieces)}, {axis})[1]",
        f".unbind({axis})[0]" if size else ".clone()", f".diagonal({rng.randint(-1, 1)}, {axis}, {other})"
        if n > 1 and axis % n != other % n else ".mT" if n > 1 else ".view_as(" + v + ")",
        f".unflatten({axis}, ({rng.choice([1, count])}, -1))" if size else ".detach()", ".contiguous()",
        f".swapaxes({axis}, {other})", ".clone()", ".ravel()",
        f".flatten({min(axis % max(n, 1), other % max(n, 1))}, -1)"])


def _moved(rng, v, sizes, dtype):
    """A new tensor of the elements of v."""
    n, axis = len(sizes), _axis(rng, len(sizes))
    size, dims = _span(rng, sizes, axis), tuple(rng.sample(range(n), rng.randint(0, n)))
    elements = 1
    for k in sizes:
        elements *= k
    near = list(sizes)
    if n:
        near[axis if -n <= axis < n else 0] = rng.choice([0, 1, 2, 3])
    like = strided(rng, tuple(near), dtype if rng.random() < .7 else rng.choice(DTYPES))
    same = strided(rng, sizes, dtype if rng.random() < .7 else rng.choice(DTYPES))
    whole, widths = _indices(rng, shape(rng), elements), [rng.randint(-1, 2) for _ in range(2 * rng.randint(0, n))]
    mask = tensor(rng, broadcastable(rng, sizes), "bool")
    padding = number(rng, "float32" if dtype in COMPLEX else dtype, 0)
    gathering = tuple(rng.randint(1, max(k, 1)) for k in sizes) if elements else sizes
    return "T." + rng.choice([
        f"cat([{v}, {like}], {axis})", f"cat([{like}, {v}, {v}], dim={axis})", f"stack([{v}, {same}], {axis})",
        f"cat([{v}, T.zeros(0)], {axis})", f"hstack([{v}, {same}])", f"vstack([{v}, {same}])", f"dstack([{same}, {v}])",
        f"column_stack([{v}, {same}])", f"block_diag({v}, {same})" if n < 3 else f"atleast_3d({v})",
        f"nn.functional.pad({v}, {tuple(widths)}, 'constant', {padding})",
        f"roll({v}, {rng.randint(-5, 5)}, {axis})", f"roll({v}, {rng.randint(-5, 5)})",
        f"roll({v}, {tuple(rng.randint(-3, 3) for _ in dims)}, {dims})" if dims else f"flip({v}, {dims})",
        f"flip({v}, {dims})", f"rot90({v}, {rng.randint(-3, 4)})" if n > 1 else f"flip({v}, {dims})",
        f"fliplr({v})" if n > 1 else f"flipud({v})" if n else f"clone({v})",
        f"tile({v}, {tuple(rng.randint(0, 2) for _ in range(rng.randint(0, 3)))})",
        f"repeat_interleave({v}, {rng.randint(0, 3)}, {axis})", f"repeat_interleave({v}, 2)",
        f"repeat_interleave({v}, {tensor(rng, (size,), 'uint8', special=0)}.long(), {axis})",
        f"tril({v}, {rng.randint(-2, 2)})" if n > 1 else f"diag({v})" if n else f"atleast_1d({v})",
        f"triu({v}, {rng.randint(-2, 2)})" if n > 1 else f"diag_embed({v})" if n else f"atleast_2d({v})",
        f"where({mask}, {v}, {same})", f"where({mask}, {same}, {v})", f"where({mask}, {v}, {number(rng, 'float64')})",
        f"where({mask}, {number(rng, 'int64', 0)}, {v})", f"where({v} != 0)", f"nonzero({v})",
        f"nonzero({v}, as_tuple=True)", f"argwhere({v})", f"masked_select({v}, {mask})", f"take({v}, {whole})",
        f"index_select({v}, {axis}, {_indices(rng, (rng.randint(0, 4),) if n else (1,), size, low=0)})",
        f"gather({v}, {axis}, {_indices(rng, gathering, size, low=0, dtypes=('int64',))})",
        f"take_along_dim({v}, {_indices(rng, gathering, size, low=0, dtypes=('int64',))}, {axis})",
        f"broadcast_tensors({v}, {same})[0]", f"combinations({v})" if n == 1 else f"cartesian_prod({v}.flatten())",
        f"meshgrid({v}.flatten(), {same}.flatten(), indexing='ij')[0]",
        f"select_scatter({v}.clone(), {v}.select({axis}, 0), {axis}, 0)",
        f"slice_scatter({v}.clone(), {v}.narrow({axis}, 0, {size}), {axis})", f"diff({v}, dim={axis})",
        f"stack([{v}, {v}], {axis}).sum({axis})", f"ravel({v}).repeat(2, {rng.randint(0, 2)})"])


def _scatter(rng, v, sizes, dtype, source, last=None):
    """A call that puts numbers into v or into a copy. source: a function that makes a tensor of a shape."""
    last = rng.choice(["", "", "_"]) if last is None else last
    n, axis = len(sizes), _axis(rng, len(sizes))
    size, elements = _span(rng, sizes, axis), 1
    for k in sizes:
        elements *= k
    if rng.random() < .5 and elements:
        into = tuple(rng.randint(1, max(k, 1)) for k in sizes)
        indices = _indices(rng, into, size, low=0, dtypes=("int64",))
        values = source(tuple(k + rng.randint(0, 1) for k in into))
        reduce = rng.choice(["sum", "prod", "mean", "amax", "amin"])
        # without what was there, torch shares the gradient of an extreme wrongly
        kept = rng.random() < .5 or reduce[:2] == "am" and dtype in FLOATS
        return v + rng.choice([
            f".scatter{last}({axis}, {indices}, {values})", f".scatter{last}({axis}, {indices}, {number(rng, dtype)})",
            f".scatter_add{last}({axis}, {indices}, {values})",
            f".scatter{last}({axis}, {indices}, {values}, reduce={rng.choice(['add', 'multiply'])!r})",
            *[f".scatter_reduce{last}({axis}, {indices}, {values}, {reduce!r}, include_self={kept})"] * 3])
    many = rng.randint(0, 4) if n else 1
    near = list(sizes)
    if n:
        near[axis if -n <= axis < n else 0] = many
    indices, values = _indices(rng, (many,), size, low=0), source(tuple(near))
    mask = tensor(rng, broadcastable(rng, sizes), "bool")
    whole = shape(rng, rng.choice([0, 1, 2]))
    indexed = _indices(rng, whole, elements, dtypes=("int64",))
    one = _indices(rng, (1,), elements, dtypes=("int64",))     # without `accumulate`, no place twice
    first = _indices(rng, (many,), sizes[0] if n else 1)
    reduce = rng.choice(["prod", "mean", "amax", "amin"])
    kept = rng.random() < .5 or reduce[:2] == "am" and dtype in FLOATS
    return v + rng.choice([
        f".index_add{last}({axis}, {indices}, {values})", f".index_add{last}({axis}, {indices}, {values}, alpha=2)",
        f".index_copy{last}({axis}, {indices.replace('int32', 'int64')}, {values})",
        f".index_fill{last}({axis}, {indices.replace('int32', 'int64')}, {number(rng, dtype)})",
        f".index_reduce{last}({axis}, {indices}, {values}, {reduce!r}, include_self={kept})",
        f".index_reduce{last}({axis}, {indices}, {values}, {reduce!r})",
        f".masked_fill{last}({mask}, {number(rng, dtype)})", f".masked_fill{last}({mask}, {source(())})",
        f".masked_scatter{last}({mask}, {source((elements + 1,))})", f".put{last}({one}, {source((1,))})",
        f".put{last}({indexed}, {source(whole)}, accumulate=True)",
        f".index_put{last}(({first},), {source(())}, accumulate={rng.random() < .5})"])


def _put(rng, v, sizes, dtype, source):
    """A statement that assigns to elements of v."""
    value = rng.choice([number(rng, dtype), number(rng, dtype), source(()), source((1,)),
                        source(broadcastable(rng, sizes[1:]))])
    sign = rng.choice(["=", "=", "=", "=", "+=", "*="]) if dtype != "bool" else "="
    return f"{v}[{_index(rng, sizes)}] {sign} {value}"


def _write(rng, v, sizes, dtype, source):
    way = rng.random()
    if way < .4:
        return _put(rng, v, sizes, dtype, source)
    if way < .7:
        return _scatter(rng, v, sizes, dtype, source, "_")
    return v + rng.choice([".zero_()", f".fill_({number(rng, dtype)})", f".fill_({source(())})", ".mul_(2)",
                           f".copy_({source(broadcastable(rng, sizes))})",
                           f".mul_({source(broadcastable(rng, sizes))})",
                           ".squeeze_()", ".unsqueeze_(0)", f".transpose_({_axis(rng, len(sizes))}, 0)",
                           f".add_({v})", ".tril_()" if len(sizes) > 1 else ".zero_()"])


def _shape_after(sizes, line, name):
    """The shape of what a line makes of a tensor of zeros, None if it raises."""
    names = {"T": torch, "a": torch.zeros(sizes), "v": torch.zeros(sizes)}
    try:
        exec(f"{name} = {line}", names)        # noqa: S102
        return tuple(names[name].shape)
    except Exception:
        return None


def program(rng):
    sizes, dtype = shape(rng), rng.choice(DTYPES)
    grad = dtype in FLOATS + COMPLEX and rng.random() < .6
    lines = [f"a = {strided(rng, sizes, dtype)}"]
    if grad:
        lines.append("a.requires_grad_()")
    name, writes = "a", rng.random() < .5
    if writes:
        lines.append(f"v = a{' * 1' if dtype != 'bool' else '.clone()'}" if rng.random() < .7 else "v = a.clone()")
        lines.append("w = v")
        name = "v"
    roots = ["a"] * grad

    def source(like):
        text = strided(rng, like, dtype if rng.random() < .9 else rng.choice(DTYPES))
        if grad and rng.random() < .4 and f"T.{dtype}" in text and "s" not in roots:
            roots.append("s")
            lines.append(f"s = {text}")
            lines.append("s.requires_grad_()")
            return "s"
        return text
    for _ in range(rng.choice([0, 1, 1, 2])):
        text = _view(rng, name, sizes)
        after = _shape_after(sizes, text, name)
        if writes and ".unfold(" in text:      # its parts overlap
            continue
        if after is not None or rng.random() < .1:
            lines.append(f"v = {text}")
            name, sizes = "v", sizes if after is None else after
    outputs = ["v"] if name == "v" else []
    if writes:
        lines += [_write(rng, "v", sizes, dtype, source)]
        outputs.append("w")
    else:
        way = rng.random()
        text = f"{name}[{_index(rng, sizes)}]" if way < .3 else _moved(rng, name, sizes, dtype) if way < .65 else (
            _scatter(rng, name if not (grad and name == "a") else "a.clone()", sizes, dtype, source))
        lines.append(f"c = {text}")
        outputs.append("*c" if "where(" in text and "!= 0" in text or "as_tuple" in text else "c")
    if roots:
        wrt = ", ".join(roots)
        lines.append(f"g = T.autograd.grad(loss({', '.join(outputs)}), [{wrt}], create_graph=True, allow_unused=True)")
        lines.append("gg = T.autograd.grad(loss(*[x * x for x in g if x is not None]), "
                     f"[{wrt}], allow_unused=True)")
    return lines
