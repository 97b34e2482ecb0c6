"""torch._dynamo.exc: errors of programs that cannot be captured."""
from __future__ import annotations

from enum import Enum, auto

__all__ = ["InvalidBackend", "TorchDynamoException", "Unsupported", "UserError", "UserErrorType"]


class TorchDynamoException(RuntimeError):
    """An error during the capture of a program."""


class Unsupported(TorchDynamoException):
    """A program that cannot be captured."""


class UserErrorType(Enum):
    """The kind of a UserError."""

    DYNAMIC_CONTROL_FLOW = auto()
    ANTI_PATTERN = auto()
    STANDARD_LIBRARY = auto()
    CONSTRAINT_VIOLATION = auto()
    DYNAMIC_DIM = auto()
    INVALID_INPUT = auto()
    INVALID_OUTPUT = auto()
    UNSUPPORTED_ALIASED_MUTATED_DYNAMIC_INPUTS = auto()


class UserError(TorchDynamoException):
    """An error that the caller can correct, in arguments or in sizes that are declared to vary."""

    def __init__(self, error_type: UserErrorType, msg: str, case_name: str | None = None) -> None:
        super().__init__(msg)
        self.error_type, self.msg, self.message, self.case_name = error_type, msg, msg, case_name


class InvalidBackend(TorchDynamoException):
    """An unknown backend of torch.compile."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends.")
