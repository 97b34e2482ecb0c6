"""Whether a difference of values is one between two ways of PyTorch's own: the program runs under torch again, another
way. What is differentiated forwards is also differentiated backwards, twice, which gives the same numbers by other
formulas; gradients within transforms are also taken by the tape, sample by sample, which adds up their parts in another
order; and where a tensor was given other memory (`.data = `), what was saved before is kept as memory, not as the
tensor that has another since."""
import contextlib
import re
import types
import warnings

import torch

from ..adapter import Different, same

_DUAL = re.compile(r"^with T\.autograd\.forward_ad\.dual_level\(\): g = .* in flat\((\w)\(\*map\(\S+, (\(a, b\)), "
                   r"(\(.*\))\)\)\) if isinstance\(e, T\.Tensor\)\]$")
_FORWARD = re.compile(r"forward_ad|jvp|jacfwd|hessian|linearize")
_GRADIENT = re.compile(r"T\.func\.(grad|vmap)")
_GIVEN = re.compile(r"\.data = ")


def _of_copies(function):
    """What a function gives of copies: what it writes to its arguments is written once, and to no leaf."""
    return lambda *s: function(*[x.clone() for x in s])


def _jvp(function, primals, tangents):
    function = _of_copies(function)
    output = function(*primals)
    if not all(x.is_floating_point() or x.is_complex() for x in torch.utils._pytree.tree_leaves(output)):
        return output, torch.utils._pytree.tree_map(torch.zeros_like, output)
    inside, pull = torch.func.vjp(function, *primals)
    zeros = torch.utils._pytree.tree_map(torch.zeros_like, inside)
    return output, torch.func.vjp(pull, zeros)[1](tuple(tangents))[0]


def _linearize(function, *primals):
    copies = [x.clone() for x in primals]
    return function(*primals), lambda *tangents: _jvp(function, copies, tangents)[1]


def _jacfwd(function, argnums=0):
    return torch.func.jacrev(_of_copies(function), argnums)


def _hessian(function, argnums=0):
    return _jacfwd(_jacfwd(function, argnums), argnums)


def _duals(function, primals, tangents):
    pairs = _jvp(function, primals, tangents)
    return list(zip(*[torch.utils._pytree.tree_leaves(x) for x in pairs]))


def _layer_norm(x, shape):
    """torch's own takes the mean and the deviation for constants in the derivatives of its derivative."""
    dims = tuple(range(-len(shape), 0))
    mean = x.mean(dims, keepdim=True)
    return (x - mean) * ((x - mean).square().mean(dims, keepdim=True) + 1e-5).rsqrt()


def _grad_and_value(function, argnums=0):
    """torch.func's, by a backward of the tape."""
    places = argnums if isinstance(argnums, tuple) else (argnums,)

    def of(*s):
        s = [x.view_as(x) if x.requires_grad else x.detach().requires_grad_() if i in places else x
             for i, x in enumerate(s)]
        value = function(*s)
        found = torch.autograd.grad(value, [s[i] for i in places], create_graph=True, allow_unused=True)
        found = tuple(torch.zeros_like(s[i]) if g is None else g for i, g in zip(places, found))
        return found if isinstance(argnums, tuple) else found[0], value
    return of


def _grad(function, argnums=0):
    return lambda *s: _grad_and_value(function, argnums)(*s)[0]


def _vmap(function, in_dims=0, out_dims=0, **options):
    """torch.func's, sample by sample."""
    def of(*s):
        dims = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(s)
        count = next(x.shape[d] for x, d in zip(s, dims) if d is not None)
        results = [function(*[x if d is None else x.select(d, k) for x, d in zip(s, dims)]) for k in range(count)]
        leaves, spec = zip(*map(torch.utils._pytree.tree_flatten, results))
        return torch.utils._pytree.tree_unflatten([torch.stack(x, out_dims) for x in zip(*leaves)], spec[0])
    return of


class _OtherWay(types.ModuleType):
    """The module torch with other transforms."""

    def __init__(self, **transforms):
        super().__init__("torch")
        self.func = types.SimpleNamespace(**{**vars(torch.func), **transforms})

    def __getattr__(self, name):
        return getattr(torch, name)


_BACKWARDS = _OtherWay(jvp=_jvp, linearize=_linearize, jacfwd=_jacfwd, hessian=_hessian)
_BY_TAPE = _OtherWay(grad=_grad, grad_and_value=_grad_and_value, vmap=_vmap)


def _by_tape(line, names):
    names["T"] = _BY_TAPE
    exec(line, names)                          # noqa: S102


def _backwards(line, names):
    layers = types.SimpleNamespace(**{**vars(torch.nn.functional), "layer_norm": _layer_norm})
    names |= {"T": _BACKWARDS, "F": layers, "duals": _duals}
    exec(_DUAL.sub(r"g = duals(\1, \2, \3)", line), names)                    # noqa: S102


def _saving_memory(line, names):
    with torch.autograd.graph.saved_tensors_hooks(torch.Tensor.detach, lambda saved: saved):
        exec(line, names)                      # noqa: S102


def explains(lines, number, name, ours, names, tolerance):
    """Whether ours is what torch computes another way, in the program up to statement `number`, for the tensor called
    `name`. `names`: what statements find."""
    return any(any(map(where.search, lines[:number + 1])) and _is_result(run, lines[:number + 1], name, ours, {**names},
                                                                     tolerance)
               for where, run in ((_FORWARD, _backwards), (_GRADIENT, _by_tape), (_GIVEN, _saving_memory)))


def _is_result(run, lines, name, ours, names, tolerance):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in lines:
            with contextlib.suppress(Exception):               # what is refused makes nothing
                run(line, names)
    try:
        same(ours.detach(), eval(name, names).detach(), tolerance=tolerance, bits=False)       # noqa: S307
    except (Different, NameError, IndexError, AttributeError, TypeError):
        return False
    return True
