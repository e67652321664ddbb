"""Small requests cost what the ledger says: no commit makes them dearer in silence."""

import pytest

from tests.bench.ledger.book import changes, python_version, read_ledger
from tests.bench.ledger.bytecodes import BytecodeCounter
from tests.bench.ledger.measure import REQUESTS, measure


def test_small_requests_cost_what_the_ledger_says():
    """After a change that is meant: `python -m tests.bench.ledger --record`, and the commit's message says why."""
    known = read_ledger().get(python_version())
    if known is None:
        pytest.skip(f"ledger.toml has no costs of Python {python_version()}: python -m tests.bench.ledger --record")
    costs = {name: by_function.total() // REQUESTS for name, by_function in measure().items()}
    assert changes(known, costs) == {}


@pytest.mark.parametrize(("cost", "is_changed"), [(1_000, False), (1_020, False), (1_021, True), (979, True)])
def test_a_change_within_two_in_a_hundred_is_none(cost, is_changed):
    assert bool(changes({"produce": 1_000}, {"produce": cost})) is is_changed


def test_a_cost_that_the_ledger_does_not_have_is_a_change():
    assert changes({}, {"produce": 7}) == {"produce": "0 → 7"}


def test_the_same_work_counts_the_same_and_more_work_more():
    counter = BytecodeCounter()

    def counted(times: int) -> dict[str, int]:
        counter.start()
        _work(times)
        return counter.stop()

    first, again, more = counted(3), counted(3), counted(4)
    assert first == again
    assert sum(more.values()) > sum(first.values())
    assert any(name.endswith(": _work") for name in first)


def _work(times: int) -> int:
    return sum(number * number for number in range(times))
