"""Calls of public functions with one argument spoilt, under both libraries.

A call is a sample of torch's table of operators, or the constructor of a layer or an optimiser in torch's other
tables. One of its arguments (or one item of a list) is replaced by a value that does not belong there: None, a string,
NaN, a number of 70 bits, a NumPy array, a tensor of another dtype or shape, and so on. Both libraries must raise the
same class of exception or return the same values, and no message may be NumPy's. The calls run in child processes:
torch ends the process for some of them, or asks for all memory there is.

    python -m tests.parity.fuzz.spoilt --calls 5000 --seed 7
"""
import argparse
import collections
import dis
import functools
import multiprocessing
import random
import re
import resource
import signal
import sys
import warnings

import numpy as np
import torch

import tinytorch

from ..adapter import (
    MODULES,
    OPS,
    OPTIMIZERS,
    Different,
    Untranslatable,
    convert,
    described,
    namesake,
    same,
    samples,
    tensors,
)
from ..test_op_db import HERE, NO_VALUES

#: Seconds that one call may take, and bytes of address space beyond what the process has.
LIMIT, MEMORY = 5, 4 << 30

#: Values for an argument, as text that is read with `T` (torch or tinytorch) and `np`.
NUMBERS = """None True False 0 1 -1 2 7 -7 .5 -.5 1e300 -1e300 10**30 -10**30 2**63 2**63-1 -2**63 2**31 1j
float('nan') float('inf') -float('inf') -0.0 'abc' '' b'ab' [] () [1] [1,2] [2,1,0] [1.5] (0,0) [None] [-1,5] {} {'a':1}
object() len T.float64 T.int64 T.strided T.Size([2]) slice(1) range(2) Ellipsis
np.int64(2) np.int32(-1) np.uint8(1) np.float64(.5) np.float32('nan') np.float16(2) np.bool_(True) np.complex64(1j)
np.array(2) np.array(2.5) np.array(True)""".split()
TENSORS = """T.tensor(2) T.tensor(2.5) T.tensor(True) T.tensor(1j) T.tensor([]) T.tensor([1.]) T.tensor([1,0]) T.ones(3)
T.ones(2,3) T.ones(2,3,4) T.ones(1,1,1,1,1) T.ones(0,3) T.ones(2,2,dtype=T.bfloat16) T.tensor(2.,requires_grad=True)
T.tensor(float('nan')) T.tensor([float('nan'),1.]) T.ones(5,dtype=T.float64) T.arange(3) T.zeros(2,3,dtype=T.int32)
np.ones(3) np.ones((2,2)) np.ones((2,2),np.float32) np.zeros(2,np.int64) np.array('a') np.array([None])""".split()
#: What stands in the place of a number when all of them are tried.
SPECIAL = """float('nan') float('inf') -float('inf') -0.0 10**30 2**63 -2**63 1e300 True np.int64(2) np.float64(.5)
np.float32('nan') np.bool_(True)""".split()
#: What is done to a tensor that stands there.
CHANGES = {
    "x.to(T.float64)": lambda T, x: x.to(T.float64), "x.to(T.bfloat16)": lambda T, x: x.to(T.bfloat16),
    "x.to(T.int64)": lambda T, x: x.to(T.int64), "x.to(T.bool)": lambda T, x: x.to(T.bool),
    "x.to(T.uint8)": lambda T, x: x.to(T.uint8), "x.to(T.complex64)": lambda T, x: x.to(T.complex64),
    "x.numpy()": lambda T, x: x.detach().resolve_conj().resolve_neg().numpy(), "x.tolist()": lambda T, x: x.tolist(),
    "x.unsqueeze(0)": lambda T, x: x.unsqueeze(0), "x[..., :1]": lambda T, x: x[..., :1],
    "x[:0]": lambda T, x: x[:0], "x.flatten()": lambda T, x: x.flatten(), "x.sum()": lambda T, x: x.sum(),
    "x.expand(2, ...)": lambda T, x: x.expand(2, *x.shape), "[x]": lambda T, x: [x], "(x, x)": lambda T, x: (x, x),
    "x.repeat(2)": lambda T, x: x.repeat(2, *[1] * (x.ndim - 1)), "x.mT": lambda T, x: x.mT,
    "x.to_sparse()": lambda T, x: x.to_sparse(), "x.to('meta')": lambda T, x: x.to("meta"),
    "x * nan": lambda T, x: x * float("nan"), "-x": lambda T, x: -x, "x + 100": lambda T, x: x + 100,
    "x.conj()": lambda T, x: x.to(T.complex64).conj(), "x.float()": lambda T, x: x.float(),
}


class Spoilt:
    """A call: `place` is the argument that is replaced (a number, a keyword, or either with the place in a list), and
    `word` the text of what replaces it."""

    def __init__(self, name, function, ours, args, kwargs, place, word, values=True):
        self.name, self.function, self.ours, self.args, self.kwargs = name, function, ours, args, kwargs
        self.place, self.word, self.values = place, word, values

    def __str__(self):
        return f"{self.name}: argument {self.place} {self.word} in {described(self.args)} {described(self.kwargs)}"

    def under(self, t):
        """(function, args, kwargs) under a library, with that argument replaced."""
        args, kwargs = (self.args, self.kwargs) if t is torch else convert((self.args, self.kwargs))
        args, kwargs = list(args), dict(kwargs)
        where, key = (args if isinstance(self.place[0], int) else kwargs), self.place[0]
        if len(self.place) > 1:
            where[key] = list(where[key])
            where, key = where[key], self.place[1]
        if self.word in CHANGES:
            where[key] = CHANGES[self.word](t, where[key])
        else:
            where[key] = eval(self.word, {"T": t, "np": np})
        return self.function if t is torch else self.ours, args, kwargs


def places(args, kwargs):
    for key, value in [*enumerate(args), *kwargs.items()]:
        yield (key,), value
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            yield from (((key, i), item) for i, item in enumerate(value))


@functools.cache
def _samples(name):
    op = OPS[name]
    for dtype in (torch.float32, torch.int64, torch.complex64, torch.bool, torch.float64):
        if op.supports_dtype(dtype, "cpu"):
            return [((x, *args), kwargs) for x, args, kwargs, _ in samples(op, dtype, 12)]
    return []


@functools.cache
def _of_modules(name):
    entry = MODULES[name]
    cls = entry.module_cls
    found = []
    for training in (True, False):
        for sample in entry.module_inputs_func(entry, device="cpu", dtype=torch.float32, requires_grad=False,
                                               training=training):
            made = sample.constructor_input
            found.append((made.args, made.kwargs, sample.forward_input))
    return cls, found


def _layer(cls, forward, t):
    """A function of the constructor's arguments: the layer's answer to the sample's input."""
    def call(*args, **kwargs):
        t.manual_seed(0)
        layer = cls(*args, **kwargs)
        if forward is None:
            return layer.state_dict()
        given, keywords = (forward.args, forward.kwargs) if t is torch else convert((forward.args, forward.kwargs))
        return layer(*given, **keywords)
    return call


def _stepped(cls, t):
    """A function of an optimiser's options: the parameter after two steps."""
    def call(**kwargs):
        p = t.nn.Parameter(t.linspace(-1, 1, 6).reshape(2, 3))
        optimizer = cls([p], **kwargs)
        for _ in range(2):
            p.grad = (p * p).detach()
            optimizer.step()
        return p
    return call


def names():
    """What calls can be drawn of."""
    return ([f"op {name}" for name in HERE] + [f"layer {name}" for name in MODULES]
            + [f"optim {name}" for name in OPTIMIZERS])


def special(name):
    """The calls of an operator with each of its numbers replaced by each of SPECIAL, in the first samples that have
    such a number."""
    calls, seen = [], {}
    for args, kwargs in _samples(name.partition(" ")[2]):
        for place, value in places(args, kwargs):
            if isinstance(value, (int, float, complex)) and seen.setdefault(place, 0) < 2:
                seen[place] += 1
                calls += [_of_operator(name, args, kwargs, place, word) for word in SPECIAL]
    return calls


def _of_operator(name, args, kwargs, place, word):
    key = name.partition(" ")[2]
    op = OPS[key]
    return Spoilt(name, op.op, namesake(op.op, op.name), args, kwargs, place, word, not NO_VALUES.match(key))


def draw(name, rng):
    """A call of one of `names`, or None if it has no arguments to spoil."""
    kind, _, key = name.partition(" ")
    values = True
    if kind == "op":
        found = _samples(key)
        if not found:
            return None
        args, kwargs = rng.choice(found)
        function, ours = OPS[key].op, namesake(OPS[key].op, OPS[key].name)
        values = not NO_VALUES.match(key)
    elif kind == "layer":
        cls, found = _of_modules(key)
        args, kwargs, forward = rng.choice(found)
        mine = getattr(tinytorch.nn, cls.__name__, None)
        if mine is None:
            return None
        function, ours = _layer(cls, forward, torch), _layer(mine, forward, tinytorch)
    else:
        cls = OPTIMIZERS[key].optim_cls
        inputs = OPTIMIZERS[key].optim_inputs_func(device="cpu")
        args, kwargs = (), dict(rng.choice(inputs).kwargs)
        if not kwargs:
            kwargs = {"lr": .1}
        function, ours = _stepped(cls, torch), _stepped(getattr(tinytorch.optim, key), tinytorch)
    found = list(places(args, kwargs))
    if not found:
        return None
    place, value = rng.choice(found)
    words = NUMBERS + TENSORS if not isinstance(value, torch.Tensor) else NUMBERS + 2 * (TENSORS + list(CHANGES))
    return Spoilt(name, function, ours, args, kwargs, place, rng.choice(words), values)


#: What torch says of its own faults.
TORCHS_FAULTS = "INTERNAL ASSERT|Could this error message be improved"
#: What tinytorch says of functions that it has for dense tensors with numbers alone.
MISSING = "tinytorch has no|not implemented for tensors on the device meta|needs the numbers of a tensor on the device"


#: (the call, what differs, why): the first two are regular expressions.
KNOWN = [
    (r"^op (masked\.|norm|stft|nn\.functional\.\w*max_pool).*argument \(0,\)", "for AttributeError",
     "torch's Python asks its first argument for an attribute before anything looks at what it is"),
    (r"^op (sub|rsub|subtract): argument \('alpha',\) -2\*\*63", "", "torch negates it, and 2**63 is no int64"),
    (r"^op linalg.vector_norm: argument \('ord',\) .*nan", "", "of one number torch takes the absolute value, or not"),
    (r"^layer nn.CircularPad.d: .* -", "value", "torch leaves memory unwritten where a circular border is cut off"),
    ("^op broadcast_shapes", "", "torch compares sizes as symbols, with the errors of what makes guards of them"),
    (r"^op special\.\w*polynomial.*nan", r"nan\) for",
     "torch's loops end at NaN before they have written what they return"),
    (r"to\('meta'\)", "on the expected device", "torch's kernels of numbers look at the device of their own operand"),
]


def _is_known(call, what):
    return any(re.search(where, call) and re.search(said, what) for where, said, _ in KNOWN)


def _dense(result):
    """A result with dense tensors for sparse ones, whose classes differ."""
    if isinstance(result, (torch.Tensor, tinytorch.Tensor)) and str(result.layout) != "torch.strided":
        return result.to_dense()
    if type(result) in (tuple, list):
        return type(result)(map(_dense, result))
    return result


class TooLong(BaseException):
    """A call that takes more than LIMIT seconds."""


def _stop(number, frame):
    raise TooLong


def _outcome(function, args, kwargs):
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        return None, function(*args, **kwargs)
    except TooLong:
        return TooLong(), None
    except Exception as error:
        return error, None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


#: How NumPy words its errors.
NUMPY_WORDS = re.compile(
    r"operands could not be broadcast|could not broadcast input|ufunc|NumPy|numpy|ndarray|for array of dimension|"
    r"setting an array element|only integer|only length-1|only 0-dimensional|object arrays|cannot reshape array|"
    r"out of bounds for axis|axes don't match|not aligned|mismatch in its core|all the input array|einstein|"
    r"no array for a kernel|elements for \d|Cannot cast|dtype\('|is not a scalar|data type|buffer is|too many indices|"
    r"array is not|arrays? must|zero-size array|has no attribute|object has no|truth value of an (empty )?array")


def _is_foreign(error):
    """Whether an exception was not raised by a statement of this library, and its words are NumPy's (or those of an
    attribute that is missing)."""
    last = error.__traceback__
    while last.tb_next:
        last = last.tb_next
    code = last.tb_frame.f_code
    raised = {i.offset for i in dis.get_instructions(code) if i.opname in ("RAISE_VARARGS", "RERAISE")}
    ours = last.tb_frame.f_globals.get("__name__", "").startswith("tinytorch") and last.tb_lasti in raised
    return not ours and bool(NUMPY_WORDS.search(str(error)))


def difference(call, answered):
    """What differs, as text, or None. "torch" if torch gives no answer to compare with; `answered()` is called when it
    has given one."""
    signal.signal(signal.SIGALRM, _stop)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            (function, args, kwargs), (ours, my_args, my_kwargs) = call.under(torch), call.under(tinytorch)
        except (Untranslatable, RuntimeError, IndexError, TypeError):      # what replaces it cannot be made
            return "torch"
        torch.manual_seed(0)
        error, theirs = _outcome(function, args, kwargs)
        if isinstance(error, (TooLong, MemoryError)) or error is not None and re.search(TORCHS_FAULTS, str(error)):
            return "torch"
        answered()
        tinytorch.manual_seed(0)
        my_error, mine = _outcome(ours, my_args, my_kwargs)
        if isinstance(my_error, TooLong):
            return f"{LIMIT} seconds are not enough"
        if my_error is not None and _is_foreign(my_error) and not (error is not None and _is_foreign(error)):
            return f"words: {type(my_error).__name__}: {my_error} for {_told(error)}"
        if isinstance(my_error, NotImplementedError) and re.search(MISSING, str(my_error)):
            return "torch"
        if type(error).__name__ != type(my_error).__name__:
            return f"class: {_told(my_error)} for {_told(error)}"
        if error is None:
            try:
                same(_dense(mine), _dense(theirs), values=call.values and not any(x.is_meta for x in tensors(theirs)))
            except Different as different:
                return f"value: {different}"
    return None


def _told(error):
    return "no error" if error is None else f"{type(error).__name__}: {str(error).splitlines()[:1]}"


def _work(seed, todo, pipe, choose):
    torch.set_num_threads(1)
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() if sys.platform == "linux" else 0
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, resource.RLIM_INFINITY))
    for name, k in todo:
        pipe.send((name, k))
        call = choose(name, seed, k)
        found = "torch" if call is None else difference(call, lambda: pipe.send(()))
        pipe.send((name, k, None if found is None else found, str(call)))
    pipe.send(None)


def _received(pipe, process):
    """The next message of a child; one that is silent for too long is killed: a loop in C is not to be interrupted."""
    if not pipe.poll(3 * LIMIT):
        process.kill()
    return pipe.recv()


def drawn(name, seed, k):
    """A call by its name, the seed of all and its number."""
    return draw(name, random.Random(f"{name} {seed} {k}"))


def differences(seed, todo, choose=drawn):
    """(how many calls were compared, [(call, what differs)]) for pairs of a name and a number. A call that ends the
    process under torch is not compared; one that ends it here is a difference."""
    compared, found, todo = 0, [], list(todo)
    context = multiprocessing.get_context("fork")
    while todo:
        mine, child = context.Pipe(False)
        process = context.Process(target=_work, args=(seed, todo, child, choose))
        process.start()
        child.close()
        at, here = None, False
        try:
            while (told := _received(mine, process)) is not None:
                if len(told) < 3:
                    at, here = told or at, not told
                    continue
                at, todo = None, todo[1:]
                if told[2] != "torch":
                    compared += 1
                    if told[2] is not None and not _is_known(told[3], told[2]):
                        found.append((f"{told[3]}  [{seed} {told[1]}]", told[2]))
            todo = []
        except EOFError:                       # it died at that call
            process.join()
            if here:
                found.append((f"{at} seed {seed}", f"died: exit code {process.exitcode}"))
            todo = todo[1:]
        process.join()
    return compared, found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    chosen = [name for name in names() if re.search(options.only, name)]
    todo = [(name, k) for k in range(max(1, options.calls // len(chosen))) for name in chosen]
    todo.sort()
    compared, found = differences(options.seed, todo)
    for call, what in found:
        print(f"{call}\n    {what}")
    kinds = collections.Counter(what.split(":")[0] for _, what in found)
    print(f"{len(found)} of {compared} calls differ {dict(kinds)}")


if __name__ == "__main__":
    main()
