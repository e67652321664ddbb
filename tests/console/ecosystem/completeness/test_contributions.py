"""What increments add: all that came, and of it what had come before."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.audit.increment import DEAD, AuditTier
from broker.audit.latency import Latency
from broker.audit.ledger import AuditState
from console.ecosystem.completeness.contributions import AHEAD_MS, contribution, series_of
from console.ecosystem.completeness.points import TIERS, merged
from tests.broker.audit.made import MINUTE, increment_of, records, windows_of

NOW_MS = 200 * MINUTE


def contributed(*increments, now_ms=NOW_MS):
    ledger, whole = AuditState(), {}
    for increment in increments:
        if ledger.add(increment):
            for at_ms, point in contribution(increment, ledger.stories[increment.chain].undone, now_ms).items():
                whole[at_ms] = merged([point, *([whole[at_ms]] if at_ms in whole else [])])
    return whole


def consumed(*offsets, minute=0, **named):
    return increment_of(AuditTier.CONSUMED, *records(*offsets, minute=minute), source="g", **named)


def test_what_a_killed_group_counts_again_came_twice():
    result = contributed(consumed(0, 1, 2), consumed(0, 1, 2, 3, epoch="f"))
    assert (result[0].count, result[0].again, result[0].distinct) == (7, 3, 4)


def test_who_goes_back_into_the_middle_reads_again_from_there():
    result = contributed(consumed(*range(10)), consumed(*range(6, 10), sequence=1))
    assert (result[0].count, result[0].again) == (14, 4)


def test_an_increment_that_is_read_twice_adds_nothing():
    assert contributed(consumed(0, 1), consumed(0, 1)) == contributed(consumed(0, 1))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 30)), max_size=12))
def test_a_group_that_goes_back_to_what_it_committed_has_had_each_record_once_and_the_rest_again(moves):
    """Commits lie at the ends of increments. It may go back over several of them, any number of times."""
    ends, increments, read = [0], [], 0
    for sequence, (back, count) in enumerate(moves):
        start = ends[max(0, len(ends) - 1 - back)]
        end = max(start + count, ends[-1])
        ends = [end for end in ends if end <= start] + [end]
        increments.append(consumed(*range(start, end), sequence=sequence))
        read += end - start
    whole = merged(contributed(*increments).values())
    assert (whole.count, whole.distinct) == (read, ends[-1])


def test_dead_letters_of_a_batch_that_is_put_again_are_counted_once():
    sunk = replace(
        increment_of(AuditTier.SUNK, *records(0, 2), source="pg", end=3), aside={DEAD: windows_of(*records(1))}
    )
    result = contributed(sunk, replace(sunk, epoch="f"))
    assert (result[0].distinct, result[0].aside) == (2, {DEAD: 1})


def test_times_that_are_nobodys_and_those_that_are_not_kept_are_left_out():
    late, ahead = 90 * 24 * 60, 90 * 24 * 60 + AHEAD_MS // MINUTE
    now_ms = late * MINUTE
    kept = contributed(
        increment_of(
            AuditTier.APPENDED,
            (-1, 0, b""),
            *[(minute * MINUTE, minute, b"") for minute in (1, late, ahead, ahead + 1)],
        ),
        now_ms=now_ms,
    )
    assert [at_ms // MINUTE for at_ms in kept] == [late, ahead]
    assert TIERS[-1].kept_ms < now_ms


def test_latencies_are_of_the_window_of_their_records():
    latency = Latency()
    latency.add(70)
    result = contributed(replace(consumed(0), latencies={0: latency}))
    assert result[0].latency == latency


@pytest.mark.parametrize(
    ("tier", "source", "reader"),
    [
        (AuditTier.PRODUCED, "orders-service", ""),
        (AuditTier.APPENDED, "counter", "counter"),
        (AuditTier.APPENDED, "broker-2", "brokers"),
        (AuditTier.CONSUMED, "broker-2", "broker-2"),
        (AuditTier.MIRRORED, "a->b", "a->b"),
    ],
)
def test_whose_series_it_is(tier, source, reader):
    assert series_of(increment_of(tier, *records(0), source=source)) == ("t", tier, reader)
