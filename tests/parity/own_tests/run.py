"""python run.py FRAMEWORK CHECKOUT RESULTS FILE ...: runs PyTorch's test files of a checkout of its repository.

FRAMEWORK is torch or tinytorch, RESULTS the file that gets, in JSON, what became of each test: "ok", "skip: why", or
the last lines of the error. FILE is a module below CHECKOUT/test: test_fx, fx.test_dce_pass.
"""
import importlib
import json
import sys
import types
import unittest
from pathlib import Path

#: Tests of torch's schemas of operators, and of models that the project's own tests compare graph by graph.
LEFT_OUT = ("TestOperatorSignatures", "TestVisionTracing")


class Outcomes(unittest.TestResult):
    """What became of each test, by name."""

    def __init__(self):
        super().__init__()
        self.found = {}

    def _told(self, test, said):
        test = getattr(test, "test_case", test)                 # of a subtest
        name = f"{type(test).__name__}.{test._testMethodName}"
        if self.found.get(name, "ok") == "ok":
            self.found[name] = said

    def addSuccess(self, test):
        """A test that passed."""
        self._told(test, "ok")

    def addError(self, test, err):
        """A test that raised."""
        said = [line for line in self._exc_info_to_string(err, test).strip().splitlines()
                if not line.startswith("This message can be suppressed") and "PYTORCH_TEST" not in line]
        self._told(test, "error: " + "\n".join(said[-12:]))

    def addFailure(self, test, err):
        """A test that failed."""
        self.addError(test, err)

    def addSubTest(self, test, subtest, err):
        """A part of a test."""
        if err is not None:
            self.addError(test, err)

    def addSkip(self, test, reason):
        """A test that was skipped."""
        self._told(test, f"skip: {reason}")

    def addExpectedFailure(self, test, err):
        """A test that is meant to fail, and does."""
        self._told(test, "ok")

    def addUnexpectedSuccess(self, test):
        """A test that is meant to fail, and does not."""
        self._told(test, "error: unexpected success")


def _tests(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from _tests(test)
        else:
            yield test


def _another_device():
    """Forks for another device import its module before anything else: a module that has no device."""
    made = types.ModuleType("torch_npu")
    made.npu, made.__path__ = types.SimpleNamespace(is_available=bool), []
    made.testing = types.ModuleType("torch_npu.testing")
    sys.modules |= {"torch_npu": made, "torch_npu.testing": made.testing}


def _all_functionals(cls):
    """Makes the tests of torch.nn.functional for all of it: PyTorch's find functions by their annotations, and the
    annotations here are in stubs."""
    if cls is not None:
        functional = importlib.import_module("torch.nn.functional")
        for name in dir(functional):
            if name.islower() and name[0] != "_" and name not in cls.IGNORE_FUNCS and callable(
                    getattr(functional, name)):
                setattr(cls, f"test_nn_functional_{name}", cls.generate_test_func(name, getattr(functional, name)))


def main(framework, checkout, results, *files):
    """Runs the files."""
    root = Path(__file__).parents[3]
    sys.path[:1] = [str(Path(checkout) / "test"), str(root)]
    if framework == "tinytorch":
        importlib.import_module("tinytorch").install()
        importlib.import_module("tests.parity.own_tests.stand_ins").enter()
    kept = importlib.import_module("tests.libraries.under_torch").declare if framework == "torch" else list
    kept = [kept()]                                # what is declared lives as long as this
    _another_device()
    outcomes, done = Outcomes(), set()
    for file in files:
        module = importlib.import_module(file)
        if framework == "tinytorch":
            _all_functionals(vars(module).get("TestFunctionalTracing"))
        for test in _tests(unittest.defaultTestLoader.loadTestsFromModule(module)):
            kind = type(test)
            if not kind.__name__.startswith(LEFT_OUT) and test.id() not in done:
                done.add(test.id())
                test.run(outcomes)
    Path(results).write_text(json.dumps(outcomes.found, indent=0), encoding="utf-8")
    kept.clear()


if __name__ == "__main__":
    main(*sys.argv[1:])
