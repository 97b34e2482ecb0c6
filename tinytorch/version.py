"""The version of torch that this package implements."""

__version__ = "2.13.0+tinytorch"
git_version = "Unknown"
debug = False
cuda = hip = xpu = rocm = None
