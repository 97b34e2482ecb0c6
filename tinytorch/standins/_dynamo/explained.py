"""torch._dynamo.explain: whether a call can be recorded, and the operations in it."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..capture.calls import here
from ..capture.compiled import Compiled, breaks

__all__ = ["ExplainOutput", "GraphCompileReason", "explain", "graph_break"]


class GraphCompileReason(NamedTuple):
    """The reason for which a call is not compiled."""

    reason: str
    user_stack: list = []
    graph_break: bool = True


class ExplainOutput:
    """The result of `explain`.

    graphs             a list with the program; empty if there is none
    graph_count, graph_break_count    the numbers of programs and of reasons
    break_reasons      GraphCompileReasons, if there is no program
    op_count, ops_per_graph           the number of steps, and their names
    """

    def __init__(self, graphs: list, reasons: list[str]) -> None:
        self.graphs, self.graph_count, self.graph_break_count = graphs, len(graphs), len(reasons)
        self.break_reasons = [GraphCompileReason(reason) for reason in reasons]
        self.ops_per_graph = [[step.name or step.kind for step in graph.steps] for graph in graphs]
        self.op_count = sum(map(len, self.ops_per_graph))
        self.out_guards, self.compile_times = [], None

    def __str__(self) -> str:
        lines = [f"Graph Count: {self.graph_count}", f"Graph Break Count: {self.graph_break_count}",
                 f"Op Count: {self.op_count}", "Break Reasons:"]
        for i, reason in enumerate(self.break_reasons):
            lines += [f"  Break Reason {i + 1}:", f"    Reason: {reason.reason}"]
        lines.append("Ops per Graph:")
        for i, ops in enumerate(self.ops_per_graph):
            lines += [f"  Ops {i + 1}:", *[f"    {op}" for op in ops]]
        return "\n".join(lines) + "\n"


def explain(f: Callable, *extra_args: Any, **extra_kwargs: Any) -> Any:
    """explain(f)(*args) runs the call twice, and returns an ExplainOutput on the program that torch.compile makes.

    >>> import tinytorch as torch
    >>> torch._dynamo.explain(lambda x: x.sin() * 2)(torch.ones(2)).ops_per_graph
    [['sin', 'mul']]
    """
    def explained(*args, **kwargs):
        compiled, before = Compiled(getattr(f, "_torchdynamo_orig_callable", f)), len(breaks)
        for _ in range(3):
            compiled(*args, **kwargs)
            if any([entry.programs or entry.reason for entry in compiled.entries.values()]):
                break
        graphs = [ready.program for entry in compiled.entries.values() for ready in entry.programs]
        reasons = [reason for _, reason in breaks[before:]]
        del breaks[before:]
        return ExplainOutput(graphs, reasons)
    return explained(*extra_args, **extra_kwargs) if extra_args or extra_kwargs else explained


def graph_break(msg: str = "") -> None:
    """Makes a compiled function that calls it run uncompiled."""
    if here.recording is not None:
        here.recording.stop(f"a call of graph_break {msg}".strip())
