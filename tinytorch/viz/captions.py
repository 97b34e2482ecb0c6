"""The texts on the boxes and wires of a picture, and the groups that are unfolded at first."""
from __future__ import annotations

import os

from .tape import ACTIVATION, INPUT, PARAMETER

#: The most boxes that a picture shows at first.
SHOWN = 40
#: The largest number of characters on a box. Longer texts are cut in the middle.
LONGEST = 48


def size(nbytes: int) -> str:
    """A number of bytes as text.

    >>> size(96), size(1536), size(3 << 20)
    ('96 B', '1.5 KiB', '3.0 MiB')
    """
    if nbytes < 1024:
        return f"{nbytes} B"
    value, unit = nbytes / 1024, "KiB"
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1000 or unit == "TiB":
            break
        value /= 1024
    return f"{value:.1f} {unit}"


def short(text: str, length: int = LONGEST) -> str:
    """A text, cut to at most `length` characters.

    >>> short("transformer.blocks.11.attention", 15)
    'transf...ention'
    """
    if len(text) <= length:
        return text
    head = (length - 3) // 2
    return text[:head] + "..." + text[len(text) - (length - 3 - head):]


def describe(data: dict) -> None:
    """Adds texts to the data of a view: the `lines` of its elements, [text, style] each, the `label` of its tensors,
    the bytes that an element keeps (`keeps`: {kind: bytes}), `red`, and the groups that are `open` at first."""
    elements = data["elements"]
    for element in elements:
        kind = element["kind"]
        if kind == "op":
            _operation(element)
        elif kind in (PARAMETER, INPUT):
            _leaf(element, data)
        elif kind == "output":
            element["lines"] = [[[element["name"], "name"]], [["gradient", "name"]]]
        elif kind == "error":
            element["lines"] = [[[line, "note"] for line in _wrapped(element["text"], 56)], []]
    _sum(elements, data["root"])
    for element in elements:
        if element["kind"] in ("group", "repeat"):
            _group(element)
    for tensor in data["tensors"]:
        kept = [[f"keeps {size(tensor['bytes'])}", "kept"]] if tensor["bytes"] else []
        if elements[tensor["from"]]["kind"] == "op":
            tensor["label"] = [[f"{tensor['shape']} {tensor['dtype']}".rstrip(), "shape"], *kept]
    data["open"] = _opened(elements, data["root"])


def _operation(element):
    names = list(dict.fromkeys([k["name"] for k in element["kept"]]))
    red = element["red"] = any([k["kind"] != PARAMETER for k in element["kept"]])
    place = element["label"] or (f"{os.path.basename(element['file'])}:{element['line']}" if "file" in element else "")
    forward = [[element["name"], "name"]]
    if place:
        forward.append([short(place), "note"])
    if element["extra"]:
        forward.append([f"keeps {size(element['extra'])} besides", "kept"])
    needs = short("needs " + ", ".join(names)) if names else "needs nothing kept"
    element["lines"] = [forward, [[short(element["backward"]), "name"], [needs, "kept" if red else "note"]]]


def _leaf(element, data):
    tensor = next(t for t in data["tensors"] if t["from"] == element["id"])
    shape = [f"{tensor['shape']} {tensor['dtype']}".rstrip(), "shape"]
    kept = [[f"keeps {size(tensor['bytes'])}", "note"]] if tensor["bytes"] else []
    name = short(element["shown"])
    element["lines"] = [[[name, "name"], shape, *kept], [[short(element["shown"] + ".grad"), "name"], shape]]


def _sum(elements, number):
    """Counts the operations in a group, and the bytes that these are the first to keep."""
    element = elements[number]
    if element["kind"] == "op":
        element["operations"] = 1
        element["keeps"] = {kind: sum([k["bytes"] for k in element["kept"] if k["kind"] == kind and not k["alias"]])
                            for kind in (ACTIVATION, INPUT, PARAMETER)}
        return element["operations"], element["keeps"]
    members = element.get("members", [m for turn in element.get("turns", ()) for m in turn])
    inner = [_sum(elements, m) for m in members]
    element["operations"] = sum([n for n, _ in inner])
    element["keeps"] = {kind: sum([keeps[kind] for _, keeps in inner]) for kind in (ACTIVATION, INPUT, PARAMETER)}
    return element["operations"], element["keeps"]


def _group(element):
    n = element["operations"]
    count = [f"{n} operation{'s' * (n != 1)}", "note"]
    kept = element["keeps"][ACTIVATION]
    element["kept_sizes"] = {kind: size(nbytes) for kind, nbytes in element["keeps"].items()}
    keeps = [[f"keeps {size(kept)}", "kept"]] if kept else []
    element["lines"] = [[[short(element["name"]), "name"], count, *keeps],
                        [[short(element["name"]), "name"], ["backward", "note"]]]


def _wrapped(text, width):
    """Lines of at most `width` characters, broken at blanks if there are any."""
    lines = [""]
    for word in text.split():
        while len(word) > width:
            lines.append(word[:width])
            word = word[width:]
        if len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return [line for line in lines if line]


def _opened(elements, root):
    """The groups that are open at first. Groups are opened from the outermost inwards while there are not too many
    boxes."""
    opened, shown = {root: "open"}, len(elements[root]["members"])
    level = [root]
    while level:
        level = [m for number in level for m in elements[number]["members"] if elements[m]["kind"] == "group"]
        more = sum([len(elements[m]["members"]) for m in level])
        if shown + more > SHOWN:
            break
        shown += more
        opened.update(dict.fromkeys(level, "open"))
    return opened
