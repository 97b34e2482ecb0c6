"""Generated code of the checking door (public.py) for calls whose arguments fit, without a loop over them.

Going over the annotations and arguments of a call in loops takes half as long as adding two small arrays, and longer
with keywords. So the first call of a door replaces its code by code made for the kinds of its parameters.
"""
from __future__ import annotations

import os
from functools import cache
from types import CodeType
from typing import Any

#: How an argument is checked, by the kind of its parameter. Arguments of kind ANY always fit.
TENSOR, INT, INTS, INT_OR_INTS, OTHER, ANY = "TENSOR", "INT", "INTS", "INT_OR_INTS", "OTHER", "ANY"

_LISTED = "a{i}.__class__ in LISTS and are_ints(a{i})"
_CLASS = "a{i}.__class__ in classes[{i}]"
_FITS = {
    TENSOR: "(a{i}.__class__ is Tensor or a{i}.__class__ in PARAMETERS and a{i}._array.__class__ is np.ndarray "
            f"or {_CLASS})",
    INT: f"(LEAST <= a{{i}} <= LARGEST if a{{i}}.__class__ is int else {_CLASS})",
    INTS: f"({_CLASS} or {_LISTED})",
    INT_OR_INTS: f"(LEAST <= a{{i}} <= LARGEST if a{{i}}.__class__ is int else {_CLASS} or {_LISTED})",
    OTHER: _CLASS,
}


@cache
def code(kinds: tuple[str, ...], looks: bool, repeats: bool, free: tuple[str, ...]) -> CodeType:
    """The code of a door's `call` for positional parameters of these kinds, with these free variables. `looks`: it
    checks the dtype of the first tensor. `repeats`: calls may be answered by what is kept of others (repeats.py)."""
    cases = []
    for count in range(1, len(kinds) + 1):
        given = "".join([f"a{i}, " for i in range(count)])
        fits = " and ".join([_FITS[kind].format(i=i) for i, kind in enumerate(kinds[:count]) if kind != ANY])
        cases.append(f"""
        {"if" if count == 1 else "elif"} n == {count}:
            {given}= args
            if not ({fits or True}):
                return fallback(public, args, kwargs)""")
    unlike = """
        if a0._array.dtype.kind not in plain:
            return fallback(public, args, kwargs)""" if looks else ""
    again = """
        key = args
        if kwargs:
            key = (len(args), *args, *kwargs, *kwargs.values())
        try:
            if (found := repeats.again(key)) is not None:
                return repeats.learn_checked(key, fallback, public, args, kwargs) if found is True else found
        except Exception as error:
            failed(error, args, kwargs)
            raise""" * repeats
    text = f"""
def make({", ".join(free)}):
    def call(*args, **kwargs):
        if seam.up:
            return fallback(public, args, kwargs){again}
        n = len(args){"".join(cases)}
        else:
            return fallback(public, args, kwargs){unlike}
        try:
            if not kwargs:
                return function(*args)         # this form makes no dictionary
            for name in kwargs:
                value = kwargs[name]
                kind = value.__class__
                if name not in keywords or value is dt.bfloat16 or not (    # bfloat16 may be computed in float32
                        LEAST <= value <= LARGEST if kind is int and int in keywords[name] else
                        kind in keywords[name] or kind in LISTS and Ints in keywords[name] and are_ints(value)):
                    break
            else:
                return function(*args, **kwargs)
        except Exception as error:
            failed(error, args, kwargs)
            raise
        return fallback(public, args, kwargs)
        {", ".join(free)}
    return call
"""
    made: Any = compile(text, os.path.join(os.path.dirname(__file__), f"<door of {len(kinds)} arguments>"), "exec")
    for name in ("make", "call"):
        made = next(inside for inside in made.co_consts if getattr(inside, "co_name", "") == name)
    assert made.co_freevars == free
    return made
