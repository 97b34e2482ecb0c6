"""Exceptions on their way from another process or thread."""
import sys
import traceback

__all__ = ["ExceptionWrapper", "KeyErrorMessage"]


class KeyErrorMessage(str):
    """A message that a KeyError, which shows the repr of what it is given, shows as it is."""

    __slots__ = ()

    def __repr__(self):
        return self


class ExceptionWrapper:
    """The exception that is being handled (or `exc_info`): its type, and its traceback as text, which can be pickled.

    >>> from tinytorch._utils import ExceptionWrapper
    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError:
    ...     wrapped = ExceptionWrapper(where="in a worker")
    >>> try:
    ...     wrapped.reraise()
    ... except ZeroDivisionError as error:
    ...     print(str(error).splitlines()[0])
    Caught ZeroDivisionError in a worker.
    """

    def __init__(self, exc_info=None, where="in background"):
        if exc_info is None:
            exc_info = sys.exc_info()
        self.exc_type = exc_info[0]
        self.exc_msg = "".join(traceback.format_exception(*exc_info))
        self.where = where

    def reraise(self):
        """Raise an exception of that type whose message is the traceback; RuntimeError if a message alone makes none.
        """
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = KeyErrorMessage(message)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=message)
        try:
            exception = self.exc_type(message)
        except Exception:
            raise RuntimeError(message) from None
        try:
            raise exception
        finally:
            del exception                      # else its traceback, and all in there, waits for the garbage collector
