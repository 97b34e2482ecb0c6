"""Discrete Fourier transforms, and those of short parts of a signal."""
