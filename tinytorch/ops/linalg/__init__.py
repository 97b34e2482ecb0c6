"""Matrices: products, decompositions, norms and distances."""
