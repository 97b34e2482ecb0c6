"""torch.utils.benchmark: the time of a statement."""
from __future__ import annotations

import sys
import textwrap
import timeit as _timeit
from collections.abc import Callable
from statistics import mean, median, quantiles
from time import perf_counter
from typing import Any

from ...runtime import get_num_threads, set_num_threads

__all__ = ["Measurement", "Timer", "timer"]

timer = perf_counter
_UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 0.0))


class Measurement:
    """Times of a statement.

    raw_times        the time of each run of `number_per_run` calls, in seconds
    times            the mean time of a call in each run, in seconds
    """

    def __init__(self, number_per_run: int, raw_times: list[float], stmt: str, label: str | None,
                 num_threads: int) -> None:
        self.number_per_run, self.raw_times, self.stmt, self.label = number_per_run, raw_times, stmt, label
        self.num_threads = num_threads
        self.times = [t / number_per_run for t in raw_times]

    @property
    def mean(self) -> float:
        """The mean time of a call, in seconds."""
        return mean(self.times)

    @property
    def median(self) -> float:
        """The median time of a call, in seconds."""
        return median(self.times)

    @property
    def iqr(self) -> float:
        """The difference between the quartiles of the time of a call, in seconds."""
        if len(self.times) < 2:
            return 0.0
        low, _, high = quantiles(self.times, n=4, method="inclusive")
        return high - low

    def __repr__(self) -> str:
        unit, size = next((u, s) for u, s in _UNITS if self.median >= s)
        runs = f"{len(self.times)} runs, " if len(self.times) > 1 else "1 measurement, "
        return (f"<Measurement>\n{self.label or self.stmt}\n  {self.median / (size or 1e-9):.2f} {unit}\n  {runs}"
                f"{self.number_per_run} calls each, {self.num_threads} thread"
                + "s" * (self.num_threads != 1))


class Timer:
    """Times `stmt`, which runs with the names in `globals` and `torch`, after `setup`, with `num_threads` threads.

    >>> import tinytorch as torch
    >>> torch.utils.benchmark.Timer("x + x", globals={"x": torch.ones(2)}).timeit(2).number_per_run
    2
    """

    def __init__(self, stmt: str = "pass", setup: str = "pass", global_setup: str = "", timer: Callable = timer,
                 globals: dict[str, Any] | None = None, label: str | None = None, sub_label: str | None = None,
                 description: str | None = None, env: str | None = None, num_threads: int = 1,
                 language: Any = "py") -> None:
        if str(language).lower() not in ("py", "python", "language.python"):
            raise NotImplementedError("torch.utils.benchmark.Timer times only Python")
        self._stmt, self._label, self._num_threads = textwrap.dedent(stmt).strip(), label, num_threads
        names = {"torch": sys.modules[__name__.partition(".")[0]], **(globals or {})}
        self._timer = _timeit.Timer(self._stmt, textwrap.dedent(setup).strip(), timer, names)

    def _measured(self, number, runs):
        before = get_num_threads()
        set_num_threads(self._num_threads)
        try:
            self._timer.timeit(max(number // 100, 2))
            times = runs()
        finally:
            set_num_threads(before)
        return Measurement(number, times, self._stmt, self._label, self._num_threads)

    def timeit(self, number: int = 1000000) -> Measurement:
        """The time of `number` calls."""
        return self._measured(number, lambda: [self._timer.timeit(number)])

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """The times of blocks of calls, whose sum is at least `min_run_time` seconds."""
        number = 1
        while (taken := self._timer.timeit(number)) < min_run_time / 1000 and number < 10 ** 9:
            number *= 10

        def runs():
            times = []
            while not times or sum(times) < min_run_time:
                times.append(self._timer.timeit(number))
                if callback is not None:
                    callback(number, times[-1])
            return times
        return self._measured(number, runs) if taken else self.timeit(number)

    def adaptive_autorange(self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0,
                           callback: Any = None) -> Measurement:
        """The same as `blocked_autorange`."""
        return self.blocked_autorange(callback, min_run_time)
