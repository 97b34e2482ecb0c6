"""torch.multiprocessing: Python's own, and `spawn`. Tensors travel between processes as copies."""
import multiprocessing
import multiprocessing.connection
import traceback
from multiprocessing import *  # noqa: F403  (torch's module, too, is Python's with additions)

__all__ = multiprocessing.__all__ + ["ProcessContext", "ProcessExitedException", "ProcessRaisedException", "spawn"]


class ProcessException(Exception):
    """A process started by `spawn` failed: `error_index` is its number, `error_pid` its process id."""

    def __init__(self, msg, error_index, pid):
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid


class ProcessRaisedException(ProcessException):
    """The function raised an exception."""


class ProcessExitedException(ProcessException):
    """The process ended by itself or by a signal; `exit_code` says with what."""

    def __init__(self, msg, error_index, error_pid, exit_code):
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code


def _run(function, index, args, errors):
    try:
        function(index, *args)
    except KeyboardInterrupt:
        pass
    except Exception:
        errors.put(traceback.format_exc())
        raise SystemExit(1) from None


class ProcessContext:
    """The processes of a `spawn` that was not joined."""

    def __init__(self, processes, errors):
        self.processes, self._errors = processes, errors

    def pids(self):
        """Process ids, by number."""
        return [p.pid for p in self.processes]

    def join(self, timeout=None):
        """Wait for the processes. Whether all have ended; if one failed, the others are stopped and it raises."""
        running = [p.sentinel for p in self.processes if p.exitcode is None]
        if running:                            # waiting for none would never end
            multiprocessing.connection.wait(running, timeout)
        failed = next((i for i, p in enumerate(self.processes) if p.exitcode not in (None, 0)), None)
        if failed is None:
            return all(p.exitcode == 0 for p in self.processes)
        for p in self.processes:
            if p.is_alive():
                p.terminate()
            p.join()
        process, errors = self.processes[failed], self._errors[failed]
        if errors.empty():
            raise ProcessExitedException(f"process {failed} terminated with exit code {process.exitcode}",
                                         failed, process.pid, process.exitcode)
        raise ProcessRaisedException(f"\n\n-- Process {failed} terminated with the following error:\n{errors.get()}",
                                     failed, process.pid)


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Run fn(i, *args) in `nprocs` new processes, i from 0. With `join` wait for all, and raise
    ProcessRaisedException with the traceback if one fails; else give a ProcessContext."""
    context = multiprocessing.get_context(start_method)
    errors = [context.SimpleQueue() for _ in range(nprocs)]
    processes = [context.Process(target=_run, args=(fn, i, args, errors[i]), daemon=daemon) for i in range(nprocs)]
    for process in processes:
        process.start()
    started = ProcessContext(processes, errors)
    if not join:
        return started
    while not started.join():
        pass
    return None
