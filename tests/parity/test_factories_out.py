"""What makes a tensor into an `out` that was given, and has it require gradients."""
import pytest

from .adapter import same_outcome

CALLS = {"rand": ((2,),), "randn": ((2,),), "randint": (0, 5, (2,)), "randperm": (2,), "zeros": ((2,),),
         "ones": ((2,),), "empty": ((2,),), "full": ((2,), 1.), "arange": (2.,), "linspace": (0, 1, 2),
         "logspace": (0, 1, 2), "eye": (2,), "range": (0, 1), "normal": (0., 1., (2,))}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("size", [(2,), (0,), (5,), (2, 2)])
@pytest.mark.parametrize("name", CALLS)
def test_requires_grad_of_out(name, size, dtype):
    def program(t):
        out = t.zeros(size, dtype=getattr(t, dtype))
        result = getattr(t, name)(*CALLS[name], out=out, requires_grad=True)
        return result is out, out.requires_grad, out.is_leaf, out.shape
    same_outcome(program)
