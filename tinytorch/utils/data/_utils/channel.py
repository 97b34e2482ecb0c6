"""Messages between a loader and a worker process: small ones over a socket, large ones in shared memory.

A message is pickled with its arrays separate. Large arrays, and a large pickle, are written to a file without a name.
Its descriptor goes over the socket, and the receiver maps the file: the tensors of the batch are views of this mapping,
without a copy. Therefore the data on the socket is always small, and fits into its buffer.
"""
import io
import os
import pickle
import select
import socket
import struct
from multiprocessing.reduction import ForkingPickler
from typing import Any

from ....kernels import shared
from ....tensor import Tensor

__all__ = ["Channel", "Closed", "pair"]

#: The smallest array that goes to shared memory, and the largest pickle that goes over the socket, in bytes.
_LARGE, _INLINE = 4096, 8192
_ALIGNMENT = 64
_HEAD = struct.Struct("<QQQ")              # bytes of the pickle, its offset in the file, arrays (no file: 0, 0)
_SPAN = struct.Struct("<QQ")


class Closed(Exception):
    """The other side has closed the channel."""


class _Pickler(ForkingPickler):
    def reducer_override(self, obj):
        if isinstance(obj, Tensor):
            if obj.requires_grad and not obj.is_leaf:
                raise RuntimeError(shared.NON_LEAF)
            return obj.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
        return NotImplemented


def pair():
    """The two sides of a channel."""
    a, b = socket.socketpair()
    return Channel(a), Channel(b)


class Channel:
    """One side of a channel. `patience` is called about once a second while it waits for the other side, and may
    raise."""

    def __init__(self, sock, patience=None):
        self._socket = sock
        self.patience = patience

    def fileno(self):
        return self._socket.fileno()

    def close(self):
        """Closes this side in this process."""
        self._socket.close()

    def shut_down(self):
        """Ends the channel for both sides, even if other processes still have it open."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass                               # the other side has done it already
        self._socket.close()

    def ready(self, events, seconds):
        """Whether the channel can be read (select.POLLIN) or written to (POLLOUT) within this time."""
        waiting = select.poll()
        waiting.register(self._socket, events)
        return bool(waiting.poll(seconds * 1000))

    def _wait(self, events):
        while not self.ready(events, 1):
            if self.patience is not None:
                self.patience()

    # -------------------------------------------------------------- sending
    def send(self, message):
        """Sends a message. Closed if the other side is gone; errors of pickling come before anything is sent."""
        self.send_packed(pack(message))

    def send_packed(self, packed):
        head, fd = packed
        try:
            self._wait(select.POLLOUT)
            if fd is None:
                self._socket.sendall(head)
            else:
                sent = socket.send_fds(self._socket, [head], [fd])
                if sent < len(head):
                    self._socket.sendall(head[sent:])
        except (BrokenPipeError, ConnectionResetError):
            raise Closed from None
        finally:
            if fd is not None:
                os.close(fd)

    # -------------------------------------------------------------- receiving
    def receive(self):
        """Waits for the next message and returns it. Closed if there will be none."""
        self._wait(select.POLLIN)
        try:
            head, fds, _, _ = socket.recv_fds(self._socket, _HEAD.size, 1, getattr(socket, "MSG_CMSG_CLOEXEC", 0))
            head += self._rest(_HEAD.size - len(head))
            size, start, arrays = _HEAD.unpack(head)
            if not fds:
                return pickle.loads(self._rest(size))
        except ConnectionResetError:
            raise Closed from None
        memory: Any = shared.mapped(fds[0], start + size + arrays * _SPAN.size)
        spans = _SPAN.iter_unpack(memory[start + size:])
        return pickle.loads(memory[start:start + size], buffers=[memoryview(memory[a:b]) for a, b in spans])

    def _rest(self, count):
        parts = []
        while count:
            part = self._socket.recv(count)
            if not part:
                raise Closed
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


def pack(message):
    """(the data to send, the descriptor that goes with it or None)."""
    arrays = []

    def take(buffer):
        raw = buffer.raw()
        if raw.nbytes < _LARGE:
            return True                        # goes into the pickle
        arrays.append(raw)
        return False
    file = io.BytesIO()
    _Pickler(file, 5, True, take).dump(message)
    text = file.getbuffer()
    if not arrays and text.nbytes <= _INLINE:
        return _HEAD.pack(text.nbytes, 0, 0) + text, None
    spans, end = [], 0
    for raw in arrays:
        spans.append((end, end + raw.nbytes))
        end += -(-raw.nbytes // _ALIGNMENT) * _ALIGNMENT
    table = b"".join([_SPAN.pack(*span) for span in spans])
    fd = shared.new_file(end + text.nbytes + len(table))
    try:
        for raw, (start, _) in zip(arrays, spans):
            _write(fd, raw, start)
        _write(fd, text, end)
        _write(fd, memoryview(table), end + text.nbytes)
    except BaseException:
        os.close(fd)
        raise
    return _HEAD.pack(text.nbytes, end, len(arrays)), fd


def _write(fd, data, start):
    while data.nbytes:
        count = os.pwrite(fd, data, start)
        data, start = data[count:], start + count
