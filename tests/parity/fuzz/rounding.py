"""Whether a difference of values is rounding: the program in double precision is asked, by PyTorch."""
import contextlib
import re
import warnings

import numpy as np
import torch

from ..adapter import array_of

#: How much further than torch ours may be from what double precision gives, where they are furthest from it.
FACTOR = 4

_MADE = re.compile(r"(T\.tensor\([^T]*?, dtype=T\.(?:b?float16|float32|complex64)\)|\.to\(T\.b?float16\))")
_NARROW = re.compile(r"T\.(b?float16|float32|complex64)\b")


def _widened(line):
    """The statement with the same numbers, and the arithmetic on them, in double precision."""
    parts = _MADE.split(line)
    for i, part in enumerate(parts):
        wide = "T.complex128" if "complex64" in part else "T.float64"
        parts[i] = f"{part}.to({wide})" if i % 2 else _NARROW.sub(
            lambda found: "T.complex128" if found[1] == "complex64" else "T.float64", part)
    line = "".join(parts)
    return f"{line}; m = m.double()" if line.startswith("m = ") else line


def explains(lines, number, name, ours, theirs, names, state):
    """Whether torch's own distance from what double precision gives is as large as that of ours.

    `number`: the statement after which the tensors called `name` were compared; `names`: what statements find;
    `state`: of torch's generator, before the program.
    """
    now, default = torch.get_rng_state(), torch.get_default_dtype()
    try:
        torch.set_rng_state(state)
        if not any("T.nn." in line for line in lines):         # layers draw other numbers in double precision
            torch.set_default_dtype(torch.float64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for line in lines[:number + 1]:
                with contextlib.suppress(Exception):           # what is refused makes nothing
                    exec(_widened(line), names)                # noqa: S102
            exact = array_of(eval(name, names).detach())       # noqa: S307
    except Exception:                          # what does not run in double precision explains nothing
        return False
    finally:
        torch.set_rng_state(now)
        torch.set_default_dtype(default)
    if exact.dtype.kind not in "fc":
        return False
    ours, theirs = array_of(ours).astype(exact.dtype), array_of(theirs.detach()).astype(exact.dtype)
    finite = np.isfinite(theirs)
    if not (np.isfinite(exact[finite]).all() and np.isfinite(ours[finite]).all()
            and np.array_equal(ours[~finite], theirs[~finite], equal_nan=True)):
        return False
    off, torch_off = [np.abs(x[finite] - exact[finite]).max(initial=0) for x in (ours, theirs)]
    return bool(off <= FACTOR * torch_off)
