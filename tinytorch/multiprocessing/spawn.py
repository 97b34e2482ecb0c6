"""spawn: runs a function in several new processes, all of which end if one fails."""
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

from ..errors import warn

__all__ = ["ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException", "SpawnContext",
           "spawn", "start_processes"]

#: With this variable set to 1 in the environment, `start_processes` starts all processes at once, by "forkserver".
ENV_VAR_PARALLEL_START = "TORCH_MP_PARALLEL_START"
_PR_SET_PDEATHSIG = 1


class ProcessException(Exception):
    """A process started by `spawn` failed: `error_index` is its number, `error_pid` its process id."""

    def __init__(self, msg, error_index, error_pid):
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid = msg, error_index, error_pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """The function raised an exception."""


class ProcessExitedException(ProcessException):
    """The process exited or was ended by a signal; `exit_code` and `signal_name` have the details."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


def _run(function, index, args, errors):
    if sys.platform == "linux":                # so that it does not outlive its parent
        import ctypes
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGINT))
    try:
        function(index, *args)
    except KeyboardInterrupt:
        pass
    except Exception:
        errors.put(traceback.format_exc())
        raise SystemExit(1) from None


class ProcessContext:
    """The processes of a `spawn` with join=False."""

    def __init__(self, processes, errors):
        self.processes, self._errors = processes, errors

    def pids(self):
        """The process ids, in the order of the processes."""
        return [p.pid for p in self.processes]

    def _wait(self, seconds):
        end = time.monotonic() + seconds
        for p in self.processes:
            p.join(max(0, end - time.monotonic()))

    def join(self, timeout=None, grace_period=None):
        """Waits for the processes, and returns whether all have ended. If one fails, the others are stopped and its
        error is raised.

        `grace_period`: the seconds that the others have to end by themselves, and once more after SIGTERM.
        """
        running = [p.sentinel for p in self.processes if p.exitcode is None]
        if running:                            # a wait for no process would never end
            multiprocessing.connection.wait(running, timeout)
        failed = next((i for i, p in enumerate(self.processes) if p.exitcode not in (None, 0)), None)
        if failed is None:
            return all(p.exitcode == 0 for p in self.processes)
        if grace_period is not None:
            self._wait(grace_period)
        for p in self.processes:
            if p.is_alive():
                p.terminate()
        self._wait(30 if grace_period is None else grace_period)
        for p in self.processes:
            if p.is_alive():
                p.kill()
            p.join()
        raise self._failure(failed)

    def _failure(self, i):
        process, errors = self.processes[i], self._errors[i]
        if not errors.empty():
            return ProcessRaisedException(f"\n\n-- Process {i} terminated with the following error:\n{errors.get()}", i,
                                          process.pid)
        code = process.exitcode
        if code >= 0:
            return ProcessExitedException(f"process {i} terminated with exit code {code}", i, process.pid, code)
        known = -code in signal.valid_signals()
        name = signal.Signals(-code).name if known else f"<Unknown signal {-code}>"
        return ProcessExitedException(f"process {i} terminated with signal {name}", i, process.pid, code, name)


class SpawnContext(ProcessContext):
    """ProcessContext under its older name."""

    def __init__(self, processes, error_files):
        warn("SpawnContext is renamed to ProcessContext since 1.4 release.")
        super().__init__(processes, error_files)


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Runs fn(i, *args) in `nprocs` new processes, i from 0. With `join` it waits for all, and raises
    ProcessRaisedException with the traceback if one fails; else it returns a ProcessContext."""
    context = multiprocessing.get_context(start_method)
    errors = [context.SimpleQueue() for _ in range(nprocs)]
    processes = [context.Process(target=_run, args=(fn, i, args, errors[i]), daemon=daemon) for i in range(nprocs)]
    if start_method == "forkserver" and os.environ.get(ENV_VAR_PARALLEL_START, "0") == "1":
        with ThreadPoolExecutor(max_workers=nprocs) as executor:
            list(executor.map(lambda process: process.start(), processes))
    else:
        for process in processes:
            process.start()
    started = ProcessContext(processes, errors)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """`start_processes` with the start method "spawn". FutureWarning for any other method."""
    if start_method != "spawn":
        warn(f"This method only supports start_method=spawn (got: {start_method}).\nTo use a different "
             "start_method use:\n\t\t torch.multiprocessing.start_processes(...)", FutureWarning)
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
