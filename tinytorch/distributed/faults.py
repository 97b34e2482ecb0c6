"""When one rank fails, the other ranks end too, with an error."""
import atexit
import os
import sys
import threading
import time

__all__ = ["abort_on_exception", "wait_at_exit"]

_hooked: list = []                             # the numbers of the processes in which hooks are set


def abort_on_exception(MPI):
    """Makes an exception that nobody catches print its traceback and end all ranks. sys.exit with a code that is not 0
    ends all ranks, too.

    Without this the process would wait at its end for ranks that wait for it in a collective.
    """
    if os.getpid() in _hooked:
        return
    _hooked.append(os.getpid())
    before = sys.excepthook

    def end(code):
        sys.stdout.flush()
        sys.stderr.flush()
        time.sleep(0.2)                        # gives the launcher time to pass on the output before it kills
        MPI.COMM_WORLD.Abort(code)

    def excepthook(kind, error, traceback):
        print(f"[rank{MPI.COMM_WORLD.Get_rank()}]: this rank failed, and ends the others", file=sys.stderr)
        before(kind, error, traceback)
        end(1)
    sys.excepthook = excepthook

    class Exit(SystemExit):
        """An exit code that notices when the interpreter itself asks for it, with no Python below: then the process
        ends."""

        @property
        def code(self):
            code = self.args[0] if self.args else None
            if code and sys._getframe().f_back is None and threading.current_thread() is threading.main_thread():
                if not isinstance(code, int):
                    print(code, file=sys.stderr)
                end(code if isinstance(code, int) else 1)
            return code

    def exit(status=None, /):
        raise Exit(status) if status is not None else Exit
    sys.exit = exit


def wait_at_exit(under_way):
    """Gives unfinished works a few seconds when the process ends, because other ranks may wait for them.

    `under_way` returns the works that are not done."""
    if under_way in _hooked:
        return
    _hooked.append(under_way)

    def at_exit():
        end = time.monotonic() + 5
        while time.monotonic() < end and not all([work.is_completed() for work in under_way()]):
            time.sleep(1e-3)
    atexit.register(at_exit)
