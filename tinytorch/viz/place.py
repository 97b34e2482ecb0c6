"""Sizes and places of the boxes of a view, from the innermost out. page.js has the same in JavaScript."""
from __future__ import annotations

import re

#: Height of a line of text and its size, by style; the font has characters of one width.
SIZES = {"name": 13, "title": 14, "note": 11, "shape": 11, "kept": 11}
LINE = 16
#: Width of a character relative to the size of the text, in the widest of the usual fonts.
CHARACTER = 0.61
PAD, GAP, ROW, WIRE = 8, 22, 26, 10
#: Characters that are twice as wide as others.
WIDE = ("[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
        "\U0001f300-\U0001faff]")
#: The number of passes that move the rows towards their neighbours.
SWEEPS = 40


def width(text: str, style: str = "note") -> float:
    """The width of a text.

    >>> width("tanh", "name") == 4 * 13 * CHARACTER
    True
    """
    return (len(text) + len(re.findall(WIDE, text))) * SIZES[style] * CHARACTER


def widest(lines: list) -> float:
    return max([width(text, style) for text, style in lines], default=0.0)


class Box:
    """An element that is drawn.

    w, h      its size with its labels and neighbours; `body`: the rectangle of the box itself, (x, y, w, h)
    ins, outs {tensor: x} where its wires end and begin, at its lower and upper edge
    inner     (Box, x, y) of the boxes in it
    wires     (edge, [(x, y), ...], (forward, backward)) corners of each wire from source to target, and whether
              an arrow's head is at its end in the two graphs: not where it only crosses a frame
    texts     (x, y, [text, style]) of labels outside of its body
    """

    def __init__(self, element: dict, state: str = "") -> None:
        self.element, self.state = element, state
        self.w = self.h = 0.0
        self.body = (0.0, 0.0, 0.0, 0.0)
        self.ins: dict[int, float] = {}
        self.outs: dict[int, float] = {}
        self.inner: list[tuple[Box, float, float]] = []
        self.wires: list[tuple[dict, list, tuple]] = []
        self.texts: list[tuple[float, float, list]] = []


class Places:
    """The boxes of a view. `open`: the groups that are unfolded, and how; `both`: whether there is room for backward's
    texts."""

    def __init__(self, data: dict, open: dict, both: bool = True) -> None:
        self.data, self.open, self.both = data, open, both
        self.elements, self.tensors = data["elements"], data["tensors"]
        self.used = {wire["tensor"] for wire in data["wires"]}

    def box(self, number: int, beside: list | None = None, outs: list | None = None, ins: list | None = None) -> Box:
        """The box of an element. `beside`: the elements beside it; `outs`, `ins`: the tensors that leave it and enter
        it."""
        element = self.elements[number]
        state = self.open.get(number, "")
        if state:
            return self._frame(element, state)
        box, outs = Box(element), outs or []
        lines = [line for side in element["lines"][:1 + self.both] for line in side]
        body_w = widest(lines) + 2 * PAD
        body_h = max([len(side) for side in element["lines"][:1 + self.both]]) * LINE + PAD
        left = 0.0
        stack = [self.box(n) for n in beside or ()]
        if stack:
            left = max([b.w for b in stack]) + GAP
        x, top, right = self._labels(box, outs, body_w)
        body_w = max(body_w, x[-1] + PAD if x else 0)
        box.outs = {t: left + at for t, at in zip(outs, x)}
        stacked = sum([b.h + PAD for b in stack]) - PAD
        below = max(0.0, (stacked - body_h) / 2)
        top = max(top, below)
        box.texts = [(left + at, y + top, line) for at, y, line in box.texts]
        box.body = left, top, body_w, body_h
        box.w, box.h = left + max(body_w, right), top + body_h + below
        y = top + body_h / 2 - stacked / 2
        for k, (n, b) in enumerate(zip(beside or (), stack)):
            box.inner.append((b, left - GAP - b.w, y))
            middle = y + b.h / 2
            end = top + body_h * (k + 1) / (len(stack) + 1)
            edge = {"tensor": self._tensor(n), "wires": self._wires_of(n)}
            box.wires.append((edge, [(left - GAP, middle), (left, end)], (True, True)))
            y += b.h + PAD
        box.ins = _spread(ins or [], left, body_w)
        return box

    def _tensor(self, number):
        return next(t["id"] for t in self.tensors if t["from"] == number)

    def _wires_of(self, number):
        tensor = self._tensor(number)
        return [i for i, wire in enumerate(self.data["wires"]) if wire["tensor"] == tensor]

    def _labels(self, box, outs, body_w):
        """Where the wires leave, with their labels to the right of them: (x of each, height, right edge)."""
        labels = [self.tensors[t]["label"] for t in outs]
        if not outs:
            return [], 0.0, 0.0
        same = all([label == labels[0] for label in labels]) and len(outs) > 2
        if same or len(outs) > 6:              # one label for all
            step = max(3.0, min(WIRE, 300 / len(outs)))
            start = max(PAD, body_w / 2 - step * (len(outs) - 1) / 2)
            x = [start + step * k for k in range(len(outs))]
            text = [[f"{len(outs)} x {line[0]}" if same else f"{len(outs)} tensors", line[1]] for line in labels[0][:1]]
            labels = [[]] * (len(outs) - 1) + [text + labels[0][1:] * same]
        else:
            widths = [widest(label) + 16 for label in labels]
            start = body_w / 2 if len(outs) == 1 else max(PAD, (body_w - sum(widths[:-1])) / 2)
            x = [start + sum(widths[:k]) for k in range(len(outs))]
        height = max([len(label) for label in labels]) * 14.0
        for at, label in zip(x, labels):
            for k, line in enumerate(label):
                box.texts.append((at + 6, 14 * k - height + 10, line))
        return x, height + 4 * (height > 0), x[-1] + 6 + widest(labels[-1])

    # ------------------------------------------------------------------ an unfolded group
    def _frame(self, element, state):
        plan = element["plan"] if state == "open" else element[state]
        vertices, layers = plan["vertices"], plan["layers"]
        outs: dict[int, list] = {}
        ins: dict[int, list] = {}
        rank = {v: i for layer in layers for i, v in enumerate(layer)}
        for edge in plan["edges"]:
            a, b = edge["chain"][0], edge["chain"][-1]
            outs.setdefault(a, []).append((rank[edge["chain"][1]], edge["tensor"]))
            ins.setdefault(b, []).append((rank[edge["chain"][-2]], edge["tensor"]))
        frame = Box(element, state)
        boxes = [self._vertex(v, plan, _order(outs.get(i, [])), _order(ins.get(i, []))) for i, v in enumerate(vertices)]
        head = widest(self.head(element, state)) + PAD
        x = self._across(boxes, plan, head)
        y, height = self._down(boxes, layers)
        left = min([x[v] for v in range(len(boxes))], default=0.0)
        right = max([x[v] + boxes[v].w for v in range(len(boxes))], default=0.0)
        inner = max(right - left, head)
        frame.w, frame.h = inner + 2 * PAD, height + LINE + 2 * PAD
        frame.body = 0.0, 0.0, frame.w, frame.h
        move, lift = PAD - left, LINE + PAD
        for v, box in enumerate(boxes):
            x[v] += move
            y[v] += lift
            if "child" in vertices[v]:
                frame.inner.append((box, x[v], y[v]))
            elif "in" in vertices[v]:
                frame.ins[vertices[v]["in"]] = x[v] + box.ins[vertices[v]["in"]]
                y[v] = frame.h - box.h
            elif "out" in vertices[v]:
                frame.outs[vertices[v]["out"]] = x[v] + box.outs[vertices[v]["out"]]
                y[v] = 0
            if "child" not in vertices[v]:
                frame.texts += [(x[v] + at, y[v] + down, line) for at, down, line in box.texts]
        if state == "one":
            frame.ins.update({t: frame.ins[own] for t, own in plan["enter"].items() if own in frame.ins})
            frame.outs.update({t: frame.outs[own] for t, own in plan["leave"].items() if own in frame.outs})
        self._route(frame, boxes, plan, x, y, lift)
        return frame

    def head(self, element, state):
        """The text at the top of an unfolded group."""
        kept = [text for text, style in element["lines"][0] if style == "kept"]
        turns = {"one": f" (one turn of {len(element.get('turns', ()))})"}.get(state, "")
        return [[element["name"] + turns + "".join([f", {text}" for text in kept]), "note"]]

    def _vertex(self, vertex, plan, outs, ins):
        if "child" in vertex:
            return self.box(vertex["child"], plan["beside"].get(vertex["child"]), outs, ins)
        box = Box({})
        box.w, box.h = float(WIRE), 6.0
        for port, told in (("in", "from the turn before"), ("out", "to the next turn")):
            if port in vertex:
                box.ins = box.outs = {vertex[port]: WIRE / 2}
                if vertex[port] in plan.get(f"turn {port}", ()):
                    box.w, box.h = WIRE + width(told) + 2, float(LINE)
                    box.texts = [(WIRE, 11, [told, "note"])]
        return box

    def _across(self, boxes, plan, head):
        """The x of each box: rows without overlap, wires as straight as they can be."""
        layers, links = plan["layers"], _links(boxes, plan)
        x = [0.0] * len(boxes)
        for layer in layers:
            at = 0.0
            for v in layer:
                x[v] = at
                at += boxes[v].w + _space(boxes, v)
            for v in layer:
                x[v] -= at / 2
        for turn in range(SWEEPS):
            for layer in layers if turn % 2 else layers[::-1]:
                wish, weight = [], []
                for v in layer:
                    total = sum([w for _, _, w in links[v]])
                    wish.append(sum([(x[u] + d) * w for u, d, w in links[v]]) / total if total else x[v])
                    weight.append(total or 0.1)
                for v, at in zip(layer, _apart(wish, weight, [boxes[v].w + _space(boxes, v) for v in layer])):
                    x[v] = at
        if layers and "out" in plan["vertices"][layers[-1][0]]:        # the text at the top is left of the wires
            left = min([x[v] for layer in layers[:-1] for v in layer], default=0.0)
            short = max(left + head - x[layers[-1][0]], 0)
            for v in layers[-1]:
                x[v] += short
        return x

    def _down(self, boxes, layers):
        """The y of each box and the height of all: the lowest row comes first."""
        y, at = [0.0] * len(boxes), 0.0
        for layer in reversed(layers):
            tall = max([boxes[v].h for v in layer])
            for v in layer:
                y[v] = at + tall - boxes[v].h
            at += tall + ROW
        return y, max(0.0, at - ROW)

    def _route(self, frame, boxes, plan, x, y, lift):
        layers, vertices = plan["layers"], plan["vertices"]
        row = {v: k for k, layer in enumerate(layers) for v in layer}
        top = [min([y[v] for v in layer]) for layer in layers]
        bottom = [max([y[v] + boxes[v].h for v in layer]) for layer in layers]
        for edge in plan["edges"]:
            t, chain = edge["tensor"], edge["chain"]
            a, b = chain[0], chain[-1]
            out = boxes[a].outs.get(t, boxes[a].w / 2)
            body = boxes[a].body[1] if "child" in vertices[a] else 0
            points = [(x[a] + out, y[a] + body), (x[a] + out, top[row[a]])]
            for v in chain[1:-1]:
                points += [(x[v] + WIRE / 2, bottom[row[v]]), (x[v] + WIRE / 2, top[row[v]])]
            into = x[b] + boxes[b].ins.get(t, boxes[b].w / 2)
            low = boxes[b].body[1] + boxes[b].body[3] if "child" in vertices[b] else boxes[b].h
            points += [(into, bottom[row[b]]), (into, y[b] + low)]
            if "in" in vertices[a]:
                points[0] = (points[0][0], frame.h)
            if "out" in vertices[b]:
                points[-1] = (points[-1][0], 0.0)
            ends = ["child" in vertices[v] and not boxes[v].state for v in (b, a)]
            frame.wires.append((edge, points, tuple(ends)))


def _order(pairs):
    return list(dict.fromkeys([tensor for _, tensor in sorted(pairs)]))


def _links(boxes, plan):
    """For each box [(other box, distance of the two ends, weight)]: a wire is straight if the x of its boxes differ by
    the distance. Wires between the bends of long wires weigh more, so that these become straight first."""
    links = [[] for _ in boxes]
    for edge in plan["edges"]:
        t, chain = edge["tensor"], edge["chain"]
        for a, b in zip(chain, chain[1:]):
            out = boxes[a].outs.get(t, boxes[a].w / 2)
            into = boxes[b].ins.get(t, boxes[b].w / 2)
            weight = 1 + 2 * (not plan["vertices"][a]) + 2 * (not plan["vertices"][b])
            links[a].append((b, into - out, weight))
            links[b].append((a, out - into, weight))
    return links


def _space(boxes, v):
    return GAP if boxes[v].element else 4


def _spread(tensors, left, body_w):
    """The places where wires reach a box from below: side by side around its middle."""
    step = min(WIRE, (body_w - 2 * PAD) / max(1, len(tensors) - 1))
    start = left + body_w / 2 - step * (len(tensors) - 1) / 2
    return {t: start + step * k for k, t in enumerate(tensors)}


def _apart(wish, weight, widths):
    """The places nearest to the wished ones (by weighted squares) at which things of these widths do not overlap.

    >>> _apart([0, 1, 50], [1, 1, 1], [10, 10, 10])
    [-4.5, 5.5, 50.0]
    """
    before, blocks = 0.0, []                   # blocks of what touches: [sum of weight * wish, weight, how many]
    offsets = []
    for want, w, size in zip(wish, weight, widths):
        offsets.append(before)
        blocks.append([(want - before) * w, w, 1])
        before += size
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, mass, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += mass
            blocks[-1][2] += count
    places = [total / mass for total, mass, count in blocks for _ in range(count)]
    return [float(p + offset) for p, offset in zip(places, offsets)]
