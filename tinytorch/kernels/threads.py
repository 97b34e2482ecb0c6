"""Heavy loops over a batch, on as many threads as `torch.set_num_threads` allows.

NumPy lets go of the interpreter while it works on an array, so two threads that each take half of the images keep two
cores busy. They do so only with large pieces: handing over the interpreter costs tens of microseconds. Each thread
needs a BLAS that stays on it, which OpenBLAS, BLIS and MKL do here (linalg/blas.py). With any other nothing is split,
and BLAS spreads its products over the cores in its own way.

How work is cut depends on the number of threads allowed and on nothing else: not on whether one is free, nor on what
other threads of the program do. So a training gives the same bits alone and beside others.
"""
import os
import re
import threading
from collections import deque

import numpy as np

from .errstate import ignore
from .linalg.blas import held

#: More than this never share one piece of work: the interpreter goes from hand to hand, and two is what was measured.
_MOST = 4


def _allowed_at_first(setting, cores):
    """The threads that OMP_NUM_THREADS asks for: the first of a list of positive numbers; `cores` if it is anything
    else, or more."""
    if not re.fullmatch(r"\s*\+?0*[1-9]\d*\s*(,\s*\+?0*[1-9]\d*\s*)*", setting or ""):
        return cores
    return min(int(setting.split(",")[0]), cores)


def _cores():
    """Those that the process may run on, or as many as its control group may use at once, if that is fewer."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for path in ("/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"):
        try:
            with open(path) as file:
                quota, *period = file.read().split()
            if not period:
                with open("/sys/fs/cgroup/cpu/cpu.cfs_period_us") as file:
                    period = [file.read()]
            if quota.lstrip("-").isdigit() and int(quota) > 0:
                return max(1, min(cores, -(-int(quota) // int(period[0]))))
        except (OSError, ValueError):          # another system, or one that says nothing
            continue
    return cores


class _Team:
    """The threads. `size`: how many may work at once, the caller among them; never more than there are `cores`."""

    def __init__(self):
        self.cores = _cores()
        self.size = _allowed_at_first(os.environ.get("OMP_NUM_THREADS"), self.cores)
        self.forget()

    def forget(self):
        """Start without helpers, as a forked process must."""
        self.calls, self.helpers, self.hiring = None, 0, threading.Lock()

    def call(self, parts, done, n):
        """Have up to `n` helpers take parts."""
        if self.helpers < n:
            with self.hiring:
                if self.calls is None:
                    self.calls = type(done)()      # a SimpleQueue
                try:
                    while self.helpers < n:
                        threading.Thread(target=_help, args=(self.calls,), daemon=True).start()
                        self.helpers += 1
                except RuntimeError:           # the system has none left, or none at all: the caller does the rest
                    n = self.helpers
        for _ in range(n):
            self.calls.put((parts, done))


_here = threading.local()


def _help(calls):
    _here.shares = True
    ignore()
    while True:
        _take(*calls.get())


def _take(parts, done):
    """Do parts until none is left, and say of each that it is done, or what went wrong."""
    while True:
        try:
            work, first, last = parts.popleft()
        except IndexError:
            return
        try:
            work(first, last)
            done.put(None)
        except BaseException as error:         # for the caller to raise
            done.put(error)
        del work                               # what it holds must not wait for the next one


team = _Team()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=team.forget)


def number():
    """How many threads may work at once."""
    return team.size


def free():
    """How many may share what this thread does next: none but itself where it does a part of something already."""
    size = team.size
    return size if size == 1 or not getattr(_here, "shares", False) else 1


def set_number(n):
    """Let `n` threads work at once. More than there are cores would only wait for each other."""
    team.size = n


def split(count, work):
    """work(first, last) for consecutive parts of range(count) that cover it, at once where threads are free. Parts that
    no helper has begun are done by the caller, so splits may nest and several threads may call it.

    Only for work of a millisecond or more, in steps of a tenth of that.
    """
    n = min(team.size, team.cores, count, _MOST)
    if n < 2 or held() is None:
        work(0, count)
        return
    from queue import SimpleQueue  # not loaded with the package: many a program has one thread
    bounds = [count * i // n for i in range(n + 1)]
    parts, done = deque(zip([work] * n, bounds, bounds[1:])), SimpleQueue()
    shared_before, _here.shares = getattr(_here, "shares", False), True
    try:
        team.call(parts, done, n - 1)
        _take(parts, done)
        errors = [done.get() for _ in range(n)]
    finally:
        parts.clear()                          # an interrupt leaves nothing to do for helpers
        _here.shares = shared_before
    for error in errors:
        if error is not None:
            raise error


#: Elements of which a ufunc of some nanoseconds each takes long enough to share them.
_MANY = 1 << 18


def shared(ufunc, x):
    """What a ufunc of one array makes of each element, on several threads if there are many: it rounds one as it rounds
    another, wherever they lie."""
    if x.size < _MANY or type(x) is not np.ndarray or x.dtype.char not in "fd" or not x.flags.c_contiguous:
        return ufunc(x)
    result = np.empty_like(x)
    flat, out = x.reshape(-1), result.reshape(-1)
    split(x.size, lambda first, last: ufunc(flat[first:last], out[first:last]))
    return result
