"""torch._dynamo.exc: errors of programs that cannot be captured."""
from __future__ import annotations

from enum import Enum, auto

__all__ = ["InvalidBackend", "TorchDynamoException", "Unsupported", "UserError", "UserErrorType"]


class TorchDynamoException(RuntimeError):
    """What is raised where a program is captured."""


class Unsupported(TorchDynamoException):
    """A program that cannot be captured."""


class UserErrorType(Enum):
    """What is wrong with a program that is to be captured."""

    DYNAMIC_CONTROL_FLOW = auto()
    ANTI_PATTERN = auto()
    STANDARD_LIBRARY = auto()
    CONSTRAINT_VIOLATION = auto()
    DYNAMIC_DIM = auto()
    INVALID_INPUT = auto()
    INVALID_OUTPUT = auto()
    UNSUPPORTED_ALIASED_MUTATED_DYNAMIC_INPUTS = auto()


class UserError(TorchDynamoException):
    """What a caller can set right: arguments, or sizes that were said to vary."""

    def __init__(self, error_type: UserErrorType, msg: str, case_name: str | None = None) -> None:
        super().__init__(msg)
        self.error_type, self.msg, self.message, self.case_name = error_type, msg, msg, case_name


class InvalidBackend(TorchDynamoException):
    """A backend of torch.compile that there is not."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends.")
