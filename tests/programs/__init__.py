"""Training programs of public repositories, run unmodified under tinytorch and, to compare, under torch."""
