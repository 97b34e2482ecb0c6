"""Programs that use libraries made for torch, run under tinytorch and, to compare, under torch."""
