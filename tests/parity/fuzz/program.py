"""Running a program under both libraries, and reducing one that ends differently."""
import contextlib
import functools
import re
import signal
import warnings

import numpy as np
import torch

import tinytorch

from ..adapter import TOLERANCE, Different, array_of, convert, same
from . import elementwise, reruns
from .known import reason_for
from .rounding import explains

#: Seconds that a program may take.
LIMIT = 10


class Difference(Exception):
    """The libraries differ. `line`: the number of the statement, or how many there are if it shows at the end. `kind`:
    in what (error, type, dtype, shape, stride, stride of one, view, history, value, memory, time)."""

    def __init__(self, kind, line, text):
        super().__init__(f"{kind} in line {line}: {text}")
        self.kind, self.line, self.text = kind, line, text


def loss(*tensors):
    """A number that every element of the tensors has its own part in, whatever their dtype."""
    total = 0
    for x in tensors:
        x = (x.real + 2 * x.imag if x.is_complex() else x).double().reshape(-1)
        total = total + sum(x[k::7].sum() * (k + 1) for k in range(7))
    return total


def flat(values):
    """The tensors in tuples and lists, in one list."""
    if isinstance(values, (tuple, list)):
        return [x for value in values for x in flat(value)]
    return [values]


def dense(gradients, detached=False):
    """Gradients copied to contiguous memory, with or without their histories."""
    return [x if x is None else (x.detach() if detached else x).reshape(-1).clone().reshape(x.shape)
            for x in gradients]


def names_for(t):
    """What the lines of a program find."""
    return {"T": t, "F": t.nn.functional, "np": np, "loss": loss, "flat": flat, "dense": dense}


@contextlib.contextmanager
def _time_limit():
    def stop(number, frame):
        raise TimeoutError
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def run(lines, exact=False):
    """Raise Difference unless the program does the same under both libraries. After a difference that is known it goes
    on, if both have a value. `exact`: numbers about as far from what double precision gives as torch's are no
    difference. What the program has set is as it was afterwards."""
    try:
        _run(lines, exact)
    finally:
        for t in (torch, tinytorch):
            t.set_grad_enabled(True)
            t.set_default_dtype(t.float32)
            t.set_default_device(None)
            t.set_autocast_enabled("cpu", False)
            t.set_autocast_dtype("cpu", t.bfloat16)


def _run(lines, exact):
    known = {}                                 # by object and kind, with the object, so that it stays one
    state = torch.get_rng_state()

    def differs(kind, value, number, name, text, ours=None):
        found = Difference(kind, number, f"{name}: {text}")
        if (id(value), kind) not in known and reason_for(lines, found) is None and not (
                exact and ours is not None and (
                    kind == "value" and explains(lines, number, name, ours, value, names_for(torch), state)
                    or reruns.explains(lines, number, name, ours, names_for(torch), tolerance_for(name)))):
            raise found from None
        known[id(value), kind] = value

    def tolerance_for(name):
        return _of_narrowest(lines) if name[0] == "g" else TOLERANCE

    ours, theirs = names_for(tinytorch), names_for(torch)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for number, line in enumerate(lines):
            overlaps = _reads_what_it_writes(line, theirs)
            before, shapes = dict(theirs), {name: x.shape for name, x in theirs.items() if isinstance(x, torch.Tensor)}
            written = {path: _writes(x) for path, x in _held(ours)}
            states = _states(ours), _states(theirs)
            error = _attempt(line, theirs, number, "torch")
            our_error = _attempt(line, ours, number, "tinytorch")
            if _resizes_what_it_reads(line, before, shapes):
                return                         # what is read of an `out` hangs on when torch gives it its shape
            if _type_of(error) != _type_of(our_error):
                raise Difference("error", number, f"{_told(our_error)} for {_told(error)}")
            if error is not None and "out=" in line:
                return                         # to which torch may have given a shape, or numbers, before it refused
            if overlaps and error is None:
                return                         # what is read after it was written hangs on torch's order of elements
            if error is not None:              # torch may have written a part before it raised
                in_torch = dict(_held(theirs))
                for path, x in _held(ours):
                    if path in written and written[path] == _writes(x) and path in in_torch:
                        _fill(x, in_torch[path])
                _catch_up(ours, theirs, *states)
            for name in [name for name, value in theirs.items() if name[0] != "_" and before.get(name) is not value]:
                if name not in ours:
                    raise Difference("error", number, f"{name} is not assigned")
                compare(ours[name], theirs[name], name, functools.partial(differs, number=number),
                        tolerance_for(name))
        values = {name: x for name, x in theirs.items() if name not in names_for(torch)}
        for name, value in values.items():
            compare(ours[name], value, name, functools.partial(differs, number=len(lines)),
                    tolerance_for(name))
        _same_memory(ours, values, len(lines))


def _of_narrowest(lines):
    """The tolerance for gradients: where dtypes meet, they are as exact as the narrowest of them."""
    text = re.sub(r"\.half\(\)", ".to(T.float16)", "\n".join(lines))
    found = re.findall(r"T\.(b?float16|float32|complex64)\b", text)
    narrow = max([TOLERANCE[getattr(torch, name)] for name in found], default=0)
    return {dtype: max(narrow, tolerance) for dtype, tolerance in TOLERANCE.items()}


#: Functions that read an element before they write it.
_ELEMENTWISE = {*elementwise.UNARY, *elementwise.BINARY, *elementwise.TERNARY, "clamp"}
_IN_PLACE = re.compile(r"^(?:with .*?: )?(?:\w+ = )?(\w+)(?:\.data|\.\w+\(-?\d*\)|\[[^\]]*\])*"
                       r"(?:\.\w+[a-z]_\(|\[.*\] \S?= | \S+= )(.*)")


def _reads_what_it_writes(line, names):
    """Whether a statement writes to a tensor in place, and reads another with the same memory in another order."""
    out, found = re.search(r"\bout=(.*)", line), _IN_PLACE.match(line)
    if out is None and found is None:
        return False
    targets, others = (re.findall(r"\b\w\b", out[1]), line[:out.start()]) if out else ([found[1]], found[2] or line)
    one_by_one = out is None or bool(_ELEMENTWISE & set(re.findall(r"(?:T|np)\.([\w.]+)\(", line)))
    return any(_overlap(names.get(target), names.get(name), one_by_one) for target in targets
               for name in re.findall(r"\b[a-z]\b", others))


def _resizes_what_it_reads(line, names, shapes):
    """Whether a tensor that a statement has written to as `out`, and read too, has another shape since."""
    out = re.search(r"\bout=(.*)", line)
    read = out and re.findall(r"\b[a-z]\b", line[:out.start()])
    return out is not None and any(
        name in shapes and names[name].shape != shapes[name]
        and any(names[x].untyped_storage().data_ptr() == names[name].untyped_storage().data_ptr()
                for x in read if x in shapes)
        for name in re.findall(r"\b\w\b", out[1]))


def _overlap(target, x, one_by_one):
    """Whether two names stand for tensors of which one reads memory that the other writes: in another order, if that
    is element by element."""
    return (isinstance(target, torch.Tensor) and isinstance(x, torch.Tensor) and not (x is target and one_by_one)
            and x.numel() and target.numel()
            and x.untyped_storage().data_ptr() == target.untyped_storage().data_ptr() and not (
                one_by_one and (x.stride(), x.shape, x.data_ptr()) == (
                    target.stride(), target.shape, target.data_ptr())))


def _attempt(line, names, number, library):
    try:
        with _time_limit():
            exec(line, names)                  # noqa: S102
    except TimeoutError:
        raise Difference("time", number, f"{library} takes more than {LIMIT} s") from None
    except Exception as error:
        return error
    finally:
        for name in "__builtins__", "__warningregistry__":
            names.pop(name, None)
    return None


def _type_of(error):
    return None if error is None else type(error).__name__


def _told(error):
    return "no error" if error is None else f"{_type_of(error)}: {str(error).splitlines()[:1]}"


def compare(ours, theirs, name, differs, tolerance=TOLERANCE):
    """Call `differs(kind, theirs, name=, text=)` unless the two are the same: in type, dtype, shape, strides, history,
    whether they are views, and values up to the rounding of their dtype. Then the values are torch's in both. What a
    name that begins with g stands for is a gradient: whether it is a view is not compared."""
    if isinstance(theirs, (list, tuple)) and isinstance(ours, (list, tuple)) and len(ours) == len(theirs):
        for i, (a, b) in enumerate(zip(ours, theirs)):
            compare(a, b, f"{name}[{i}]", differs, tolerance)
        return
    if isinstance(theirs, dict) and isinstance(ours, dict) and len(ours) == len(theirs):
        for (our_key, a), (key, b) in zip(ours.items(), theirs.items()):       # tensors may be keys
            compare(our_key, key, f"a key of {name}", differs, tolerance)
            compare(a, b, f"{name}[{key!r}]", differs, tolerance)
        return
    if not isinstance(theirs, torch.Tensor) or not isinstance(ours, tinytorch.Tensor):
        if callable(theirs) and callable(ours) or _is_machine(theirs) and type(ours).__name__ == type(theirs).__name__:
            return
        try:
            same(ours, theirs, tolerance=1e-6 if isinstance(theirs, float) else None)
        except Different as different:
            differs("type", theirs, name=name, text=different)
        return
    for kind, look in _LOOKS.items():
        if kind == "view" and name.startswith("g"):
            continue                           # how a gradient came about is nobody's business
        a, b = _seen(look, ours), _seen(look, theirs)
        if a != b:
            differs(kind, theirs, name=name, text=f"{a} for {b}", ours=ours if kind == "dtype" else None)
            if kind in ("dtype", "shape"):
                return
    try:
        same(ours.detach(), theirs.detach(), tolerance=tolerance, bits=False)      # "view" looks at those
    except Different as different:
        differs("value", theirs, name=name, text=different, ours=ours)
    if theirs.dtype.is_floating_point or theirs.dtype.is_complex:
        _fill(ours, theirs)


def _writes(x):
    """What tells that one of our tensors was written to: its version, or its elements if it has none."""
    if isinstance(x, tinytorch.Tensor):
        return x._array.tobytes() if x.is_inference() else x._version
    return None


def _fill(ours, theirs):
    """Give our tensor torch's numbers, if NumPy can."""
    memory = ours.detach()._array
    if memory.size and memory.shape == theirs.shape and memory.flags.writeable:
        memory[...] = tinytorch.dtypes.cast(array_of(theirs), memory.dtype)


def _held(names):
    """(path, tensor) of the tensors that names stand for, by themselves, in a list or in the state of an optimiser."""
    for name, x in names.items():
        if isinstance(x, (torch.Tensor, tinytorch.Tensor)):
            yield (name,), x
        elif isinstance(x, (list, tuple)):
            yield from (((name, i), e) for i, e in enumerate(x) if isinstance(e, (torch.Tensor, tinytorch.Tensor)))
        elif hasattr(x, "param_groups") and hasattr(x, "state"):
            for i, state in enumerate(x.state.values()):
                yield from (((name, i, key), e) for key, e in state.items()
                            if isinstance(e, (torch.Tensor, tinytorch.Tensor)))


def _states(names):
    """{(name, what): what a refused statement may have changed} of the tensors that names stand for: the gradients of
    leaves, with their versions, and the shapes of inference tensors."""
    found = {}
    for name, x in names.items():
        if isinstance(x, (torch.Tensor, tinytorch.Tensor)):
            if x.is_inference():
                found[name, "shape"] = None, (tuple(x.shape), x.stride())
            elif _seen(lambda x: x.is_leaf, x) is True:
                found[name, "grad"] = x.grad, x.grad is not None and _seen(lambda g: g._version, x.grad)
    return found


def _catch_up(ours, theirs, our_states, their_states):
    """Do what torch did before it refused, where nothing was done here: backward had reached some leaves, and an
    inference tensor had another shape already (docs/caveats.md)."""
    now = _states(theirs)
    for key in our_states.keys() & _states(ours).keys() & now.keys() & their_states.keys():
        name, what = key
        if not _differ(our_states[key], _states(ours)[key]) and _differ(their_states[key], now[key]):
            if what == "grad":
                ours[name].grad = convert(theirs[name].grad)
            else:
                with tinytorch.inference_mode():
                    ours[name].as_strided_(theirs[name].shape, theirs[name].stride())


def _differ(before, now):
    return before[0] is not now[0] or before[1] != now[1]


def _is_machine(x):
    """Whether it is an optimiser, a schedule, a data set or a loader: what it does is compared."""
    return type(x).__module__.startswith(("torch.optim", "torch.utils.data"))


def _seen(look, x):
    try:
        return look(x)
    except RuntimeError as error:              # of a view that was written to where that is forbidden
        return str(error)[:20]


_LOOKS = {
    "dtype": lambda x: str(x.dtype),
    "shape": lambda x: tuple(x.shape),
    "stride": lambda x: [step for step, n in zip(x.stride(), x.shape) if n > 1] if x.numel() else None,
    "stride of one": lambda x: tuple(x.stride()) if x.numel() else None,
    "view": lambda x: (x._is_view(), x.is_conj(), x.is_neg()),
    "history": lambda x: (x.requires_grad, x.is_leaf),
}


def _same_memory(ours, theirs, number):
    """Raise Difference unless the same names share memory, beginning at the same places of it."""
    def places(names):
        found, tensors = {}, {name: names[name] for name, x in theirs.items() if _has_memory(x)}
        for name, x in tensors.items():
            if x.numel():
                found.setdefault(x.untyped_storage().data_ptr(), []).append((name, x.storage_offset()))
        # a gradient may be a part of a larger one: that is nobody's business either, if it is alone
        return sorted([[(place[0][0], 0)] if len(place) == 1 and place[0][0][0] == "g" else place
                       for place in found.values()])
    if places(ours) != places(theirs):
        raise Difference("memory", number, f"{places(ours)} for {places(theirs)}")


def _has_memory(x):
    """Whether it is a tensor of torch's with memory of its own: one left over from a transform has none."""
    try:
        return isinstance(x, torch.Tensor) and x.untyped_storage().data_ptr() is not None
    except RuntimeError:
        return False


def difference(lines):
    """The Difference that a program ends with, or None. One that is known and has its reason is none."""
    try:
        run(lines, exact=True)
    except Difference as found:
        return None if reason_for(lines, found) else found
    return None


# ------------------------------------------------------------------ reducing
def reduced(lines, found):
    """The program without what the difference does not need, and the difference it ends with then."""
    lines = lines[:found.line + 1]
    for shorter in (_without_lines, _with_simple_numbers):
        lines, found = shorter(lines, found)
    return lines, found


def _still(lines, found):
    """The difference of the changed program, if it is of the kind of `found`: two errors, of the same two types."""
    new = difference(lines)
    return new if new is not None and new.kind == found.kind and _errors(new) == _errors(found) else None


def _errors(found):
    return re.findall(r"(?:^| for )(no error|\w+Error|\w+Exception)\b", found.text) if found.kind == "error" else None


def _statement(lines, found):
    """The one that a difference shows after."""
    return lines[found.line] if found.line < len(lines) else ""


def _without_lines(lines, found):
    k = len(lines) - 1
    while k >= 0:
        attempt = lines[:k] + lines[k + 1:]
        new = _still(attempt, found) if attempt else None
        if new is not None and _statement(attempt, new) == _statement(lines, found):
            lines, found = attempt, new
        k -= 1
    return lines, found


_NUMBER = re.compile(r"(?<![\w.\]])-?\d+\.?\d*(?:e[+-]?\d+)?(?![\w.])")


def _with_simple_numbers(lines, found):
    for k in range(len(lines)):
        if re.search(r"F\.(conv|max_pool)", lines[k]):         # torch may write where it must not, for settings of 0
            continue
        place = 0
        while (match := _NUMBER.search(lines[k], place)) and place < 400:
            place = match.end()
            for simple in ("0", "1", "2") if "." not in match[0] else ("0.", "1.", "2.5"):
                if match[0] == simple:
                    break
                attempt = lines[:k] + [lines[k][:match.start()] + simple + lines[k][match.end():]] + lines[k + 1:]
                new = _still(attempt, found)
                if new is not None:
                    lines, found, place = attempt, new, match.start() + len(simple)
                    break
    return lines, found


def reproduction(lines, found):
    """The program as a script to paste, and what differs."""
    head = ["import numpy as np, torch as T", "F = T.nn.functional"] if any(
        re.search(r"\b(np|F)\.", line) for line in lines) else ["import torch as T"]
    helpers = [name for name in ("dense", "flat", "loss") if any(f"{name}(" in line for line in lines)]
    if helpers:
        head.append(f"from tests.parity.fuzz.program import {', '.join(helpers)}")
    return "\n".join([*head, *lines, f"# {found}"])
