"""Matrix products, factorisations and solutions of linear systems."""
