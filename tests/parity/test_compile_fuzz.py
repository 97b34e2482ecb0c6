"""Random programs of the fuzzer under torch.compile: recorded with some numbers and replayed with others of the same
layout, each gives the bits of eager, or is run as it is written.

The first lines of a program, which make its tensors, models and optimisers, are run before; the others are the function
that is compiled. What cannot be recorded is left out line by line, so that something is replayed where anything can be.
"""
import collections
import contextlib
import gc
import os
import random
import re
import time
import warnings

import numpy as np
import pytest
from torch.utils._pytree import tree_flatten

import tinytorch
from tinytorch.capture import compiled
from tinytorch.capture.selfcheck import with_one_nan
from tinytorch.kinds.lazy import root_of

from .fuzz import families
from .fuzz.program import names_for
from .test_compile_db import bits, told

#: Without "threads": what other threads call while one records waits for it, seconds each time.
FAMILIES = {name: draw for name, draw in families().items() if name != "threads"}
#: Lines that make what the function is given, or finds: tensors; numbers, modules, optimisers and functions.
_TENSOR = re.compile(r"^\w = \(*T\.(tensor|zeros|ones|arange)\(")
_SETUP = re.compile(r"^(import |T\.manual_seed|\w\.requires_grad_\(\)$|(save|pool) = |\w = (lambda|-?\d|complex\(|True|"
                    r"False|np\.\w+\(|T\.nn\.\w+\(|T\.optim\.|m\.|n\.|list\(m|\[T\.|float\())")
#: Lines that give memory that nobody has set.
_UNSET = re.compile(r"resize_|empty(?!.*\bout=|_cache)|new\(|\w*Tensor\((?!\[)")
#: Lines that may write to a tensor that there was before.
_WRITES = re.compile(r"\w_\(|out=|\] = |[-+*/]= ")
CALLS = 6


def parts(lines):
    """(lines that make what is there before, those of the function)"""
    count = 0
    while count < len(lines) and (_TENSOR.match(lines[count]) or _SETUP.match(lines[count])):
        count += 1
    return lines[:count], lines[count:]


def function_of(before, body, room):
    """(the function of these lines, the names of its arguments)"""
    given = [line[0] for line in before if _TENSOR.match(line)]
    given = list(dict.fromkeys(given))
    made = list(dict.fromkeys(re.findall(r"^(?:with [^:]*: )?(\w)(?:, \*?(\w+))? = ", "\n".join(body), re.M)))
    made = [name for pair in made for name in pair if name and name not in ("", "_")]
    if body and body[-1] is COPIES:            # `locals` is a call that a recording does not know
        named = dict.fromkeys([*given, *made])
        body = [*body[:-1], f"copies = [x.clone() for x in flat([{', '.join(named)}]) if isinstance(x, T.Tensor)]"]
        made = ["copies"]
    known = [f"'{name}': {name}" for name in made]
    text = f"def program({', '.join(given)}):\n    " + "\n    ".join([*body, f"return {{{', '.join(known)}}}"])
    exec(text, room)                           # noqa: S102
    return room["program"], given


def arguments(before, given, k):
    """Fresh tensors of the same layout, the numbers of which are those of the program in other places."""
    room = names_for(tinytorch)
    for line in before:
        if _TENSOR.match(line) or line.startswith("import ") or line[:1] in given and line.endswith("requires_grad_()"):
            exec(line, room)                   # noqa: S102
    seen = set()
    for name in given:
        root = root_of(room[name]._array)
        if k and id(root) not in seen and root.size:
            seen.add(id(root))
            flat = root.reshape(-1)
            flat = flat[np.random.RandomState(k).permutation(flat.size)]
            root[...] = flat.reshape(root.shape)
            if root.dtype.kind == "f" and k > 2:
                with np.errstate(all="ignore"):
                    root *= 1 + k / 16
    return [room[name] for name in given]


def shown(x):
    """What a program's names stand for, so that it can be compared."""
    if isinstance(x, dict):
        return [(str(key) if not isinstance(key, tinytorch.Tensor) else "tensor", shown(y)) for key, y in x.items()]
    if isinstance(x, (list, tuple)):
        return [shown(y) for y in x]
    if isinstance(x, tinytorch.Tensor):
        try:
            return _bits(x.detach()), x.requires_grad, x.is_leaf, None if x.grad is None else _bits(x.grad)
        except RuntimeError as error:          # a view that may not be used any more
            return str(error)
    if isinstance(x, (int, float, complex, str, bool, type(None), np.generic, tinytorch.dtype)):
        return repr(x)
    return type(x).__name__


def _bits(x):
    """All that can be told of a tensor but the signs of NaN."""
    return bits(x, False), with_one_nan(tinytorch.dtypes.numbers(x._array)).tobytes() if (
        type(x._array) is np.ndarray) else repr(x)


def together(x):
    """Which of the tensors of a result are one, and which lie in the same memory: what is written to one is counted
    for the others."""
    leaves = [t for t in tree_flatten(x)[0] if isinstance(t, tinytorch.Tensor) and type(t._array) is np.ndarray]
    return [(i, j, a is b, a._version_counter is b._version_counter) for j, b in enumerate(leaves)
            for i, a in enumerate(leaves[:j]) if np.shares_memory(a._array, b._array)]


class World:
    """What a program finds, and the function."""

    def __init__(self, before, body, compiles=False):
        self.before, self.room = before, names_for(tinytorch)
        tinytorch.manual_seed(0)
        for line in before:
            exec(line, self.room)              # noqa: S102
        self.function, self.given = function_of(before, body, self.room)
        if compiles:
            self.function = compiled.Compiled(self.function)

    def call(self, k):
        """What a call gives and leaves: result, arguments, parameters, the stream of random numbers, settings."""
        inputs = arguments(self.before, self.given, k)
        tinytorch.manual_seed(k)
        try:
            result = self.function(*inputs)
        except Exception as error:
            return type(error).__name__, None
        finally:
            settings = (tinytorch.is_grad_enabled(), tinytorch.get_default_dtype(), tinytorch.get_default_device(),
                        tinytorch.is_autocast_enabled("cpu"))
            restore()
        kept = [self.room.get(name) for name in "mnpo"]
        states = [shown(x.state_dict()) for x in kept if hasattr(x, "state_dict")]
        held = [shown(x) for x in kept if isinstance(x, list)]
        return shown(result), shown(inputs), together([result, inputs]), states, held, str(settings), str(
            tinytorch.get_rng_state()._array.tobytes())

    @property
    def reason(self):
        """Why it is run as it is written; None if it has a program."""
        entries = list(self.function.entries.values())
        if any([entry.programs for entry in entries]):
            return None
        return next((entry.reason for entry in entries if entry.reason), "an error, or arguments of another kind")


def restore():
    for set_to in (lambda: tinytorch.set_grad_enabled(True), lambda: tinytorch.set_default_dtype(tinytorch.float32),
                   lambda: tinytorch.set_default_device(None),
                   lambda: tinytorch.set_autocast_enabled("cpu", False),
                   lambda: tinytorch.set_autocast_dtype("cpu", tinytorch.bfloat16)):
        set_to()


def overlaps(x):
    """Whether elements of a tensor may lie in the same memory, as in x.unfold(0, 2, 1)."""
    if not isinstance(x, tinytorch.Tensor) or type(x._array) is not np.ndarray:
        return False
    end = 0
    for stride, n in sorted([(abs(stride), n) for stride, n in zip(x.stride(), x.shape) if n > 1]):
        if stride <= end:
            return True
        end += stride * (n - 1)
    return False


def without_errors(before, body):
    """The lines of a program that raise nothing, each after the others."""
    world = World(before, [])
    world.room.update(zip(world.given, arguments(before, world.given, 0)))
    kept = []
    for line in body:
        if _UNSET.search(line):
            continue                           # what nobody has set is another each time
        if _WRITES.search(line) and any([overlaps(world.room.get(name)) for name in set(re.findall(r"\w+", line))]):
            continue                           # the order of the writes to one element is not defined
        try:
            exec(line, world.room)             # noqa: S102
        except Exception:
            continue
        kept.append(line)
    restore()
    return kept


#: What is left of results that are views of arguments, or of each other.
COPIES = "# and the result is a copy of all tensors"


def recordable(lines):
    return [re.sub(r", create_graph=True", "", line) for line in lines
            if not line.startswith("gg = ") and "g, gg = " not in line]


def ran(before, body):
    """(why it is run as it is written or None, where it differs from eager or None)"""
    mine, theirs = World(before, body), World(before, body, compiles=True)
    for k in range(CALLS):
        expected, found = mine.call(k), theirs.call(k)
        if found != expected:
            return theirs.reason, f"call {k}: {told(found, expected)}"
    return theirs.reason, None


def check(lines, tries):
    """(whether a part of the program was replayed, of `tries` parts at most, the reason that the whole was not, what
    differs or None)"""
    before, body = parts(lines)
    try:
        body = without_errors(before, body)
        arguments(before, World(before, body).given, 0)
    except Exception:
        return False, "what it is given cannot be made", None
    if not body:
        return False, "nothing but errors", None
    reason, different = ran(before, body)
    if different is not None or reason is None:
        return reason is None, reason, different and reproduction(before, body, different)
    first, most = reason, recordable(body)
    shorter = [most[:n] for n in range(len(most), 0, -1)]
    for smaller in [x for n in shorter for x in (n, [*n, COPIES])][:tries]:
        if smaller == body:
            continue
        reason, different = ran(before, smaller)
        if different is not None or reason is None:
            return reason is None, first, different and reproduction(before, smaller, different)
    return False, first, None


def reproduction(before, body, different):
    return "\n".join([*before, "# compiled:", *body, f"# {different}"])


class Checks:
    """The tests' counts."""

    replayed, programs, reasons = 0, 0, collections.Counter()


@contextlib.contextmanager
def quiet():
    settings = compiled.settings
    before = settings.self_check, settings.patience
    settings.self_check = False                # which would hide what is compared here
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            gc.freeze()                        # who holds an array is asked of all objects: not of torch's
            yield
    finally:
        gc.unfreeze()
        settings.self_check, settings.patience = before
        restore()


def differences(name, seed, count, tries=12):
    """Reproductions of what differs in `count` programs of a family."""
    found = []
    with quiet():
        for k in range(count):
            compiled.settings.patience = 3 * (k % 2)           # half of them are lowered to C at once
            replayed, reason, different = check(FAMILIES[name](random.Random(f"{name} {seed} {k}")), tries)
            Checks.replayed += replayed
            Checks.programs += 1
            Checks.reasons[reason] += 1
            if different is not None:
                found.append(f"# {name} {seed} {k}\n{different}")
    return found


@pytest.mark.parametrize("name", FAMILIES)
def test_some(name):
    found = differences(name, 0, 9, tries=3)
    assert not found, "\n\n".join(found)


@pytest.mark.sweep
@pytest.mark.parametrize("name", FAMILIES)
def test_many(name):
    seed = int(os.environ.get("FUZZ_SEED", time.time()))
    count = int(os.environ.get("FUZZ_PROGRAMS", 5000)) // len(FAMILIES)
    found = differences(name, seed, count)
    print(f"{name}, seed {seed}: {len(found)} of {count} programs differ")
    assert not found, "\n\n".join(found[:50])
