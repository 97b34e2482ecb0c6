"""What becomes of the other ranks when one fails: they end too, and with an error."""
import atexit
import os
import sys
import threading
import time

__all__ = ["abort_on_exception", "wait_at_exit"]

_hooked: list = []                             # the processes that hooks were set in, by number


def abort_on_exception(MPI):
    """From now on an exception that nobody catches prints its traceback and ends all ranks; so does sys.exit with a
    code that is not 0.

    Without this the process would wait at its end for ranks that wait for it in a collective.
    """
    if os.getpid() in _hooked:
        return
    _hooked.append(os.getpid())
    before = sys.excepthook

    def end(code):
        sys.stdout.flush()
        sys.stderr.flush()
        time.sleep(0.2)                        # the launcher passes on what was printed before it kills
        MPI.COMM_WORLD.Abort(code)

    def excepthook(kind, error, traceback):
        print(f"[rank{MPI.COMM_WORLD.Get_rank()}]: this rank failed, and ends the others", file=sys.stderr)
        before(kind, error, traceback)
        end(1)
    sys.excepthook = excepthook

    class Exit(SystemExit):
        """Knows when it is the interpreter that asks for the code, with no Python below: then the process ends."""

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
    """When the process ends, what is under way gets a few seconds to be finished: others may wait for it.

    `under_way` gives the works that are not done."""
    if under_way in _hooked:
        return
    _hooked.append(under_way)

    def at_exit():
        end = time.monotonic() + 5
        while time.monotonic() < end and not all([work.is_completed() for work in under_way()]):
            time.sleep(1e-3)
    atexit.register(at_exit)
