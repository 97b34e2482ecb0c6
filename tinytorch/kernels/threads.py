"""Heavy loops over a batch, on as many threads as `torch.set_num_threads` allows.

NumPy lets go of the interpreter while it works on an array, so two threads that each take half of the images keep two
cores busy. They do so only with large pieces: handing over the interpreter costs tens of microseconds. Each thread
then wants a BLAS of one thread to itself; that can be arranged with OpenBLAS, which NumPy's wheels bring. With any
other BLAS nothing is split, and BLAS spreads its products over the cores in its own way.

OpenBLAS's own threads wait for the next product in a loop, 2**26 ticks of the processor's clock (25 ms) long, and keep
a core from us meanwhile. Before the first split they are told to give up after 2**20 (0.4 ms), unless the
environment sets OPENBLAS_THREAD_TIMEOUT: a LeNet's training step on two cores took 47 ms with the former and 34 with
the latter.
"""
import os
import threading
from queue import SimpleQueue

from .blas import thread_counts

#: More than this never share one piece of work: the interpreter goes from hand to hand, and two is what was measured.
_MOST = 4


class _Team:
    """The threads. `size`: how many may work at once, the caller among them; never more than there are `cores`."""

    def __init__(self):
        self.cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.size = int(os.environ.get("OMP_NUM_THREADS") or self.cores)
        self.busy = threading.Lock()           # one split at a time: a second one, or one inside, runs unsplit
        self.forget()

    def forget(self):
        """Start without helpers, as a forked process must."""
        self.tasks, self.helpers = SimpleQueue(), 0

    def hire(self, n):
        while self.helpers < n:
            threading.Thread(target=_help, args=(self.tasks,), daemon=True).start()
            self.helpers += 1


def _help(tasks):
    while True:
        work, first, last, done = tasks.get()
        try:
            work(first, last)
            done.put(None)
        except BaseException as error:         # for the caller to raise
            done.put(error)
        del work, done                         # what they hold must not wait for the next task


_team = _Team()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_team.forget)


def number():
    """How many threads may work at once."""
    return _team.size


def set_number(n):
    """Let `n` threads work at once, those of OpenBLAS among them. More than there are cores would only wait for each
    other in loops."""
    _team.size = n
    if thread_counts():
        thread_counts()[1](min(n, _team.cores))


def split(count, work):
    """work(first, last) for consecutive parts of range(count) that cover it, at once where threads allow.

    Only for work of a millisecond or more, in steps of a tenth of that.
    """
    parts = min(_team.size, _team.cores, count, _MOST)
    if parts < 2 or not thread_counts() or not _team.busy.acquire(blocking=False):
        work(0, count)
        return
    get, set_ = thread_counts()
    before = get()
    set_(1)
    try:
        _team.hire(parts - 1)
        bounds = [count * i // parts for i in range(parts + 1)]
        done = SimpleQueue()
        for first, last in zip(bounds[1:], bounds[2:]):
            _team.tasks.put((work, first, last, done))
        try:
            work(0, bounds[1])
        finally:
            errors = [done.get() for _ in range(parts - 1)]
        for error in errors:
            if error is not None:
                raise error
    finally:
        set_(before)
        _team.busy.release()
