"""Random programs under both libraries.

A program is a list of lines of Python over `T` (the module), `F` (its nn.functional), `np` and the names that the
lines before have assigned. It runs line by line under torch and under tinytorch; after each line both must have raised
the same type of error, or what the line assigned must be the same (program.py says what that is). After a line
whose numbers differ by a rounding, tinytorch's are replaced by torch's: each line is compared by itself, nothing builds
up.

A family is a module here with a function `program(rng)`, which draws a program from a `random.Random`. values.py draws
what all families need: shapes, dtypes, tensors of odd strides, special values. Names of gradients begin with g; `loss`
makes a number of any tensors to differentiate. A program that ends differently is
reduced: lines go, and numbers become simple ones, as long as the difference stays. What differs on purpose, or cannot
be the same, stands in known.py (and known_by_family.py) with the reason. Numbers that differ by rounding, or as those
of two ways that torch itself has, are found by asking torch again (rounding.py, reruns.py).

    python -m tests.parity.fuzz elementwise --programs 2000 --seed 7
    python -m tests.parity.fuzz                                          # all families, 1000 programs each

A short run is in the suite (test_fuzz.py); `pytest tests/parity/fuzz -m sweep` runs FUZZ_PROGRAMS (60000) shared among
the families, from FUZZ_SEED (by default the time).
"""
import importlib
import pkgutil

#: The modules here that are no families.
_OTHERS = {"__main__", "program", "values", "known", "known_by_family", "rounding", "reruns", "spoilt", "test_fuzz",
           "test_spoilt"}


def families():
    """{name: function that draws a program}"""
    names = [m.name for m in pkgutil.iter_modules(__path__) if m.name not in _OTHERS]
    return {name: importlib.import_module(f"{__name__}.{name}").program for name in names}
