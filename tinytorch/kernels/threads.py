"""Heavy loops over a batch, on as many threads as `torch.set_num_threads` allows.

NumPy releases the interpreter lock while it works on an array, so two threads that each take half of the images keep
two cores busy. The pieces must be large, because passing the lock on costs tens of microseconds. BLAS must compute each
product on the calling thread, as OpenBLAS, BLIS and MKL do here (linalg/blas.py). With any other BLAS nothing is split,
and it shares its products among the cores in its own way.

The pieces depend on the number of allowed threads alone: not on whether a thread is free, nor on the other threads of
the program. So a training gives the same bits alone and beside others.
"""
import os
import re
import threading
from collections import deque

from ..seam import settings_changed
from .errstate import ignore
from .linalg.blas import held

#: At most so many threads share one piece of work, because they pass the interpreter lock on. Two were measured.
_MOST = 4


def _allowed_at_first(setting, cores):
    """The number of threads that OMP_NUM_THREADS asks for: the first of a list of positive numbers, but at most
    `cores`; `cores` if it is anything else."""
    if not re.fullmatch(r"\s*\+?0*[1-9]\d*\s*(,\s*\+?0*[1-9]\d*\s*)*", setting or ""):
        return cores
    return min(int(setting.split(",")[0]), cores)


def _read(path):
    """The text of a file; nothing if it cannot be read, as on other systems."""
    try:
        with open(path) as file:
            return file.read()
    except (OSError, ValueError):
        return ""


def _groups():
    """The folders of the process's control groups: of its own and of those that contain it. In a container the mount
    may begin with the container's group, so that the path that the process is told does not exist."""
    for line in (_read("/proc/self/cgroup") or "0::/\n1:cpu:/").splitlines():
        controllers, _, group = line.partition(":")[2].partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        folder = "/sys/fs/cgroup/cpu" if controllers else "/sys/fs/cgroup"
        group = group.rstrip("/")
        while group:
            yield folder + group
            group = group.rpartition("/")[0]
        yield folder


def _cores():
    """The number of cores that the process may run on, or that its control groups may use at once, if that is less."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for folder in _groups():
        said = _read(f"{folder}/cpu.max") or " ".join([_read(f"{folder}/cpu.cfs_{name}_us")
                                                       for name in ("quota", "period")])
        quota, period = [*said.split(), "", ""][:2]
        if quota.isdigit() and period.isdigit() and int(period):
            cores = min(cores, -(-int(quota) // int(period)))
    return max(1, cores)


class _Team:
    """The helping threads. `size`: how many threads may work at once, including the caller; `cores` is the most that
    `split` uses."""

    def __init__(self):
        self.cores = _cores()
        self.size = _allowed_at_first(os.environ.get("OMP_NUM_THREADS"), self.cores)
        self.forget()

    def forget(self):
        """Starts without helpers, as a forked process must."""
        self.calls, self.helpers, self.hiring = None, 0, threading.Lock()

    def call(self, parts, done, n):
        """Asks `n` helpers, or as many as can be started, to take parts."""
        if self.helpers < n:
            with self.hiring:
                if self.calls is None:
                    self.calls = type(done)()      # a SimpleQueue
                try:
                    while self.helpers < n:
                        threading.Thread(target=_help, args=(self.calls,), daemon=True).start()
                        self.helpers += 1
                except RuntimeError:           # no more threads: the caller does the rest
                    n = self.helpers
        for _ in range(n):
            self.calls.put((parts, done))


class _Here(threading.local):
    """Whether this thread does a part of other work. A class attribute is found in a tenth of the time that it takes
    to find that an object has none."""

    shares = False


_here = _Here()


def _help(calls):
    _here.shares = True
    ignore()
    while True:
        _take(*calls.get())


def _take(parts, done):
    """Does parts until none is left. Puts None, or the exception that was raised, into `done` for each."""
    while True:
        try:
            work, first, last = parts.popleft()
        except IndexError:
            return
        try:
            work(first, last)
            done.put(None)
        except BaseException as error:         # the caller raises it
            done.put(error)
        del work                               # its arrays must not live until the next part


team = _Team()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=team.forget)


def number():
    """The number of threads that may work at once."""
    return team.size


def free():
    """The number of threads that may share the next work of this thread: 1 while it does a part of other work."""
    size = team.size
    return size if size == 1 or not _here.shares else 1


def set_number(n):
    """Allows `n` threads to work at once. `split` uses no more threads than there are cores."""
    team.size = n
    settings_changed()


def split(count, work):
    """Calls work(first, last) for consecutive parts that cover range(count), at once where threads are free. The caller
    does the parts that no helper has begun, so that splits may nest and several threads may call it.

    It is worth its overhead for work of a millisecond or more, in NumPy calls of a tenth of that.
    """
    n = min(team.size, team.cores, count, _MOST)
    if n < 2 or held() is None:
        work(0, count)
        return
    from queue import SimpleQueue  # not imported with the package: many programs have one thread
    bounds = [count * i // n for i in range(n + 1)]
    parts, done = deque(zip([work] * n, bounds, bounds[1:])), SimpleQueue()
    shared_before, _here.shares = _here.shares, True
    try:
        team.call(parts, done, n - 1)
        _take(parts, done)
        errors = [done.get() for _ in range(n)]
    finally:
        parts.clear()                          # after an interrupt helpers must begin no part
        _here.shares = shared_before
    for error in errors:
        if error is not None:
            raise error
