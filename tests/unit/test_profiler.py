"""torch.profiler: calls, times, tables, traces, schedules."""
import gzip
import json

import pytest

import tinytorch as torch
from tinytorch import profiler


def work():
    x = torch.ones(50, 50, requires_grad=True)
    (torch.tanh(x @ x) * 2).sum().backward()


def test_calls_forward_and_backward():
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], profile_memory=True) as prof:
        work()
    rows = {row.key: row for row in prof.key_averages()}
    assert rows["aten::tanh"].count == 1 and rows["TanhBackward0"].count == 1
    # one product forward, two in its backward, as calls of the same op
    assert rows["aten::mm"].count == 3 and rows["MmBackward0"].count == 2
    assert rows["aten::tanh"].cpu_memory_usage == 50 * 50 * 4
    assert rows["MmBackward0"].cpu_time_total >= rows["MmBackward0"].self_cpu_time_total > 0


def test_public_functions_have_their_names():
    """Composites too; a function and the operation of its name count once."""
    with profiler.profile() as prof:
        torch.trapezoid(torch.ones(3))
        torch.cumsum(torch.ones(3), 0)
    counts = {row.key: row.count for row in prof.key_averages()}
    assert counts["aten::trapezoid"] == counts["aten::cumsum"] == 1
    assert counts["aten::add"] >= 1


def test_nothing_is_recorded_outside():
    prof = profiler.profile()
    work()
    with prof:
        pass
    work()
    assert prof.events() == []


def test_table():
    with profiler.profile() as prof:
        work()
    text = prof.key_averages().table(sort_by="count", row_limit=2)
    assert "Self CPU time total" in text and text.count("\n") == 7 and "aten::mm" in text.splitlines()[3]
    with pytest.raises(AttributeError):
        prof.key_averages().table(sort_by="beauty")


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_chrome_trace(tmp_path, name):
    with profiler.profile() as prof, profiler.record_function("my part"):
        work()
    prof.export_chrome_trace(str(tmp_path / name))
    with (gzip.open if name.endswith("gz") else open)(tmp_path / name, "rt") as f:
        events = json.load(f)["traceEvents"]
    part = next(e for e in events if e["name"] == "my part")
    inside = [e for e in events if e is not part]
    assert all(part["ts"] <= e["ts"] and e["ts"] + e["dur"] <= part["ts"] + part["dur"] + 1 for e in inside)


def test_schedule_and_handler(tmp_path):
    seen = []
    with profiler.profile(schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
                          on_trace_ready=lambda prof: seen.append(len(prof.events()))) as prof:
        for _ in range(6):
            torch.ones(2).exp()
            prof.step()
    assert seen == [4]                         # ones and exp, in two steps
    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path))):
        work()
    assert len(list(tmp_path.iterdir())) == 1
