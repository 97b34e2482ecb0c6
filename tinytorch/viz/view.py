"""A Graph as plain dicts, lists, numbers and strings, for the functions that draw it. The HTML page has it as JSON."""
from __future__ import annotations

from typing import Any

from . import source
from .captions import describe, size
from .grouping import Group, Repeat
from .tape import ACTIVATION, INPUT, PARAMETER, Leaf, Step, Tape


def view(graph: Any) -> dict:
    """The data of a Graph.

    elements  the things that can be drawn: operations ("op"), "parameter", "input", "output", "error", "group",
    "repeat"; each has
              the `lines` of text in its forward and its backward box, [text, style] each
    tensors   the tensors: the element, the number among its outputs, and the lines of the label wires     the paths of
    tensors: tensor, element, name of the argument, whether a gradient comes back along it, and whether
              the backward at one of its ends needs it: "kept", "alias" (its memory is counted at another tensor) or ""
    storages  the memory that is kept: bytes, kind, the element that made it, the elements whose backward needs it
    ops       formulas and derivative rules with file and line
    root      the number of the outermost group
    open      {element: its state} at first: "open" for a group; "one" turn or "all" of a repeat

    >>> import tinytorch as torch
    >>> from tinytorch import viz
    >>> data = view(viz.graph(torch.nn.Linear(4, 2), torch.ones(3, 4)))
    >>> [(e["kind"], e["name"]) for e in data["elements"]]
    [('group', 'Linear'), ('op', 'addmm'), ('parameter', 'weight'), ('parameter', 'bias'), ('input', 'input'),
     ('output', 'output')]
    """
    return _View(graph).data


class _View:
    def __init__(self, graph):
        self.tape: Tape = graph.tape
        self.elements: list[dict] = []
        self.tensors: list[dict] = []
        self.wires: list[dict] = []
        self.parent: dict[int, int | None] = {}
        self._element: dict[Any, int] = {}     # the element of a Step, a Leaf or a Storage
        self._tensor: dict[tuple[int, int], int] = {}      # by element and number of the output
        self._op: dict[Any, int] = {}
        self.ops: list[dict] = []
        program = graph.program
        if len(program.members) == 1 and isinstance(program.members[0], Group):
            program = program.members[0]
        self.root = self._group(program, None)
        self._wire()
        self._ends(graph)
        self._home()
        totals = {kind: [n, size(n)] for kind, n in graph.totals.items()}
        self.data = {"title": program.label or "graph", "error": graph.error_text, "totals": totals, "root": self.root,
                     "elements": self.elements, "tensors": self.tensors, "wires": self.wires, "ops": self.ops,
                     "storages": [self._memory(s) for s in self.tape.storages]}
        describe(self.data)

    def _memory(self, storage):
        return {"bytes": storage.nbytes, "size": size(storage.nbytes), "kind": storage.kind,
                "maker": self._element.get(storage.maker), "keepers": [self._element[k] for k in storage.keepers]}

    # ------------------------------------------------------------------ the tree
    def _add(self, kind, name, parent, **attributes):
        number = len(self.elements)
        self.elements.append({"id": number, "kind": kind, "name": name, "module": "", "lines": [[], []], **attributes})
        self.parent[number] = parent
        return number

    def _member(self, member, parent):
        if isinstance(member, Step):
            return self._step(member, parent, None)
        if isinstance(member, Repeat):
            number = self._add("repeat", member.label, parent, turns=[])
            turns = self.elements[number]["turns"]
            for turn in member.turns:
                turns.append([self._member(m, number) for m in turn])
            return number
        inner, path = member, []               # a module that only calls one operation is drawn as the operation
        while isinstance(inner, Group) and len(inner.members) == 1:
            path.append(inner)
            inner = inner.members[0]
        if isinstance(inner, Step):
            return self._step(inner, parent, path[-1] if len(path) == 1 else path[0])
        return self._group(member, parent)

    def _group(self, group, parent):
        number = self._add("group", group.label or "program", parent, members=[])
        if group.call is not None:
            self.elements[number]["module"] = group.call.path
        self.elements[number]["members"] = [self._member(m, number) for m in group.members]
        return number

    def _step(self, step, parent, module):
        origin = step.origin
        number = self._add("op", step.name, parent, backward=step.backward_name.rpartition(":")[2])
        element = self.elements[number]
        element["label"] = module.label if module is not None else ""
        if origin is not None:
            element.update(file=origin.file, line=origin.line, text=origin.text,
                           module=origin.calls[-1].path if origin.calls else "",
                           calls=" > ".join([f"{c.path or '(model)'}: {c.cls}" for c in origin.calls]))
        element["op"] = self._rules(step.op)
        self._element[step] = number
        return number

    def _rules(self, op):
        if op not in self._op:
            self._op[op] = len(self.ops)
            self.ops.append({"name": op.name, "formula": source.formula(op)._asdict(),
                             "rules": [{"argument": a, **r._asdict()} for a, r in source.rules(op).items()]})
        return self._op[op]

    # ------------------------------------------------------------------ wires
    def _tensor_of(self, element, output, shape, dtype):
        key = element, output
        if key not in self._tensor:
            self._tensor[key] = len(self.tensors)
            self.tensors.append({"id": len(self.tensors), "from": element, "output": output, "shape": list(shape),
                                 "dtype": dtype.name if dtype is not None else "", "bytes": 0, "label": []})
        return self._tensor[key]

    def _source(self, source, output):
        """The tensor that is the output of a Step, a Leaf or a Storage."""
        if isinstance(source, Step):
            shapes = source.shapes if source.op.multi else source.shapes[:1]
            shape = shapes[output] if output < len(shapes) else shapes[0]
            return self._tensor_of(self._element[source], output, shape or (),
                                   source.dtypes[min(output, len(source.dtypes) - 1)])
        if source not in self._element:
            # A tensor that no recorded operation made, such as a mask or an initial state, is drawn like an input.
            kind, unnamed = (INPUT, "made here") if source.kind == ACTIVATION else (source.kind, "input")
            self._element[source] = self._add(kind, source.name or unnamed, None, grad=isinstance(source, Leaf))
        return self._tensor_of(self._element[source], 0, source.shape, source.dtype)

    def _wire(self):
        numbers = {id(s): i for i, s in enumerate(self.tape.storages)}
        results = set()                        # the tensors that the backward of their own operation needs
        for step in self.tape.steps:
            element = self.elements[self._element[step]]
            arguments: dict[str, dict] = {}
            for (made, output), argument in zip(step.inputs, step.arguments):
                arguments[argument] = self._connect(self._source(made, output), element["id"], argument, True)
            element["kept"], element["extra"] = [], 0
            for k in step.kept:
                element["kept"].append({
                    "name": k.name, "shape": list(k.shape), "dtype": k.dtype.name, "bytes": k.storage.nbytes,
                    "size": size(k.storage.nbytes), "kind": k.storage.kind, "alias": not k.counted,
                    "storage": numbers[id(k.storage)]})
                wire = self._kept_wire(step, k, arguments)
                if k.name == "result" and not step.op.multi:
                    tensor = self._source(step, 0)
                    results.add(tensor)
                elif wire is not None:
                    tensor = wire["tensor"]
                    wire["kept"] = "kept"
                else:
                    element["extra"] += k.nbytes
                    continue
                self.tensors[tensor]["bytes"] += k.nbytes
            for storage, argument in step.given:
                if argument not in arguments:
                    tensor = self._source(storage if storage.maker is None else storage.maker, 0)
                    self._connect(tensor, element["id"], argument, False)
        for wire in self.wires:
            if wire["kept"] or wire["tensor"] in results:
                wire["kept"] = "kept" if self.tensors[wire["tensor"]]["bytes"] else "alias"

    def _kept_wire(self, step, k, arguments):
        """The wire of a kept array: the wire of the argument, a wire from its maker, or a new one from an input."""
        if k.name in arguments:
            return arguments[k.name]
        maker = k.storage if k.storage.maker is None else k.storage.maker
        number = self._element.get(maker)
        for wire in arguments.values():
            if maker is not step and self.tensors[wire["tensor"]]["from"] == number:
                return wire
        if maker is not k.storage:
            return None
        tensor = self._source(k.storage, 0)
        wire = self._connect(tensor, self._element[step], k.name, False)
        arguments[f"memory {tensor}" if k.name == "aux" else k.name] = wire
        return wire

    def _connect(self, tensor, element, argument, grad):
        wire = {"tensor": tensor, "to": element, "argument": argument, "grad": grad, "kept": ""}
        self.wires.append(wire)
        return wire

    # ------------------------------------------------------------------ leaves, inputs, outputs
    def _home(self):
        """Puts each leaf and input into the innermost group that contains all of its users. If several turns of a
        repeat use it, it stands outside of the repeat."""
        users: dict[int, list[int]] = {}
        for wire in self.wires:
            users.setdefault(self.tensors[wire["tensor"]]["from"], []).append(wire["to"])
        for element in self.elements:
            if element["kind"] not in (PARAMETER, INPUT):
                continue
            paths = [self._path(user) for user in users.get(element["id"], ())]
            common = self._path(self.root)
            if paths:
                common = [level[0] for level in zip(*paths) if len(set(level)) == 1]
            while common[-1][1] is None:       # a repeat in which several turns use it
                common.pop()
            home, turn = common[-1]
            self.parent[element["id"]] = home
            holder = self.elements[home]
            (holder["members"] if turn == -1 else holder["turns"][turn]).append(element["id"])
            self._name(element, [number for number, _ in common])

    def _path(self, number):
        """The groups around an element, from the outermost inwards: (group, -1), or (repeat, None) and (repeat,
        turn)."""
        path = [] if "members" not in self.elements[number] else [(number, -1)]
        while self.parent[number] is not None:
            holder = self.elements[self.parent[number]]
            if "members" in holder:
                path.insert(0, (holder["id"], -1))
            else:
                turn = next(k for k, members in enumerate(holder["turns"]) if number in members)
                path[:0] = [(holder["id"], None), (holder["id"], turn)]
            number = holder["id"]
        return path

    def _name(self, element, homes):
        """The name of a leaf, relative to the module of its group."""
        element["shown"] = element["name"]
        if element["kind"] == PARAMETER:
            element["module"] = element["name"].rpartition(".")[0]
            for home in homes:
                prefix = self.elements[home]["module"] + "."
                if element["name"].startswith(prefix):
                    element["shown"] = element["name"][len(prefix):]

    def _ends(self, graph):
        """The elements for the results of the program, or for the error that ended it."""
        members = self.elements[self.root]["members"]
        several = len(self.tape.outputs) > 1
        if graph.error is not None:
            number = self._add("error", type(graph.error).__name__, self.root, text=graph.error_text)
            members.append(number)
        for k, (made, output) in enumerate(self.tape.outputs):
            if graph.error is None:
                number = self._add("output", f"output {k}" if several else "output", self.root)
                members.append(number)
            self._connect(self._source(made, output), number, "", graph.error is None)
