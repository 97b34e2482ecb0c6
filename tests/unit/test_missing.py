"""Names that are not here."""
import importlib

import pytest

import tinytorch

SPACES = ["tinytorch", "tinytorch.autograd", "tinytorch.cuda", "tinytorch.distributions", "tinytorch.fft",
          "tinytorch.func", "tinytorch.linalg", "tinytorch.masked", "tinytorch.nn", "tinytorch.nn.utils",
          "tinytorch.optim", "tinytorch.optim.lr_scheduler", "tinytorch.signal", "tinytorch.special",
          "tinytorch.utils", "tinytorch.utils.data"]


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
