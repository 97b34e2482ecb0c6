"""torch.profiler: where a program spends its time, op by op, forward and backward.

    with torch.profiler.profile() as prof:
        model(x).sum().backward()
    print(prof.key_averages().table(sort_by="self_cpu_time_total"))
    prof.export_chrome_trace("trace.json")

It listens to Python's own call and return events for the functions that are ops and derivative rules, so
code that is not being profiled is not slowed down. The recorded times include the cost of listening.
"""
import inspect
import json
import sys
import threading
import time

from .autograd.node import Op
from .autograd.public import TABLE
from .missing import namespace as _namespace
from .optim.array_optimizer import ArrayOptimizer
from .seam import seam

__all__ = ["ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "record_function", "schedule",
           "supported_activities", "tensorboard_trace_handler"]


def kineto_available():
    """False: the profiler listens to Python's own events."""
    return False


class ProfilerActivity:
    """The kinds of devices to record. Only the CPU has work to record; others are accepted."""

    CPU, XPU, MTIA, CUDA, HPU, PrivateUse1 = "CPU", "XPU", "MTIA", "CUDA", "HPU", "PrivateUse1"


class ProfilerAction:
    """The action that a schedule returns for a step."""

    NONE, WARMUP, RECORD, RECORD_AND_SAVE = range(4)


def _default_schedule_fn(_: int) -> int:
    """The action in every step without a schedule: record."""
    return ProfilerAction.RECORD


def schedule(*, wait, warmup, active, repeat=0, skip_first=0):
    """A function of the step number: skip `wait` steps, discard `warmup`, record `active`, `repeat` times over
    (0: without end)."""
    def action(step):
        step -= skip_first
        length = wait + warmup + active
        if step < 0 or repeat and step >= repeat * length:
            return ProfilerAction.NONE
        step %= length
        if step < wait:
            return ProfilerAction.NONE
        if step < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if step == length - 1 else ProfilerAction.RECORD
    return action


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """A function for `on_trace_ready` that writes a Chrome trace into folder `dir_name`."""
    import os

    def write(prof):
        os.makedirs(dir_name, exist_ok=True)
        name = f"{worker_name or 'tinytorch'}.{time.time_ns() // 1_000_000}.pt.trace.json"
        prof.export_chrome_trace(os.path.join(dir_name, name + (".gz" if use_gzip else "")))
    return write


def _names():
    """{code object: name} of every op's forward function and derivative rules, of the public functions that are not
    written in Python in torch, and of the optimisers' step. A function that several ops share has the first op's name:
    indexing with a number appears as aten::slice."""
    found = {inspect.unwrap(ArrayOptimizer.step).__code__: "Optimizer.step"}
    for o in Op.registry:
        found.setdefault(inspect.unwrap(o.forward).__code__, f"aten::{o.name}")
        for rule in o.rules.values():
            found.setdefault(rule.__code__, o.backward_name)
    for function, public in TABLE.items():
        if public.checks != "Python":
            found.setdefault(inspect.unwrap(function).__code__, f"aten::{public.name}")
    return found


class _Event:
    """One call: name, start and length in nanoseconds, time in calls within it, bytes of its result."""

    __slots__ = ("name", "start", "total", "inner", "bytes", "thread")

    def __init__(self, name, start):
        self.name, self.start, self.total, self.inner, self.bytes = name, start, 0, 0, 0
        self.thread = threading.get_ident()


_active = None      # the profile that is recording, read by record_function


class profile:
    """Records ops while the `with` block runs (or between `start` and `stop`).

    activities, use_cuda, with_stack, with_flops, with_modules, record_shapes   accepted and without effect
    profile_memory   show the bytes of the results too
    schedule, on_trace_ready   call `step()` after each step: see `schedule`
    """

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False,
                 profile_memory=False, with_stack=False, with_flops=False, with_modules=False,
                 experimental_config=None, execution_trace_observer=None, acc_events=False, use_cuda=None,
                 custom_trace_id_callback=None, post_processing_timeout_s=None):
        self.profile_memory = profile_memory
        self.on_trace_ready = on_trace_ready
        self.schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self.step_num = 0
        self._events, self._open = [], []

    # ---------------------------------------------------------------- recording
    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc_info):
        self.stop()

    def start(self):
        """Begin with the schedule's action for step 0."""
        self._listen(self.schedule(self.step_num))

    def stop(self):
        """End, and pass the profile to `on_trace_ready` if it is recording."""
        was = self.schedule(self.step_num)
        self._listen(ProfilerAction.NONE)
        if self.on_trace_ready is not None and was in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self.on_trace_ready(self)

    def step(self):
        """Begin the next step of the schedule."""
        before = self.schedule(self.step_num)
        if before == ProfilerAction.RECORD_AND_SAVE:
            self._listen(ProfilerAction.NONE)
            if self.on_trace_ready is not None:
                self.on_trace_ready(self)
        self.step_num += 1
        after = self.schedule(self.step_num)
        if before in (ProfilerAction.NONE, ProfilerAction.WARMUP, ProfilerAction.RECORD_AND_SAVE) \
                and after in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self._events = []
        self._listen(after)

    def _listen(self, action):
        global _active
        seam.watch("profiler", action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE))
        if action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            _active = self
            names, events, opened = _names(), self._events, self._open
            clock = time.perf_counter_ns

            def on_event(frame, kind, result):
                if kind == "call":
                    name = names.get(frame.f_code)
                    if name is not None:
                        opened.append(_Event(name, clock()))
                elif kind == "return" and opened and frame.f_code in names:
                    _close(events, opened, clock(), result)
            sys.setprofile(on_event)
        elif _active is self:
            sys.setprofile(None)
            _active = None

    # ---------------------------------------------------------------- results
    def events(self):
        """The recorded calls, in the order in which they ended."""
        return list(self._events)

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """The calls summed up by name: a list with `table()`."""
        if group_by_input_shape or group_by_stack_n:
            raise NotImplementedError("profiler: grouping by shape or stack is not supported")
        rows = {}
        for event in self._events:
            rows.setdefault(event.name, FunctionEventAvg(event.name))._add(event)
        return EventList(rows.values(), self.profile_memory)

    def export_chrome_trace(self, path):
        """Write the calls in the format of chrome://tracing and Perfetto (compressed if `path` ends in .gz)."""
        trace = {"traceEvents": [
            {"name": e.name, "ph": "X", "cat": "cpu_op", "ts": e.start / 1000, "dur": e.total / 1000, "pid": 0,
             "tid": e.thread, "args": {"bytes": e.bytes}} for e in self._events]}
        if path.endswith(".gz"):
            import gzip
            with gzip.open(path, "wt") as f:
                json.dump(trace, f)
        else:
            with open(path, "w") as f:
                json.dump(trace, f)


def _close(events, opened, now, result):
    """End the innermost open call."""
    event = opened.pop()
    event.total = now - event.start
    if opened and opened[-1].name == event.name:               # a public function and its op count as one call
        opened[-1].inner += event.inner
        return
    arrays = result if isinstance(result, tuple) else (result,)
    event.bytes = sum(getattr(a, "nbytes", 0) for a in arrays)
    if opened:
        opened[-1].inner += event.total
    events.append(event)


class record_function:
    """Context manager: a named part of a program, which gets a row in the table and in the trace."""

    def __init__(self, name, args=None):
        self.name = name

    def __enter__(self):
        self._profile = _active
        if self._profile is not None:
            self._profile._open.append(_Event(self.name, time.perf_counter_ns()))
        return self

    def __exit__(self, *exc_info):
        if self._profile is not None:
            _close(self._profile._events, self._profile._open, time.perf_counter_ns(), None)


class FunctionEventAvg:
    """All calls of one name: `key count cpu_time_total self_cpu_time_total cpu_time` (microseconds) and
    `cpu_memory_usage` (bytes of results)."""

    def __init__(self, key):
        self.key = key
        self.count = self.cpu_memory_usage = 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0

    def _add(self, event):
        self.count += 1
        self.cpu_time_total += event.total / 1000
        self.self_cpu_time_total += (event.total - event.inner) / 1000
        self.cpu_memory_usage += event.bytes

    @property
    def cpu_time(self):
        return self.cpu_time_total / self.count

    def __repr__(self):
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={_duration(self.self_cpu_time_total)} "
                f"cpu_time={_duration(self.cpu_time)} count={self.count}>")


class EventList(list):
    """The rows of `key_averages`."""

    def __init__(self, rows, with_memory):
        super().__init__(rows)
        self._with_memory = with_memory

    @property
    def self_cpu_time_total(self):
        """The time of all rows together, in microseconds."""
        return sum(row.self_cpu_time_total for row in self)

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55,
              max_shapes_column_width=80, header=None, top_level_events_only=False, time_unit=None):
        """The rows as text, the largest `sort_by` first: cpu_time_total, self_cpu_time_total, cpu_time, count,
        cpu_memory_usage. AttributeError for any other name."""
        rows = sorted(self, key=lambda row: -getattr(row, sort_by)) if sort_by else list(self)
        total = self.self_cpu_time_total or 1.0
        titles = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls"]
        lines = [[row.key[:max_name_column_width], f"{100 * row.self_cpu_time_total / total:.2f}%",
                  _duration(row.self_cpu_time_total), f"{100 * row.cpu_time_total / total:.2f}%",
                  _duration(row.cpu_time_total), _duration(row.cpu_time), str(row.count)] for row in rows[:row_limit]]
        if self._with_memory:
            titles.append("CPU Mem")
            for line, row in zip(lines, rows):
                line.append(_bytes(row.cpu_memory_usage))
        widths = [max(len(line[i]) for line in [titles, *lines]) for i in range(len(titles))]
        rule = "  ".join("-" * w for w in widths)
        text = [rule, "  ".join(title.rjust(w) for title, w in zip(titles, widths)), rule]
        text += ["  ".join(cell.rjust(w) for cell, w in zip(line, widths)) for line in lines]
        text += [rule, f"Self CPU time total: {_duration(self.self_cpu_time_total)}"]
        return "\n".join(([header] if header else []) + text) + "\n"


def _duration(us):
    if us >= 1e6:
        return f"{us / 1e6:.3f}s"
    return f"{us / 1e3:.3f}ms" if us >= 1e3 else f"{us:.3f}us"


def _bytes(n):
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if n >= size:
            return f"{n / size:.2f} {unit}"
    return f"{n} B"


def supported_activities():
    """{ProfilerActivity.CPU}."""
    return {ProfilerActivity.CPU}


__getattr__ = _namespace(__name__)
