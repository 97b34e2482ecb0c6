"""Every differentiable function, a file per kind. Importing this package makes the Tensor methods."""
