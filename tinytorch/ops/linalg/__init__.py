"""Linear algebra: products, decompositions, norms and distances."""
