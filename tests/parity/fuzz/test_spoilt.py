"""Calls with one argument spoilt: some 5,000 of one seed, and a long run with a new one (`-m sweep`)."""
import os
import time

import pytest

from .spoilt import differences, names, special

pytestmark = pytest.mark.any_kernels

CALLS = 5000
#: Of a hundred calls, how many may differ: in the class of their exception, in a value, by NumPy's words or in time.
SHARE = 1.0


def check(seed, calls):
    """The calls must end as torch's, but for the share above, and none by a signal."""
    known = names()
    each = -(-calls // len(known))
    compared, found = differences(seed, [(name, k) for name in known for k in range(each)])
    text = "\n".join(f"{call}\n    {what}" for call, what in found)
    assert compared > .8 * calls, compared
    assert not [what for _, what in found if not what.startswith(("class", "value"))], text
    assert len(found) <= SHARE / 100 * compared, f"{len(found)} of {compared} differ\n{text}"


def test_some():
    check(0, CALLS)


def check_numbers(every, at):
    """Each of the numbers that operators take, replaced by each of the special ones: no value differs, and of the
    exceptions no more than above."""
    calls = [(name, k) for name in names() if name.startswith("op ") for k in range(len(special(name)))][at::every]
    compared, found = differences(0, calls, lambda name, seed, k: special(name)[k])
    text = "\n".join(f"{call}\n    {what}" for call, what in found)
    assert compared > .8 * len(calls), compared
    assert not [what for _, what in found if not what.startswith("class")], text
    assert len(found) <= SHARE / 100 * compared, f"{len(found)} of {compared} differ\n{text}"


def test_some_numbers():
    check_numbers(13, 0)


@pytest.mark.sweep
def test_all_numbers():
    check_numbers(1, 0)


@pytest.mark.sweep
def test_many():
    check(int(os.environ.get("FUZZ_SEED", time.time())), 60_000)
