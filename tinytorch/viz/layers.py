"""Layers of boxes: the row of each box in a group of a view, and the order of the boxes from left to right.

Layers do not depend on the groups that are unfolded, because they ignore sizes. Sizes and places are in place.py.
"""
from __future__ import annotations

from typing import Any


def plans(data: dict) -> dict:
    """Adds to each group of a view its `plan`, and to each repeat `one` (of one of its turns) and `all` (of all).

    A plan has vertices    {"child": element}, {"in": tensor} and {"out": tensor} where wires cross the frame, or {} on
    a long wire layers      rows of vertices, from the lowest up; tensors that come in have the lowest row, and those
    that go out the highest edges       {"tensor", "chain": vertices from the source to the target, "wires": numbers of
    the wires in it} beside      {operation: parameters and inputs that it alone uses, which stand beside it} enter,
    leave    of one turn: {tensor that comes into the repeat, or goes out: the tensor of the turn in its place} turn
    in, turn out    of one turn: the tensors that come from the turn before, and those that go to the next
    """
    members = _Members(data)
    for element in data["elements"]:
        if element["kind"] == "group":
            element["plan"] = _plan(data, element["members"], members.flows(element["id"]))
        elif element["kind"] == "repeat":
            every = [m for turn in element["turns"] for m in turn]
            flows = members.flows(element["id"])
            element["all"] = _plan(data, every, flows)
            element["one"] = _plan(data, element["turns"][1], flows)
            element["one"].update(members.in_place_of(element))
    return data


class _Members:
    """The members of the groups that the wires connect."""

    def __init__(self, data):
        self.data = data
        self.parent = {}
        for element in data["elements"]:
            for m in element.get("members", ()) or [m for turn in element.get("turns", ()) for m in turn]:
                self.parent[m] = element["id"]
        self._flows: dict[int, list] = {}
        for number, wire in enumerate(data["wires"]):
            source, target = self.path(data["tensors"][wire["tensor"]]["from"]), self.path(wire["to"])
            for group in {**source, **target}:
                a, b = source.get(group), target.get(group)
                if a != b:
                    self._flows.setdefault(group, []).append((number, a, b))

    def path(self, number):
        """{group: its member that is the element, or contains it}."""
        found = {}
        while number in self.parent:
            found[self.parent[number]] = number
            number = self.parent[number]
        return found

    def flows(self, group):
        """(wire, member where it begins or None, member where it ends or None) of each wire."""
        return self._flows.get(group, [])

    def in_place_of(self, repeat):
        """The tensors that come into the second turn and go out of it, in place of the tensors of the other turns.

        The first walk over the wires notes which tensor each place of the second turn reads or makes. The second walk
        finds, for wires of any turn that come from outside the repeat or go outside, the tensor at the same place.
        """
        turn_of = {m: k for k, turn in enumerate(repeat["turns"]) for m in turn}
        flows = self._flows_by_place(repeat)
        reads, makes, enter, leave = {}, {}, {}, {}
        for tensor, reader, maker, a, b in flows:
            if turn_of.get(b) == 1 and turn_of.get(a) != 1:
                reads[reader] = tensor
            if turn_of.get(a) == 1 and turn_of.get(b) != 1:
                makes[maker] = tensor
        for tensor, reader, maker, a, b in flows:
            if a is None and reader in reads and (tensor not in enter or turn_of[b] == 1):
                enter[tensor] = reads[reader]
            if b is None and maker in makes:
                leave[tensor] = makes[maker]
        before = {tensor for tensor, _, _, a, b in flows if turn_of.get(b) == 1 and a is not None}
        after = {tensor for tensor, _, _, a, b in flows if turn_of.get(a) == 1 and b is not None}
        return {"enter": enter, "leave": leave, "turn in": sorted(before), "turn out": sorted(after)}

    def _flows_by_place(self, repeat):
        """[(tensor, place that reads it, place that makes it, member of its start, member of its end)] of the wires of
        a repeat. A place is (number of the operation in its turn, its argument or output)."""
        number = {}
        for turn in repeat["turns"]:
            for i, op in enumerate([op for m in turn for op in self._operations(m)]):
                number[op] = i
        flows = []
        for wire, a, b in self.flows(repeat["id"]):
            w = self.data["wires"][wire]
            tensor = self.data["tensors"][w["tensor"]]
            reader, maker = (number.get(w["to"]), w["argument"]), (number.get(tensor["from"]), tensor["output"])
            flows.append((w["tensor"], reader, maker, a, b))
        return flows

    def _operations(self, number):
        element = self.data["elements"][number]
        if element["kind"] == "op":
            return [number]
        inner = element.get("members", ()) or [m for turn in element.get("turns", ()) for m in turn]
        return [op for m in inner for op in self._operations(m)]


def _plan(data, children, flows):
    elements, inside = data["elements"], set(children)
    edges: dict[tuple, list] = {}              # (tensor, member or None, member or None): wires
    for wire, a, b in flows:
        a = a if a in inside else None
        b = b if b in inside else None
        if a != b:
            edges.setdefault((data["wires"][wire]["tensor"], a, b), []).append(wire)
    beside = _beside(elements, children, edges)
    aside = {n for numbers in beside.values() for n in numbers}
    vertices: list[dict] = [{"child": n} for n in children if n not in aside]
    at: dict[Any, int] = {v["child"]: i for i, v in enumerate(vertices)}

    def vertex(key, made):
        if key not in at:
            at[key] = len(vertices)
            vertices.append(made)
        return at[key]
    lines = []                                 # (tensor, from, to, wires)
    for (tensor, a, b), wires in edges.items():
        if a not in aside:
            start = vertex(("in", tensor), {"in": tensor}) if a is None else at[a]
            end = vertex(("out", tensor), {"out": tensor}) if b is None else at[b]
            lines.append((tensor, start, end, wires))
    ends = {i for i, v in enumerate(vertices) if "child" in v and elements[v["child"]]["kind"] in ("output", "error")}
    rows = _rows(vertices, lines, ends)
    chains = _chains(vertices, rows, lines)
    return {"vertices": vertices, "layers": _ordered(rows, chains), "edges": chains,
            "beside": {k: sorted(v) for k, v in beside.items()}}


def _beside(elements, children, edges):
    """{operation: the parameters and inputs that it alone uses}, which are drawn beside it."""
    uses: dict[int, list] = {}
    for _, a, b in edges:
        uses.setdefault(a, []).append(b)
    beside: dict[int, list] = {}
    for number in children:
        users = uses.get(number, [])
        if elements[number]["kind"] in ("parameter", "input") and len(users) == 1 and users[0] is not None and (
                elements[users[0]]["kind"] == "op"):
            beside.setdefault(users[0], []).append(number)
    return beside


def _chains(vertices, rows, lines):
    """The path of each line from row to row. The lines of a tensor share their way: each row between has one vertex
    for the tensor, which is added to `vertices` and `rows`."""
    chains, trunk = [], {}
    for tensor, start, end, wires in lines:
        chain = [start]
        for row in range(rows[start] + 1, rows[end]):
            if (tensor, row) not in trunk:
                trunk[tensor, row] = len(vertices)
                vertices.append({})
                rows.append(row)
            chain.append(trunk[tensor, row])
        chains.append({"tensor": tensor, "chain": [*chain, end], "wires": wires})
    return chains


def _rows(vertices, lines, ends):
    """The row of each vertex. A vertex stands above all vertices that it is computed from. If it is computed from
    none, it stands below its first user. The `ends` of the graph stand above all others."""
    after: dict[int, list[int]] = {}
    before: dict[int, list[int]] = {}
    for _, start, end, _ in lines:
        after.setdefault(start, []).append(end)
        before.setdefault(end, []).append(start)
    rows = _depths(vertices, before, after)
    for v, made in enumerate(vertices):
        if "in" not in made and v not in before and v in after:
            rows[v] = min([rows[u] for u in after[v]]) - 1
    last = max([rows[v] for v, made in enumerate(vertices) if "out" not in made and v not in ends], default=-1) + 1
    rows = [last if v in ends else row for v, row in enumerate(rows)]
    highest = max([rows[v] for v, made in enumerate(vertices) if "out" not in made], default=0)
    return [highest + 1 if "out" in made else row for row, made in zip(rows, vertices)]


def _depths(vertices, before, after):
    """The length of the longest path to each vertex from the tensors that come in, which have row 0."""
    has_ports = any(["in" in v for v in vertices])
    rows = [-1] * len(vertices)
    waiting = {v: len(before.get(v, ())) for v in range(len(vertices))}
    ready = [v for v in range(len(vertices)) if not waiting[v]]
    while ready:
        v = ready.pop()
        rows[v] = 0 if "in" in vertices[v] else max([rows[u] + 1 for u in before.get(v, ())] or [int(has_ports)])
        for u in after.get(v, ()):
            waiting[u] -= 1
            if not waiting[u]:
                ready.append(u)
    return rows


def _ordered(rows, chains):
    """The rows, each in an order in which few wires cross."""
    layers: list[list[int]] = [[] for _ in range(max(rows, default=-1) + 1)]
    for v, row in enumerate(rows):
        layers[row].append(v)
    if all([len(layer) <= 1 for layer in layers]):
        return layers
    pairs = list(dict.fromkeys([pair for c in chains for pair in zip(c["chain"], c["chain"][1:])]))
    graph = _igraph().Graph(n=len(rows), edges=pairs, directed=True)
    x = [place[0] for place in graph.layout_sugiyama(layers=rows).coords]
    return [sorted(layer, key=lambda v: (x[v], v)) for layer in layers]


def _igraph():
    try:
        import igraph
    except ImportError as e:
        raise ImportError('pictures of graphs are laid out by igraph: pip install "tinytorch-numpy[viz]"') from e
    return igraph
