"""`viz.memory`: the memory that a training step keeps from forward to backward, and its peak."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .captions import size
from .checkpoints import Checkpoints
from .comparison import without_numbers
from .files import png, save
from .meter import Event, Life, Meter
from .page import memory_page
from .saved_tensors import maker_of, saved_of, with_line
from .table import Table
from .tape import ACTIVATION
from .timeline import timeline

_FEW = 1024                # bytes of objects that Python makes and drops between events


class Memory(Table):
    """The measurements of one run of a step, as a table. "from" and "to" are numbers of events.

    events      the operations that ran, with the bytes allocated since the start of the run (see meter.Event)
    lives       the storages that lived from forward to backward (see meter.Life); the rows are those of activations
    kept        the bytes of the activations among the lives
    peak        the largest number of allocated bytes; `at_peak` is the event at that time. The event after it begins
                with what it leaves, and Python's own objects may make that a few bytes more: they do not count.
    again       the number of operations whose forward ran in backward, because of checkpoints
    by_row      the lives of each row; equal modules share a row
    measured    the table of `checkpoints()`, if that was called
    """

    def __init__(self, step: Callable[[], Any], meter: Meter) -> None:
        self._step, self._modules = step, dict(meter.modules)
        self.events: list[Event] = meter.events
        self.lives: list[Life] = [life for life in meter.lives if life.storage.kind == ACTIVATION]
        self.again = meter.again
        self.kept = sum([life.storage.nbytes for life in self.lives])
        most = max([event.most for event in self.events])
        self.at_peak = next(event for event in self.events if event.most >= most - _FEW)
        self.peak = self.at_peak.most
        self.measured: Checkpoints | None = None
        rows = _rows(self.lives)
        self.by_row: list[list[Life]] = [equal for _, equal in rows]
        super().__init__("activations that live from forward to backward",
                         ("bytes", "name", "shape", "dtype", "module", "made by", "needed by", "from", "to"),
                         [row for row, _ in rows],
                         f"{size(self.kept)} kept; at most {size(self.peak)} allocated, in {self.where(self.at_peak)}")

    def where(self, event: Event) -> str:
        """The operation of an event, with line and module."""
        at = with_line(f"{event.phase} of {event.name}", event)
        return at + (f", module {event.module}" if event.module else "")

    def timeline(self, theme: str | None = None) -> str:
        """The bytes over the run as an SVG picture: all bytes, those of the activations that are kept, and the peak.

        theme     "light" or "dark"; None: the preference of the reader's system

        >>> import tinytorch as torch
        >>> x = torch.ones(64, 64, requires_grad=True)
        >>> "ExpBackward0" in memory(lambda: x.exp().sum().backward()).timeline()      # the operation at the peak
        True
        """
        return timeline(self, theme)

    def save(self, path: str | os.PathLike, theme: str | None = None) -> None:
        """Writes the timeline, .svg or .png by the suffix of `path`, or .html: a page of the timeline, this table, and
        that of `checkpoints()` if it was called. The page of a graph can have it as well (`Graph.save`). ValueError
        for another suffix.

        >>> import tempfile, tinytorch as torch
        >>> x = torch.ones(64, 64, requires_grad=True)
        >>> report = memory(lambda: x.exp().sum().backward())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     report.save(f"{folder}/memory.html")
        """
        save(os.fspath(path), {".svg": lambda: self.timeline(theme), ".html": lambda: memory_page(self, theme),
                               ".png": lambda: png(self.timeline(theme or "light"))})

    def data(self) -> dict[str, Any]:
        """The measurements as plain dicts and lists.

        >>> import tinytorch as torch
        >>> x = torch.ones(64, 64, requires_grad=True)
        >>> data = memory(lambda: x.exp().sum().backward()).data()
        >>> [(a["nbytes"], a["maker"].split()[0], a["born"], a["freed"]) for a in data["activations"]]
        [(16384, 'exp', 0, 4)]
        >>> [event["name"] for event in data["events"]]
        ['exp', 'sum', 'SumBackward0', 'ExpBackward0', 'the end']
        """
        return {"peak": self.peak, "at_peak": self.events.index(self.at_peak), "kept": self.kept, "again": self.again,
                "events": [_event(event) for event in self.events],
                "activations": [{**_saved(life)._asdict(), "born": life.born, "freed": life.freed}
                                for life in self.lives]}

    def checkpoints(self, repeats: int = 3) -> Checkpoints:
        """The measured savings and costs of `checkpoint` on each module that was called. The step runs again for each
        module (for equal modules once), once to measure the memory and `repeats` times to measure the median time.
        Parameters, buffers, gradients and random numbers are restored after each run, and nothing else is.

        >>> import tinytorch as torch
        >>> block = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64))
        >>> model, x = torch.nn.Sequential(torch.nn.Linear(64, 64), block), torch.ones(64, 64)
        >>> table = memory(lambda: model(x).sum().backward()).checkpoints(repeats=1)
        >>> [(m.path, m.saves) for m in table.measured]        # a checkpoint itself keeps 5056 bytes of random numbers
        [('1', 191552), ('1.1', 60480)]
        """
        self.measured = Checkpoints(self._step, self._modules, self.lives, repeats)
        return self.measured

    def _repr_html_(self) -> str:
        return self.timeline() + super()._repr_html_()


def memory(step: Callable[[], Any], model: Any = None) -> Memory:
    """Runs `step()` once, a function with a forward, its backward and the rest of a training step, and measures its
    memory: the activations that live from forward to backward, and the peak. It counts what Python's tracemalloc
    counts, which are arrays and the objects around them.

    model   the module whose parts the module paths name; by default the first called module that has parts

    >>> import tinytorch as torch
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    >>> report = memory(lambda: model(torch.ones(3, 4)).sum().backward())
    >>> report.kept                              # the output of tanh, and the input: it is made in the step
    144
    """
    with Meter(model) as meter:
        step()
    return Memory(step, meter)


def _rows(lives):
    """(row, lives) of lives that are equal and whose modules differ only by numbers."""
    found = {}
    for life in lives:
        s = _saved(life)
        key = (s.nbytes, s.name, s.shape, s.dtype, without_numbers(s.module), s.maker, s.needed_by)
        found.setdefault(key, []).append((s.module, life))
    rows = []
    for (nbytes, name, shape, dtype, path, maker, needed_by), equal in found.items():
        count, of = len(equal), [life for _, life in equal]
        freed = [life.freed for life in of]
        module = f"{path} x{count}" if count > 1 else equal[0][0]
        last = "" if None in freed else max(freed)
        row = (nbytes * count, name, "x".join(map(str, shape)) or "()", dtype, module, maker, needed_by,
               min([life.born for life in of]), last)
        rows.append((row, of))
    return rows


def _saved(life):
    """The Saved of a storage, at the step that keeps it first."""
    step = life.storage.keepers[0]
    kept = next(kept for kept in step.kept if kept.storage is life.storage)
    return saved_of(step, kept)._replace(maker=maker_of(life.storage))


def _event(event):
    file, line = (event.origin.file, event.origin.line) if event.origin else ("", 0)
    return {"phase": event.phase, "name": event.name, "module": event.module, "bytes": event.nbytes,
            "most": event.most, "file": file, "line": line}
