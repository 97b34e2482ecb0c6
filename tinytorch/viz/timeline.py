"""A picture of the bytes over a run, as SVG."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING

from .captions import size
from .meter import BACKWARD

if TYPE_CHECKING:
    from .memory import Memory

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 760, 300, 70, 34, 34

#: Of this picture alone: a page may hold others.
_STYLE = (".timeline text{font:12px sans-serif;fill:#333}.timeline .axis{stroke:#999;fill:none}"
          ".timeline .all{fill:#9bb8d3;stroke:#4878a8}.timeline .kept{fill:#d9534f;fill-opacity:.75}"
          ".timeline .peak{stroke:#333;stroke-dasharray:3 3}"
          "@media(prefers-color-scheme:dark){.timeline text{fill:#ddd}.timeline .all{fill:#33506b;stroke:#7aa6d0}"
          ".timeline .peak{stroke:#ddd}}")


def timeline(memory: Memory) -> str:
    """Operations from left to right; upwards the bytes at most in each, in red those of the activations that are kept;
    a line where backward begins, and the peak with its name."""
    events = memory.events
    top = max(memory.peak, 1)
    width, height = WIDTH - LEFT - 16, HEIGHT - TOP - BOTTOM

    def x(number):
        return LEFT + width * number / len(events)

    def y(nbytes):
        return TOP + height * (1 - max(nbytes, 0) / top)

    def steps(values, name):
        points = " ".join([f"{x(k):.1f},{y(v):.1f} {x(k + 1):.1f},{y(v):.1f}" for k, v in enumerate(values)])
        return f'<polygon class="{name}" points="{x(0):.1f},{y(0):.1f} {points} {x(len(events)):.1f},{y(0):.1f}"/>'

    kept = [0] * (len(events) + 1)
    for life in memory.lives:
        kept[life.born] += life.storage.nbytes
        if life.freed is not None:
            kept[min(life.freed, len(events))] -= life.storage.nbytes
    alive, running = [], 0
    for change in kept[:-1]:
        running += change
        alive.append(running)
    number = events.index(memory.at_peak)
    parts = [steps([event.most for event in events], "all"), steps(alive, "kept")]
    for nbytes in (0, top // 2, top):
        parts.append(f'<text x="{LEFT - 6}" y="{y(nbytes) + 4:.1f}" text-anchor="end">{size(nbytes)}</text>')
    backward = next((k for k, event in enumerate(events) if event.phase == BACKWARD), None)
    if backward is not None:
        parts.append(f'<line class="axis" x1="{x(backward):.1f}" x2="{x(backward):.1f}" y1="{TOP}" y2="{y(0):.1f}"/>'
                     f'<text x="{x(0):.1f}" y="{HEIGHT - 12}">forward</text>'
                     f'<text x="{x(backward) + 4:.1f}" y="{HEIGHT - 12}">backward</text>')
    at = memory.at_peak
    name = html.escape(f"{size(memory.peak)} in {at.phase} of {at.name}" + (f" ({at.module})" if at.module else ""))
    middle = x(number + 0.5)
    anchor = "start" if middle < WIDTH / 3 else "end" if middle > WIDTH * 2 / 3 else "middle"
    parts.append(f'<line class="peak" x1="{middle:.1f}" x2="{middle:.1f}" y1="{TOP - 8}" y2="{y(0):.1f}"/>'
                 f'<text x="{middle:.1f}" y="{TOP - 14}" text-anchor="{anchor}">{name}</text>'
                 f'<path class="axis" d="M{LEFT},{TOP}V{y(0):.1f}H{LEFT + width}"/>')
    right = LEFT + width
    parts.append(f'<rect class="kept" x="{right - 250}" y="{HEIGHT - 22}" width="11" height="11"/>'
                 f'<text x="{right - 234}" y="{HEIGHT - 12}">activations kept</text>'
                 f'<rect class="all" x="{right - 120}" y="{HEIGHT - 22}" width="11" height="11"/>'
                 f'<text x="{right - 104}" y="{HEIGHT - 12}">allocated at most</text>')
    return (f'<svg class="timeline" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}"><style>{_STYLE}</style>{"".join(parts)}</svg>')
