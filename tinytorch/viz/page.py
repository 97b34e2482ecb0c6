"""The HTML page of a Graph: one file, which folds and unfolds in a browser."""
from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from importlib import resources

from .place import CHARACTER, GAP, LINE, PAD, ROW, SIZES, SWEEPS, WIDE, WIRE
from .svg import BETWEEN, COLOURS, MARGIN, OVER, common, legend_lines, rules, unfolded


def page(data: dict, unfold: str | Iterable[str] = (), theme: str | None = None) -> str:
    """The page of a view. Its data, style and script are in it: it asks for nothing else."""
    own = {"open": unfolded(data, unfold), "theme": theme, "legend": legend_lines(data),
           "measures": {"sizes": SIZES, "line": LINE, "character": CHARACTER, "pad": PAD, "gap": GAP, "row": ROW,
                        "wire": WIRE, "sweeps": SWEEPS, "wide": WIDE, "margin": MARGIN, "between": BETWEEN,
                        "over": OVER}}
    colours = {name: "".join([f"--{key}:{value};" for key, value in c.items()]) for name, c in COLOURS.items()}
    style = ("".join([f'html[data-theme="{name}"]{{{c}}}' for name, c in colours.items()])
             + common() + "".join([rules(name, f'html[data-theme="{name}"] .tinytorch-graph') for name in COLOURS]))
    chosen = f' data-theme="{theme}"' if theme else ""
    return _file("page.html").format(
        theme=chosen, title=escape(data["title"]), style=style + _file("page.css"), data=_script({**data, **own}),
        script=_file("page.js") + _file("page_actions.js"))


def _script(value):
    """JSON that can stand in a script element."""
    return json.dumps(value, separators=(",", ":")).replace("</", "<\\/").replace("<!--", "<\\!--")


def _file(name):
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
