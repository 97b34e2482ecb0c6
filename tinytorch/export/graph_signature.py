"""torch.export.graph_signature: what the inputs and outputs of a graph stand for. Names to import."""
from enum import Enum, auto

from .._refused import refused_class

#: What stands for an input or output, and the lists of those.
_OF_GRAPHS = """ConstantArgument CustomObjArgument ExportBackwardSignature ExportGraphSignature InputSpec OutputSpec
    SymBoolArgument SymFloatArgument SymIntArgument TensorArgument TokenArgument""".split()
__all__ = ["InputKind", "OutputKind", *_OF_GRAPHS]
globals().update({_name: refused_class(__name__, _name, "graphs of modules are not made here") for _name in _OF_GRAPHS})


class InputKind(Enum):
    """What an input of a graph is."""

    USER_INPUT, PARAMETER, BUFFER, CONSTANT_TENSOR, CUSTOM_OBJ, TOKEN = auto(), auto(), auto(), auto(), auto(), auto()


class OutputKind(Enum):
    """What an output of a graph is."""

    USER_OUTPUT, LOSS_OUTPUT, BUFFER_MUTATION = auto(), auto(), auto()
    PARAMETER_MUTATION, GRADIENT_TO_PARAMETER, GRADIENT_TO_USER_INPUT = auto(), auto(), auto()
    USER_INPUT_MUTATION, TOKEN = auto(), auto()
