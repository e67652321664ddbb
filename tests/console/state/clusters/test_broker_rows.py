from dataclasses import replace

from console.kit.gateway.interface import BrokerView
from console.state.clusters.broker_rows import FORGET_AFTER_MS, LEFT_TIMES_MAX, BrokerRow, broker_rows

ONE, TWO = BrokerView(1, "host-a", 9092), BrokerView(2, "host-b", 9092, "rack-b")


def test_a_registered_broker_that_did_not_change_is_the_same_row():
    before = broker_rows([ONE, TWO], {}, set(), at_ms=1_000)

    assert broker_rows([ONE, TWO], before, set(), at_ms=2_000) == before


def test_a_broker_that_left_stays_as_missing_with_its_last_address():
    before = broker_rows([ONE, TWO], {}, set(), at_ms=1_000)
    row = broker_rows([ONE], before, set(), at_ms=2_000)[2]

    assert (row.host, row.is_registered, row.changed_at_ms) == ("host-b", False, 2_000)
    assert broker_rows([ONE], {1: before[1], 2: row}, set(), at_ms=3_000)[2].changed_at_ms == 2_000


def test_a_broker_that_came_back_is_registered_since_then():
    before = broker_rows([ONE, TWO], {}, set(), at_ms=1_000)
    gone = broker_rows([ONE], before, set(), at_ms=2_000)
    row = broker_rows([ONE, TWO], gone, set(), at_ms=3_000)[2]

    assert (row.is_registered, row.changed_at_ms) == (True, 3_000)


def test_a_broker_only_named_in_a_replica_list_is_missing():
    row = broker_rows([ONE], {}, {1, 7}, at_ms=1_000)[7]

    assert (row.is_registered, row.host) == (False, "")


def test_a_missing_broker_is_forgotten_after_a_day_unless_it_holds_replicas():
    gone = broker_rows([ONE], broker_rows([ONE, TWO], {}, set(), 0), set(), at_ms=0)

    assert 2 in broker_rows([ONE], gone, set(), at_ms=FORGET_AFTER_MS - 1)
    assert 2 not in broker_rows([ONE], gone, set(), at_ms=FORGET_AFTER_MS)
    assert 2 in broker_rows([ONE], gone, {2}, at_ms=FORGET_AFTER_MS)


def test_a_broker_that_was_removed_here_is_not_missed_unless_it_holds_replicas():
    gone = {2: BrokerRow(2, changed_at_ms=0)}
    assert 2 not in broker_rows([ONE], gone, set(), at_ms=1, removed={2})
    assert 2 in broker_rows([ONE], gone, {2}, at_ms=1, removed={2})
    assert 2 in broker_rows([replace(ONE, id=2)], {}, set(), at_ms=1, removed={2})


def test_when_a_broker_left_is_remembered_and_bounded():
    rows = {}
    for round_ in range(LEFT_TIMES_MAX + 5):
        rows = broker_rows([ONE, TWO], rows, set(), at_ms=2 * round_)
        rows = broker_rows([ONE], rows, set(), at_ms=2 * round_ + 1)

    assert rows[1].left_at_ms == ()
    assert len(rows[2].left_at_ms) == LEFT_TIMES_MAX
    assert rows[2].left_at_ms[-1] == 2 * (LEFT_TIMES_MAX + 4) + 1
