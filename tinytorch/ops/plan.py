"""Caches for checks of shapes and settings. Such a check costs more than a small convolution, so it runs once for each
combination of arguments.
"""
from functools import lru_cache


def cached_by_shape(function):
    """Decorator: caches a function of shapes and settings. Arguments that are not hashable (lists) are not cached."""
    remembered = lru_cache(512, typed=True)(function)

    def call(*args):
        try:
            return remembered(*args)
        except TypeError:
            return function(*args)
    return call
