"""torch.export.save and load: .pt2 files, zips of a graph in JSON and the bytes of tensors, both ways with PyTorch.

Nothing in a file is trusted. Operators are looked up in the table of ATen's operators (capture/schema.py) and in a
list of Python's operators on sizes, tensors must lie within their bytes, and examples are read by the restricted
unpickler. A file that is damaged, truncated or malicious raises a RuntimeError that says what is wrong, before any
operator runs.
"""
from __future__ import annotations

import io
import json
import math
import operator
import os
import sys
from typing import Any

import numpy as np

from .. import dtypes as dt
from .._ops import ops
from ..capture.schema import forms_of
from ..checkpoint.whole_file import replacing
from ..checkpoint.zip_reader import Archive
from ..device import device
from ..fx.graph import Graph
from ..fx.graph_module import GraphModule
from ..fx.node import Node
from ..memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    layout,
    memory_format,
    preserve_format,
    strided,
)
from ..nn import Parameter
from ..utils import _pytree as pytree
from .exported_program import ExportedProgram, Guard, ModuleCallEntry, ModuleCallSignature
from .graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymIntArgument,
    TensorArgument,
)
from .symbols import Expression, Range

__all__ = ["load", "save"]

#: The version of the schema and the version of PyTorch that files state.
_VERSION, _TORCH = {"major": 8, "minor": 20}, "2.13.0+cpu"
#: The numbers of dtypes, layouts and memory formats in files. TorchScript uses other numbers.
_DTYPES = {dt.uint8: 1, dt.int8: 2, dt.int16: 3, dt.int32: 4, dt.int64: 5, dt.float16: 6, dt.float32: 7, dt.float64: 8,
           dt.complex32: 9, dt.complex64: 10, dt.complex128: 11, dt.bool: 12, dt.bfloat16: 13}
_FORMATS = {contiguous_format: 1, channels_last: 2, channels_last_3d: 3, preserve_format: 4}
_LAYOUTS = {strided: 7}
_DTYPE_OF, _FORMAT_OF, _LAYOUT_OF = [{number: x for x, number in table.items()}
                                     for table in (_DTYPES, _FORMATS, _LAYOUTS)]
#: Functions on sizes: {name in files: function}.
_ON_SIZES = {f"_operator.{f.__name__}": f for f in (
    operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.neg, operator.truediv,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.pow, operator.and_)}
_NAME_OF = {f: name for name, f in _ON_SIZES.items()}
#: Checks that PyTorch writes into graphs. They compute nothing, and the guards make the same checks.
_CHECKS = {"_assert_tensor_metadata", "_assert_scalar", "sym_constrain_range_for_size", "sym_constrain_range",
           "_assert_async"}
_MOST_NODES = 1 << 20


# ------------------------------------------------------------------ to write
def save(ep: ExportedProgram, f: Any, *, extra_files: dict[str, Any] | None = None,
         opset_version: dict[str, int] | None = None, pickle_protocol: int = 2) -> None:
    """Writes a program to a path that ends in .pt2, or to a binary file. torch.export.load reads it here and in
    PyTorch. If writing fails, no file is left at the path.

    extra_files      {name: text or bytes}, written beside it
    opset_version    {namespace: version} to be written in place of {"aten": 10}
    pickle_protocol  of the example's file

    TypeError for what is no ExportedProgram.
    """
    if not isinstance(ep, ExportedProgram):
        raise TypeError(f"The 'ep' parameter must be an instance of 'ExportedProgram', got '{type(ep).__name__}' "
                        "instead.")
    named = "archive"
    if isinstance(f, (str, os.PathLike)):
        named = os.path.splitext(os.path.basename(os.fspath(f)))[0] or "archive"
    records = _records(ep, extra_files, opset_version, pickle_protocol)
    if isinstance(f, (str, os.PathLike)):
        with replacing(os.fspath(f)) as file:
            _zipped(file, named, records)
    else:
        buffer = io.BytesIO()
        _zipped(buffer, named, records)
        f.write(buffer.getvalue())


def _zipped(file, named, records):
    from zipfile import ZipFile

    from ..serialization import _aligned
    with ZipFile(file, "w") as archive:
        for name, content in records.items():
            _aligned(archive, f"{named}/{name}", content)


def _records(ep, extra_files, opset_version, pickle_protocol):
    from ..serialization import save as save_objects
    model = {"graph_module": _graph_module(ep), "opset_version": opset_version or {"aten": 10},
             "range_constraints": {name: {"min_val": r.lower, "max_val": r.upper}
                                   for name, r in ep.range_constraints.items()},
             "schema_version": _VERSION, "verifiers": [ep.dialect], "torch_version": _TORCH,
             "guards_code": []}
    records, config = {}, {"weights": {}, "constants": {}}
    parameters = set(ep.graph_signature.parameters)
    for folder, prefix, tensors in (("weights", "weight", ep.state_dict), ("constants", "tensor", ep.constants)):
        for name, x in tensors.items():
            path = f"{prefix}_{len(config[folder])}"
            array = np.ascontiguousarray(x.detach()._array)
            records[f"data/{folder}/{path}"] = array.tobytes()
            config[folder][name] = {"path_name": path, "is_param": name in parameters, "use_pickle": False,
                                    "tensor_meta": _meta(tuple(map(int, x.shape)), x.dtype, x.requires_grad)}
    records["data/weights/model_weights_config.json"] = _json({"config": config["weights"]})
    records["data/constants/model_constants_config.json"] = _json({"config": config["constants"]})
    records["models/model.json"] = _json(model)
    if ep.example_inputs is not None:
        example = io.BytesIO()
        save_objects(ep.example_inputs, example, pickle_protocol=pickle_protocol)
        records["data/sample_inputs/model.pt"] = example.getvalue()
    for name, content in (extra_files or {}).items():
        records[f"extra/{name}"] = content.encode() if isinstance(content, str) else bytes(content)
    records.update({"archive_format": b"pt2", "archive_version": b"0", ".data/version": b"6\n",
                    "byteorder": sys.byteorder.encode(), ".data/serialization_id": b"0" * 40})
    return records


def _json(x):
    return json.dumps(x).encode()


def _size(n):
    """A size in the form that files use."""
    if isinstance(n, Expression):
        return {"as_expr": {"expr_str": n.written(), "hint": None}}
    return {"as_int": int(n)}


def _strides(shape):
    strides, n = [], Expression.number(1)
    for size in reversed(shape):
        strides.append(n.known() if n.known() is not None else n)
        n = n * size
    return strides[::-1]


def _meta(shape, dtype, requires_grad=False):
    """The description of a tensor in files."""
    if dtype not in _DTYPES:
        raise RuntimeError(f"torch.export.save: a tensor of {dtype} cannot be saved")
    return {"dtype": _DTYPES[dtype], "sizes": [_size(n) for n in shape], "requires_grad": bool(requires_grad),
            "device": {"type": "cpu", "index": None}, "strides": [_size(n) for n in _strides(shape)],
            "storage_offset": {"as_int": 0}, "layout": _LAYOUTS[strided]}


def _graph_module(ep):
    signature = ep.graph_signature
    hints = ep.hints()
    tensors, sizes = {}, {}
    for node in ep.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, tuple):
            tensors[node.name] = _with_hints(_meta(*value, node.name in signature.inputs_to_parameters
                                                   and ep.state_dict[signature.inputs_to_parameters[node.name]]
                                                   .requires_grad), hints)
        elif "parts" in node.meta:
            tensors.update({_unused(node, k): _with_hints(_meta(*part), hints)
                            for k, part in node.meta["parts"].items()})
        elif isinstance(value, Expression):
            sizes[node.name] = _with_hints(_size(value), hints)
    output = ep.graph.output_node()
    graph = {"inputs": [_argument_of(s.arg) for s in signature.input_specs],
             "outputs": [_value(x) for x in output.args[0]],
             "nodes": [_node(n) for n in ep.graph.nodes if n.op == "call_function" and not _is_item(n)],
             "tensor_values": tensors, "sym_int_values": sizes, "sym_bool_values": {},
             "is_single_tensor_return": False, "custom_obj_values": {}, "sym_float_values": {}}
    return {"graph": graph, "signature": {"input_specs": [_input_spec(s) for s in signature.input_specs],
                                          "output_specs": [_output_spec(s) for s in signature.output_specs]},
            "module_call_graph": [_call_entry(e) for e in ep.module_call_graph], "metadata": {},
            "treespec_namedtuple_fields": {}}


def _with_hints(entry, hints):
    if isinstance(entry, dict):
        if "expr_str" in entry:
            return {**entry, "hint": {"as_int": Expression.read(entry["expr_str"]).at(hints)}}
        return {key: _with_hints(x, hints) for key, x in entry.items()}
    return [_with_hints(x, hints) for x in entry] if isinstance(entry, list) else entry


def _is_item(node):
    """A node that takes one of several results, which files name as results of the node before."""
    return node.target is operator.getitem and isinstance(node.args[0], Node)


def _argument_of(arg):
    """The entry in a file for an argument of the graph's signature."""
    if isinstance(arg, ConstantArgument):
        return _value(arg.value)
    return {"as_tensor": {"name": arg.name}} if isinstance(arg, TensorArgument) else {
        "as_sym_int": {"as_name": arg.name}}


def _value(x):
    """The entry in a file for a value whose type no schema declares."""
    if isinstance(x, Node):
        if isinstance(x.meta.get("val"), Expression):
            return {"as_sym_int": {"as_name": x.name}}
        return {"as_tensor": {"name": x.name}}
    return _plain(x)


def _plain(x):
    if x is None:
        return {"as_none": True}
    for kind, name in ((bool, "as_bool"), (int, "as_int"), (str, "as_string")):
        if type(x) is kind:
            return {name: x}
    if type(x) is float:
        return {"as_float": _float(x)}
    if isinstance(x, complex):
        return {"as_complex": {"real": x.real, "imag": x.imag}}
    if isinstance(x, device):
        return {"as_device": {"type": x.type, "index": x.index}}
    for kind, name, table in ((dt.dtype, "as_scalar_type", _DTYPES), (layout, "as_layout", _LAYOUTS),
                              (memory_format, "as_memory_format", _FORMATS)):
        if isinstance(x, kind):
            return {name: table[x]}
    raise RuntimeError(f"torch.export.save: a value of type {type(x).__name__} cannot be saved")


#: The names in files of floats that JSON has no notation for.
_BEYOND = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def _float(x):
    return x if math.isfinite(x) else next(name for name, y in _BEYOND.items() if x == y or x != x and y != y)


def _typed(x, kind):
    """The entry in a file for a value whose type `kind` a schema declares."""
    if isinstance(x, (list, tuple)):
        return _typed_list(x, kind)
    if isinstance(x, Node):
        return _value(x)
    if kind.rstrip("?") == "float" and type(x) is int:
        return {"as_float": _float(float(x))}
    return _plain(x)


def _typed_list(x, kind):
    if kind.startswith("Tensor?["):
        return {"as_optional_tensors": [{"as_none": True} if y is None else _value(y) for y in x]}
    if kind.startswith("Tensor["):
        return {"as_tensors": [{"name": y.name} for y in x]}
    if any([isinstance(y, Node) for y in x]):
        return {"as_sym_ints": [{"as_name": y.name} if isinstance(y, Node) else {"as_int": int(y)} for y in x]}
    if kind.startswith("float"):
        return {"as_floats": [_float(float(y)) for y in x]}
    if kind.startswith("bool"):
        return {"as_bools": list(x)}
    if all([type(y) is str for y in x]) and x:
        return {"as_strings": list(x)}
    return {"as_ints": [int(y) for y in x]}


def _node(node):
    name = _NAME_OF.get(node.target)
    if name is not None:
        inputs = [{"name": letter, "arg": _value(x), "kind": 1} for letter, x in zip("ab", node.args)]
        return _written(node, name, inputs, [{"as_sym_int": {"as_name": node.name}}])
    form = getattr(node.target, "_schema", None)
    if node.target is ops.aten.sym_size.int:
        inputs = [{"name": "self", "arg": _value(node.args[0]), "kind": 1},
                  {"name": "dim", "arg": {"as_int": node.args[1]}, "kind": 1}]
        return _written(node, "torch.ops.aten.sym_size.int", inputs, [{"as_sym_int": {"as_name": node.name}}])
    if form is None:
        raise RuntimeError(f"torch.export.save: {node.target} is not an ATen operator")
    inputs, arguments = [], {a.name: a for a in form.arguments}
    for argument, x in zip(form.arguments, node.args):
        inputs.append({"name": argument.name, "arg": _typed(x, argument.kind), "kind": 1})
    for key, x in node.kwargs.items():
        inputs.append({"name": key, "arg": _typed(x, arguments[key].kind), "kind": 2})
    return _written(node, f"torch.ops.{node.target}", inputs, _results(node, form))


def _written(node, target, inputs, outputs):
    return {"target": target, "inputs": inputs, "outputs": outputs, "metadata": {}, "is_hop_single_tensor_return": None,
            "name": node.name}


def _results(node, form):
    """The names of the results. One of several tensors has the name of the node that takes it, or a new name if no
    node does."""
    if form.results == ["Tensor"]:
        return [{"as_tensor": {"name": node.name}}]
    taken = {user.args[1]: user.name for user in node.users if _is_item(user)}
    if form.results == ["Tensor[]"]:
        count = max([node.meta.get("count", 0), *[k + 1 for k in taken]])
        return [{"as_tensors": [{"name": taken.get(k, _unused(node, k))} for k in range(count)]}]
    return [{"as_tensor": {"name": taken.get(k, "")}} if k in taken else {"as_none": True}
            for k in range(len(form.results))]


def _unused(node, k):
    """The name of a result that no node takes."""
    return f"{node.name}_unused_{k}"


_INPUT_WORDS = {InputKind.PARAMETER: ("parameter", "parameter_name"), InputKind.BUFFER: ("buffer", "buffer_name"),
                InputKind.CONSTANT_TENSOR: ("tensor_constant", "tensor_constant_name")}
_OUTPUT_WORDS = {OutputKind.USER_OUTPUT: ("user_output", None), OutputKind.BUFFER_MUTATION: ("buffer_mutation",
                                                                                           "buffer_name"),
                 OutputKind.PARAMETER_MUTATION: ("parameter_mutation", "parameter_name"),
                 OutputKind.USER_INPUT_MUTATION: ("user_input_mutation", "user_input_name"),
                 OutputKind.LOSS_OUTPUT: ("loss_output", None)}


def _input_spec(spec):
    if spec.kind is InputKind.USER_INPUT:
        if isinstance(spec.arg, ConstantArgument):
            return {"constant_input": {"name": spec.arg.name, "value": _plain(spec.arg.value)}}
        return {"user_input": {"arg": _argument_of(spec.arg)}}
    word, name = _INPUT_WORDS[spec.kind]
    entry = {"arg": {"name": spec.arg.name}, name: spec.target}
    if spec.kind is InputKind.BUFFER:
        entry["persistent"] = spec.persistent
    return {word: entry}


def _output_spec(spec):
    word, name = _OUTPUT_WORDS[spec.kind]
    if name is None:
        return {word: {"arg": _argument_of(spec.arg)}}
    return {word: {"arg": {"name": spec.arg.name}, name: spec.target}}


def _call_entry(entry):
    if entry.signature is None:
        return {"fqn": entry.fqn, "signature": None}
    s = entry.signature
    return {"fqn": entry.fqn, "signature": {
        "inputs": [], "outputs": [], "in_spec": pytree.treespec_dumps(s.in_spec),
        "out_spec": pytree.treespec_dumps(s.out_spec), "forward_arg_names": s.forward_arg_names}}


# ------------------------------------------------------------------ to read
def load(f: Any, *, extra_files: dict[str, Any] | None = None,
         expected_opset_version: dict[str, int] | None = None) -> ExportedProgram:
    """The program in a .pt2 file at a path, or in a binary file, which torch.export.save wrote here or in PyTorch.

    extra_files             {name: anything}: the files of these names, written beside the program, replace the values
    expected_opset_version  changes nothing, as in PyTorch: the version of the schema decides

    FileNotFoundError; RuntimeError for a file that is no such archive, is damaged, or uses something that is not
    supported here.
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _loaded(file, os.fspath(f), extra_files)
    return _loaded(f, "the file", extra_files)


class Damaged(RuntimeError):
    """The content of a file is invalid."""


def _loaded(file, name, extra_files):
    archive = Archive(file, 0, name)
    if "serialized_exported_program.json" in archive:
        raise RuntimeError(f"{name} is of a torch.export before 2.7: load it there, and save it again")
    if "models/model.json" not in archive:
        raise RuntimeError(f"{name} holds no exported program: torch.load reads files of weights, torch.jit.load "
                           "those of TorchScript")
    try:
        model = json.loads(bytes(archive.read("models/model.json")))
        if model["schema_version"]["major"] != _VERSION["major"]:
            raise Damaged(f"it has version {model['schema_version']['major']} of the schema, and {_VERSION['major']} "
                          "is read here")
        program = _Reader(archive, model).program()
        for key in extra_files or ():
            if f"extra/{key}" in archive:
                extra_files[key] = bytes(archive.read(f"extra/{key}")).decode("utf-8", "replace")
        return program
    except Damaged as error:
        raise RuntimeError(f"torch.export.load: {error} (in {name})") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, AssertionError) as error:
        raise RuntimeError(f"torch.export.load: the program is damaged: {type(error).__name__} {error} "
                           f"(in {name})") from error
    except RecursionError:
        raise RuntimeError(f"torch.export.load: what the file holds nests too deeply (in {name})") from None


class _Reader:
    """Builds a program from the content of a file."""

    def __init__(self, archive: Archive, model: dict) -> None:
        self.archive, self.model, self.graph, self.nodes = archive, model, Graph(), {}
        self.contents = model["graph_module"]["graph"]

    def program(self) -> ExportedProgram:
        module = self.model["graph_module"]
        ranges = {name: Range(max(0, r["min_val"] or 0), _upper(r["max_val"]))
                  for name, r in self.model["range_constraints"].items()}
        state, constants = self._tensors("weights"), self._tensors("constants")
        inputs = [self._input(spec) for spec in module["signature"]["input_specs"]]
        for entry in self._listed(self.contents["nodes"]):
            self._node(entry)
        values = [self._argument(x) for x in self.contents["outputs"]]
        self.graph.output(tuple(values))
        outputs = [self._output(spec, x) for spec, x in zip(module["signature"]["output_specs"], values)]
        self._check(inputs, state, constants)
        entries = [self._entry(e) for e in module["module_call_graph"]] or [None]
        if entries[0] is None or entries[0].fqn or entries[0].signature is None:
            raise Damaged("the tree of the arguments is missing")
        example = self._example()
        program = ExportedProgram(GraphModule({}, self.graph, "GraphModule"), ExportGraphSignature(inputs, outputs),
                                  state, ranges, entries, example, constants, self.model["verifiers"][0])
        program.guards = list(self._guards(inputs, ranges))
        program.validate()
        return program

    @staticmethod
    def _listed(x):
        if not isinstance(x, list) or len(x) > _MOST_NODES:
            raise Damaged("the graph is not a list of nodes")
        return x

    # ------------------------------------------------------------- tensors
    def _tensors(self, folder):
        config = json.loads(bytes(self.archive.read(f"data/{folder}/model_{folder}_config.json")))["config"]
        found = {}
        for name, entry in config.items():
            if entry["use_pickle"]:
                raise Damaged(f"{name} is a pickled object, which is not read here")
            found[name] = self._tensor(folder, name, entry)
        return found

    def _tensor(self, folder, name, entry):
        meta = entry["tensor_meta"]
        dtype = _DTYPE_OF.get(meta["dtype"])
        if dtype is None:
            raise Damaged(f"{name} has the dtype {meta['dtype']}, which is not known here")
        shape, strides = [[int(n["as_int"]) for n in meta[key]] for key in ("sizes", "strides")]
        offset = int(meta["storage_offset"]["as_int"])
        memory = self.archive.read(f"data/{folder}/{entry['path_name']}")
        if len(memory) % dtype.itemsize or len(shape) != len(strides) or min([0, offset, *shape, *strides]) < 0:
            raise Damaged(f"{name} has an invalid size, stride or offset")
        count = len(memory) // dtype.itemsize
        last = offset + sum([(n - 1) * s for n, s in zip(shape, strides)])
        if math.prod(shape) and last >= count:
            raise Damaged(f"{name} goes beyond its {len(memory)} bytes")
        from ..ops.creation.factories import empty, frombuffer
        if math.prod(shape):
            made = frombuffer(memory, dtype=dtype).as_strided(shape, strides, offset).clone()
        else:
            made = empty(shape, dtype=dtype)
        if entry["is_param"]:
            return Parameter(made, bool(meta["requires_grad"]))
        return made

    def _example(self):
        from ..serialization import load as load_objects
        if "data/sample_inputs/model.pt" not in self.archive:
            return None
        found = load_objects(io.BytesIO(bytes(self.archive.read("data/sample_inputs/model.pt"))), weights_only=True)
        if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], dict)):
            raise Damaged("the example is not a pair (args, kwargs)")
        return found

    # ------------------------------------------------------------- inputs and outputs
    def _input(self, spec):
        (word, entry), = spec.items()
        if word == "constant_input":
            (_, value), = entry["value"].items()
            value = None if "as_none" in entry["value"] else value
            self.nodes[entry["name"]] = self.graph.placeholder(_identifier(entry["name"]))
            return InputSpec(InputKind.USER_INPUT, ConstantArgument(entry["name"], value), None)
        if word == "user_input":
            (kind, value), = entry["arg"].items()
            if kind not in ("as_tensor", "as_sym_int"):
                name = f"constant_{len(self.nodes)}"
                self.nodes[name] = self.graph.placeholder(name)
                return InputSpec(InputKind.USER_INPUT, ConstantArgument(name, self._argument(entry["arg"])), None)
            name = value["name"] if kind == "as_tensor" else value["as_name"]
            node = self._placeholder(name)
            return InputSpec(InputKind.USER_INPUT, (TensorArgument if kind == "as_tensor" else SymIntArgument)(
                node.name), None)
        kinds = {words[0]: (kind, words[1]) for kind, words in _INPUT_WORDS.items()}
        if word not in kinds:
            raise Damaged(f"an input that is a {word} is not read here")
        kind, key = kinds[word]
        node = self._placeholder(entry["arg"]["name"])
        return InputSpec(kind, TensorArgument(node.name), _path(entry[key]), entry.get("persistent"))

    def _placeholder(self, name):
        node = self.nodes[name] = self.graph.placeholder(_identifier(name))
        self._describe(node, name)
        return node

    def _output(self, spec, x):
        (word, entry), = spec.items()
        kinds = {words[0]: (kind, words[1]) for kind, words in _OUTPUT_WORDS.items()}
        if word not in kinds:
            raise Damaged(f"an output that is a {word} is not read here")
        kind, key = kinds[word]
        arg = TensorArgument(x.name) if isinstance(x, Node) else ConstantArgument("", x)
        if isinstance(x, Node) and not isinstance(x.meta.get("val"), tuple):
            arg = SymIntArgument(x.name)
        return OutputSpec(kind, arg, entry[key] if key else None)

    def _check(self, inputs, state, constants):
        for spec in inputs:
            if spec.target is not None and spec.target not in state and spec.target not in constants:
                raise Damaged(f"the values of {spec.target!r} are missing")

    def _entry(self, entry):
        s = entry.get("signature")
        if s is None:
            return ModuleCallEntry(entry["fqn"])
        return ModuleCallEntry(entry["fqn"], ModuleCallSignature(
            [], [], pytree.treespec_loads(s["in_spec"]), pytree.treespec_loads(s["out_spec"]),
            s.get("forward_arg_names")))

    def _guards(self, inputs, ranges):
        users = [s for s in inputs if s.kind is InputKind.USER_INPUT]
        for k, spec in enumerate(users):
            if isinstance(spec.arg, ConstantArgument):
                yield Guard(spec.arg.name, k, None, spec.arg.value)
                continue
            meta = self.contents["tensor_values"].get(spec.arg.name)
            for d, n in enumerate(meta["sizes"] if meta else ()):
                wanted = _read_size(n)
                if isinstance(wanted, int) or wanted is not None and all(
                        [len(key) <= 1 and set(key) <= ranges.keys() for key in wanted.terms]):
                    yield Guard(spec.arg.name, k, d, wanted)

    # ------------------------------------------------------------- nodes
    def _describe(self, node, name):
        meta = self.contents["tensor_values"].get(name)
        if meta is not None:
            node.meta["val"] = tuple([_read_size(n) for n in meta["sizes"]]), _DTYPE_OF[meta["dtype"]]
        elif name in self.contents["sym_int_values"]:
            node.meta["val"] = _read_size(self.contents["sym_int_values"][name])

    def _node(self, entry):
        target, outputs = entry["target"], entry["outputs"]
        if target in _ON_SIZES:
            args = [self._argument(x["arg"]) for x in entry["inputs"]]
            node = self.graph.call_function(_ON_SIZES[target], tuple(args))
            (_, value), = outputs[0].items()
            self._known(value.get("as_name") or value["name"], node)
            return
        package, _, rest = target.rpartition("torch.ops.aten.")
        name, _, form = rest.partition(".")
        if name in _CHECKS:
            return
        if package or not name:
            raise Damaged(f"{target!r:.80} is not an operator that is known here")
        function = self._operator(name, form, target)
        args = [self._argument(x["arg"]) for x in entry["inputs"] if x.get("kind") != 2]
        kwargs = {x["name"]: self._argument(x["arg"]) for x in entry["inputs"] if x.get("kind") == 2}
        if not all([isinstance(key, str) and key.isidentifier() for key in kwargs]):
            raise Damaged(f"{target}: invalid arguments")
        node = self.graph.call_function(function, tuple(args), kwargs, name=name)
        self._name_results(node, outputs)

    @staticmethod
    def _operator(name, form, target):
        if name == "sym_size" and form == "int":
            return ops.aten.sym_size.int
        wanted = "" if form == "default" else form
        forms = [f.form for f in forms_of(name)]
        if form == "Scalar" and form not in forms and "Tensor" in forms:
            form = wanted = "Tensor"           # this form takes numbers too
        if wanted not in forms:
            raise Damaged(f"{target!r:.80} is not an operator that is known here")
        return getattr(getattr(ops.aten, name), form)

    def _name_results(self, node, outputs):
        if len(outputs) == 1 and "as_tensors" not in outputs[0]:
            (_, value), = outputs[0].items()
            if isinstance(value, dict):
                self._known(value.get("name") or value["as_name"], node)
            return
        if len(outputs) == 1:
            names = [x["name"] for x in outputs[0]["as_tensors"]]
        else:
            names = [x["as_tensor"]["name"] if "as_tensor" in x else None for x in outputs]
        node.meta["count"] = len(names)
        for k, name in enumerate(names):
            if name:
                self._known(name, self.graph.call_function(operator.getitem, (node, k)))

    def _known(self, name, node):
        if name in self.nodes:
            raise Damaged(f"two nodes are called {name!r:.60}")
        self.nodes[name] = node
        self._describe(node, name)

    def _found(self, name):
        if name not in self.nodes:
            raise Damaged(f"there is no node {name!r:.60} before it is used")
        return self.nodes[name]

    def _argument(self, entry):
        """The value of an argument."""
        (kind, x), = entry.items()
        if kind == "as_none":
            return None
        if kind.startswith(("as_tensor", "as_optional_tensor", "as_sym_")):
            return self._node_argument(kind, x)
        return self._constant_argument(kind, x)

    def _node_argument(self, kind, x):
        """The node, or the nodes, that an argument names."""
        if kind == "as_tensor":
            return self._found(x["name"])
        if kind == "as_optional_tensor":
            return self._optional(x)
        if kind in ("as_sym_int", "as_sym_float", "as_sym_bool"):
            (inner, value), = x.items()
            return self._found(value) if inner == "as_name" else value
        if kind == "as_tensors":
            return [self._found(y["name"]) for y in x]
        if kind == "as_optional_tensors":
            return [self._optional(y) for y in x]
        if kind == "as_sym_ints":
            return [self._found(y["as_name"]) if "as_name" in y else y["as_int"] for y in x]
        raise Damaged(f"an argument of kind {kind!r:.40} is not read here")

    @staticmethod
    def _constant_argument(kind, x):
        tables = {"as_scalar_type": _DTYPE_OF, "as_memory_format": _FORMAT_OF, "as_layout": _LAYOUT_OF}
        if kind in tables:
            return tables[kind][x]
        if kind == "as_device":
            return device(x["type"] if x["index"] is None else f"{x['type']}:{x['index']}")
        if kind == "as_float":
            return _read_float(x)
        if kind == "as_floats":
            return [_read_float(y) for y in x]
        if kind == "as_complex":
            return complex(x["real"], x["imag"])
        plain = {"as_int": int, "as_string": str, "as_bool": bool}
        if kind in plain and isinstance(x, plain[kind]):
            return x
        lists = {"as_ints": int, "as_bools": bool, "as_strings": str}
        if kind in lists and isinstance(x, list) and all([isinstance(y, lists[kind]) for y in x]):
            return list(x)
        raise Damaged(f"an argument of kind {kind!r:.40} is not read here")

    def _optional(self, entry):
        return self._found(entry["as_tensor"]["name"]) if "as_tensor" in entry else None


def _upper(n):
    return None if n is None or n >= 1 << 62 else int(n)


def _read_float(x):
    if isinstance(x, str):
        return _BEYOND[x]
    return float(x)


def _read_size(entry):
    if "as_int" in entry:
        return int(entry["as_int"])
    return Expression.read(entry["as_expr"]["expr_str"])


def _identifier(name):
    if not isinstance(name, str) or not name.isidentifier():
        raise Damaged(f"{name!r:.60} is not a valid name of a node")
    return name


def _path(name):
    if not isinstance(name, str) or not all([part and part == part.strip() for part in name.split(".")]):
        raise Damaged(f"{name!r:.60} is not a valid name of a parameter")
    return name
