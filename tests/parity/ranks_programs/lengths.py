"""Every collective again with messages of some bytes at most, so that all are sent in pieces: the same bits."""
import importlib
import re

from tests.parity.ranks_programs import collectives

LIMITS = 7, 48


class Watched:
    """A communicator that looks at what is sent: no more bytes in a call than `messages.LIMIT`, or than one element
    has. (A message from rank to rank is one element of a datatype that has its length.)"""

    def __init__(self, comm, messages, seen):
        self.comm, self.messages, self.seen = comm, messages, seen

    def __getattr__(self, name):
        method = getattr(self.comm, name)
        if not name[:1].isupper() or name.startswith(("Get_", "Free", "Create")):
            return method

        def call(*args):
            for buffer in args:
                if isinstance(buffer, list):
                    array, length = buffer[0], buffer[1]
                    if name in ("Isend", "Irecv") and length == 1:
                        self.seen.append(array.nbytes)
                        continue
                    whole = array.nbytes if not isinstance(length, tuple) else sum(length[0]) * array.itemsize
                    assert whole <= max(self.messages.LIMIT, array.itemsize), (name, whole)
                    self.seen.append(whole)
            return method(*args)
        return call


def main(torch, rank, size):
    messages = importlib.import_module(f"{torch.__name__}.distributed.messages")
    collectives.LONG = 100
    group, unsplit = torch.distributed.group.WORLD, messages.LIMIT
    comm, control, results, seen = group.comm, group.control, {}, []

    def told():
        found = collectives.main(torch, rank, size)
        return {name: (*x[:2], re.sub("ProcessGroup [0-9]*", "", x[2]))
                if isinstance(x, tuple) and x[:1] == ("error",) else x for name, x in found.items()}
    results[0] = told()
    group.comm, group.control = Watched(comm, messages, seen), Watched(control, messages, seen)
    for limit in LIMITS:
        messages.LIMIT = limit
        results[limit] = told()
        results[limit, "calls"] = len(seen)
        seen.clear()
    messages.LIMIT, group.comm, group.control = unsplit, comm, control
    return results
