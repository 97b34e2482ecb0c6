"""Mutated checkpoints, always the same for a seed: `load` refuses them cleanly or gives what torch gives.

Both libraries write checkpoints of several kinds (`objects`); each is damaged or turned against the reader in one of
the ways of MUTATIONS. A process of its own loads them, its address space limited anew for every file to what it has
then plus ten times the file plus 100 MB. What it loads, another process loads with torch, and the two descriptions
are compared. `-m sweep` runs COUNT (100000) mutations from SEED (0):

    COUNT=100000 SEED=0 python -m pytest -m sweep tests/parity/test_fuzz_checkpoints.py -s
"""
import collections
import hashlib
import io
import json
import os
import pickle
import pickletools
import random
import signal
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.any_kernels

ROOT = Path(__file__).resolve().parents[2]
MARGIN = 100 << 20                             # memory beyond ten times the file
SECONDS = 30                                   # for one file
HOSTILE = [0, 1, -1, 2, 3, 5, 16, 64, 65, 255, 1000, 2 ** 16, -2 ** 31, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 40, 2 ** 61,
           2 ** 62, 2 ** 63 - 1, 2 ** 63, 2 ** 64, -2 ** 63, 2 ** 64 + 1, 2 ** 300]
WORDS = ["conj", "neg", "storage", "cpu", "cuda:0", "meta", "0", "1", "2", "../0", "data.pkl", "latin1", "rot13", "",
         "__class__", "__array_interface__", "__setstate__", "_grad", "_metadata", "requires_grad", "\ud800"]
NAMES = ["torch FloatStorage", "torch ByteStorage", "torch BoolStorage", "torch ComplexDoubleStorage",
         "torch LongStorage", "torch.storage UntypedStorage", "torch float64", "torch uint16", "torch bfloat16",
         "torch Tensor", "torch Size", "torch device", "torch.nn.parameter Parameter",
         "torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_tensor_v3", "torch._utils _rebuild_parameter",
         "torch._utils _rebuild_parameter_with_state", "collections OrderedDict", "collections Counter",
         "__builtin__ set", "__builtin__ bytearray", "__builtin__ complex", "_codecs encode", "builtins eval",
         "posix system", "torch FloatTensor", "builtins getattr"]
CODES = [op.code.encode("latin1") for op in pickletools.opcodes]


# ------------------------------------------------------------------ checkpoints
def objects(t):
    """Several kinds of what a user saves."""
    dtypes = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "uint16",
              "uint32", "uint64", "bool", "complex64", "complex128"]
    t.manual_seed(0)
    model = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.BatchNorm1d(4), t.nn.ReLU(), t.nn.Linear(4, 1))
    optimizer = t.optim.Adam(model.parameters(), lr=0.01)
    model(t.arange(12.0).reshape(4, 3)).sum().backward()
    optimizer.step()
    base = t.arange(12.0).reshape(3, 4)
    parameter = t.nn.Parameter(t.ones(2, 2))
    parameter.note = [1, "two"]
    yield model.state_dict()
    yield {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "best": 0.25}
    yield [base, base[1], base.t(), base[:, ::2], base[1:, 1:3], t.ones(1).expand(3), base]
    yield [t.tensor([[0, 1], [1, 0]]).to(getattr(t, name)) for name in dtypes]
    yield [parameter, t.nn.Parameter(t.ones(3), False), t.ones(2, requires_grad=True), parameter]
    yield {"n": [1, -2.5, None, True, 10 ** 30, 1j], "t": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
           ("a", 1): "\u4e00", "b": [b"bytes\xff", bytearray(b"x"), {1, "a"}, collections.Counter("abca")],
           "o": collections.OrderedDict(x=1),
           "d": [t.Size([1, 2]), t.float16, t.device("cpu"), t.tensor(3), t.zeros(0, 3)]}
    if t.__name__ == "torch":                  # only torch leaves conjugating and negating to the reader
        c = t.tensor([1 + 2j, 3 - 4j, 5j])
        yield [c.conj(), c.conj()[::2], c.clone().conj().imag, c]


def checkpoints(libraries):
    """The files that mutations start from, deflated and big-endian ones among them."""
    found = []
    for t in libraries:
        for obj in objects(t):
            file = io.BytesIO()
            t.save(obj, file)
            found.append(file.getvalue())
    parts = contents(found[0])
    found.append(archive(parts, zipfile.ZIP_DEFLATED))
    found.append(archive([(name, b"big" if name.endswith("byteorder") else data) for name, data in parts]))
    return found


def contents(file):
    """[(name, bytes)] of an archive."""
    with zipfile.ZipFile(io.BytesIO(file)) as z:
        return [(name, z.read(name)) for name in z.namelist()]


def archive(parts, method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as z:
        for name, data in parts:
            z.writestr(zipfile.ZipInfo(name), data, method)
    return file.getvalue()


# ------------------------------------------------------------------ mutations: (random, files) -> file
def scratch(rng, data):
    """`data` with a few bits, or a run of bytes, changed."""
    data = bytearray(data)
    if not data:
        return b""
    if rng.random() < 0.5:
        for _ in range(rng.choice([1, 1, 2, 8])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    else:
        begin, length = rng.randrange(len(data)), rng.choice([1, 2, 4, 8, 40])
        data[begin:begin + length] = rng.choice([bytes(length), b"\xff" * length, rng.randbytes(length), b""])
    return bytes(data)


def cut(rng, data):
    return data[:rng.randrange(len(data) + 1)]


def spliced(rng, a, b):
    return a[:rng.randrange(len(a))] + b[rng.randrange(len(b)):]


def any_bytes(rng, files):
    return scratch(rng, rng.choice(files))


def truncated(rng, files):
    return cut(rng, rng.choice(files))


def joined(rng, files):
    return spliced(rng, rng.choice(files), rng.choice(files))


def headers(rng, files):
    """Numbers in the headers of an archive."""
    data = bytearray(rng.choice(files))
    sign, fields = rng.choice([(b"PK\1\2", {4: 2, 6: 2, 8: 2, 10: 2, 16: 4, 20: 4, 24: 4, 28: 2, 30: 2, 32: 2, 42: 4}),
                               (b"PK\3\4", {6: 2, 8: 2, 14: 4, 18: 4, 22: 4, 26: 2, 28: 2}),
                               (b"PK\5\6", {4: 2, 6: 2, 8: 2, 10: 2, 12: 4, 16: 4, 20: 2}),
                               (b"PK\6\6", {24: 8, 32: 8, 40: 8, 48: 8})])
    places = [i for i in range(len(data)) if data.startswith(sign, i)]
    if places:
        place = rng.choice(places)
        field = rng.choice(list(fields))
        width = fields[field]
        old = int.from_bytes(data[place + field:place + field + width], "little")
        new = rng.choice([old + 1, old - 1, old ^ 8, old * 2, *HOSTILE]) % 2 ** (8 * width)
        data[place + field:place + field + width] = new.to_bytes(width, "little")[:max(len(data) - place - field, 0)]
    return bytes(data)


def with_pickle(change):
    """A mutation that rewrites data.pkl and packs the archive anew, its checksums right."""
    def mutation(rng, files):
        parts = [(name, change(rng, data, files) if name.endswith("/data.pkl") else data)
                 for name, data in contents(rng.choice(files))]
        return archive(parts, rng.choice([zipfile.ZIP_STORED] * 9 + [zipfile.ZIP_DEFLATED]))
    mutation.__name__ = change.__name__
    return mutation


def pickle_of(file):
    return next(data for name, data in contents(file) if name.endswith("/data.pkl"))


def instructions(text):
    """A pickle's instructions, as bytes."""
    places = [place for _, _, place in pickletools.genops(text)] + [len(text)]
    return [text[a:b] for a, b in zip(places, places[1:])]


def number(n):
    if isinstance(n, bool) or n is None:
        return {True: b"\x88", False: b"\x89", None: b"N"}[n]
    if -2 ** 31 <= n < 2 ** 31:
        return b"J" + struct.pack("<i", n)
    data = pickle.encode_long(n)
    return b"\x8a" + bytes([len(data)]) + data


def word(s):
    data = s.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(data)) + data


@with_pickle
def pickle_bytes(rng, text, files):
    return rng.choice([scratch, scratch, cut])(rng, text)


@with_pickle
def pickle_joined(rng, text, files):
    other = pickle_of(rng.choice(files))
    a, b = instructions(text), instructions(other)
    return b"".join(a[:rng.randrange(len(a))] + b[rng.randrange(len(b)):])


@with_pickle
def pickle_instructions(rng, text, files):
    """Instructions left out, repeated, exchanged, moved, put in."""
    ops = instructions(text)
    for _ in range(rng.choice([1, 1, 2, 4])):
        i, j = rng.randrange(len(ops)), rng.randrange(len(ops))
        what = rng.randrange(6)
        if what == 0 and len(ops) > 1:
            del ops[i]
        elif what == 1:
            ops.insert(i, ops[j])
        elif what == 2:
            ops[i], ops[j] = ops[j], ops[i]
        elif what == 3:
            ops[i:i] = ops[j:j + rng.randrange(20)]
        elif what == 4:
            ops[i] = rng.choice(CODES) + ops[i][1:]
        else:
            operand = rng.choice([b"", rng.randbytes(1), rng.randbytes(4), b"\xff\xff\xff\x7f"])
            ops.insert(i, rng.choice(CODES) + operand)
    return b"".join(ops)


def exchanged(rng, text, codes, new):
    """`text` with one or two of the instructions `codes` replaced by what new() returns."""
    ops = instructions(text)
    places = [i for i, op in enumerate(ops) if op[:1] in codes]
    for i in rng.sample(places, min(len(places), rng.choice([1, 1, 2]))):
        ops[i] = new()
    return b"".join(ops)


@with_pickle
def pickle_numbers(rng, text, files):
    return exchanged(rng, text, (b"K", b"J", b"M", b"\x8a"), lambda: number(rng.choice([*HOSTILE, True, None])))


@with_pickle
def pickle_names(rng, text, files):
    return exchanged(rng, text, (b"c",), lambda: b"c" + rng.choice(NAMES).replace(" ", "\n").encode() + b"\n")


@with_pickle
def pickle_words(rng, text, files):
    return exchanged(rng, text, (b"X",), lambda: word(rng.choice(WORDS)))


def records(rng, files):
    """Records shortened, lengthened, left out, doubled, renamed, moved to another folder, exchanged."""
    parts = contents(rng.choice(files))
    i, j = rng.randrange(len(parts)), rng.randrange(len(parts))
    name, data = parts[i]
    what = rng.randrange(8)
    if what == 0:
        parts[i] = name, cut(rng, data)
    elif what == 1:
        parts[i] = name, data + rng.randbytes(rng.choice([1, 4, 64]))
    elif what == 2:
        del parts[i]
    elif what == 3:
        parts.insert(j, (name, rng.choice([data, scratch(rng, data)])))
    elif what == 4:
        parts[i] = rng.choice(["other/data.pkl", "../" + name, "/" + name, name + "/", "x", name.upper(), ""]), data
    elif what == 5:
        parts[i], parts[j] = (name, parts[j][1]), (parts[j][0], data)
    elif what == 6:
        parts[i] = name, scratch(rng, data)
    else:
        parts.append((name.split("/")[0] + "/byteorder", rng.choice([b"big", b"middle", b"\xff"])))
    return archive(parts, rng.choice([zipfile.ZIP_STORED] * 3 + [zipfile.ZIP_DEFLATED]))


MUTATIONS = [any_bytes, truncated, joined, headers, pickle_bytes, pickle_joined, pickle_instructions,
             pickle_instructions, pickle_numbers, pickle_numbers, pickle_names, pickle_words, records]


def mutated(files, seed, index):
    """(name of the mutation, file). The first ones are the checkpoints as they were written."""
    if index < len(files):
        return "none", files[index]
    rng = random.Random(f"{seed} {index}")
    mutation = rng.choice(MUTATIONS)
    return mutation.__name__, mutation(rng, files)


# ------------------------------------------------------------------ what a file holds
def describe(obj, seen=None):
    """What was loaded, as text that is the same for both libraries."""
    seen = {} if seen is None else seen
    kind = type(obj).__name__
    if isinstance(obj, (int, float, complex, str, bytes, bytearray, type(None))):
        return f"{kind} {obj!r}"
    if id(obj) in seen:
        return f"again {seen[id(obj)][0]}"
    seen[id(obj)] = len(seen), obj             # kept, so that no other object gets its id
    if kind in ("Tensor", "Parameter") and not isinstance(obj, type):
        step = obj.stride() if obj.numel() else None
        own = {k: v for k, v in vars(obj).items() if k not in ("_grad", "_hooks")}
        return f"{kind} {obj.dtype} {tuple(obj.shape)} {step} {obj.requires_grad} {numbers(obj)} {describe(own, seen)}"
    if isinstance(obj, dict):
        own = f" {describe(vars(obj), seen)}" if hasattr(obj, "__dict__") else ""
        return f"{kind} {{{', '.join(f'{describe(k, seen)}: {describe(v, seen)}' for k, v in obj.items())}}}{own}"
    if isinstance(obj, (list, tuple)):
        return f"{kind} [{', '.join(describe(x, seen) for x in obj)}]"
    if isinstance(obj, set):
        return f"{kind} {sorted(describe(x, {}) for x in obj)}"
    if kind in ("dtype", "device"):
        return f"{kind} {obj}"
    if kind in ("TypedStorage", "UntypedStorage", "Storage"):
        data = obj.data.tobytes() if kind == "Storage" else bytes(obj.untyped().tolist())
        return f"storage {hashlib.sha1(data).hexdigest()}"
    return "a name"                            # classes, functions, types of storages: each library has its own


def numbers(tensor):
    """A tensor's elements, as a digest of their bytes; of a very large one (a view that repeats itself) the ends."""
    tensor = tensor.detach()
    if tensor.numel() > 100_000:
        return [numbers(tensor[tuple(end for _ in tensor.shape)]) for end in (0, -1)]
    if hasattr(tensor, "_array"):
        array = np.ascontiguousarray(tensor._array).reshape(-1).view(np.uint8)
    else:
        import torch
        tensor = tensor.resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
        array = tensor.reshape(-1).view(torch.uint8).numpy()
    if str(tensor.dtype) == "torch.bool":
        array = array != 0
    return hashlib.sha1(array.tobytes()).hexdigest()


# ------------------------------------------------------------------ the process that loads
def address_space():
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def limited(load, file, guarded):
    """load(file) with little memory; (outcome, description of what was loaded or of what went wrong)."""
    import resource
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    signal.alarm(SECONDS)
    try:
        if guarded:
            resource.setrlimit(resource.RLIMIT_AS, (address_space() + 10 * len(file) + MARGIN, hard))
        found = load(io.BytesIO(file))
    except Exception as error:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError):
            return "out of memory", str(error)
        return type(error).__name__, str(error)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        signal.alarm(0)
    try:
        return "loaded", hashlib.sha1(describe(found).encode("utf-8", "surrogatepass")).hexdigest()
    except Exception as error:
        return "unreadable", f"{type(error).__name__}: {error}"


def state(t):
    """What a file might change in this process: the classes and functions that it can name."""
    from tinytorch.checkpoint import rebuild as _rebuild
    named = [*_rebuild.KNOWN.values(), t.nn.Module, t.storage.TypedStorage, t.storage.UntypedStorage,
             collections.OrderedDict]
    kept = [(obj, dict(vars(obj))) for obj in named if hasattr(obj, "__dict__")]
    kept += [(d, {name: getattr(d, name) for name in d.__slots__}) for d in named if isinstance(d, t.dtype)]
    return kept, t.get_default_dtype(), t.zeros(2).dtype, t.zeros(2).tolist(), t.serialization.get_safe_globals()


def same_state(before, after):
    return before[1:] == after[1:] and all(
        a is b and list(x) == list(y) and all(x[name] is y[name] for name in x)
        for (a, x), (b, y) in zip(before[0], after[0], strict=True))


def child(library, folder, seed, only):
    """Load mutations: a line for each, [index, mutation, outcome, description]; last, whether the process is as it was.
    """
    import importlib
    import warnings
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError("too slow")))
    t = importlib.import_module(library)
    files = [path.read_bytes() for path in sorted(Path(folder).glob("*.pt"))]
    ours = library == "tinytorch"
    t.load(io.BytesIO(files[0]))               # all that is imported late is there now
    before = state(t) if ours else None
    for index in only:
        kind, file = mutated(files, seed, index)
        outcome, text = limited(t.load, file, ours)
        if outcome == "EOFError" and file:
            outcome = "EOFError from within"
        print(json.dumps([index, kind, outcome, text]))
    print(json.dumps("as before" if not ours or same_state(before, state(t)) else "CHANGED"))


def run(library, folder, seed, only):
    """The lines of a child process."""
    code = ("import json, sys; from tests.parity.test_fuzz_checkpoints import child; "
            "child(*sys.argv[1:4], json.load(sys.stdin))")
    done = subprocess.run([sys.executable, "-c", code, library, str(folder), str(seed)], input=json.dumps(list(only)),
                          capture_output=True, text=True, cwd=ROOT, timeout=3600)
    assert done.returncode == 0, f"{library} ended with {done.returncode}: {done.stderr[-3000:]}"
    *lines, last = map(json.loads, done.stdout.splitlines())
    assert last == "as before", "a file has changed the process"
    return lines


# ------------------------------------------------------------------ the tests
CLEAN = {"RuntimeError", "UnpicklingError", "EOFError", "NotImplementedError"}


def fuzz(folder, seed, count):
    """(counts of outcomes, what went wrong) of the first `count` mutations of `seed`."""
    import torch

    import tinytorch
    files = checkpoints([torch, tinytorch])
    for i, file in enumerate(files):
        (folder / f"{i:03}.pt").write_bytes(file)
    counts, wrong = collections.Counter(), []
    for begin in range(0, count, 5000):
        ours = run("tinytorch", folder, seed, range(begin, min(begin + 5000, count)))
        loaded = {index: text for index, _, outcome, text in ours if outcome == "loaded"}
        theirs = {index: (outcome, text) for index, _, outcome, text in run("torch", folder, seed, loaded)}
        for index, kind, outcome, text in ours:
            if outcome == "loaded":
                other, content = theirs[index]
                outcome = f"loaded, torch: {other if other == 'loaded' else 'refuses'}"
                if other == "loaded" and content != text:
                    wrong.append((index, kind, "not what torch loads", text))
            elif outcome not in CLEAN or not ("the file" in text or outcome == "EOFError" or "CUDA device" in text):
                wrong.append((index, kind, outcome, text))
            if kind == "none" and outcome != "loaded, torch: loaded":
                wrong.append((index, kind, outcome, text))
            counts[outcome] += 1
    return counts, wrong


def check(folder, seed, count):
    if not Path("/proc/self/statm").exists():
        pytest.skip("the limit on memory is set with what Linux says in /proc")
    began = time.time()
    counts, wrong = fuzz(folder, seed, count)
    summary = f"{count} files of seed {seed} in {time.time() - began:.0f} s: {dict(counts.most_common())}"
    print("\n" + summary)
    assert not wrong, f"{len(wrong)} of {summary}\n" + "\n".join(map(str, wrong[:20]))
    assert counts["loaded, torch: loaded"] > count / 20 and counts["RuntimeError"] > count / 20
    assert counts["UnpicklingError"] > count / 20


def test_some_mutations(tmp_path):
    check(tmp_path, 0, 1500)


@pytest.mark.sweep
def test_many_mutations(tmp_path):
    check(tmp_path, int(os.environ.get("SEED", 0)), int(os.environ.get("COUNT", 100_000)))
