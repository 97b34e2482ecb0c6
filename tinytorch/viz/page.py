"""HTML pages, each one file: of a Graph, which folds and unfolds in a browser, and of a Memory."""
from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from . import timeline
from .captions import size
from .place import CHARACTER, GAP, LINE, PAD, ROW, SIZES, SWEEPS, WIDE, WIRE
from .svg import BETWEEN, COLOURS, MARGIN, OVER, common, legend_lines, rules, unfolded
from .table import Table
from .tape import Step

if TYPE_CHECKING:
    from .memory import Memory


def page(data: dict, unfold: str | Iterable[str] = (), theme: str | None = None, memory: Memory | None = None) -> str:
    """The page of a view, and of a Memory below it. The page contains its data, style and script, and loads nothing."""
    own = {"open": unfolded(data, unfold), "theme": theme, "legend": legend_lines(data),
           "measures": {"sizes": SIZES, "line": LINE, "character": CHARACTER, "pad": PAD, "gap": GAP, "row": ROW,
                        "wire": WIRE, "sweeps": SWEEPS, "wide": WIDE, "margin": MARGIN, "between": BETWEEN,
                        "over": OVER}}
    style = common() + "".join([rules(name, _under(name, "tinytorch-graph")) for name in COLOURS])
    return _page("page_graph.html", data["title"], theme, {**data, **own}, style, ["page.js", "page_actions.js"],
                 memory)


def memory_page(memory: Memory, theme: str | None = None) -> str:
    """The page of a Memory alone."""
    return _page("page_memory.html", memory.title, theme, {"theme": theme}, "", [], memory)


def _page(body, title, theme, data, style, scripts, memory):
    colours = {name: "".join([f"--{key}:{value};" for key, value in c.items()]) for name, c in COLOURS.items()}
    style += "".join([f'html[data-theme="{name}"]{{{c}}}' for name, c in colours.items()]) + _file("page.css")
    body = _file(body).format(title=escape(title))
    if memory is not None:
        data["memory"] = _moments(memory)
        style += timeline.common() + "".join([timeline.rules(name, _under(name, "tinytorch-timeline"))
                                              for name in COLOURS])
        scripts = [*scripts, "page_memory.js"]
        body += _section(memory)
    return _file("page.html").format(
        theme=f' data-theme="{theme}"' if theme else "", title=escape(title), style=style, body=body,
        data=_script(data), script="".join([_file(name) for name in ["page_start.js", *scripts]]))


def _under(theme, name):
    return f'html[data-theme="{theme}"] .{name}'


def _section(memory):
    """The picture and the tables of a Memory."""
    checkpoints = "" if memory.measured is None else f'<div id="checkpoints">{memory.measured._repr_html_()}</div>'
    return (f'<section id="memory">{timeline.drawn(memory)}<p id="moment" role="status">&nbsp;</p>'
            f'<div id="lives">{Table._repr_html_(memory)}</div>{checkpoints}</section>')


def _moments(memory):
    """The texts of the page for the events. For each row of the table, the events between which it lives and the
    operations, by name and module, that made it or keep it."""
    moments = [f"{memory.where(e)}: {size(e.nbytes)} when it ended, at most {size(e.most)}" for e in memory.events]
    last = len(memory.events)
    lives = [[min([life.born for life in row]), max([last if life.freed is None else life.freed for life in row])]
             for row in memory.by_row]
    return {"moments": moments, "lives": lives, "steps": [[_operation(life.storage) for life in row]
                                                          for row in memory.by_row],
            "plot": [timeline.LEFT, timeline.WIDTH - timeline.RIGHT, timeline.TOP, timeline.HEIGHT - timeline.BOTTOM]}


def _operation(storage):
    step = storage.maker if isinstance(storage.maker, Step) else storage.keepers[0]
    return [step.name, step.origin.calls[-1].path if step.origin is not None and step.origin.calls else ""]


def _script(value):
    """JSON that can stand in a script element."""
    return json.dumps(value, separators=(",", ":")).replace("</", "<\\/").replace("<!--", "<\\!--")


def _file(name):
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
