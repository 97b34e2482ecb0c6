"""torch.random: PyTorch's CPU generator, bit for bit.

The engine is MT19937 with Knuth's seeding, which is NumPy's legacy seeding; every sampler is built on
its 32-bit words exactly as PyTorch builds it (see kernels/random/samplers.py), so one seed gives the same
weights, shuffles and dropout masks as the real torch, and states can be exchanged with it.
"""
from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator

import numpy as np

from .device import META, check_device
from .kernels import native
from .tensor import Tensor, wrap
from .types import Device

__all__ = ["Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
           "set_rng_state", "thread_safe_generator"]

_DEFAULT_SEED = 67280421310721          # what a new torch.Generator() starts from
_WORDS = 624                            # length of the engine's state
#: A state in PyTorch's layout, which is the same bytes on every machine: a seed, how many words are left and whether
#: there is a seed at all, the next word, all of them, and a normal number that was drawn with another and kept.
_STATE = np.dtype({"names": ["seed", "left", "seeded", "next", "words", "normal", "kept"], "itemsize": 5056,
                   "formats": ["<u8", "<i4", "<i4", "<u8", ("<u8", _WORDS), "<f8", "<i4"],
                   "offsets": [0, 8, 12, 16, 24, 5024, 5040]})
_LOW24, _LOW53, _LOW64 = np.uint64((1 << 24) - 1), np.uint64((1 << 53) - 1), (1 << 64) - 1
_STEP24, _STEP53 = np.float32(2.0 ** -24), 2.0 ** -53
_32 = np.uint64(32)
_UNIT = 0.0, 1.0                        # numbers from 0 on, below 1
_LEAST_OF, _ONE_PIECE = native.LEAST_OF, native.ONE_PIECE


def _memory_of(engine):
    """The state of NumPy's engine as it lies in memory, for native kernels: 624 words, and the place of the one to
    come. None without them, and if something else lies there."""
    if native.level() is None:
        return None
    import ctypes  # which is there if kernels are
    memory = np.ctypeslib.as_array((ctypes.c_uint32 * (_WORDS + 1)).from_address(engine.ctypes.state_address))
    memory = memory.view(np.uint32)            # the dtype object that all have, which kernels look for first
    state = engine.state["state"]
    return memory if memory[-1] == state["pos"] and np.array_equal(memory[:-1], state["key"]) else None


class Stream:
    """The numbers that a Generator draws: engine and samplers' building blocks. `with stream.lock:` keeps other threads
    out; whoever draws holds it, so that no two get the same numbers. (An `__enter__` in Python could be interrupted
    when it has taken the lock, which nobody would release then.)"""

    def __init__(self, seed):
        self.lock = threading.RLock()
        self._engine = None                    # made at the first draw: importing numpy.random takes a while
        self._key = None                       # its state in memory, for native kernels
        self._draws = None                     # those of them that NumPy calls
        #: What native kernels share of it: whether the second half of the last Box-Muller pair is left, that number,
        #: and whether the kernel drew words.
        self._source = np.zeros(3)
        self.restart(seed)

    def restart(self, seed):
        """Begin anew. Only the low 32 bits of `seed` reach the engine."""
        self.seed = seed
        self.cached_normal = None
        if self._engine is None:
            self._words = self._start
        else:
            self._seeder.seed(seed & 0xFFFFFFFF)
        self._idle = (1, 0)                    # torch's (left, next) of a state nothing was drawn from yet

    @property
    def cached_normal(self):
        """The second half of the last Box-Muller pair, or None."""
        there, number, _ = self._source.tolist()
        return number if there else None

    @cached_normal.setter
    def cached_normal(self, number):
        self._source[:2] = (0.0, 0.0) if number is None else (1.0, number)

    def _start(self, n, output=True):
        """The first draw: make the engine."""
        self._make_engine()
        return self._words(n, output=output)

    def _make_engine(self):
        self._engine = np.random.MT19937(0)
        self._seeder = np.random.RandomState(self._engine)
        self._seeder.seed(self.seed & 0xFFFFFFFF)
        self._words = self._engine.random_raw
        self._key = key = _memory_of(self._engine)
        self._draws = None if key is None else native.Draws(key, self._source)

    # -------------------------------------------------------------- state
    def state(self):
        """A uint8 array of 5056 elements, in PyTorch's layout."""
        if self._engine is None:
            self._make_engine()
        state = self._engine.state["state"]
        position = int(state["pos"])
        left, following = self._idle if self._idle is not None else (_WORDS + 1 - position, position)
        out = np.zeros(_STATE.itemsize, np.uint8)
        normal = (0.0, 0) if self.cached_normal is None else (self.cached_normal, 1)
        out.view(_STATE)[0] = (self.seed, left, 1, following, state["key"], *normal)
        return out

    def resume(self, state):
        """Continue from what `state` gave. RuntimeError if it is no such state."""
        if state.size != _STATE.itemsize:
            raise RuntimeError(f"Expected a CPUGeneratorImplState of size {_STATE.itemsize} but found the input RNG "
                               f"state size to be {state.size}")
        state = np.ascontiguousarray(state).reshape(-1)
        seed, left, seeded, following, key, normal, kept = state.view(_STATE)[0].item()
        following &= 0xFFFFFFFF
        if not (seeded and 0 < left <= _WORDS and following <= _WORDS):
            raise RuntimeError("Invalid mt19937 state")
        if left != 1 and left + following != _WORDS + 1:
            raise NotImplementedError("tinytorch cannot continue from a state whose counters no generator reaches")
        if self._engine is None:
            self._make_engine()
        self.seed, key = seed, key.astype(np.uint32)
        self._engine.state = {"bit_generator": "MT19937",
                              "state": {"key": key, "pos": _WORDS if left == 1 else following}}
        self._idle = (left, following)
        self.cached_normal = normal if kept else None

    # -------------------------------------------------------------- draws (for the kernels)
    def natively(self, kernel, n, numbers, *arrays):
        """Whether a native kernel has drawn what is wanted of n elements: it is given n, `numbers`, the state of the
        engine, and the arrays, contiguous, aligned and in its dtypes. Not for few, nor where there is none."""
        draws = self._draws
        if draws is None or not _LEAST_OF[kernel] <= n <= _ONE_PIECE:
            return self._at_length(kernel, n, numbers, arrays)
        function, keep, _ = draws[kernel]
        if function is None:
            return self._at_length(kernel, n, numbers, arrays)
        self._idle = None                      # before the words are drawn: an interrupt may follow at once
        keep(*numbers)
        function(*arrays)
        return True

    def _at_length(self, kernel, n, numbers, arrays):
        """The same of the first draw, of many elements, and of kernels that NumPy does not call."""
        if n < _LEAST_OF[kernel]:
            return False
        if self._engine is None:
            self._make_engine()
            return self.natively(kernel, n, numbers, *arrays)
        if self._key is None:
            return False
        takes_source, idle = self._draws[kernel][2], self._idle
        self._idle = None
        try:
            native.run(kernel, n, *numbers, self._key, *[self._source][:takes_source], *arrays)
        except ValueError:                     # nothing was drawn
            self._idle = idle
            raise
        return True

    def rejected(self, kernel, n, numbers, *arrays):
        """The same of a kernel that draws as many words as it needs, and normal numbers."""
        idle = self._idle
        if not self.natively(kernel, n, numbers, *arrays):
            return False
        if idle is not None and not self._source[2]:
            self._idle = idle                  # it needed none
        return True

    def words(self, n):
        """n 32-bit words, in a uint64 array."""
        out = np.empty(n, np.uint64)
        if self.natively("words", n, (), out):
            return out
        if n:
            self._idle = None
        return self._words(n)

    def double_words(self, n):
        """n 64-bit words: the first word drawn is the high half."""
        out = np.empty(n, np.uint64)
        if self.natively("double_words", n, (), out):
            return out
        words = self.words(2 * n)
        high = words[0::2]
        high <<= _32
        return high | words[1::2]

    def bits24(self, n):
        """n integers of 24 bits: the low ones of a word each."""
        words = self.words(n)
        words &= _LOW24
        return words

    def uniform32(self, n):
        """n float32 numbers in [0, 1): 24 bits each."""
        x = np.empty(n, np.float32)
        if not self.natively("uniform", n, _UNIT, x):
            np.multiply(self.bits24(n), _STEP24, out=x, casting="same_kind")
        return x

    def bits53(self, n):
        """n integers of 53 bits: the low ones of a double word each."""
        words = self.double_words(n)
        words &= _LOW53
        return words

    def below(self, limit, n):
        """Of n integers of 53 bits, which are below `limit`."""
        out = np.empty(n, bool)
        return out if self.natively("below", n, (limit,), out) else self.bits53(n) < np.uint64(limit)

    def uniform64(self, n):
        """n float64 numbers in [0, 1): 53 bits each."""
        x = np.empty(n)
        if not self.natively("uniform53_each", n, _UNIT, x):
            np.multiply(self.bits53(n), _STEP53, out=x)
        return x

    def mark(self):
        """The current position, for `rewind`."""
        if self._engine is None:
            self._make_engine()
        return self._engine.state, self._idle

    def rewind(self, mark, words):
        """Go back to a marked position and from there `words` words forward."""
        self._engine.state, self._idle = mark
        if words:
            self._idle = None
            self._words(words, output=False)


class Generator:
    """A stream of random numbers with a state of its own. `device` can only be the CPU.

    Threads may share it: each draw of a tensor is one piece of the stream.

    >>> import tinytorch as torch
    >>> g = torch.Generator().manual_seed(0)
    >>> torch.rand(2, generator=g)
    tensor([0.4963, 0.7682])
    """

    def __init__(self, device: Device = "cpu") -> None:
        self.device = check_device(device)
        if self.device is META:
            raise RuntimeError("META device type not an accelerator.")
        self._stream = Stream(_DEFAULT_SEED)

    @property
    def stream(self):
        """What it draws from."""
        return self._stream

    def manual_seed(self, seed: int) -> Generator:
        """Restart the stream from `seed` and return the generator.

        Only the low 32 bits reach the engine. ValueError outside [-2**63, 2**64 - 1].
        """
        if not hasattr(seed, "__index__"):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        seed = int(seed)
        if not -(1 << 63) <= seed <= _LOW64:
            raise ValueError("Overflow when unpacking long long")
        stream = self.stream
        with stream.lock:
            stream.restart(seed & _LOW64)
        return self

    def seed(self) -> int:
        """Restart from a seed taken from the operating system, and return that seed."""
        seed = random_seed()
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """The seed that the stream was last started from."""
        return self.stream.seed

    def get_state(self) -> Tensor:
        """The whole state as a uint8 tensor of 5056 elements, in PyTorch's layout."""
        stream = self.stream
        with stream.lock:
            return wrap(stream.state())

    def set_state(self, new_state: Tensor) -> Generator:
        """Continue from a state that `get_state` gave, here or in PyTorch.

        TypeError if it is no uint8 tensor, RuntimeError if it is not a valid state.
        """
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        if new_state._array.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        stream = self.stream
        with stream.lock:
            stream.resume(new_state._array)
        return self

    def clone_state(self) -> Generator:
        """A new generator in the same state."""
        return Generator().set_state(self.get_state())

    def __reduce__(self):
        return Generator, (), self.get_state()._array

    def __setstate__(self, state):
        self.set_state(wrap(state))

    def __repr__(self):
        return f"<torch._C.Generator object at {id(self):#x}>"


class _Here(threading.local):
    stream = None                              # of this thread alone: see _DefaultGenerator


_here = _Here()


class _DefaultGenerator(Generator):
    """The generator of all that are given none. Threads share its stream, but where one has put another in its place:
    a DataLoader's worker has its own, and vmap may refuse to draw."""

    @property
    def stream(self):
        return _here.stream or self._stream


def own_stream():
    """The stream that this thread's default generator draws from; None for the one that threads share."""
    return _here.stream


def exchange_stream(stream):
    """Have this thread's default generator draw from `stream` (None: what threads share). Returns what it drew from."""
    before, _here.stream = _here.stream, stream
    return before


def stream_of(generator):
    """The stream to draw from, for an argument `generator` (None: the default one). TypeError if it is none."""
    if generator is None:
        return _here.stream or default_generator._stream
    if not isinstance(generator, Generator):
        raise TypeError(f"argument 'generator' must be torch.Generator, not {type(generator).__name__}")
    return generator.stream


def random_seed():
    """A seed of 53 bits from the operating system."""
    return int.from_bytes(os.urandom(8), "little") & ((1 << 53) - 1)


default_generator = _DefaultGenerator().manual_seed(random_seed())


def _unlock():
    """In a forked process: the lock may have been held by a thread that is not there."""
    default_generator._stream.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


def manual_seed(seed: int) -> Generator:
    """Restart the default generator from `seed` and return it.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.rand(3)
    tensor([0.4963, 0.7682, 0.0885])
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Restart the default generator from a seed of the operating system, and return that seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator was last started from.

    >>> import tinytorch as torch
    >>> torch.manual_seed(7).initial_seed() == torch.initial_seed() == 7
    True
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator, a uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Continue the default generator from a state of `get_rng_state`.

    >>> import tinytorch as torch
    >>> state = torch.get_rng_state()
    >>> x = torch.rand(4)
    >>> torch.set_rng_state(state)
    >>> bool((torch.rand(4) == x).all())
    True
    """
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices: Iterable | None = None, enabled: bool = True, _caller: str = "fork_rng",
             _devices_kw: str = "devices", device_type: str = "cuda") -> Iterator[None]:
    """Context manager and decorator: on exit the default generator is back where it was on entry.

    `devices` and `device_type` name accelerators and mean nothing here.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> with torch.random.fork_rng():
    ...     _ = torch.rand(100)
    >>> torch.rand(1)
    tensor([0.4963])
    """
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


def thread_safe_generator() -> None:
    """None: no worker of a DataLoader is a thread, which would have a generator of its own."""
