"""Functions of each element by itself, or of corresponding ones."""
