"""ONNXProgram: a model of ONNX's operators in memory, which can be saved, and run by onnxruntime."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..autograd.grad_mode import no_grad
from ..capture.twice import leaves
from ..checkpoint.whole_file import replacing
from ..dtypes import of
from ..tensor import Tensor, wrap
from .errors import OnnxExporterError
from .package import require
from .writer import element_type

__all__ = ["ONNXProgram"]

#: A protobuf file holds less than 2 GiB. Weights of this size or more go to a file beside it.
_LARGEST = 1 << 31


class ONNXProgram:
    """The result of torch.onnx.export: a model, and the inputs of a call of the original model.

    model_proto       the onnx.ModelProto
    exported_program  None: the model was recorded by a call of it
    """

    def __init__(self, model_proto: Any, exported_program: Any = None) -> None:
        self.model_proto, self.exported_program = model_proto, exported_program
        self._session, self._starter = None, None

    @property
    def model(self) -> Any:
        """The onnx.ModelProto (in torch, an onnx_ir.Model of it)."""
        return self.model_proto

    def __repr__(self) -> str:
        graph = self.model_proto.graph
        opsets = ", ".join([f"{x.domain or 'ai.onnx'} {x.version}" for x in self.model_proto.opset_import])
        lines = [f"ONNXProgram({graph.name}, {opsets}"]
        lines += [f"    {kind} {x.name}: {_shown(x.type.tensor_type)}" for kind, items in (
            ("input ", graph.input), ("output", graph.output)) for x in items]
        return "\n".join([*lines, f"    {len(graph.node)} nodes, {len(graph.initializer)} initializers)"])

    # ------------------------------------------------------------- files
    def save(self, destination: str | os.PathLike, *, include_initializers: bool = True,
             keep_initializers_as_inputs: bool = False, external_data: bool | None = None) -> None:
        """Writes the model to a file, as a whole or not at all.

        include_initializers         whether the file contains the weights
        keep_initializers_as_inputs  whether callers may pass other weights
        external_data                whether the weights are in `destination`.data, beside it; None: only if the file
                                     would be larger than 2 GB, the limit of protobuf
        """
        onnx = require("onnx")
        model = self._changed(include_initializers, keep_initializers_as_inputs)
        if external_data is None:
            external_data = sum([len(x.raw_data) for x in model.graph.initializer]) >= _LARGEST
        if not external_data:
            data = model.SerializeToString()
            with replacing(os.fspath(destination)) as file:
                file.write(data)
            return
        path = Path(destination)
        beside = path.with_name(path.name + ".data")
        apart = onnx.ModelProto()
        apart.CopyFrom(model)
        with replacing(str(beside)) as file:
            _moved(apart, file, beside.name)
        data = apart.SerializeToString()
        with replacing(str(path)) as file:
            file.write(data)

    def _changed(self, include, as_inputs):
        if include and not as_inputs:
            return self.model_proto
        model = type(self.model_proto)()
        model.CopyFrom(self.model_proto)
        if as_inputs:
            make = require("onnx").helper.make_tensor_value_info
            model.graph.input.extend([make(x.name, x.data_type, list(x.dims)) for x in model.graph.initializer])
        if not include:
            del model.graph.initializer[:]
        return model

    def apply_weights(self, state_dict: Mapping[str, Tensor]) -> None:
        """Replaces initializers by the tensors with the same names. OnnxExporterError for another shape."""
        found = {x.name: x for x in self.model_proto.graph.initializer}
        for name, tensor in state_dict.items():
            if name not in found:
                continue
            if list(found[name].dims) != list(tensor.shape):
                raise OnnxExporterError(f"{name} has the shape {tuple(tensor.shape)}, and {tuple(found[name].dims)} in "
                                        "the model")
            array = tensor.detach()._array
            found[name].data_type = element_type(of(array))
            found[name].raw_data = np.ascontiguousarray(array).tobytes()
        self.release()

    def rename_axes(self, rename_mapping: Mapping[str, str]) -> None:
        """Gives dynamic dimensions other names: {name: new name}."""
        for value in (*self.model_proto.graph.input, *self.model_proto.graph.output):
            for dim in value.type.tensor_type.shape.dim:
                if dim.dim_param in rename_mapping:
                    dim.dim_param = rename_mapping[dim.dim_param]
        self.release()

    def optimize(self) -> None:
        """Changes nothing: constants were folded when the model was exported."""

    # ------------------------------------------------------------- calls
    def initialize_inference_session(self, initializer: Callable[[bytes], Any] | None = None) -> None:
        """Makes the onnxruntime session for calls from the model's bytes, by `initializer` if it is given."""
        self._starter = initializer or self._starter
        data = self.model_proto.SerializeToString()
        if self._starter is not None:
            self._session = self._starter(data)
            return
        runtime = require("onnxruntime")
        self._session = runtime.InferenceSession(data, providers=["CPUExecutionProvider"])

    def release(self) -> None:
        """Releases the session; the next call makes a new one."""
        self._session = None

    def __call__(self, *args: Any, **kwargs: Any) -> Sequence[Tensor]:
        """The outputs that onnxruntime computes, a tuple of tensors, for the arguments of the original model."""
        if self._session is None:
            self.initialize_inference_session()
        return self._tensors(self._session.run(None, self._fed(args, kwargs)))

    def call_reference(self, *args: Any, **kwargs: Any) -> Sequence[Tensor]:
        """The outputs that the onnx package computes with its operators in Python, which are slow."""
        require("onnx")
        from onnx.reference import ReferenceEvaluator
        return self._tensors(ReferenceEvaluator(self.model_proto).run(None, self._fed(args, kwargs)))

    def compute_values(self, value_names: Sequence[str], args: Sequence[Any] = (),
                       kwargs: Mapping[str, Any] | None = None) -> Sequence[Tensor]:
        """The values with these names, including intermediate values, for the arguments of the original model."""
        helper, model = require("onnx").helper, type(self.model_proto)()
        model.CopyFrom(self.model_proto)
        del model.graph.output[:]
        model.graph.output.extend([helper.make_empty_tensor_value_info(name) for name in value_names])
        found = ONNXProgram(model)
        found.initialize_inference_session(self._starter)
        return self._tensors(found._session.run(None, self._fed(args, kwargs or {})))

    def _fed(self, args, kwargs):
        names = [x.name for x in self.model_proto.graph.input]
        given = [x.detach() for x in leaves([*args, *kwargs.values()])]
        if len(given) != len(names):
            raise OnnxExporterError(f"the model takes {len(names)} tensors ({', '.join(names)}), and {len(given)} were "
                                    "given")
        return {name: np.ascontiguousarray(x.numpy()).reshape(x.shape) for name, x in zip(names, given)}

    @staticmethod
    def _tensors(found):
        with no_grad():
            return tuple([wrap(np.array(x)) for x in found])


def _shown(kind):
    sizes = [dim.dim_param or str(dim.dim_value) for dim in kind.shape.dim]
    return f"{require('onnx').TensorProto.DataType.Name(kind.elem_type).lower()}[{', '.join(sizes)}]"


def _moved(model, file, name):
    """Writes the weights of a model to a file, and notes in the model that they are in the file of this name."""
    place = require("onnx").TensorProto.EXTERNAL
    for tensor in model.graph.initializer:
        begin = -file.tell() % 4096
        file.write(b"\0" * begin)
        for key, value in (("location", name), ("offset", file.tell()), ("length", len(tensor.raw_data))):
            entry = tensor.external_data.add()
            entry.key, entry.value = key, str(value)
        tensor.data_location = place
        file.write(tensor.raw_data)
        tensor.ClearField("raw_data")
