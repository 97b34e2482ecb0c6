"""How batches go through NumPy's functions and through operations, by family. They register themselves."""
from . import at_once, families, functions, indexing, layout, linalg, nn, norm, random, recurrent, refusals
