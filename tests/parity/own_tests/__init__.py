"""Test files of PyTorch's own, run as they are on a checkout of its repository."""
