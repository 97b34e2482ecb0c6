"""What the suite says at its end, also when several processes share it (pytest-xdist)."""
import builtins
import gc
import multiprocessing
import os
import sys

import pytest

_TABLES = [f"{__package__}.parity.test_{table}" for table in ("op_db", "module_db", "optim_db")]
_said = pytest.StashKey()


def _summaries():
    """What torch's tables hold that is not implemented here (and so was not tested)."""
    return [sys.modules[table].summary() for table in _TABLES if table in sys.modules]


def pytest_configure(config):
    """What tests hand to processes is local to them, so these are forked, which from Python 3.14 on has to be said.
    Tests of other ways name them."""
    if hasattr(os, "fork"):
        multiprocessing.set_start_method("fork", force=True)


def _freeze():
    """Leaves all objects that there are, some million with torch's, out of collections of garbage and of searches for
    who holds an object. Tests make hundreds of both."""
    gc.collect()
    gc.freeze()


def pytest_collection_finish(session):
    _freeze()


@pytest.fixture
def no_new_records(monkeypatch):
    """No function gets a table of records, or a record (autograd/repeats.py). They are made once for all, but at a call
    that follows from what tests did before."""
    from tinytorch.autograd import overridable, repeats
    monkeypatch.setattr(overridable, "_CALLS_IN_PYTHON", 0)
    monkeypatch.setattr(repeats, "learn", lambda repeats, key, call, args, kwargs: call(*args, **kwargs))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    vars(builtins).pop("_", None)              # the last result that a docstring's example showed


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    if nextitem is None or nextitem.path != item.path:
        _freeze()


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["summaries"] = _summaries()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    node.config.stash[_said] = getattr(node, "workeroutput", {}).get("summaries", [])


def pytest_terminal_summary(terminalreporter, config):
    for line in config.stash.get(_said, None) or _summaries():
        terminalreporter.write_line(line)
