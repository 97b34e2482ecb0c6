"""How many references there are to an object, as `sys.getrefcount` counts them."""
from sys import getrefcount

__all__ = ["OF_A_NAME"]


def _of_a_name():
    held = object()
    return getrefcount(held)


#: What getrefcount(name) counts of an object that nothing but this name of the function holds: 2, the name and the
#: call; 1 from Python 3.14 on, where a call borrows the reference of the name.
OF_A_NAME = _of_a_name()
