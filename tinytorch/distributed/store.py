"""Stores of keys within one process. Between processes MPI carries objects (`broadcast_object_list`)."""
from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import timedelta

from .._refused import refused_class

__all__ = ["DistError", "DistStoreError", "FileStore", "HashStore", "PrefixStore", "Store", "TCPStore"]


class DistError(RuntimeError):
    """An error of communication between processes."""


class DistStoreError(DistError):
    """A key was not set within the timeout."""


class Store:
    """The base class of stores, which hold bytes by keys that are strings. A reader of a key waits until it is set."""

    def __init__(self) -> None:
        self.timeout = timedelta(minutes=5)

    def set_timeout(self, timeout: timedelta) -> None:
        """Sets how long `get` and `wait` wait."""
        self.timeout = timeout

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Sets several keys."""
        for key, value in zip(keys, values):
            self.set(key, value)

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """The values of several keys."""
        return [self.get(key) for key in keys]

    def has_extended_api(self) -> bool:
        """True, because append, multi_get and multi_set are supported."""
        return True


class HashStore(Store):
    """A store for the threads of one process.

    >>> import tinytorch as torch
    >>> store = torch.distributed.HashStore()
    >>> store.set("key", "value")
    >>> store.get("key"), store.add("count", 2), store.num_keys()
    (b'value', 2, 2)
    """

    def __init__(self) -> None:
        super().__init__()
        self._values: dict[str, bytes] = {}
        self._changed = threading.Condition()          # a thread that has its lock may take it again

    def set(self, key: str, value: str | bytes) -> None:
        """Sets a key."""
        if not isinstance(key, str) or not isinstance(value, (str, bytes)):
            raise TypeError("set(): incompatible function arguments: a key is a str, a value str or bytes")
        with self._changed:
            self._values[key] = value.encode() if isinstance(value, str) else value
            self._changed.notify_all()

    def get(self, key: str) -> bytes:
        """The value, as soon as there is one. DistStoreError after the timeout."""
        self.wait([key])
        return self._values[key]

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Returns when all keys are set. DistStoreError after the timeout."""
        seconds = (self.timeout if timeout is None else timeout).total_seconds()
        with self._changed:
            if not self._changed.wait_for(lambda: self.check(keys), seconds):
                raise DistStoreError("Wait timeout")

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are set."""
        return all([key in self._values for key in keys])

    def add(self, key: str, amount: int) -> int:
        """Adds to a number, which begins at 0, and returns the sum."""
        with self._changed:
            total = int(self._values.get(key, 0)) + amount
            self._values[key] = str(total).encode()
            self._changed.notify_all()
        return total

    def append(self, key: str, value: str | bytes) -> None:
        """Adds to the end of a value."""
        with self._changed:
            self.set(key, self._values.get(key, b"") + (value.encode() if isinstance(value, str) else value))

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        """Sets the key if its value is `expected_value`, or if it does not exist and `expected_value` is "". Returns
        the value of the key afterwards, or `expected_value` if the key does not exist."""
        with self._changed:
            now = self._values.get(key)
            if now is None and expected_value:
                return expected_value.encode()
            if (now or b"") == expected_value.encode():
                self.set(key, desired_value)
            return self._values[key]

    def delete_key(self, key: str) -> bool:
        """Deletes a key. Returns whether it existed."""
        with self._changed:
            return self._values.pop(key, None) is not None

    def num_keys(self) -> int:
        """The number of keys."""
        return len(self._values)


class PrefixStore(Store):
    """A store within another store. Its key "k" is "prefix/k" there."""

    def __init__(self, prefix: str, store: Store) -> None:
        self.prefix, self.underlying_store = prefix, store

    @property
    def timeout(self) -> timedelta:
        """The other's."""
        return self.underlying_store.timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """The other's."""
        self.underlying_store.set_timeout(timeout)

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Returns when all keys are set. DistStoreError after the timeout."""
        self.underlying_store.wait([f"{self.prefix}/{key}" for key in keys], timeout)

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are set."""
        return self.underlying_store.check([f"{self.prefix}/{key}" for key in keys])

    def num_keys(self) -> int:
        """The number of all keys of the other store."""
        return self.underlying_store.num_keys()


def _prefixed(name):
    def call(self, key, *args):
        return getattr(self.underlying_store, name)(f"{self.prefix}/{key}", *args)
    call.__name__, call.__doc__ = name, getattr(HashStore, name).__doc__
    return call


for _name in ("set", "get", "add", "append", "compare_set", "delete_key"):
    setattr(PrefixStore, _name, _prefixed(_name))

_REASON = "MPI carries what processes tell each other"
TCPStore, FileStore = [refused_class("tinytorch.distributed", name, _REASON, (Store,))
                       for name in ("TCPStore", "FileStore")]
