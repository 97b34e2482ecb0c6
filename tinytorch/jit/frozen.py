"""torch.jit.freeze: a program whose parameters, buffers and attributes are constants of its text.

Each module gets its own class. In its methods, attributes are replaced by constants, and conditions that follow from
constants are decided. An attribute that a method writes to stays an attribute.
"""
from __future__ import annotations

import ast
import copy
import json
from typing import Any

from ..nn import Module
from ..tensor import Tensor
from .known import literal
from .language import Script
from .modules import RecursiveScriptModule
from .objects import Object
from .writer import _is_word

__all__ = ["freeze"]


def freeze(module: RecursiveScriptModule, preserved: list[str]) -> RecursiveScriptModule:
    """See torch.jit.freeze."""
    unknown = [name for name in preserved if not hasattr(module, name)]
    if unknown:
        raise RuntimeError(f"Preserved attribute {unknown[0]!r} does not exist in the module")
    methods = {name for name in preserved if name in module.script_class.methods}
    if "forward" in module.script_class.methods:
        methods.add("forward")
    return _Freezer(module, methods, set(preserved) - methods).frozen()


class _Freezer:
    """Freezes one module and its submodules. kept: the attributes of the module that stay attributes."""

    def __init__(self, top, methods, kept):
        self.top, self.methods, self.constants = top, methods, list(top._machine.constants)
        self.modules = list(dict.fromkeys(top.modules()))
        self.names = {id(m): f"__torch__.___torch_mangle_{i}.{m.original_name}" for i, m in enumerate(self.modules)}
        self.places, self.held = {}, []
        self.written = {(id(top), name) for name in kept}
        self.trees = {}
        for each in self.modules:
            called = methods if each is top else set(each.script_class.methods)
            called = called | ({*each.script_class.methods} - {"forward"} if each is top and self._calls_itself() else
                               set())
            for name in called:
                tree = copy.deepcopy(each.script_class.methods[name].node)
                self.trees[id(each), name] = _Method(self, each, tree)
        for method in self.trees.values():     # a branch that never runs writes nothing
            method.decide()
        for method in self.trees.values():
            method.note_writes()

    def _calls_itself(self):
        """Whether a method that stays calls other methods of the module."""
        for name in self.methods:
            node = self.top.script_class.methods[name].node
            own = node.args.args[0].arg
            for part in ast.walk(node):
                if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == own and (
                        part.attr in self.top.script_class.methods):
                    return True
        return False

    def constant(self, value: Any) -> ast.expr | None:
        """The expression of a constant; None for a value that a program cannot write."""
        if isinstance(value, Tensor):
            if id(value) not in self.places:
                self.places[id(value)] = len(self.constants)
                self.held.append(value)
                self.constants.append(value.detach())
            return ast.Attribute(ast.Name("CONSTANTS", ast.Load()), f"c{self.places[id(value)]}", ast.Load())
        text = literal(value)
        if text is None or isinstance(value, (list, tuple)):
            return None
        return ast.parse(text, mode="eval").body

    def frozen(self):
        """The new module."""
        for method in self.trees.values():
            method.write_constants()
        script = self.top._machine.script
        old = {m.script_class.name for m in self.modules}
        files = {}
        for name, text in script.files.items():            # functions, and classes that do not belong to modules, stay
            body = [node for node in ast.parse(text).body if f"{name}.{node.name}" not in old]
            if body:
                files[name] = "\n".join([ast.get_source_segment(text, node) for node in body]) + "\n"
        for each in self.modules:
            place, _, kind = self.names[id(each)].rpartition(".")
            files[place] = self._class(each, kind)
        made = Script(files, self.constants, script.python, script.enums)
        return self._build(made, self.top, {})

    def _fields(self, module):
        """{attribute that stays: its type}, including parameters and buffers."""
        fields, parameters, buffers = {}, [], []
        for name, kind in module.script_class.fields.items():
            there, value = module.find(name)
            if not there:
                continue
            if isinstance(value, Module):
                fields[name] = self.names[id(value)]
            elif (id(module), name) in self.written or not isinstance(value, Tensor) and (
                    self.constant(value) is None):
                fields[name] = ast.unparse(kind)
                if name in module._parameters:
                    parameters.append(name)
                elif name in module._buffers:
                    buffers.append(name)
        return fields, parameters, buffers

    def _class(self, module, kind):
        fields, parameters, buffers = self._fields(module)
        lines = [f"class {kind}(Module):", f"  __parameters__ = {_listed(parameters)}",
                 f"  __buffers__ = {_listed(buffers)}"]
        for name, declared in fields.items():
            lines.append(f"  {name} : {declared}" if _is_word(name) else
                         f"  __annotations__[{json.dumps(name)}] = {declared}")
        for name, value in module.script_class.constants.items():
            text = literal(value)
            declared = module.script_class.fields.get(name)
            if text is not None and declared is not None and name not in fields:
                lines.append(f"  {name} : {ast.unparse(declared)} = {text}")
        for (owner, _), method in self.trees.items():
            if owner == id(module):
                lines += ["  " + line for line in ast.unparse(ast.fix_missing_locations(method.tree)).split("\n")]
        return "\n".join(lines) + "\n"

    def _build(self, script, source, made):
        if id(source) in made:
            return made[id(source)]
        built = made[id(source)] = type(source)(script.classes[self.names[id(source)]], script.machine)
        fields, parameters, buffers = self._fields(source)
        for name in fields:
            value = source.find(name)[1]
            if isinstance(value, Module):
                built._modules[name] = self._build(script, value, made)
            elif name in parameters:
                built._parameters[name] = value
            elif name in buffers:
                built._buffers[name] = value
            else:
                built._values[name] = value
        built.training = False
        built.__dict__["_frozen"] = True
        return built


def _listed(names):
    return "[" + "".join([f"{json.dumps(name)}, " for name in names]) + "]"


class _Method(ast.NodeTransformer):
    """One method. Variables whose values are modules are followed."""

    def __init__(self, freezer, module, tree):
        self.freezer, self.tree = freezer, tree
        own = tree.args.args[0]
        own.annotation = ast.parse(freezer.names[id(module)], mode="eval").body
        self.modules, self.tensors = {own.arg: module}, {}     # variables that hold modules, or attributes of modules
        counts = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                counts[node.id] = counts.get(node.id, 0) + 1
        self.once = {name for name, count in counts.items() if count == 1}
        self._follow(tree.body)

    def _follow(self, body):
        for node in body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(
                    node.targets[0], ast.Name) and node.targets[0].id in self.once:
                found = self.module_of(node.value)
                if found is not None:
                    self.modules[node.targets[0].id] = found
                elif (place := self.place_of(node.value)) is not None:
                    self.tensors[node.targets[0].id] = place
            for inner in ("body", "orelse"):
                self._follow(getattr(node, inner, None) or [])

    def module_of(self, node):
        """The module that is the value of an expression; None if the value is not a module."""
        if isinstance(node, ast.Name):
            return self.modules.get(node.id)
        place = self.place_of(node)
        found = None if place is None else place[0].find(place[1])[1]
        return found if isinstance(found, Module) else None

    def place_of(self, node):
        """(module, name) for an expression that reads an attribute of a module."""
        if isinstance(node, ast.Attribute):
            owner, name = self.module_of(node.value), node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(
                node.args) == 2 and isinstance(node.args[1], ast.Constant):
            owner, name = self.module_of(node.args[0]), node.args[1].value
        else:
            return None
        if not isinstance(owner, Object) or not owner.find(name)[0]:
            return None
        return owner, name

    # ------------------------------------------------------------- conditions
    def truth(self, node):
        """The value of a condition that follows from constants; None for other conditions."""
        if isinstance(node, ast.Constant):
            return bool(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            found = self.truth(node.operand)
            return None if found is None else not found
        if isinstance(node, ast.BoolOp):
            found = [self.truth(x) for x in node.values]
            short = isinstance(node.op, ast.Or)
            if short in found[:next((i for i, x in enumerate(found) if x is None), len(found))]:
                return short
            return None if None in found else not short
        place = self.place_of(node)
        if isinstance(node, ast.Name):
            place = self.tensors.get(node.id)
        if place is not None and (id(place[0]), place[1]) not in self.freezer.written:
            value = place[0].find(place[1])[1]
            return value if isinstance(value, bool) else None
        return None

    def decide(self):
        """Keeps only the branch that runs, where a condition follows from `training`, which is False, and other
        constants."""
        self.tree.body = self._decided(self.tree.body) or [ast.Pass()]

    def _decided(self, body):
        made = []
        for node in body:
            if isinstance(node, ast.If):
                found = self._of_training(node.test)
                if found is not None:
                    made += self._decided(node.body if found else node.orelse)
                    continue
            for inner in ("body", "orelse"):
                if getattr(node, inner, None) and isinstance(getattr(node, inner), list):
                    setattr(node, inner, self._decided(getattr(node, inner)) or ([ast.Pass()] if inner == "body" else
                                                                               []))
            made.append(node)
        return made

    def _of_training(self, test):
        names = {part.attr for part in ast.walk(test) if isinstance(part, ast.Attribute)}
        names |= {self.tensors[part.id][1] for part in ast.walk(test) if isinstance(part, ast.Name)
                  and part.id in self.tensors}
        return self.truth(test) if names <= {"training"} else None

    def note_writes(self):
        """Notes the attributes that the method sets or writes to."""
        for node in ast.walk(self.tree):
            targets = getattr(node, "targets", [])
            if isinstance(node, ast.AugAssign):
                targets = [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and isinstance(node, ast.Assign):
                    continue                   # the name is bound to another value
                self._written(target.value if isinstance(target, ast.Subscript) else target)
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
                if name[-1:] == "_" and name[-2:] != "__" or name in ("batch_norm", "instance_norm", "append", "extend",
                                                                      "insert", "pop", "_set_item", "update", "clear",
                                                                      "setdefault", "remove", "sort", "reverse"):
                    if name not in ("batch_norm", "instance_norm") or not self._only_reads(node):
                        for x in node.args:
                            self._written(x)
                    if isinstance(node.func, ast.Attribute):
                        self._written(node.func.value)

    def _only_reads(self, node):
        """Whether a normalisation does not change its statistics: training is False."""
        place = 5 if len(node.args) > 5 else None
        return place is not None and self.truth(node.args[place]) is False

    def _written(self, node):
        place = self.tensors.get(node.id) if isinstance(node, ast.Name) else self.place_of(node)
        if place is not None and not isinstance(place[0].find(place[1])[1], Module):
            self.freezer.written.add((id(place[0]), place[1]))

    # ------------------------------------------------------------- to write
    def write_constants(self):
        """Replaces attributes that do not change by constants."""
        self.tree.body = [self.visit(node) for node in self.tree.body]

    def visit_Attribute(self, node):
        """The constant for an attribute of a module that does not change."""
        if isinstance(node.ctx, ast.Load):
            place = self.place_of(node)
            if place is not None and (id(place[0]), place[1]) not in self.freezer.written:
                value = place[0].find(place[1])[1]
                made = None if isinstance(value, Module) else self.freezer.constant(value)
                if made is not None:
                    return made
        return self.generic_visit(node)

    def visit_Call(self, node):
        """The constant for an attribute that getattr() reads."""
        place = self.place_of(node)
        if place is not None and (id(place[0]), place[1]) not in self.freezer.written:
            value = place[0].find(place[1])[1]
            made = None if isinstance(value, Module) else self.freezer.constant(value)
            if made is not None:
                return made
        return self.generic_visit(node)
