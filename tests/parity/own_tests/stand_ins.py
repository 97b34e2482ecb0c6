"""What PyTorch's test files import of `torch.testing._internal`, as far as they are run here: made of unittest.

The tables of operators in there are C++'s schemas in Python; they are empty here, so tests made of them do not exist.
"""
import contextlib
import io
import sys
import types
import unittest
from importlib import import_module


class TestCase(unittest.TestCase):
    """unittest's, which compares tensors and numbers as torch.testing does."""

    def assertEqual(self, first, second, msg=None, *, atol=None, rtol=None, exact_dtype=True, **options):
        """The same values."""
        torch = sys.modules["torch"]
        if isinstance(first, torch.Tensor) or (
                _holds(first, (torch.Tensor, float)) and type(first) in (list, tuple, dict, float)):
            torch.testing.assert_close(first, second, atol=atol, rtol=rtol, equal_nan=True, check_dtype=exact_dtype)
        else:
            super().assertEqual(first, second, msg)

    def assertExpectedInline(self, actual, expect, skip=0):
        """The same text."""
        super().assertEqual(actual, expect)

    @contextlib.contextmanager
    def capture_stderr(self):
        """A list that gets what is written there."""
        found = []
        with contextlib.redirect_stderr(io.StringIO()) as stream:
            yield found
        found.append(stream.getvalue())

    def checkScript(self, script, inputs):
        """torch.jit.script gives what the module does."""
        torch = sys.modules["torch"]
        self.assertEqual(torch.jit.script(script)(*inputs), script(*inputs))


def _holds(value, kinds):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return any([_holds(x, kinds) for x in value])
    return isinstance(value, kinds)


def parametrize(names, values, name_fn=None):
    """A test for each of the values; it is called after them, as PyTorch calls it."""
    names = [name.strip() for name in names.split(",")]

    def mark(test):
        test.given = [(given if len(names) > 1 else (given,)) for given in values], names, name_fn
        return test
    return mark


def _called(given, names, number):
    return "_".join([f"{name}_{value}" if isinstance(value, (int, float, str, bool)) else f"{name}{number}"
                     for name, value in zip(names, given)])


def _one(test, given):
    def one(self):
        test(self, **given)
    return one


def instantiate_parametrized_tests(cls):
    """Puts the tests into the class."""
    for name, test in list(vars(cls).items()):
        if not hasattr(test, "given"):
            continue
        delattr(cls, name)
        values, names, name_fn = test.given
        for number, given in enumerate(values):
            one = _one(test, dict(zip(names, given)))
            said = name_fn(*given) if name_fn else _called(given, names, number)
            setattr(cls, f"{name}_{said}", one)
    return cls


def _same(x):
    return x


def _no_devices(cls, scope, **options):
    scope.pop(cls.__name__, None)


_MODULES = {
    "": {},
    ".common_utils": {
        "TestCase": TestCase, "run_tests": None, "find_library_location": None, "parametrize": parametrize,
        "instantiate_parametrized_tests": instantiate_parametrized_tests, "IS_FBCODE": False,
        "IS_WINDOWS": sys.platform == "win32",
        "IS_MACOS": True},                    # where these files load no library of C++
    ".jit_utils": {"JitTestCase": TestCase},
    ".common_methods_invocations": {"op_db": []},
    ".common_device_type": {"ops": lambda *given, **options: _same, "onlyCPU": _same,
                            "instantiate_device_type_tests": _no_devices},
    ".common_quantization": {"skipIfNoDynamoSupport": unittest.skip("there is no compiler of Python's bytecode")}}


def enter():
    """Puts the modules where `import` finds them; torch.testing is there already."""
    import_module("torch.testing")
    for name, values in _MODULES.items():
        name = "torch.testing._internal" + name
        module = sys.modules[name] = types.ModuleType(name)
        vars(module).update(values, __path__=[])
