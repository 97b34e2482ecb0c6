"""torch.random: PyTorch's CPU generator, bit for bit.

The engine is MT19937 with Knuth's seeding, which is NumPy's legacy seeding. Every sampler builds on its
32-bit words exactly as PyTorch's does (see kernels/random/samplers.py). So one seed gives the same weights,
shuffles and dropout masks as torch itself, and states can be exchanged with it.
"""
from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator

import numpy as np

from .device import META, check_device
from .kernels import native
from .tensor import Tensor, said, wrap
from .types import Device

__all__ = ["Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
           "set_rng_state", "thread_safe_generator"]

_DEFAULT_SEED = 67280421310721          # the seed of a new torch.Generator()
_WORDS = 624                            # length of the engine's state
#: A state in PyTorch's layout, which is the same bytes on every machine: a seed, the number of words that are left,
#: whether there is a seed at all, the index of the next word, all words, and a spare normal number of a pair.
_STATE = np.dtype({"names": ["seed", "left", "seeded", "next", "words", "normal", "kept"], "itemsize": 5056,
                   "formats": ["<u8", "<i4", "<i4", "<u8", ("<u8", _WORDS), "<f8", "<i4"],
                   "offsets": [0, 8, 12, 16, 24, 5024, 5040]})
_LOW24, _LOW53, _LOW64 = np.uint64((1 << 24) - 1), np.uint64((1 << 53) - 1), (1 << 64) - 1
_STEP24, _STEP53 = np.float32(2.0 ** -24), 2.0 ** -53
_32 = np.uint64(32)
_UNIT = 0.0, 1.0                        # the range [0, 1) of numbers
_LEAST_OF, _ONE_PIECE = native.LEAST_OF, native.ONE_PIECE


def _memory_of(engine):
    """The memory of NumPy's engine, for native kernels: 624 words, and the index of the next one. None without native
    kernels, and if the memory does not hold the engine's state."""
    if native.level() is None:
        return None
    import ctypes  # always there if native kernels are
    memory = np.ctypeslib.as_array((ctypes.c_uint32 * (_WORDS + 1)).from_address(engine.ctypes.state_address))
    memory = memory.view(np.uint32)            # this dtype object is the usual one, which kernels compare with first
    state = engine.state["state"]
    return memory if memory[-1] == state["pos"] and np.array_equal(memory[:-1], state["key"]) else None


class Stream:
    """The numbers that a Generator draws: an engine, and the building blocks of samplers. Code that draws holds
    `stream.lock`, so that no two threads get the same numbers. (`with stream.lock:` it is, because an `__enter__` in
    Python could be interrupted just after it has taken the lock, and nobody would release it.)"""

    def __init__(self, seed):
        self.lock = threading.RLock()
        self._engine = None                    # made at the first draw: importing numpy.random takes a while
        self._key = None                       # the engine's memory, for native kernels
        self._draws = None                     # the native kernels that NumPy calls
        #: The part that native kernels share: whether the second half of the last Box-Muller pair is left, that number,
        #: and whether the kernel drew words.
        self._source = np.zeros(3)
        self.restart(seed)

    def restart(self, seed):
        """Start again. Only the low 32 bits of `seed` reach the engine."""
        self.seed = seed
        self.cached_normal = None
        if self._engine is None:
            self._words = self._start
        else:
            self._seeder.seed(seed & 0xFFFFFFFF)
        self._idle = (1, 0)                    # torch's (left, next) of a state from which nothing was drawn yet

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
        """Continue from a result of `state`. RuntimeError if the array is no valid state."""
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
        """Let a native kernel draw the numbers of n elements, and return whether it did. It is called with n,
        `numbers`, the engine's state, and the arrays, which must be contiguous, aligned and in its dtypes. It is not
        used for few elements, nor where there is no such kernel."""
        draws = self._draws
        if draws is None or not _LEAST_OF[kernel] <= n <= _ONE_PIECE:
            return self._at_length(kernel, n, numbers, arrays)
        function, keep, _ = draws[kernel]
        if function is None:
            return self._at_length(kernel, n, numbers, arrays)
        self._idle = None                      # set before words are drawn: an interrupt may follow at once
        keep(*numbers)
        function(*arrays)
        return True

    def _at_length(self, kernel, n, numbers, arrays):
        """`natively` for the first draw, for many elements, and for kernels that NumPy does not call."""
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
        """`natively` for a kernel of rejection sampling, which draws as many words as it needs, and normal numbers."""
        idle = self._idle
        if not self.natively(kernel, n, numbers, *arrays):
            return False
        if idle is not None and not self._source[2]:
            self._idle = idle                  # the kernel drew no words
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
        """n integers of 24 bits: the low bits of one word each."""
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
        """n integers of 53 bits: the low bits of one double word each."""
        words = self.double_words(n)
        words &= _LOW53
        return words

    def below(self, limit, n):
        """For n integers of 53 bits, whether each is below `limit`."""
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
        """Go back to a marked position, and from there `words` words forward."""
        self._engine.state, self._idle = mark
        if words:
            self._idle = None
            self._words(words, output=False)


class Generator:
    """A stream of random numbers with its own state. `device` can only be the CPU.

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
        """The stream that it draws from."""
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
        """Continue from a state of `get_state`, made here or in PyTorch.

        TypeError if it is no uint8 tensor, RuntimeError if it is no valid state.
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
    stream = None                              # this thread's stream, if it has one: see _DefaultGenerator


_here = _Here()


class _DefaultGenerator(Generator):
    """The generator of functions that are called without one. Threads share its stream, except a thread that has
    exchanged its stream: a DataLoader's worker draws from its own, and vmap may refuse to draw."""

    @property
    def stream(self):
        return _here.stream or self._stream


def own_stream():
    """The stream that this thread's default generator draws from; None for the shared stream."""
    return _here.stream


def exchange_stream(stream):
    """Let this thread's default generator draw from `stream` (None: the shared one). Returns the former stream."""
    before, _here.stream = _here.stream, stream
    return before


def stream_of(generator):
    """The stream of an argument `generator` (None: the default generator). TypeError if it is no generator."""
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
    """Make a new lock in a forked process: a thread that does not exist there may have held the old one."""
    default_generator._stream.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


@said(leaves=True)
def manual_seed(seed: int) -> Generator:
    """Restart the default generator from `seed` and return it.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.rand(3)
    tensor([0.4963, 0.7682, 0.0885])
    """
    return default_generator.manual_seed(int(seed))


@said(leaves=True)
def seed() -> int:
    """Restart the default generator from a seed taken from the operating system, and return that seed."""
    return default_generator.seed()


@said(leaves=True)
def initial_seed() -> int:
    """The seed that the default generator was last started from.

    >>> import tinytorch as torch
    >>> torch.manual_seed(7).initial_seed() == torch.initial_seed() == 7
    True
    """
    return default_generator.initial_seed()


@said(leaves=True)
def get_rng_state() -> Tensor:
    """The state of the default generator, a uint8 tensor."""
    return default_generator.get_state()


@said(leaves=True)
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
    """Context manager and decorator: on exit the default generator has the state that it had on entry.

    `devices` and `device_type` name accelerators and have no effect here.

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
    """None: a DataLoader's workers are processes, and in torch only a worker thread has a generator here."""
