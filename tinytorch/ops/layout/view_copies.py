"""Functions that give a copy, without gaps, of what a view of the tensor would hold: view_copy permute_copy ..."""
import numpy as np

from ...autograd.op import single
from ...autograd.promotion import write_out
from ...dtypes import dtype
from ...tensor import Tensor, check_dim
from ..elementwise.arithmetic import REFUSED, refused
from ..elementwise.complex import view_as_complex, view_as_real
from .broadcast import expand
from .diagonal import diagonal
from .index import _ALL, _alias, _slice
from .shape import permute, reshape, squeeze, t, transpose, unsqueeze, view
from .views import as_strided, select, split, split_with_sizes, unbind, unfold

__all__ = ["alias_copy", "as_strided_copy", "detach_copy", "diagonal_copy", "expand_copy", "permute_copy",
           "select_copy", "slice_copy", "split_copy", "split_with_sizes_copy", "squeeze_copy", "t_copy",
           "transpose_copy", "unbind_copy", "unfold_copy", "unsqueeze_copy", "view_as_complex_copy",
           "view_as_real_copy", "view_copy"]


def _copying(name):
    """A primitive that copies, called `name` on the tape."""
    @single(name=name, input=lambda g: g)
    def primitive(input):
        return np.array(input, order="C")
    primitive.op.backward_name += "_copy"
    return primitive


def _copies(name, function, of_dim=None):
    """The function `name`_copy, which copies what `function` gives. `of_dim`: its name on the tape with an argument."""
    plain, other = _copying(name), _copying(of_dim or name)

    def copy(input, *args, out=None, **options):
        seen = function(input, *args, **options)
        primitive = other if args or options else plain
        if isinstance(seen, Tensor):
            return write_out(out, primitive(seen), input)
        copies = tuple([primitive(part) for part in seen])
        if out is None:
            return copies
        for each, part in zip(out, copies):
            write_out(each, part, input)
        return None

    copy.__name__ = copy.__qualname__ = name + "_copy"
    copy.__doc__ = f"A copy of what `{name}` gives, with the same arguments; or written to `out`."
    return copy


def _slice_of(input, dim=0, start=None, end=None, step=1):
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    if not input.array.ndim:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    return _slice(input, (_ALL,) * check_dim(dim, input.array.ndim) + (slice(start, end, step), ...))


alias_copy = _copies("alias", lambda input: _alias(input, (...,)))
as_strided_copy = _copies("as_strided", as_strided)
diagonal_copy = _copies("diagonal", diagonal)
expand_copy = _copies("expand", expand)
permute_copy = _copies("permute", permute)
select_copy = _copies("select", select)
slice_copy = _copies("slice", _slice_of)
split_copy = _copies("split", split)
split_with_sizes_copy = _copies("split_with_sizes", split_with_sizes)
squeeze_copy = _copies("squeeze", squeeze, "squeeze.1")
t_copy = _copies("t", t)
transpose_copy = _copies("transpose", transpose)
unbind_copy = _copies("unbind", unbind)
unfold_copy = _copies("unfold", unfold)
unsqueeze_copy = _copies("unsqueeze", unsqueeze)
view_as_complex_copy = _copies("view_as_complex", view_as_complex)
view_as_real_copy = _copies("view_as_real", view_as_real)
view_copy = _copies("view", lambda input, size: (view if isinstance(size, dtype) else reshape)(input, size))


@single(name="detach_copy", input=refused("detach_copy"))
def _detach_copy(input):
    return np.array(input, order="C")


_detach_copy.op.backward_name = REFUSED


def detach_copy(input, *, out=None):
    """A copy, whose derivative is refused: RuntimeError on backward.

    >>> import tinytorch as torch
    >>> torch.detach_copy(torch.tensor([1., 2.]))
    tensor([1., 2.])
    """
    return write_out(out, _detach_copy(input), input)
