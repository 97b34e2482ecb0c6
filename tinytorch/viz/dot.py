"""A Graph in Graphviz's DOT language: all operations, in clusters by module. It needs no library."""
from __future__ import annotations

_SHAPES = {"op": "box", "parameter": "ellipse", "input": "ellipse", "output": "plaintext", "error": "note"}
_COLOURS = {"parameter": "#0969da", "input": "#1a7f37", "error": "#bc4c00"}


def dot(data: dict) -> str:
    """The DOT text of a view: the forward graph, red where backward needs a tensor."""
    lines = ["digraph {", "  rankdir=BT", '  node [fontname="monospace"]', '  edge [fontname="monospace"]']
    _members(data, data["root"], lines, "  ")
    for wire in data["wires"]:
        tensor = data["tensors"][wire["tensor"]]
        label = f"{tensor['shape']} {tensor['dtype']}"
        if wire["kept"] == "kept" and tensor["bytes"]:
            label += "".join([f"\\n{text}" for text, style in tensor["label"] if style == "kept"])
        colour = _COLOURS.get(data["elements"][tensor["from"]]["kind"], "red")
        style = f', color="{colour}"' if wire["kept"] else ""
        style += ", style=dotted" if wire["kept"] == "alias" else ""
        lines.append(f"  n{tensor['from']} -> n{wire['to']} [label={_quoted(label)}{style}]")
    return "\n".join([*lines, "}", ""])


def _members(data, number, lines, indent):
    element = data["elements"][number]
    if element["kind"] in ("group", "repeat"):
        lines += [f"{indent}subgraph cluster_{number} {{", f"{indent}  label={_quoted(element['name'])}"]
        for m in element.get("members", ()) or [m for turn in element.get("turns", ()) for m in turn]:
            _members(data, m, lines, indent + "  ")
        lines.append(indent + "}")
        return
    text = "\\n".join([line.replace("\\", "\\\\") for line, _ in element["lines"][0]])
    colour = "red" if element.get("red") else _COLOURS.get(element["kind"], "black")
    lines.append(f'{indent}n{number} [label={_quoted(text)}, shape={_SHAPES[element["kind"]]}, color="{colour}"]')


def _quoted(text):
    return '"' + text.replace('"', '\\"') + '"'
