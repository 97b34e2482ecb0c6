"""How batches go through NumPy's functions and through operations, by family. They register themselves."""
from . import families, functions, indexing, nn, random, refusals
