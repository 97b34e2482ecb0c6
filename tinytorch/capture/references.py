"""The count that `sys.getrefcount` gives for an object with a single reference."""
from sys import getrefcount

__all__ = ["OF_A_NAME"]


def _of_a_name():
    held = object()
    return getrefcount(held)


#: getrefcount(name) of an object that this local variable alone holds. It is 2 up to Python 3.13, for the variable and
#: the argument of the call, and 1 from Python 3.14 on, where a call borrows the reference of the variable.
OF_A_NAME = _of_a_name()
