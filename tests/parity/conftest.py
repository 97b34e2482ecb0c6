"""Parity tests compare with the real torch: without it there is nothing to run here."""
import os

import pytest

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

try:
    import torch
except ImportError:
    collect_ignore_glob = ["test_*.py", "adapter.py"]
else:
    from torch.testing._internal import common_utils

    import tinytorch

    torch.set_num_threads(1)
    # Each seeding notes down for GPUs that may yet be used, and each making of samples looks for a unittest: both walk
    # the whole stack, which took half of the time of the tables.
    torch.cuda.manual_seed_all = torch.xpu.manual_seed_all = torch.mtia.manual_seed_all = lambda seed: None
    common_utils.extract_test_fn = lambda: None


def pytest_runtest_setup(item):
    """Both streams of random numbers begin anew, so that no test depends on what ran before it."""
    torch.manual_seed(0)
    tinytorch.manual_seed(0)


def pytest_configure(config):
    config.addinivalue_line("markers", "counted(nothing={id: reason}, of='values'): the test must compare something "
                                       "('errors' are counted apart); cases that cannot are listed, and must not")


def _nothing(item):
    """{id: reason} of the cases of a test that have nothing to compare."""
    return item.get_closest_marker("counted").kwargs.get("nothing", {})


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector, name, obj):
    """What is listed with the mark are cases that exist."""
    items = yield
    if isinstance(items, list) and items and items[0].get_closest_marker("counted"):
        unknown = set(_nothing(items[0])) - {item.callspec.id for item in items if hasattr(item, "callspec")}
        if unknown:
            raise pytest.Collector.CollectError(f"{name}: listed as having nothing to compare, but no cases: {unknown}")
    return items


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """A test marked `counted` has compared something, or is listed, and then skipped with the reason given there."""
    mark = pyfuncitem.get_closest_marker("counted")
    if mark is None:
        return (yield)
    from .adapter import Comparisons
    kind = mark.kwargs.get("of", "values")
    before = getattr(Comparisons, kind)
    result = yield
    made = getattr(Comparisons, kind) - before
    reason = _nothing(pyfuncitem).get(pyfuncitem.callspec.id) if hasattr(pyfuncitem, "callspec") else None
    if reason and made:
        pytest.fail(f"listed as having nothing to compare ({reason}), but compared {made} {kind}", pytrace=False)
    if reason:
        pytest.skip(reason)
    if not made:
        pytest.fail(f"no {kind} were compared", pytrace=False)
    return result
