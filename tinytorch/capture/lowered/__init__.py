"""A program in C: its steps lowered to calls of the native kernels, walked by one call each run of them.

The functions that the steps call are run once on arrays that hold nothing (arrays.py), in a world where NumPy and the
door to the kernels write down what is done (world.py, tape.py). What that gives is a list of calls, which becomes words
of a program for native/replay.c (emit.py). A step that cannot be lowered is called in Python between two runs in C, so
that every program is complete. Last digits may differ from eager: runs of operations on elements are computed by
elementwise.c whatever their size, and sums and products by our own kernels.
"""
from .maker import Lowered, lower
from .text import Stale

__all__ = ["Lowered", "Stale", "lower"]
