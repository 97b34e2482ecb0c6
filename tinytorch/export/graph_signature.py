"""torch.export.graph_signature: the meaning of the inputs and outputs of an exported graph."""
from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

__all__ = ["ConstantArgument", "CustomObjArgument", "ExportBackwardSignature", "ExportGraphSignature", "InputKind",
           "InputSpec", "OutputKind", "OutputSpec", "SymBoolArgument", "SymFloatArgument", "SymIntArgument",
           "TensorArgument", "TokenArgument"]


@dataclass
class TensorArgument:
    """A node that is a tensor."""

    name: str


@dataclass
class TokenArgument:
    """A node that orders effects."""

    name: str


@dataclass
class SymIntArgument:
    """A node that is a size."""

    name: str


@dataclass
class SymFloatArgument:
    """A node that is a number made of sizes."""

    name: str


@dataclass
class SymBoolArgument:
    """A node that is a condition on sizes."""

    name: str


@dataclass
class CustomObjArgument:
    """A node that is a custom object."""

    name: str
    class_fqn: str
    fake_val: Any = None


@dataclass
class ConstantArgument:
    """A Python value."""

    name: str
    value: int | float | bool | str | None


ArgumentSpec = (TensorArgument | SymIntArgument | SymFloatArgument | SymBoolArgument | ConstantArgument
                | CustomObjArgument | TokenArgument)


class InputKind(Enum):
    """The kind of an input of a graph."""

    USER_INPUT, PARAMETER, BUFFER, CONSTANT_TENSOR, CUSTOM_OBJ, TOKEN = auto(), auto(), auto(), auto(), auto(), auto()


class OutputKind(Enum):
    """The kind of an output of a graph."""

    USER_OUTPUT, LOSS_OUTPUT, BUFFER_MUTATION = auto(), auto(), auto()
    PARAMETER_MUTATION, GRADIENT_TO_PARAMETER, GRADIENT_TO_USER_INPUT = auto(), auto(), auto()
    USER_INPUT_MUTATION, TOKEN = auto(), auto()


@dataclass
class InputSpec:
    """An input: its kind, its node, and the name of the parameter, buffer or constant in the module."""

    kind: InputKind
    arg: ArgumentSpec
    target: str | None
    persistent: bool | None = None

    def __post_init__(self):
        if self.kind is InputKind.BUFFER:
            assert self.persistent is not None, "Failed to specify persistent flag on BUFFER."

    def __str__(self):
        target = f" target={self.target!r}" if self.target is not None else ""
        persistent = f" persistent={self.persistent}" if self.persistent is not None else ""
        return f"{self.arg.name}: {self.kind.name}{target}{persistent}"


@dataclass
class OutputSpec:
    """An output: its kind, its node, and the name of the parameter, buffer or input that it is written to."""

    kind: OutputKind
    arg: ArgumentSpec
    target: str | None

    def __str__(self):
        return f"{self.arg.name}: {self.kind.name}" + (f" target={self.target!r}" if self.target is not None else "")


@dataclass
class ExportBackwardSignature:
    """The outputs of a graph that are gradients, with the inputs that they belong to, and the output that is the
    loss."""

    gradients_to_parameters: dict[str, str]
    gradients_to_user_inputs: dict[str, str]
    loss_output: str


@dataclass
class ExportGraphSignature:
    """The meaning of the inputs and outputs of a graph, in their order.

    >>> import tinytorch as torch
    >>> print(torch.export.export(torch.nn.Linear(2, 1), (torch.ones(3, 2),)).graph_signature)
    <BLANKLINE>
    # inputs
    p_weight: PARAMETER target='weight'
    p_bias: PARAMETER target='bias'
    input_1: USER_INPUT
    <BLANKLINE>
    # outputs
    linear: USER_OUTPUT
    <BLANKLINE>
    """

    input_specs: list[InputSpec] = field(default_factory=list)
    output_specs: list[OutputSpec] = field(default_factory=list)

    def _targets(self, kind):
        return tuple([s.target for s in self.input_specs if s.kind is kind])

    def _inputs(self, kind):
        return {s.arg.name: s.target for s in self.input_specs if s.kind is kind}

    def _outputs(self, kind):
        return {s.arg.name: s.target for s in self.output_specs if s.kind is kind}

    @property
    def parameters(self) -> tuple[str, ...]:
        return self._targets(InputKind.PARAMETER)

    @property
    def buffers(self) -> tuple[str, ...]:
        return self._targets(InputKind.BUFFER)

    @property
    def non_persistent_buffers(self) -> tuple[str, ...]:
        return tuple([s.target for s in self.input_specs if s.kind is InputKind.BUFFER and not s.persistent])

    @property
    def lifted_tensor_constants(self) -> tuple[str, ...]:
        return self._targets(InputKind.CONSTANT_TENSOR)

    @property
    def lifted_custom_objs(self) -> tuple[str, ...]:
        return self._targets(InputKind.CUSTOM_OBJ)

    @property
    def user_inputs(self) -> tuple[Any, ...]:
        """The names of the nodes, or the values of what is no tensor."""
        return tuple([s.arg.value if isinstance(s.arg, ConstantArgument) else s.arg.name
                      for s in self.input_specs if s.kind is InputKind.USER_INPUT])

    @property
    def user_outputs(self) -> tuple[Any, ...]:
        """The names of the nodes, or the values of what is no tensor."""
        return tuple([s.arg.value if isinstance(s.arg, ConstantArgument) else s.arg.name
                      for s in self.output_specs if s.kind in (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)])

    @property
    def inputs_to_parameters(self) -> dict[str, str]:
        return self._inputs(InputKind.PARAMETER)

    @property
    def inputs_to_buffers(self) -> dict[str, str]:
        return self._inputs(InputKind.BUFFER)

    @property
    def inputs_to_lifted_tensor_constants(self) -> dict[str, str]:
        return self._inputs(InputKind.CONSTANT_TENSOR)

    @property
    def inputs_to_lifted_custom_objs(self) -> dict[str, str]:
        return self._inputs(InputKind.CUSTOM_OBJ)

    @property
    def buffers_to_mutate(self) -> dict[str, str]:
        return self._outputs(OutputKind.BUFFER_MUTATION)

    @property
    def parameters_to_mutate(self) -> dict[str, str]:
        return self._outputs(OutputKind.PARAMETER_MUTATION)

    @property
    def user_inputs_to_mutate(self) -> dict[str, str]:
        return self._outputs(OutputKind.USER_INPUT_MUTATION)

    @property
    def backward_signature(self) -> ExportBackwardSignature | None:
        """None: no graph made here holds a backward."""
        loss = [s.arg.name for s in self.output_specs if s.kind is OutputKind.LOSS_OUTPUT]
        if not loss:
            return None
        return ExportBackwardSignature(self._outputs(OutputKind.GRADIENT_TO_PARAMETER),
                                       self._outputs(OutputKind.GRADIENT_TO_USER_INPUT), loss[0])

    @property
    def assertion_dep_token(self) -> None:
        return None

    @property
    def input_tokens(self) -> tuple[str, ...]:
        return tuple([s.arg.name for s in self.input_specs if s.kind is InputKind.TOKEN])

    @property
    def output_tokens(self) -> tuple[str, ...]:
        return tuple([s.arg.name for s in self.output_specs if s.kind is OutputKind.TOKEN])

    def __str__(self):
        inputs = "\n".join(map(str, self.input_specs))
        outputs = "\n".join(map(str, self.output_specs))
        return f"\n# inputs\n{inputs}\n\n# outputs\n{outputs}\n"
