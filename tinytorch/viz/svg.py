"""A Graph as SVG: the forward graph on the left, running up, and the backward graph on the right, running down."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape

from .place import LINE, PAD, SIZES, Box, Places, width

#: Fill, stroke or text colour by class, on a light and on a dark background.
COLOURS = {
    "light": {"ground": "#ffffff", "text": "#1f2328", "note": "#59636e", "op": "#f6f8fa", "line": "#59636e",
              "red": "#ffebe9", "redline": "#cf222e", "parameter": "#ddf4ff", "parameterline": "#0969da",
              "input": "#dafbe1", "inputline": "#1a7f37", "error": "#fff1e5", "errorline": "#bc4c00",
              "group": "#eef1f4", "frame": "#c8d1da"},
    "dark": {"ground": "#0d1117", "text": "#f0f6fc", "note": "#a3adb8", "op": "#212830", "line": "#9198a1",
             "red": "#4a1d20", "redline": "#ff7b72", "parameter": "#132f55", "parameterline": "#6cb6ff",
             "input": "#12361d", "inputline": "#4ac26b", "error": "#4a2a0f", "errorline": "#f0883e",
             "group": "#2a313b", "frame": "#4d5663"},
}
FONT = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"
MARGIN, BETWEEN, OVER = 16, 48, 44


def rules(theme: str, within: str = ".tinytorch-graph") -> str:
    """The CSS of one theme."""
    c = COLOURS[theme]
    boxes = "".join([f"{within} .{name} rect{{fill:{c[name]};stroke:{c[name + 'line']}}}"
                     for name in ("red", "parameter", "input", "error")])
    return (f"{within} .ground{{fill:{c['ground']}}}{within} text{{fill:{c['text']}}}"
            f"{within} text.note,{within} text.shape{{fill:{c['note']}}}{within} text.kept{{fill:{c['redline']}}}"
            f"{within} .op rect,{within} .output rect{{fill:{c['op']};stroke:{c['line']}}}"
            f"{within} .group rect,{within} .repeat rect{{fill:{c['group']};stroke:{c['line']}}}{boxes}"
            f"{within} .open>rect{{fill:none;stroke:{c['frame']}}}"
            f"{within} .wire{{stroke:{c['line']}}}{within} .head{{fill:{c['line']}}}"
            f"{within} .wire.kept,{within} .wire.alias{{stroke:{c['redline']}}}{within} .head.kept,"
            f"{within} .head.alias{{fill:{c['redline']}}}"
            + "".join([f"{within} .wire.of-{kind}{{stroke:{c[kind + 'line']}}}{within} .head.of-{kind}"
                       f"{{fill:{c[kind + 'line']}}}" for kind in ("parameter", "input")]))


def common(within: str = ".tinytorch-graph") -> str:
    """The CSS of all themes."""
    sizes = "".join([f"{within} .{style}{{font-size:{size}px}}" for style, size in SIZES.items()])
    return (f"{within} text{{font-family:{FONT}}}{sizes}{within} text.name{{font-weight:bold}}"
            f"{within} .wire{{fill:none;stroke-width:1.2}}{within} .wire.kept,{within} .wire.alias{{stroke-width:2}}"
            f"{within} .wire.alias{{stroke-dasharray:2 3}}{within} .open>rect{{stroke-width:1.5}}"
            f"{within} .repeat>rect{{stroke-dasharray:6 3}}")


def style(theme: str | None) -> str:
    """The CSS of a picture of a graph."""
    return themed(theme, "tinytorch-graph", common, rules)


def themed(theme: str | None, name: str, common: Callable[[str], str], rules: Callable[[str, str], str]) -> str:
    """The CSS of a picture, for one theme or for the preference of the reader's system. It holds only for pictures of
    that theme, because all pictures in a notebook share their styles."""
    within = f".{name}.{theme or 'any'}"
    if theme is not None:
        return common(within) + rules(theme, within)
    return common(within) + rules("light", within) + f"@media (prefers-color-scheme: dark){{{rules('dark', within)}}}"


def unfolded(data: dict, unfold: str | Iterable[str]) -> dict:
    """The open groups: those that are open at first, and those in `unfold` with all groups around them. ValueError for
    an unknown name."""
    opened = dict(data["open"])
    inside = {m: e["id"] for e in data["elements"] for turn in e.get("turns", [e.get("members", ())]) for m in turn}
    names = {unfold} if isinstance(unfold, str) else set(unfold)
    known = set()
    for element in data["elements"]:
        if element["kind"] not in ("group", "repeat"):
            continue
        found = names & {"all", element["name"], element["module"]}
        known |= found
        number = element["id"] if found else None
        while number is not None:
            holder = data["elements"][number]
            repeat = holder["kind"] == "repeat"
            opened[number] = opened.get(number, "one") if repeat else "open"
            if repeat and "all" in names:
                opened[number] = "all"
            inner = [m for m in holder["turns"][1] if "members" in data["elements"][m]] if repeat else []
            if len(inner) == 1:                # if the turn is one module, its inside
                opened[inner[0]] = "open"
            number = inside.get(number)
    if names - known - {"all"}:
        raise ValueError(f"there is nothing to unfold that is called {sorted(names - known)[0]!r}")
    return opened


def draw(data: dict, open: dict, theme: str | None = None, backward: bool = True) -> str:
    """The SVG of a view whose groups are unfolded as `open` says."""
    places = Places(data, open, backward)
    root = places.box(data["root"])
    backward = backward and not data["error"]
    legend = legend_lines(data)
    legend_w = max([sum([width(text, "note") for text in line if isinstance(text, str)]) + 34 * sum(
        [not isinstance(text, str) for text in line]) for line in legend])
    w = max(root.w * (1 + backward) + BETWEEN * backward, legend_w) + 2 * MARGIN
    y = MARGIN + OVER
    h = y + root.h + len(legend) * LINE + 2 * MARGIN
    parts = [f'<g class="forward">{text(MARGIN, MARGIN + 12, ["forward", "title"])}'
             f'{drawn(root, MARGIN, y, places, 0)}</g>']
    if backward:
        x = MARGIN + root.w + BETWEEN
        parts.append(f'<g class="backward">{text(x, MARGIN + 12, ["backward", "title"])}'
                     f'{drawn(root, x, y, places, 1)}</g>')
        parts += over(root, x - MARGIN, MARGIN, y)
    at = y + root.h + MARGIN + LINE
    for k, line in enumerate(legend):
        parts.append(legend_line(line, MARGIN, at + k * LINE))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" class="tinytorch-graph {theme or "any"}" '
            f'viewBox="0 0 {n(w)} {n(h)}" width="{n(w)}" height="{n(h)}"><style>{style(theme)}</style>'
            f'<rect class="ground" width="{n(w)}" height="{n(h)}"/>{"".join(parts)}</svg>')


def n(x: float) -> str:
    """A coordinate as text, rounded to a precision that the eye can see."""
    return f"{x:.1f}".removesuffix(".0")


def text(x: float, y: float, line: list) -> str:
    words, style = line
    weight = ' font-weight="bold"' if style == "title" else ""
    return f'<text class="{style}" x="{n(x)}" y="{n(y)}"{weight} xml:space="preserve">{escape(words)}</text>'


def drawn(box: Box, x: float, y: float, places: Places, side: int) -> str:
    """A box with its contents, in the forward graph (side 0) or the backward graph (1)."""
    element = box.element
    if side and element["kind"] in ("parameter", "input") and not element["grad"]:
        return ""
    bx, by, bw, bh = box.body
    kind = "red" if element.get("red") else element["kind"]
    radius = {"op": 6, "parameter": 12, "input": 12}.get(element["kind"], 2)
    parts = [f'<rect x="{n(x + bx)}" y="{n(y + by)}" width="{n(bw)}" height="{n(bh)}" rx="{radius}"/>']
    if box.state:
        line = places.head(element, box.state)[0]
        parts.append(text(x + PAD, y + LINE, line))
    else:
        lines = element["lines"][side]
        start = y + by + (bh - len(lines) * LINE) / 2 + 12
        for k, line in enumerate(lines):
            parts.append(text(x + bx + (bw - width(*line)) / 2, start + k * LINE, line))
    body = "".join(parts)
    opened = " open" if box.state else ""
    hint = f"<title>{escape(element['name'])}</title>"
    result = [f'<g class="{kind}{opened}" data-element="{element["id"]}">{hint}{body}</g>']
    for at, down, line in box.texts:
        if side == 0 or line[1] != "kept":
            result.append(text(x + at, y + down, line))
    for edge, points, end in box.wires:
        result.append(wire([(x + a, y + b) for a, b in points], edge, places, side, end))
    for inner, a, b in box.inner:
        result.append(drawn(inner, x + a, y + b, places, side))
    return "".join(result)


def wire(points: list, edge: dict, places: Places, side: int, end: tuple) -> str:
    """A wire: up from its source, in curves between the rows. In the backward graph the arrow is at its source."""
    wires = [places.data["wires"][i] for i in edge["wires"]]
    if side and not any([w["grad"] for w in wires]):
        return ""
    kept = [w["kept"] for w in wires]
    kind = next((word for word in ("kept", "alias") if word in kept and not side), "")
    if kind:
        kind += " of-" + places.elements[places.tensors[edge["tensor"]]["from"]]["kind"]
    if len(points) == 2:                       # the wire comes from a box beside
        (x0, y0), (x1, y1) = points
        middle = (x0 + x1) / 2
        path = f"M{n(x0)} {n(y0)}C{n(middle)} {n(y0)} {n(middle)} {n(y1)} {n(x1)} {n(y1)}"
        head = _head(x0, y0, -1, 0) if side else _head(x1, y1, 1, 0)
    else:
        path = f"M{n(points[0][0])} {n(points[0][1])}"
        for k in range(1, len(points) - 1, 2):
            (x0, y0), (x1, y1) = points[k], points[k + 1]
            middle = (y0 + y1) / 2
            path += f"V{n(y0)}C{n(x0)} {n(middle)} {n(x1)} {n(middle)} {n(x1)} {n(y1)}"
        path += f"V{n(points[-1][1])}"
        head = _head(*points[0], 0, 1) if side else _head(*points[-1], 0, -1)
    line = f'<path class="wire {kind}" d="{path}" data-tensor="{edge["tensor"]}"/>'
    return line + (f'<path class="head {kind}" d="{head}"/>' if end[side] else "")


def _head(x, y, dx, dy):
    """An arrow's head at a point, in the direction (dx, dy)."""
    back, wide = 7, 3
    return (f"M{n(x)} {n(y)}L{n(x - dx * back - dy * wide)} {n(y - dy * back - dx * wide)}"
            f"L{n(x - dx * back + dy * wide)} {n(y - dy * back + dx * wide)}Z")


def over(root: Box, across: float, x: float, y: float) -> list[str]:
    """The wires from the outputs over the top to the start of backward."""
    parts = []
    outputs = [(x + a + b.body[0] + b.body[2] / 2, y + c + b.body[1]) for b, a, c in root.inner
               if b.element["kind"] == "output"]
    for k, (ox, oy) in enumerate(outputs):
        top = MARGIN + OVER - 14 - 4 * (k % 4)
        parts.append(f'<path class="wire" d="M{n(ox)} {n(oy)}V{n(top)}H{n(ox + across)}V{n(oy)}"/>'
                     f'<path class="head" d="{_head(ox + across, oy, 0, 1)}"/>')
    return parts


def legend_lines(data: dict) -> list[list]:
    """The lines of the legend: texts, and (class,) in the place of a sign."""
    totals = data["totals"]
    kept = ", ".join([f"{kind}s {totals[kind][1]}" for kind in ("activation", "input", "parameter")])
    return [[f"{data['title']}: kept for backward, each memory once: {kept}"],
            [("red",), "backward needs what came in or out  ", ("op",), "it needs none of it  ",
             ("parameter",), "parameter  ", ("input",), "input  "],
            [("wire kept",), "kept activation  ", ("wire kept of-input",), "kept input  ",
             ("wire kept of-parameter",), "kept parameter  ", ("wire alias",), "its memory is counted elsewhere  ",
             ("wire",), "not kept"]]


def legend_line(line: list, x: float, y: float) -> str:
    parts = []
    for item in line:
        if isinstance(item, str):
            parts.append(text(x, y, [item, "note"]))
            x += width(item, "note")
        elif item[0].startswith("wire"):
            parts.append(f'<path class="{item[0]}" d="M{n(x)} {n(y - 4)}h26"/>')
            x += 34
        else:
            parts.append(f'<g class="{item[0]}"><rect x="{n(x)}" y="{n(y - 11)}" width="26" height="13" rx="4"/></g>')
            x += 34
    return "".join(parts)
