"""A tensor as a Python sequence of its slices: iteration, reversed(), in."""
from ...autograd.public import method
from ...tensor import Tensor
from .rearrange import flip


@method("__iter__", seen=False)
def iterate(self):
    """The slices along the first dimension. TypeError for a 0-dim tensor."""
    if not self._array.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


@method("__contains__", in_python=True, leaves=True)
def contains(self, element):
    """Whether any element equals `element` (a number or a tensor)."""
    if not isinstance(element, (Tensor, bool, int, float, complex)):
        raise RuntimeError("Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                           f"{type(element)}.")
    return bool((self == element).any())


@method("__reversed__", in_python=True)
def backwards(self):
    """`flip` of the first dimension: reversed() gives a tensor. A 0-dim tensor is returned itself."""
    return flip(self, (0,)) if self._array.ndim else self
