"""A picture of the bytes over a run, as SVG."""
from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .captions import short, size
from .meter import BACKWARD
from .place import width as width_of
from .svg import COLOURS, FONT, themed

if TYPE_CHECKING:
    from .memory import Memory

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 316, 80, 16, 34, 50
#: The longest name of the peak, in characters.
_LONGEST = 70


def rules(theme: str, within: str = ".tinytorch-timeline") -> str:
    """The CSS of one theme."""
    c = COLOURS[theme]
    return (f"{within} .ground{{fill:{c['ground']}}}{within} text{{fill:{c['text']}}}"
            f"{within} .axis,{within} .peak{{stroke:{c['line']}}}{within} .now{{fill:{c['line']}}}"
            f"{within} .all{{fill:{c['parameter']};stroke:{c['parameterline']}}}"
            f"{within} .kept{{fill:{c['redline']}}}{within} .life{{stroke:{c['redline']}}}")


def common(within: str = ".tinytorch-timeline") -> str:
    """The CSS of all themes."""
    return (f"{within} text{{font:11px {FONT}}}{within} .axis,{within} .life{{fill:none}}"
            f"{within} .kept{{fill-opacity:.75}}{within} .peak{{stroke-dasharray:3 3}}{within} .life{{stroke-width:2}}"
            f"{within} .now{{fill-opacity:.25}}")


def timeline(memory: Memory, theme: str | None) -> str:
    """A picture with operations from left to right and the largest number of bytes during each of them upwards. The
    bytes of kept activations are red. A line marks the beginning of backward, and the peak has its name."""
    return drawn(memory, theme or "any", f"<style>{themed(theme, 'tinytorch-timeline', common, rules)}</style>")


def drawn(memory: Memory, theme: str = "", style: str = "") -> str:
    """The SVG, with `style`, or without it for a page that has the style."""
    events, right = memory.events, WIDTH - RIGHT
    top = max(memory.peak, 1)
    width, height = right - LEFT, HEIGHT - TOP - BOTTOM

    def x(number):
        return LEFT + width * number / len(events)

    def y(nbytes):
        return TOP + height * (1 - max(nbytes, 0) / top)

    def steps(values, name):
        points = " ".join([f"{x(k):.1f},{y(v):.1f} {x(k + 1):.1f},{y(v):.1f}" for k, v in enumerate(values)])
        return f'<polygon class="{name}" points="{x(0):.1f},{y(0):.1f} {points} {x(len(events)):.1f},{y(0):.1f}"/>'

    def text(at, down, words, anchor="start"):
        return f'<text x="{at:.1f}" y="{down:.1f}" text-anchor="{anchor}">{escape(words)}</text>'

    def line(name, at, start):
        return f'<line class="{name}" x1="{at:.1f}" x2="{at:.1f}" y1="{start}" y2="{y(0):.1f}"/>'
    parts = [steps([event.most for event in events], "all"), steps(_kept(memory), "kept"),
             f'<path class="axis" d="M{LEFT},{TOP}V{y(0):.1f}H{right}"/>']
    parts += [text(LEFT - 6, y(nbytes) + 4, size(nbytes), "end") for nbytes in (0, top // 2, top)]
    backward = next((k for k, event in enumerate(events) if event.phase == BACKWARD), None)
    if backward is not None:
        parts.append(line("axis", x(backward), TOP))
        if x(backward) - LEFT > width_of("forward "):
            parts.append(text(LEFT, y(0) + 16, "forward"))
        if right - x(backward) > width_of("backward "):
            parts.append(text(x(backward) + 4, y(0) + 16, "backward", "start"))
        else:
            parts.append(text(right, y(0) + 16, "backward", "end"))
    at = memory.at_peak
    name = short(f"{size(memory.peak)} in {at.phase} of {at.name}" + (f" ({at.module})" if at.module else ""), _LONGEST)
    middle, half = x(events.index(at) + 0.5), width_of(name) / 2 + 4
    parts += [line("peak", middle, TOP - 8),
              text(min(max(middle, half), WIDTH - half), TOP - 14, name, "middle")]
    for name, words, start in (("kept", "activations kept", LEFT), ("all", "allocated at most", LEFT + 180)):
        parts += [f'<rect class="{name}" x="{start}" y="{HEIGHT - 19}" width="11" height="11"/>',
                  text(start + 18, HEIGHT - 9, words)]
    return (f'<svg class="tinytorch-timeline {theme}" xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">{style}'
            f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>{"".join(parts)}</svg>')


def _kept(memory):
    """The bytes of the activations that are kept, by event."""
    change = [0] * (len(memory.events) + 1)
    for life in memory.lives:
        change[life.born] += life.storage.nbytes
        if life.freed is not None:
            change[min(life.freed, len(memory.events))] -= life.storage.nbytes
    kept, running = [], 0
    for difference in change[:-1]:
        running += difference
        kept.append(running)
    return kept
