"""What is found, and what must never be."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.audit.increment import DEAD, FILTERED, NO_RANGE, RETURNING, AuditTier
from broker.audit.ledger import AuditState
from broker.audit.report import report_lines
from broker.audit.states import WindowState
from broker.audit.tally import RecordTally
from broker.audit.verdict import judge
from tests.broker.audit.made import MINUTE, increment_of, records, windows_of

LATER = 60 * MINUTE
PRODUCED, APPENDED, CONSUMED = TIERS = tuple(AuditTier)[:3]
MIRRORED, SUNK = AuditTier.MIRRORED, AuditTier.SUNK


def judged(*increments, now_ms=LATER):
    ledger = AuditState()
    for increment in increments:
        ledger.add(increment)
    return judge(ledger, "t", now_ms)


def states(verdict):
    return [row.state for row in verdict.rows]


def test_what_all_tiers_counted_alike_is_complete_until_the_end_of_its_window():
    verdict = judged(*(increment_of(tier, *records(0, 1, 2)) for tier in TIERS))
    assert states(verdict) == [WindowState.COMPLETE]
    assert verdict.complete_until == MINUTE
    assert verdict.findings == ()


def test_an_increment_that_is_read_twice_counts_once():
    once = [increment_of(tier, *records(0, 1, 2)) for tier in TIERS]
    assert states(judged(*once, *once)) == [WindowState.COMPLETE]


@pytest.mark.parametrize(
    ("appended", "consumed", "state", "above"),
    [
        ([0, 2], [0, 2], WindowState.MISSING, "produced"),
        ([0, 1, 1, 2], [0, 1, 1, 2], WindowState.DUPLICATE, "produced"),
        ([0, 2, 2], [0, 2, 2], WindowState.MISMATCH, "produced"),
        ([0, 1, 2], [0, 2], WindowState.MISSING, "appended"),
        ([0, 1, 2], [0, 1, 1, 2], WindowState.DUPLICATE, "appended"),
        ([0, 1, 2], [0, 0, 2], WindowState.MISMATCH, "appended"),
    ],
)
def test_what_is_planted_is_found_between_its_tiers_and_nothing_else(appended, consumed, state, above):
    verdict = judged(
        increment_of(PRODUCED, *records(0, 1, 2)),
        increment_of(APPENDED, *records(*appended)),
        increment_of(CONSUMED, *records(*consumed)),
    )
    (finding,) = verdict.findings
    assert (finding.state, finding.above, finding.partitions) == (state, above, (0,))
    assert (finding.first_offset, finding.last_offset) == (0, 2)
    assert verdict.complete_until is None


def test_a_window_is_waited_for_as_long_as_the_grace():
    early = judged(increment_of(PRODUCED, *records(0, 1)), increment_of(APPENDED, *records(0)), now_ms=2 * MINUTE - 1)
    assert states(early) == [WindowState.PENDING]
    assert early.findings == early.late == ()


@pytest.mark.parametrize("tiers", [(MIRRORED,), (PRODUCED,), (PRODUCED, CONSUMED, SUNK)])
def test_where_nobody_counts_the_log_there_is_nothing_to_compare_and_nothing_is_late(tiers):
    verdict = judged(*(increment_of(tier, *records(0, 1, 2)) for tier in tiers))
    assert states(verdict) == [WindowState.UNKNOWN]
    assert verdict.findings == verdict.late == ()


def test_a_group_that_lags_has_lost_nothing_but_is_late():
    verdict = judged(increment_of(APPENDED, *records(0, 1, 2)), increment_of(CONSUMED, *records(0, 1)))
    assert states(verdict) == [WindowState.PENDING]
    assert verdict.findings == ()
    assert verdict.late == (0,)


def test_a_consumer_that_was_killed_before_its_commit_is_counted_once():
    verdict = judged(
        increment_of(APPENDED, *records(0, 1, 2, 3)),
        increment_of(CONSUMED, *records(0, 1)),
        increment_of(CONSUMED, *records(2, 3), sequence=1),
        increment_of(CONSUMED, *records(2), epoch="next"),
        increment_of(CONSUMED, *records(3), epoch="next", sequence=1),
    )
    assert states(verdict) == [WindowState.COMPLETE]


@pytest.mark.parametrize(
    "consumed",
    [
        [increment_of(CONSUMED, *records(1, 2, 3))],  # began in the middle
        [
            increment_of(CONSUMED, *records(0, 1, 2)),
            increment_of(CONSUMED, *records(1, 2, 3), epoch="next"),
        ],  # cuts into the other
        [
            increment_of(CONSUMED, *records(0)),
            increment_of(CONSUMED, *records(2, 3), epoch="next"),
        ],  # leaves something out
        [
            increment_of(CONSUMED, *records(0, 1)),
            increment_of(CONSUMED, *records(2, 3), sequence=2),
        ],  # an increment did not arrive
    ],
)
def test_of_what_nobody_told_everything_nothing_is_said(consumed):
    verdict = judged(increment_of(APPENDED, *records(0, 1, 2, 3)), *consumed)
    assert states(verdict) == [WindowState.UNKNOWN]
    assert verdict.findings == ()


def test_a_killed_producer_has_not_duplicated_what_it_could_not_tell():
    verdict = judged(
        increment_of(PRODUCED, *records(0), at_ms=MINUTE // 2, is_last=False),
        increment_of(APPENDED, *records(0, 1)),
    )
    assert states(verdict) == [WindowState.UNKNOWN]


def test_what_a_killed_producer_told_is_missed_nevertheless():
    verdict = judged(
        increment_of(PRODUCED, *records(0, 1), at_ms=MINUTE // 2, is_last=False),
        increment_of(APPENDED, *records(0), end=2),
    )
    assert states(verdict) == [WindowState.MISSING]


def test_a_record_that_was_given_up_may_be_there_and_is_no_duplicate():
    produced = increment_of(PRODUCED, *records(0))
    unsure = replace(produced, sequence=1, windows={0: RecordTally(unsure=1)})
    assert states(judged(produced, unsure, increment_of(APPENDED, *records(0, 1)))) == [WindowState.UNKNOWN]
    assert states(judged(produced, unsure, increment_of(APPENDED, *records(0)))) == [WindowState.COMPLETE]
    assert states(judged(produced, unsure, increment_of(APPENDED, *records(0, 1, 2)))) == [WindowState.DUPLICATE]


def test_one_bad_window_bounds_what_is_complete_and_spoils_no_other():
    some = [*records(0, 1), *records(2, 3, minute=1), *records(4, 5, minute=2)]
    verdict = judged(increment_of(APPENDED, *some), increment_of(CONSUMED, *some[:3], *some[4:]))
    assert states(verdict) == [WindowState.COMPLETE, WindowState.MISSING, WindowState.COMPLETE]
    assert verdict.complete_until == MINUTE


def test_partitions_of_one_window_are_one_finding():
    told_ = [increment_of(APPENDED, *records(0, 1, 2), partition=index) for index in range(4)]
    short = [increment_of(CONSUMED, *records(0, 2), partition=index) for index in range(3)]
    (finding,) = judged(*told_, *short, increment_of(CONSUMED, *records(0, 1, 2), partition=3)).findings
    assert (finding.count, finding.partitions) == (3, (0, 1, 2))


def test_a_report_names_window_tier_partitions_and_offsets():
    verdict = judged(
        increment_of(APPENDED, *records(0, 1, 2)), increment_of(CONSUMED, *records(0, 2), source="billing")
    )
    assert list(report_lines(verdict, 20))[-1] == (
        "! t, window 1970-01-01 00:00:00: 1 counted at appended missing at consumed billing"
        " (partitions 0, offsets 0 to 2)"
    )


def test_what_is_forgotten_leaves_a_beginning_that_is_not_known_and_no_finding():
    ledger = AuditState()
    for minute in range(4):
        for tier in (APPENDED, CONSUMED):
            ledger.add(increment_of(tier, *records(2 * minute, 2 * minute + 1, minute=minute), sequence=minute))
    before = judge(ledger, "t", LATER)
    ledger.forget(2 * MINUTE)
    after = judge(ledger, "t", LATER)
    assert [row.window for row in after.rows] == [2 * MINUTE, 3 * MINUTE]
    assert (after.findings, after.complete_until) == ((), before.complete_until)
    ledger.forget(LATER)
    assert ledger.stories == {}


def test_an_increment_of_old_and_new_windows_is_kept_whole():
    ledger = AuditState()
    both = [*records(0, minute=0), *records(1, minute=5)]
    for tier in (APPENDED, CONSUMED):
        ledger.add(increment_of(tier, *both))
    ledger.forget(3 * MINUTE)
    assert {story.start for story in ledger.stories.values()} == {0}
    assert set(states(judge(ledger, "t", LATER))) == {WindowState.COMPLETE}


def test_a_chain_that_goes_on_after_it_was_forgotten_is_believed_again():
    """Quiet for hours, then counted on in the same epoch: a loss after that must not drown in doubt."""
    ledger = AuditState()
    for tier in TIERS:
        ledger.add(increment_of(tier, *records(0, 1), at_ms=MINUTE))
    ledger.forget(30 * MINUTE)
    assert ledger.stories == {}
    for tier, offsets in ((PRODUCED, (2, 3, 4)), (APPENDED, (2, 4)), (CONSUMED, (2, 4))):
        ledger.add(increment_of(tier, *records(*offsets, minute=50), sequence=1, at_ms=51 * MINUTE))
    (finding,) = judge(ledger, "t", LATER).findings
    assert (finding.state, finding.above, finding.count) == (WindowState.MISSING, "produced", 1)


def test_of_a_producer_that_is_first_heard_in_its_middle_a_surplus_before_is_no_duplicate():
    ledger = AuditState()
    ledger.add(increment_of(PRODUCED, *records(2, minute=5), sequence=3, at_ms=6 * MINUTE))
    ledger.add(increment_of(PRODUCED, *records(3, minute=20), sequence=4, at_ms=21 * MINUTE))
    for tier in (APPENDED, CONSUMED):
        ledger.add(increment_of(tier, *records(1, 2, minute=5), *records(3, minute=20)))
    verdict = judge(ledger, "t", LATER)
    assert states(verdict) == [WindowState.UNKNOWN, WindowState.COMPLETE]
    assert verdict.findings == ()


def test_an_increment_that_is_left_out_in_the_middle_still_makes_its_source_doubtful():
    ledger = AuditState()
    ledger.add(increment_of(PRODUCED, *records(0), is_last=False))
    ledger.add(increment_of(PRODUCED, *records(2), sequence=2))
    ledger.add(increment_of(APPENDED, *records(0, 1, 2)))
    assert states(judge(ledger, "t", LATER)) == [WindowState.UNKNOWN]


@given(forgets=st.lists(st.integers(0, 59), max_size=5), quiet=st.integers(0, 40), lost=st.integers(0, 59))
def test_whatever_is_forgotten_a_loss_that_is_remembered_is_found_and_nothing_else(forgets, quiet, lost):
    """Three tiers over an hour, silent for a while in its middle; one record is lost before the log."""
    ledger, cut, sequence = AuditState(), 0, 0
    for minute in range(60):
        if minute in forgets:
            cut = (minute - 3) * MINUTE
            ledger.forget(cut)
        if 10 <= minute < 10 + quiet:
            continue
        whole = (2 * minute, 2 * minute + 1)
        kept = whole[:1] if minute == lost else whole
        for tier, offsets in ((PRODUCED, whole), (APPENDED, kept), (CONSUMED, kept)):
            end, at_ms = NO_RANGE if tier is PRODUCED else 2 * minute + 2, minute * MINUTE + 59_000
            ledger.add(increment_of(tier, *records(*offsets, minute=minute), sequence=sequence, end=end, at_ms=at_ms))
        sequence += 1
    is_remembered = lost * MINUTE >= cut and not 10 <= lost < 10 + quiet
    findings = judge(ledger, "t", 2 * LATER).findings
    assert [(finding.window, finding.state) for finding in findings] == [
        (lost * MINUTE, WindowState.MISSING)
    ] * is_remembered


def with_aside(increment, kind, *expected):
    return replace(increment, aside={kind: windows_of(*expected)})


def test_a_mirror_and_a_sink_are_compared_with_the_log_and_named():
    verdict = judged(
        increment_of(APPENDED, *records(0, 1, 2)),
        increment_of(MIRRORED, *records(0, 1, 2), source="a->b"),
        increment_of(SUNK, *records(0, 2), source="pg", end=3),
    )
    (finding,) = verdict.findings
    assert (finding.tier, finding.state, finding.count, finding.partitions) == ("sunk pg", WindowState.MISSING, 1, (0,))
    assert [*verdict.rows[0].tiers] == ["appended", "mirrored a->b", "sunk pg"]


def test_dead_letters_and_what_is_filtered_are_not_missing_and_are_told_apart():
    sunk = with_aside(increment_of(SUNK, *records(0, 2), source="pg", end=4), DEAD, *records(1))
    sunk = replace(sunk, aside={**sunk.aside, FILTERED: windows_of(*records(3))})
    verdict = judged(increment_of(APPENDED, *records(0, 1, 2, 3)), sunk)
    (row,) = verdict.rows
    assert row.state is WindowState.COMPLETE
    assert {name: tally.count for name, tally in row.tiers.items()} == {
        "appended": 4, "sunk pg": 2, "sunk pg: dead-lettered": 1, "sunk pg: filtered": 1,
    }  # fmt: skip


def test_copies_that_a_mirror_does_not_send_back_are_no_loss():
    mirrored = with_aside(increment_of(MIRRORED, *records(0, 1), source="a->b", end=4), RETURNING, *records(2, 3))
    assert judged(increment_of(APPENDED, *records(0, 1, 2, 3)), mirrored).rows[0].state is WindowState.COMPLETE


@pytest.mark.parametrize("tier", [MIRRORED, SUNK])
def test_a_mirror_or_sink_that_lags_or_began_late_or_says_nothing_has_lost_nothing(tier):
    appended = increment_of(APPENDED, *records(0, 1, 2))
    for follower in (
        increment_of(tier, *records(0, 1)),
        increment_of(tier, *records(1, 2)),
        increment_of(tier, *records(5, 6), partition=1),
    ):
        assert judged(appended, follower).findings == ()
    assert judged(appended).rows[0].state is not WindowState.MISSING


def told_in_pieces(tier, cuts, count, source, step_ms=30_000):
    """`count` records, two a minute, in increments that end at `cuts`."""
    ends = sorted({*cuts, count})
    return [
        increment_of(
            tier,
            *[(offset * step_ms, offset, b"%d" % offset) for offset in range(start, end)],
            source=source,
            sequence=number,
            at_ms=end * step_ms,
        )
        for number, (start, end) in enumerate(zip([0, *ends], ends, strict=False))
    ]


cuts = st.sets(st.integers(1, 59), max_size=12)


@given(cuts, cuts, st.sets(st.integers(0, 59), max_size=3), st.integers(0, 1_800_000))
def test_what_is_folded_is_judged_as_it_was(appended, consumed, lost, before_ms):
    ledger, folded = AuditState(), AuditState()
    for piece in told_in_pieces(APPENDED, appended, 60, "counter") + told_in_pieces(CONSUMED, consumed, 60, "g"):
        windows = {window: tally for window, tally in piece.windows.items() if window // MINUTE not in lost}
        piece = piece if piece.chain.tier is APPENDED else replace(piece, windows=windows)
        for one in (ledger, folded):
            one.add(piece)
    folded.fold(before_ms, 600_000)
    assert judge(folded, "t", 2 * LATER) == judge(ledger, "t", 2 * LATER)
    assert folded.size <= ledger.size


def test_folding_makes_an_hour_as_small_as_its_windows():
    ledger = AuditState()
    for piece in told_in_pieces(APPENDED, range(1, 3_000), 3_000, "counter", step_ms=1_000):
        ledger.add(piece)
    ledger.fold(3_000_000, 600_000)
    assert ledger.size <= 3_000_000 // MINUTE + 10


@given(cuts, st.integers(0, 59))
def test_who_goes_back_into_the_midst_leaves_a_gap_no_longer_than_a_window_and_what_is_kept_is_true(ends, start):
    ledger = AuditState()
    for piece in told_in_pieces(CONSUMED, ends, 60, "g"):
        ledger.add(piece)
    ledger.fold(LATER, LATER)
    again = [(offset * 30_000, offset, b"%d" % offset) for offset in range(start, 60)]
    ledger.add(increment_of(CONSUMED, *again, source="g", epoch="again", at_ms=LATER))
    (story,) = ledger.stories.values()
    assert sum(end - first for first, end in story.gaps) <= 1
    missing = {offset for first, end in story.gaps for offset in range(first, end)}
    for window in story.windows():
        offsets = {offset for offset in range(60) if offset // 2 == window // MINUTE} - missing
        assert story.tally(window).count == len(offsets)
