"""Counts of brokers beside those of clients: numbers are compared, checksums are not there, and groups lose nothing."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.audit.increment import BROKER, AuditTier, Chain, Increment
from broker.audit.ledger import AuditState
from broker.audit.report import report_lines
from broker.audit.states import WindowState
from broker.audit.tally import RecordTally, window_of
from broker.audit.verdict import APPENDED, BROKERS, judge
from tests.broker.audit.made import MINUTE, increment_of, records
from tests.examples import examples

LATER = 60 * MINUTE
PRODUCED, READ, CONSUMED = AuditTier.PRODUCED, AuditTier.APPENDED, AuditTier.CONSUMED


def counted(*expected, sequence=0, epoch="e", term=1, start=None, end=None):
    """By a broker, from headers: no checksums, and bytes of its own."""
    increment = increment_of(
        AuditTier.APPENDED, *expected, source=BROKER, sequence=sequence, epoch=epoch, start=start, end=end
    )
    windows = {window: replace(tally, checksum=0, bytes=61) for window, tally in increment.windows.items()}
    return replace(increment, windows=windows, term=term, is_by_header=True)


def step(start, end, group="billing", sequence=0, epoch="e", at_ms=LATER, partition=0):
    return Increment(Chain(AuditTier.COMMITTED, group, "t", partition), epoch, sequence, at_ms, {}, start, end)


def judged(*increments, now_ms=LATER):
    ledger = AuditState()
    for increment in increments:
        ledger.add(increment)
    return judge(ledger, "t", now_ms)


def states(verdict):
    return [row.state for row in verdict.rows]


def test_an_increment_of_a_broker_comes_back_and_one_of_a_client_says_no_word_more():
    increment = counted(*records(3, 4), sequence=7)
    assert Increment.from_bytes(increment.to_bytes()) == increment
    assert b"term" not in increment_of(READ, *records(3)).to_bytes()
    assert b"is_by_header" not in increment_of(READ, *records(3)).to_bytes()


def test_as_many_are_never_others_by_a_count_of_headers():
    for tier in (PRODUCED, CONSUMED, AuditTier.SUNK, AuditTier.MIRRORED):
        assert states(judged(counted(*records(0, 1, 2)), increment_of(tier, *records(0, 1, 2)))) == [
            WindowState.COMPLETE
        ]
        assert states(judged(counted(*records(0, 1, 2)), increment_of(tier, *records(0, 2, 2), end=3))) != [
            WindowState.MISMATCH
        ]


@pytest.mark.parametrize(
    ("tiers", "state", "above", "below"),
    [
        ({PRODUCED: [0, 1, 2], BROKER: [0, 2], READ: [0, 2]}, WindowState.MISSING, "produced", BROKERS),
        ({PRODUCED: [0, 1, 2], BROKER: [0, 1, 2], READ: [0, 2]}, WindowState.MISSING, BROKERS, APPENDED),
        ({PRODUCED: [0, 1, 2], BROKER: [0, 1, 2], READ: [0, 2, 2]}, WindowState.MISMATCH, "produced", APPENDED),
        ({PRODUCED: [0, 1], BROKER: [0, 1, 2], READ: [0, 1, 2]}, WindowState.DUPLICATE, "produced", BROKERS),
        ({BROKER: [0, 1, 2], CONSUMED: [0, 2]}, WindowState.MISSING, BROKERS, "consumed s"),
        ({BROKER: [0, 1, 2], READ: [0, 1, 2], CONSUMED: [0, 2, 2]}, WindowState.MISMATCH, APPENDED, "consumed s"),
    ],
)
def test_what_is_planted_is_found_once_between_its_tiers(tiers, state, above, below):
    verdict = judged(
        *(counted(*records(*item), start=0, end=3) if tier == BROKER else increment_of(
            tier, *records(*item), **({} if tier is PRODUCED else {"start": 0, "end": 3})
        ) for tier, item in tiers.items())
    )  # fmt: skip
    (finding,) = verdict.findings
    assert (finding.state, finding.above, finding.tier) == (state, above, below)


def test_a_counter_that_began_later_than_the_brokers_leaves_the_comparison_to_them():
    verdict = judged(
        increment_of(PRODUCED, *records(0, 1)), counted(*records(0, 1, 2, 3)), increment_of(READ, *records(3)),
        increment_of(CONSUMED, *records(0, 1, 2, 3)), increment_of(PRODUCED, *records(2, 3), sequence=1),
    )  # fmt: skip
    assert states(verdict) == [WindowState.COMPLETE]


def in_windows(*placed):
    """(window, offset) pairs as a broker counts them."""
    windows = {}
    for window, offset in placed:
        windows[window] = windows.get(window, RecordTally()) + RecordTally(1, 61, 0, offset, offset)
    offsets = [offset for _, offset in placed]
    return replace(counted(*records(0)), windows=windows, start=min(offsets), end=max(offsets) + 1)


def test_a_record_that_is_counted_with_its_batch_is_neither_lost_nor_there_twice():
    """A batch whose first record is of the second minute and whose next one is of the first."""
    by_header = in_windows((0, 0), (MINUTE, 1), (MINUTE, 2), (MINUTE, 3))
    true = [(1_000, 0, b""), (MINUTE, 1, b""), (MINUTE - 1, 2, b""), (MINUTE + 1, 3, b"")]
    verdict = judged(by_header, increment_of(CONSUMED, *true))
    assert (states(verdict), verdict.findings) == ([WindowState.COMPLETE] * 2, ())
    young = judged(by_header, increment_of(CONSUMED, *true), now_ms=3 * MINUTE - 1)
    assert states(young) == [WindowState.PENDING, WindowState.PENDING]


def test_a_loss_beside_a_record_that_is_counted_with_its_batch_is_found():
    by_header = in_windows((0, 0), (MINUTE, 1), (MINUTE, 2), (MINUTE, 3), (MINUTE, 4))
    verdict = judged(
        by_header, increment_of(CONSUMED, (1_000, 0, b""), (MINUTE - 1, 2, b""), (MINUTE + 1, 3, b""), end=5)
    )
    assert [(finding.window, finding.state) for finding in verdict.findings] == [(MINUTE, WindowState.MISSING)]


batches = st.lists(st.lists(st.integers(0, 4 * MINUTE - 1), min_size=1, max_size=5), min_size=1, max_size=12)


@settings(max_examples=examples(200))
@given(batches, st.data())
def test_whatever_headers_hide_nothing_is_found_that_is_not_there_and_a_loss_alone_is(made, data):
    """Batches of any times: by header where first and newest are of one window, as brokers count them."""
    offset, by_header, true = 0, [], []
    for times in made:
        is_of_one = window_of(times[0]) == window_of(max(times))
        for at_ms in times:
            by_header.append((window_of(times[0] if is_of_one else at_ms), offset))
            true.append((at_ms, offset, b"%d" % offset))
            offset += 1
    assert judged(in_windows(*by_header), increment_of(CONSUMED, *true)).findings == ()
    lost = data.draw(st.integers(0, len(true) - 1))
    kept = [item for item in true if item[1] != lost]
    result = judged(in_windows(*by_header), increment_of(CONSUMED, *kept, start=0, end=offset))
    assert {finding.state for finding in result.findings} == {WindowState.MISSING}


def test_a_leader_that_goes_on_from_a_boundary_counts_nothing_twice_and_leaves_no_gap():
    """Its predecessor had told more than it could note."""
    verdict = judged(
        counted(*records(0, 1)), counted(*records(2, 3), sequence=1),
        counted(*records(2, 3, 4), epoch="next", term=2), increment_of(CONSUMED, *records(0, 1, 2, 3, 4)),
    )  # fmt: skip
    assert states(verdict) == [WindowState.COMPLETE]
    assert verdict.rows[0].tiers[BROKERS].count == 5


def test_what_a_leader_says_after_the_next_one_has_spoken_is_not_heard():
    verdict = judged(
        counted(*records(0, 1)), counted(*records(2, 3, 4), epoch="next", term=2),
        counted(*records(2, 3), sequence=1), increment_of(CONSUMED, *records(0, 1, 2, 3, 4)),
    )  # fmt: skip
    assert states(verdict) == [WindowState.COMPLETE]


def test_records_that_an_unclean_election_took_back_are_not_known_and_not_lost():
    verdict = judged(
        counted(*records(0, 1, 2, 3)), counted(*records(2, 3, minute=5), epoch="next", term=2),
        increment_of(CONSUMED, *records(0, 1, 2, 3)),
    )  # fmt: skip
    assert states(verdict) == [WindowState.UNKNOWN, WindowState.UNKNOWN]
    assert verdict.findings == ()


def test_a_group_that_has_gone_over_all_agrees_and_one_that_lags_is_late():
    some = counted(*records(0, 1, 2, 3))
    assert states(judged(some, step(0, 4))) == [WindowState.COMPLETE]
    late = judged(some, step(0, 4, group="a"), step(0, 2, group="b"))
    assert (states(late), late.late) == ([WindowState.PENDING], (0,))
    assert {name: tally.count for name, tally in late.rows[0].tiers.items()} == {
        BROKERS: 4, "committed a": 4, "committed b": 0
    }  # fmt: skip
    finer = judged(counted(*records(0, 1)), counted(*records(2, 3), sequence=1), step(0, 3))
    assert finer.rows[0].tiers["committed billing"].count == 2


def test_a_group_that_has_gone_silent_or_began_later_keeps_nobody_waiting():
    some = [counted(*records(0, 1, 2, 3)), step(0, 4, group="a")]
    assert states(judged(*some, step(0, 2, group="b", at_ms=0))) == [WindowState.COMPLETE]
    began_later = judged(*some, step(2, 2, group="b"))
    assert states(began_later) == [WindowState.COMPLETE]
    assert "committed b" not in began_later.rows[0].tiers


def test_what_a_group_is_set_past_is_told_and_is_no_loss():
    verdict = judged(
        counted(*records(0, 1, 2, 3), *records(4, minute=1)), step(0, 1), step(3, 3, sequence=1), step(3, 5, sequence=2)
    )
    assert states(verdict) == [WindowState.SKIPPED, WindowState.COMPLETE]
    assert (verdict.findings, verdict.complete_until) == ((), 2 * MINUTE)
    (move,) = verdict.moves
    assert (move.is_back, move.start, move.end) == (False, 1, 3)
    assert list(report_lines(verdict, 20))[-1].startswith("~ t, ")


def test_what_a_group_goes_over_again_is_told_and_what_it_was_set_past_before_is_made_good():
    verdict = judged(counted(*records(0, 1, 2, 3)), step(0, 1), step(3, 4, sequence=1), step(0, 4, sequence=2))
    assert states(verdict) == [WindowState.COMPLETE]
    assert [(move.is_back, move.start, move.end) for move in verdict.moves] == [(True, 0, 4)]


def test_between_two_coordinators_a_group_has_gone_on():
    verdict = judged(counted(*records(0, 1, 2, 3)), step(0, 1), step(3, 4, epoch="next"))
    assert (states(verdict), verdict.moves) == ([WindowState.COMPLETE], ())
    lost = judged(counted(*records(0, 1, 2, 3)), step(0, 1), step(3, 4, sequence=2))
    assert lost.moves == (), "a step that did not arrive is no skip"


def test_paths_are_forgotten_with_the_rest():
    ledger = AuditState()
    for item in (step(0, 4, at_ms=MINUTE), step(2, 4, sequence=1, at_ms=2 * MINUTE)):
        ledger.add(item)
    assert ledger.topics() == ["t"]
    ledger.forget(2 * MINUTE)
    (path,) = ledger.paths.values()
    assert len(path.back) == 1
    ledger.forget(3 * MINUTE)
    assert ledger.paths == {}
