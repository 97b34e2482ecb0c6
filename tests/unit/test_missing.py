"""Names that are not here."""
import importlib
import subprocess
import sys

import pytest

import tinytorch

SPACES = ["tinytorch", "tinytorch.autograd", "tinytorch.cuda", "tinytorch.distributions", "tinytorch.fft",
          "tinytorch.func", "tinytorch.linalg", "tinytorch.masked", "tinytorch.nn", "tinytorch.nn.functional",
          "tinytorch.nn.utils", "tinytorch.optim", "tinytorch.optim.lr_scheduler", "tinytorch.signal",
          "tinytorch.special", "tinytorch.utils", "tinytorch.utils.data"]


@pytest.mark.parametrize("space", SPACES)
def test_a_missing_name_says_where_there_is_a_list(space):
    module = importlib.import_module(space)
    said = f"tinytorch has no {space[4:]}.no_such_name: see docs/coverage.md"
    assert not hasattr(module, "no_such_name")
    with pytest.raises(AttributeError) as error:
        module.no_such_name
    assert str(error.value) == said and error.value.name == "no_such_name" and error.value.obj is module
    with pytest.raises(ImportError) as error:
        exec(f"from {space} import no_such_name")
    assert str(error.value) == said and error.value.name == space


def test_parts_that_are_loaded_later_can_be_imported_by_either_statement():
    from tinytorch import fft
    assert tinytorch.fft is fft and tinytorch.utils.checkpoint.checkpoint


def test_what_dir_lists_is_there():
    """Libraries go through the names of these."""
    rooms = [tinytorch.Tensor, tinytorch, tinytorch.nn.functional, tinytorch._C._VariableFunctions, tinytorch._C._nn]
    for room in [*rooms, tinytorch._C._linalg, tinytorch._C._fft, tinytorch._C._special, tinytorch.special]:
        assert [name for name in dir(room) if not hasattr(room, name)] == []
    assert {"add", "relu"} <= {*dir(tinytorch._C._VariableFunctions)} and "linalg_det" in dir(tinytorch._C._linalg)


def test_what_is_loaded_when_it_is_first_asked_for():
    program = """
import sys, tinytorch as torch
late = ["func", "linalg", "nn", "optim", "serialization", "utils.data"]
assert not [name for name in late if f"tinytorch.{name}" in sys.modules]
x = torch.ones(2, requires_grad=True)
y = torch.stack([x.sum(), x.prod()])
assert len(torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True)[0]) == 2         # autograd asks for vmap
assert torch.vmap(torch.sin)(x).shape == (2,) and torch.vmap is torch.func.vmap and "vmap" in vars(torch)
from tinytorch import *
assert load is torch.serialization.load and Tensor is torch.Tensor and not hasattr(torch, "no_such_name")
"""
    subprocess.run([sys.executable, "-c", program], check=True)
