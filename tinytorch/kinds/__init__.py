"""Kinds of arrays that a tensor may hold besides an ndarray of NumPy's own numbers: table, lazy, records."""
