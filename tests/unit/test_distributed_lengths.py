"""Messages longer than MPI's calls take: in pieces, with the bits that one message has."""
from pathlib import Path

import pytest

from tests.parity import ranks

pytestmark = pytest.mark.skipif(bool(ranks.missing()), reason=ranks.missing())
PROGRAMS = Path(ranks.__file__).with_name("ranks_programs")


@pytest.mark.parametrize("size", [2, 3])
def test_pieces_have_the_bits_of_one_message(size):
    """Every collective, dtype, layout, operation, message from rank to rank and object of the program."""
    for results in ranks.run(PROGRAMS / "lengths.py", "tinytorch", size, limit=400):
        whole = results.pop(0)
        limits = [limit for limit in results if isinstance(limit, int)]
        assert limits == [7, 48] and len(whole) > 800
        assert results[7, "calls"] > results[48, "calls"] > 1000
        for limit in limits:
            # MPI chooses the order in which three numbers meet by the length of the message
            different = [(name, outcome, results[limit][name]) for name, outcome in whole.items()
                         if results[limit][name] != outcome and not (size > 2 and name.startswith("rough"))]
            assert not different, (limit, different[:3])


@pytest.mark.sweep
def test_more_than_two_to_the_31():
    for results in ranks.run(PROGRAMS / "long.py", "tinytorch", 2, limit=1500):
        assert len(results) == 11 and all(outcome is True for outcome in results.values()), results
