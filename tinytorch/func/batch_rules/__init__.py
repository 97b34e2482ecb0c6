"""How batches go through NumPy's functions and through operations, by family. They register themselves."""
from . import functions, indexing, random, refusals
