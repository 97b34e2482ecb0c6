"""torch.onnx.export: a call of a model is recorded, and written as nodes of ONNX (lowering.py)."""
from __future__ import annotations

import io
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from .. import version
from ..capture.twice import Recording, TracerWarning, difference, leaves, names_of, parameters_of, record, undone, words
from ..errors import warn
from ..nn import Module
from ..random import fork_rng
from ._types import OperatorExportTypes, TrainingMode
from .dynamic import axes_of_names, axes_of_shapes, label_of, others, symbols_of
from .errors import OnnxExporterError, OnnxExporterWarning
from .lowering import Lowering, Watcher, line, place_of
from .package import require
from .program import ONNXProgram
from .utils import exporting, select_model_mode_for_export
from .writer import OPSETS, Record, Value, Writer, element_type

__all__ = ["DEFAULT_OPSET", "export"]

#: The opset of models for which no opset is named, as in torch.
DEFAULT_OPSET = 20
_TRAINING = ("Exporting a model while it is in training mode. Please ensure that this is intended, as it may lead to "
             "different behavior during inference. Calling model.eval() before export is recommended.")


def export(model: Module | Callable, args: Any = (), f: str | os.PathLike | io.BytesIO | None = None, *,
           kwargs: dict[str, Any] | None = None, verbose: bool | None = None, input_names: Sequence[str] | None = None,
           output_names: Sequence[str] | None = None, opset_version: int | None = None, dynamo: bool = True,
           external_data: bool = True, dynamic_shapes: Any = None, custom_translation_table: dict | None = None,
           report: bool = False, optimize: bool = True, verify: bool = False, profile: bool = False,
           dump_exported_program: bool = False, artifacts_dir: str | os.PathLike = ".", export_params: bool = True,
           keep_initializers_as_inputs: bool = False, dynamic_axes: Mapping[str, Any] | None = None,
           training: TrainingMode = TrainingMode.EVAL,
           operator_export_type: OperatorExportTypes = OperatorExportTypes.ONNX, do_constant_folding: bool = True,
           custom_opsets: Mapping[str, int] | None = None,
           export_modules_as_functions: bool | Collection[type[Module]] = False,
           autograd_inlining: bool = True) -> ONNXProgram | None:
    """Exports a model as a graph of ONNX's operators, by the onnx package.

    The model, or any function, is called with `args`, a tensor or a tuple, and `kwargs`. The tensors among them are the
    inputs of the graph; other arguments become constants. The call is recorded again with other numbers, and with other
    sizes where sizes may vary; an error is raised if the recordings differ.

    f               a path or a binary file object; a file is written as a whole or not at all
    dynamo          True: returns an ONNXProgram, exports the model in its present mode, and raises an error if a tensor
                    becomes a Python value. False: needs `f`, returns None, sets the mode to `training`, and emits a
                    TracerWarning for such values
    opset_version   the version of ONNX's operators, 13 to 21; None stands for 20
    input_names, output_names  names of the tensors, in order; names beyond the inputs are given to parameters
    dynamic_axes    {name: {dimension: name of the size}}, or {name: [dimensions]}: sizes that may vary
    dynamic_shapes  sizes that may vary, in the structure of the arguments, as in torch.export
    external_data   whether weights go to a file beside `f` if `f` would be larger than 2 GB; otherwise this is an error
    export_params, keep_initializers_as_inputs  whether the model contains the weights, and whether callers may replace
                    them
    do_constant_folding, optimize  whether values that depend only on constants are computed during the export
    verify          whether the results of onnxruntime are compared with those of the model

    UnsupportedOperatorError, which names the operator and the line of the model, for an operator without a counterpart
    in the opset; OnnxExporterError for other things that cannot be exported; NotImplementedError for
    `custom_translation_table` and `export_modules_as_functions`. The remaining arguments change nothing.
    """
    opset = DEFAULT_OPSET if opset_version is None else opset_version
    _check_options(f, opset, dynamo, dynamic_shapes, {"custom_translation_table": custom_translation_table,
                                                      "export_modules_as_functions": export_modules_as_functions})
    args, kwargs = _arguments(args, kwargs)
    if hasattr(model, "graph_signature"):      # an ExportedProgram
        if not args and not kwargs and model.example_inputs is not None:
            args, kwargs = model.example_inputs
        model = model.module()
    mode = nullcontext()
    if isinstance(model, Module):
        if not dynamo:
            mode = select_model_mode_for_export(model, training)
        elif getattr(model, "training", False):
            warn(_TRAINING)
    with mode, exporting():
        task = _Export(model, args, kwargs, dynamo, opset, bool(do_constant_folding and optimize and export_params))
        task.name(input_names, output_names, dynamic_axes, dynamic_shapes)
        task.record()
        program = ONNXProgram(task.model(custom_opsets or {}, not dynamo and not export_params))
    if verify:
        _verify(program, task)
    if f is not None:
        options = dict(include_initializers=export_params,
                       keep_initializers_as_inputs=keep_initializers_as_inputs or not (dynamo or export_params))
        if hasattr(f, "write"):
            f.write(program._changed(*options.values()).SerializeToString())
        else:
            program.save(f, external_data=None if external_data else False, **options)
    return program if dynamo else None


def _check_options(f, opset, dynamo, dynamic_shapes, unsupported):
    """Raises for options of `export` that are not supported, or not supported together."""
    for name, given in unsupported.items():
        if given:
            raise NotImplementedError(f"torch.onnx.export: {name} is not supported: each of ATen's operators is "
                                      "written as nodes, and register_custom_op_symbolic replaces its translation")
    require("onnx")
    if opset not in OPSETS:
        raise OnnxExporterError(f"Exporting to ONNX opset version {opset} is not supported: it is one of "
                                f"{OPSETS[0]} to {OPSETS[-1]}")
    if f is None and not dynamo:
        raise ValueError("The path to the output file is needed: f must not be None with dynamo=False")
    if dynamic_shapes is not None and not dynamo:
        raise ValueError("The exporter only supports dynamic shapes through parameter dynamic_axes when dynamo=False.")


def _arguments(args, kwargs):
    """(args, kwargs) of the call. A dict at the end of args contains keyword arguments, as in torch."""
    args, kwargs = args if isinstance(args, tuple) else (args,), dict(kwargs or {})
    if args and isinstance(args[-1], dict) and not kwargs:
        args, kwargs = args[:-1], args[-1]
    return args, kwargs


class _Export:
    """One export: the recordings of the model, the names, and the graph."""

    def __init__(self, model, args, kwargs, strict, opset, fold):
        self.function, self.args, self.kwargs = model, args, kwargs
        self.strict, self.opset, self.fold = strict, opset, fold
        self.inputs = list(leaves((args, kwargs)))
        self.attributes = {}
        if isinstance(model, Module):
            for named in (model.named_parameters(remove_duplicate=False), model.named_buffers(remove_duplicate=False)):
                for name, tensor in named:
                    self.attributes.setdefault(name, tensor)
        self.recordings: list[Recording] = []

    # ------------------------------------------------------------- names
    def name(self, input_names, output_names, dynamic_axes, dynamic_shapes):
        """Sets the names of inputs and outputs, and the sizes that may vary."""
        self.given_inputs, self.given_outputs = list(input_names or ()), list(output_names or ())
        for names in (self.given_inputs, self.given_outputs):
            if not all([isinstance(x, str) for x in names]):
                raise TypeError("input_names and output_names are lists of strings")
            twice = [x for i, x in enumerate(names) if x in names[:i]]
            if twice:
                what = "Input" if names is self.given_inputs else "Output"
                raise ValueError(f"{what} names cannot be duplicated: {twice}")
        self.extra = self.given_inputs[len(self.inputs):]
        if len(self.extra) > len(self.attributes) and not self.strict:
            raise RuntimeError(f"number of input names provided ({len(self.given_inputs)}) exceeded number of inputs "
                               f"({len(self.inputs) + len(self.attributes)})")
        self.of_outputs, axes = {}, {}
        if dynamic_shapes is not None:
            axes = axes_of_shapes(dynamic_shapes, self.args, self.kwargs, self._parameters())
        elif dynamic_axes:
            known = self.given_inputs[:len(self.inputs)]
            known += self._default_names()[len(known):]
            axes, self.of_outputs = axes_of_names(dynamic_axes, known, self.given_outputs)
        for i, each in axes.items():
            for dim in each:
                if not -self.inputs[i].dim() <= dim < max(self.inputs[i].dim(), 1):
                    raise (IndexError if self.strict else RuntimeError)(
                        f"Dynamic shape axis should be no more than the shape dimension for {each[dim]}")
        self.symbols = symbols_of(axes, self.inputs)

    def _parameters(self):
        return parameters_of(self.function, self.args)

    def _default_names(self):
        return names_of(self._parameters(), self.args, self.kwargs)

    # ------------------------------------------------------------- recording
    def record(self):
        """Records the call, and records it again with other inputs."""
        first, texts = self._recorded((self.args, self.kwargs))
        self.recordings = [first]
        for text in texts:
            warn(text, TracerWarning)
        failed = None
        for choices in others((self.args, self.kwargs), self.symbols):
            for inputs in choices:
                try:
                    again, _ = self._recorded(inputs)
                    break
                except OnnxExporterError:
                    raise
                except Exception as error:     # the model does not take these sizes or numbers
                    failed = error
            else:
                continue
            found = difference(first, again)
            if found is None:
                self.recordings.append(again)
            elif not texts or self.symbols:
                raise OnnxExporterError(self._differs(found))
            if len(self.recordings) > 2:
                break
        if self.symbols and len(self.recordings) == 1:
            names = sorted(set(self.symbols.values()))
            raise OnnxExporterError(f"The model cannot be called with other sizes of {names}: {failed}") from failed

    def _differs(self, found):
        what = f"other sizes of {sorted(set(self.symbols.values()))}" if self.symbols else "other numbers"
        return (f"The recorded graph is right only for the inputs of the example: for {what} it differs:{found}\n"
                "Control flow and Python numbers that depend on inputs cannot be exported")

    def _recorded(self, inputs):
        texts = []

        def noted(kind):
            if kind in ("len", "iter") or kind.startswith("constant"):
                return
            text = words(kind) + place_of(line())
            if self.strict:
                raise OnnxExporterError(text)
            texts.append(text)
        undoing = undone(self.function) if isinstance(self.function, Module) else fork_rng()
        attributes = {}
        for name, tensor in self.attributes.items():
            attributes.setdefault(id(tensor), name)
        with undoing:
            try:
                found = record(self.function, *inputs, attributes=attributes, sizes=True, reads=noted, kind=Watcher)
            except NotImplementedError as error:
                raise OnnxExporterError(f"{error}{place_of(_last(error))}") from error
        return found, texts

    # ------------------------------------------------------------- the graph
    def model(self, custom_opsets, parameters_as_inputs):
        """The onnx.ModelProto."""
        first, g = self.recordings[0], Writer(self.opset)
        g.domains.update(custom_opsets)
        for name in (*self.given_inputs, *self.given_outputs):
            g.unique(name)
        renamed = dict(zip(self.attributes, self.extra))
        asked = [node.target for node in first.graph.nodes if node.op == "get_attr"]
        lowering = Lowering(g, self.recordings, self.attributes,
                            {name: renamed.get(name) or g.unique(name) for name in asked}, self.fold)
        names, inputs = [], {}
        for i, node in enumerate([node for node in first.graph.nodes if node.op == "placeholder"]):
            names.append(self.given_inputs[i] if i < len(self.given_inputs) else g.unique(str(node.target)))
            inputs[node] = names[-1]
        outputs = [x for x in lowering.run(inputs) if x is not None]
        if len(self.given_outputs) > len(outputs) and not self.strict:
            raise RuntimeError(f"number of output names provided ({len(self.given_outputs)}) exceeded number of "
                               f"outputs ({len(outputs)})")
        return self._proto(g, inputs, outputs, parameters_as_inputs)

    def _proto(self, g, inputs, outputs, parameters_as_inputs):
        onnx = require("onnx")
        helper = onnx.helper
        names = self._outputs(g, list(inputs.values()), outputs)
        records = g.needed(names)
        used = {name for record in records for name in record.inputs}
        symbols = self._symbols(inputs)
        described = [helper.make_tensor_value_info(name, element_type(node.meta["val"][1]), [
            self.symbols.get((i, dim), n) for dim, n in enumerate(node.meta["val"][0])])
            for i, (node, name) in enumerate(inputs.items())]
        found = [helper.make_tensor_value_info(name, element_type(x.dtype), self._dims(name, x, symbols))
                 for name, x in zip(names, outputs)]
        constants = [x for name, x in g.initializers.items() if name in used]
        nodes = [helper.make_node(r.kind, r.inputs, r.outputs, name=f"node_{r.outputs[0]}", domain=r.domain or None,
                                  **r.attributes) for r in records]
        graph = helper.make_graph(nodes, "main_graph", described, found, [_tensor(onnx, x) for x in constants])
        opsets = [helper.make_opsetid("", self.opset)]
        opsets += [helper.make_opsetid(name, number) for name, number in g.domains.items()]
        made = helper.make_model(graph, opset_imports=opsets, producer_name="pytorch",
                                 producer_version=version.__version__.partition("+")[0],
                                 ir_version=helper.find_min_ir_version_for(opsets, ignore_unknown=True))
        if made.ByteSize() < 1 << 30:
            try:
                onnx.checker.check_model(made)
            except onnx.checker.ValidationError as error:
                raise OnnxExporterError(f"the written graph is not a valid ONNX graph: {error}") from error
        return made

    def _outputs(self, g, inputs, outputs):
        """Gives each output its own name, the requested name if there is one, and returns the names."""
        made = {name for record in g.records for name in record.outputs}
        taken, names = set(), []
        for i, x in enumerate(outputs):
            if not isinstance(x, Value):
                x = outputs[i] = g.constant(x)
            name = g.name_of(x)
            wanted = self.given_outputs[i] if i < len(self.given_outputs) else None
            if name not in made or name in taken or name in inputs:
                source, name = name, wanted or g.unique("output")
                g.records.append(Record("Identity", "", [source], [name], {}))
            elif wanted is not None and wanted != name:
                for record in g.records:
                    for items in (record.inputs, record.outputs):
                        items[:] = [wanted if item == name else item for item in items]
                outputs[i:] = [Value(wanted, y.shape, y.dtype, y.history) if isinstance(y, Value) and y.name == name
                               else y for y in outputs[i:]]
                made.add(wanted)
                name = wanted
            taken.add(name)
            names.append(name)
        return names

    def _symbols(self, inputs):
        """{name: sizes in the recordings}."""
        found = {}
        nodes = [[node for node in recording.graph.nodes if node.op == "placeholder"] for recording in self.recordings]
        for (i, dim), name in self.symbols.items():
            found.setdefault(name, set()).add(tuple([each[i].meta["val"][0][dim] for each in nodes]))
        return found

    def _dims(self, name, x, symbols):
        """The sizes of an output as numbers and names."""
        labels = {dim % max(x.rank, 1): label for dim, label in self.of_outputs.get(name, {}).items()}
        dims = []
        for i, n in enumerate(x.shape):
            label = labels.get(i)
            if x.dynamic[i] and label is None:
                label = label_of(x.history[i], symbols) or f"{name}_dim_{i}"
            dims.append(label if label is not None else n)
        return dims


def _tensor(onnx, x):
    """The initializer of a tensor."""
    made = onnx.TensorProto()
    made.name, made.data_type = x.name, element_type(x.dtype)
    made.dims.extend(x.shape)
    made.raw_data = np.ascontiguousarray(x.array).tobytes()
    return made


def _last(error):
    """The last line of an error's traceback that is outside this library."""
    found, trace = None, error.__traceback__
    package = __name__.partition(".")[0]
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_globals.get("__name__", "").partition(".")[0] != package:
            found = frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next
    return found


def _verify(program, task):
    """Compares the results of onnxruntime with those of the model."""
    results = program(*task.args, **task.kwargs)
    for i, (a, b) in enumerate(zip(results, leaves(task.recordings[0].result))):
        a, b = a.numpy(), b.detach().numpy()
        if a.shape != b.shape or not np.allclose(a, b, rtol=1e-3, atol=1e-5, equal_nan=True):
            largest = np.abs(a.astype(np.float64) - b).max() if a.shape == b.shape else "shapes differ"
            warn(f"Output {i} of the exported model differs from the model's: {largest}", OnnxExporterWarning)
