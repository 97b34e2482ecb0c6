"""Checks of shapes and settings, which cost more than a small convolution, made once for each combination."""
from functools import lru_cache


def cached_by_shape(function):
    """A function of shapes and settings, remembered. Arguments that cannot be looked up (lists) are computed anew."""
    remembered = lru_cache(512, typed=True)(function)

    def call(*args):
        try:
            return remembered(*args)
        except TypeError:
            return function(*args)
    return call
