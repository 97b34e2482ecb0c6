"""Replay of a recorded program in C. The program's steps are lowered to calls of the native kernels, and one call from
Python executes a whole sequence of them.

Lowering runs the functions of the steps on arrays with placeholder contents (arrays.py). The functions see replacements
for NumPy and for the entry points of the kernels, and these record each operation on a tape (world.py, tape.py). The
recorded calls are then encoded as a program for native/replay.c (emit.py). A step that cannot be lowered is called in
Python between two sequences in C, so every program can be replayed completely. Unless the bits of eager are required,
the last digits may differ from it: elementwise.c then computes elementwise operations of any size, and our own kernels
compute sums and products.
"""
from .maker import Lowered, lower
from .text import Stale

__all__ = ["Lowered", "Stale", "lower"]
