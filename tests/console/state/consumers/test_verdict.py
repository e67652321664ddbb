"""What a group in a partition is called, and each trap that a verdict falls into."""

from dataclasses import replace

import pytest

from console.state.consumers.commits import CommitRing
from console.state.consumers.verdict import BEHIND_MS, RULE, Company, Evidence, LagVerdict, company_of, judge, worst

NOW_S = 100_000
HOUR_S = 3_600


def evidence(
    *commits: tuple[int, int, int | None], behind_s: int | None = HOUR_S, lag: int = 500, **values
) -> Evidence:
    """(seconds ago, offset, lag then) each, oldest first; watched for hours, with a reader, unless said otherwise."""
    ring = CommitRing(since_ms=(NOW_S - 10 * HOUR_S) * 1_000)
    for ago_s, offset, then in commits:
        ring.add(offset, (NOW_S - ago_s) * 1_000, None if then is None else offset + then)
    committed = commits[-1][1] if commits else 10
    known = Evidence(
        commits=ring,
        committed=committed,
        first_offset=0,
        next_offset=committed + lag,
        lag=lag,
        behind_since_ms=None if behind_s is None else (NOW_S - behind_s) * 1_000,
        older_than_ms=(NOW_S - 10 * HOUR_S) * 1_000,
        has_reader=True,
        now_ms=NOW_S * 1_000,
        member_id="m",
    )
    return replace(known, **values)


def every(step_s: int, *pairs: tuple[int, int | None], **values) -> Evidence:
    """(offset, lag then) each, at a steady pace, the last one just now."""
    ago = range(step_s * (len(pairs) - 1), -1, -step_s)
    return evidence(*((at, *pair) for at, pair in zip(ago, pairs, strict=True)), **values)


def alone(item: Evidence, company: Company = Company()) -> LagVerdict:
    return judge(item, company)


GROWING = [(1_000 * n, 500 + 100 * n) for n in range(10)]


class TestByTime:
    def test_no_lag_is_fine_whatever_the_past(self):
        assert alone(every(60, (900, 9), (500, 9), (1_000, 0), lag=0)) is LagVerdict.OK

    def test_whoever_is_behind_by_less_than_two_minutes_keeps_up(self):
        assert alone(every(60, *GROWING, behind_s=119)) is LagVerdict.OK
        assert alone(evidence((119, 10, 500), behind_s=119)) is LagVerdict.OK
        assert alone(evidence(behind_s=119)) is LagVerdict.OK

    def test_whoever_was_late_is_late_until_it_is_well_below_the_limit(self):
        late = every(30, *GROWING, behind_s=100)
        late.commits.was_late = True
        assert alone(late) is LagVerdict.SLOW
        assert alone(replace(late, behind_since_ms=(NOW_S - 89) * 1_000)) is LagVerdict.OK

    def test_whoever_is_behind_for_longer_and_reads_no_faster_than_records_arrive_is_slow(self):
        assert alone(every(60, *GROWING)) is LagVerdict.SLOW
        assert alone(every(60, *((1_000 * n, 500) for n in range(10)))) is LagVerdict.SLOW

    def test_one_lag_that_sinks_in_between_makes_nobody_faster(self):
        jitter = [(1_000 * n, 500 + 100 * n - 300 * (n == 6)) for n in range(10)]
        assert alone(every(60, *jitter)) is LagVerdict.SLOW

    def test_whoever_reads_faster_than_records_arrive_catches_up(self):
        assert alone(every(60, *((1_000 * n, 5_000 - 100 * n) for n in range(10)))) is LagVerdict.CATCHING_UP

    def test_what_was_before_a_burst_does_not_tell_how_it_is_worked_off(self):
        calm = [(300, 0, 0), (260, 10, 0), (220, 20, 0)]
        since = [(175, 1_000, 60_000), (140, 4_500, 56_500), (105, 8_000, 53_000), (70, 11_500, 49_500)]
        assert alone(evidence(*calm, *since, behind_s=180)) is LagVerdict.CATCHING_UP

    def test_a_group_that_commits_every_ten_minutes_is_given_half_an_hour(self):
        slow = [(1_000 * n, 500 + 100 * n) for n in range(8)]
        assert alone(every(600, *slow, behind_s=1_790)) is LagVerdict.OK
        assert alone(every(600, *slow, behind_s=1_810)) is LagVerdict.SLOW

    def test_a_record_older_than_our_memory_has_waited_for_as_long_as_that(self):
        assert alone(every(60, *GROWING, behind_s=None)) is LagVerdict.SLOW
        recent = (NOW_S - 60) * 1_000
        assert alone(every(60, *GROWING, behind_s=None, older_than_ms=recent)) is LagVerdict.UNKNOWN

    def test_lags_that_are_not_known_are_no_evidence(self):
        assert alone(every(60, *((n, None) for n in range(8)))) is LagVerdict.UNKNOWN

    def test_without_the_end_of_the_log_nothing_is_said(self):
        assert alone(replace(evidence((1, 10, None)), next_offset=None, lag=None)) is LagVerdict.UNKNOWN


class TestSilence:
    BEFORE = ((900, 10, 5), (800, 20, 5), (700, 30, 5))

    def test_commits_that_ended_while_records_wait_are_a_stop(self):
        assert alone(evidence(*self.BEFORE)) is LagVerdict.STOPPED

    def test_without_a_reader_the_place_is_abandoned(self):
        assert alone(evidence(*self.BEFORE, has_reader=False)) is LagVerdict.ABANDONED
        assert alone(evidence(has_reader=False)) is LagVerdict.ABANDONED

    def test_a_group_without_members_that_commits_is_judged_by_its_commits(self):
        assert alone(every(60, *GROWING, has_reader=False)) is LagVerdict.SLOW

    def test_a_group_seen_for_a_moment_has_not_stopped(self):
        young = evidence((900, 10, 5))
        young.commits.since_ms = (NOW_S - 60) * 1_000
        assert alone(young) is not LagVerdict.STOPPED

    def test_the_first_record_after_a_long_rest_is_no_stop(self):
        """A consumer that commits only what moved has been silent since the topic rests (Burrow #38, #123, #128)."""
        ring = [(9_000, 980, 20), (8_995, 990, 10), (8_990, 1_000, 0)]
        assert alone(evidence(*ring, behind_s=2, lag=3)) is LagVerdict.OK
        assert alone(evidence(*ring, behind_s=HOUR_S, lag=3)) is LagVerdict.STOPPED

    def test_a_dead_reader_of_a_record_an_hour_is_noticed_by_the_record_that_waits(self):
        hourly = CommitRing()
        for hour in range(8):
            hourly.add(hour, (NOW_S - (9 - hour) * HOUR_S) * 1_000, hour, waited_ms=3_000)
        assert alone(evidence(commits=hourly, committed=8, behind_s=300, lag=1)) is LagVerdict.STOPPED

    def test_the_same_offset_again_and_again_is_a_stall(self):
        assert alone(every(30, *((100, 10 * n) for n in range(10)))) is LagVerdict.STALLED

    def test_one_partition_that_is_not_committed_while_the_others_are_is_a_stall(self):
        assert alone(evidence(*self.BEFORE), Company(committed_ms=NOW_S * 1_000)) is LagVerdict.STALLED

    def test_a_member_that_works_off_other_partitions_has_not_stopped_in_this_one(self):
        busy = Company(committed_ms=NOW_S * 1_000, worked_ms={"m": (NOW_S - 5) * 1_000})
        waiting = evidence((480, 10, 5), (460, 20, 5), (440, 30, 5))
        assert alone(waiting, busy) is LagVerdict.SLOW
        assert alone(waiting, replace(busy, is_shrinking=True)) is LagVerdict.CATCHING_UP

    def test_it_has_ten_minutes_to_come_back(self):
        busy = Company(committed_ms=NOW_S * 1_000, worked_ms={"m": (NOW_S - 5) * 1_000}, is_shrinking=True)
        assert alone(evidence(*self.BEFORE), busy) is LagVerdict.STALLED

    def test_what_another_member_works_off_says_nothing_of_this_one(self):
        other = Company(committed_ms=NOW_S * 1_000, worked_ms={"n": NOW_S * 1_000}, is_shrinking=True)
        assert alone(evidence((480, 10, 5), (460, 20, 5), (440, 30, 5)), other) is LagVerdict.STALLED

    def test_company_counts_only_those_that_have_enough_to_do(self):
        busy, fine = every(30, (1, 9), (2, 9), (3, 9)), every(30, (1, 0), (2, 0), (3, 0), lag=0)
        assert company_of([busy], is_shrinking=False).worked_ms == {"m": NOW_S * 1_000}
        assert company_of([fine], is_shrinking=True) == Company(NOW_S * 1_000, {}, True)


class TestTraps:
    def test_a_lower_offset_than_before_went_back_until_it_is_there_again(self):
        back = [(100, 900), (200, 900), (50, 1_000), (60, 990)]
        assert alone(every(40, *back)) is LagVerdict.WENT_BACK
        assert alone(every(40, *back, (220, 900))) is not LagVerdict.WENT_BACK

    def test_who_went_back_and_stands_still_stands_still(self):
        assert alone(evidence((900, 100, 5), (800, 200, 5), (700, 50, 5))) is LagVerdict.STOPPED

    def test_records_deleted_before_they_were_read_are_lost(self):
        assert alone(every(60, *GROWING, lost=500)) is LagVerdict.LOST

    def test_records_deleted_moments_after_they_came_may_have_been_read(self):
        recent = (NOW_S - 60) * 1_000
        assert alone(every(60, *GROWING, lost=5, lost_since_ms=recent, behind_s=30)) is LagVerdict.OK

    def test_an_offset_beyond_the_end_is_not_called_caught_up(self):
        assert alone(every(60, (5_000, 0), (5_000, 0), next_offset=1_000, lag=0)) is LagVerdict.BEYOND

    def test_markers_of_transactions_are_not_unread(self):
        assert alone(every(60, *[(999, 1)] * 4, lag=0, next_offset=1_000)) is LagVerdict.OK

    def test_a_member_without_a_commit_is_trouble_after_five_minutes(self):
        assert alone(evidence(committed=None, behind_s=299)) is LagVerdict.UNKNOWN
        assert alone(evidence(committed=None, behind_s=301)) is LagVerdict.NO_COMMIT
        assert alone(evidence(committed=None, behind_s=None, lag=0)) is LagVerdict.OK


def test_a_group_is_as_bad_as_its_worst_partition():
    assert worst([LagVerdict.OK, LagVerdict.STALLED, LagVerdict.SLOW]) is LagVerdict.STALLED
    assert worst([]) is LagVerdict.OK


def test_trouble_is_all_that_is_worse_than_not_knowing():
    fine = {condition for condition in LagVerdict if not condition.is_bad}
    assert fine == {LagVerdict.OK, LagVerdict.IDLE, LagVerdict.CATCHING_UP, LagVerdict.UNKNOWN}
    assert [item for item in LagVerdict if item.tone == "ok"] == [LagVerdict.OK]


@pytest.mark.parametrize("verdict", LagVerdict)
def test_every_verdict_has_a_colour_and_a_meaning(verdict):
    assert verdict.tone in ({"warning", "critical"} if verdict.is_bad else {"ok", "idle"})
    assert verdict.meaning.endswith(".")


def test_the_rule_names_the_limit_that_holds():
    assert f"more than {BEHIND_MS // 60_000} minutes" in RULE


class TestBatches:
    """Three nights of ten minutes each, the last one ten hours ago: its commits alone fill the ring."""

    NIGHTS = tuple(
        (ago_s - 60 * minute, 1_000 * (11 * night + minute), 0)
        for night, ago_s in enumerate((208_800, 122_400, 36_000))
        for minute in range(11)
    )

    def test_a_nightly_job_is_idle_by_day(self):
        assert alone(evidence(*self.NIGHTS, has_reader=False)) is LagVerdict.IDLE

    def test_a_job_that_leaves_records_unread_each_night_is_abandoned(self):
        unread = tuple((ago_s, offset, 900_000) for ago_s, offset, _ in self.NIGHTS)
        assert alone(evidence(*unread, has_reader=False)) is LagVerdict.ABANDONED

    def test_a_nightly_job_that_did_not_come_is_abandoned(self):
        late = tuple((ago_s + 100_000, offset, lag) for ago_s, offset, lag in self.NIGHTS)
        assert alone(evidence(*late, has_reader=False)) is LagVerdict.ABANDONED

    def test_a_member_that_is_there_and_silent_has_stopped_whatever_its_habits(self):
        assert alone(evidence(*self.NIGHTS, has_reader=True)) is LagVerdict.STOPPED


class TestReset:
    """Offsets that are set for a group are no sign of its life."""

    @pytest.mark.parametrize("to", [0, 40, 100])
    def test_a_dead_group_stays_abandoned_when_its_offsets_are_set(self, to):
        dead = evidence((3_600, 50, 5), (450, 60, 5), has_reader=False)
        dead.commits.set_to(to, (NOW_S - 1) * 1_000)
        assert alone(replace(dead, committed=to)) is LagVerdict.ABANDONED

    def test_a_group_that_committed_all_the_time_is_abandoned_at_once_too(self):
        dead = evidence(*((900 - 30 * n, 100 * n, 5) for n in range(20)), has_reader=False)
        dead.commits.set_to(0, (NOW_S - 1) * 1_000)
        assert alone(replace(dead, committed=0)) is LagVerdict.ABANDONED

    def test_set_to_the_end_it_is_abandoned_when_records_have_waited_for_two_minutes(self):
        dead = evidence((90_000, 50, 5), (3_600, 60, 5), has_reader=False)
        dead.commits.set_to(560, (NOW_S - 121) * 1_000)
        at_end = replace(dead, committed=560, lag=0, next_offset=560, behind_since_ms=None)
        assert alone(at_end) is LagVerdict.OK
        assert alone(replace(at_end, lag=5, next_offset=565, behind_since_ms=(NOW_S - 119) * 1_000)) is LagVerdict.OK
        assert (
            alone(replace(at_end, lag=5, next_offset=565, behind_since_ms=(NOW_S - 121) * 1_000))
            is LagVerdict.ABANDONED
        )

    def test_a_reset_is_no_pause_of_a_batch(self):
        ring = evidence((90_000, 50, 5), (3_600, 60, 5)).commits
        before = ring.usual_pause_ms
        ring.set_to(0, NOW_S * 1_000)
        assert (ring.rhythm.rests_until_ms(), ring.usual_pause_ms) in ((None, before), (None, 0))

    def test_members_that_come_after_it_have_two_minutes_for_their_first_commit(self):
        restarted = evidence((3_600, 50, 5), (450, 60, 5))
        restarted.commits.set_to(0, (NOW_S - 300) * 1_000)
        restarted.commits.note_reader(False, (NOW_S - 200) * 1_000)
        restarted.commits.note_reader(True, (NOW_S - 100) * 1_000)
        assert alone(replace(restarted, committed=0)) is LagVerdict.UNKNOWN
        later = replace(restarted, committed=0, now_ms=(NOW_S + 30) * 1_000)
        assert alone(later) is LagVerdict.STOPPED

    def test_a_reader_that_works_its_way_back_reads_twice(self):
        back = every(30, *((1_000 * n, 500) for n in range(10)))
        back.commits.set_to(0, NOW_S * 1_000)
        for n in range(1, 5):
            back.commits.add(10 * n, (NOW_S + 30 * n) * 1_000, 9_500)
        assert alone(replace(back, committed=40, now_ms=(NOW_S + 120) * 1_000)) is LagVerdict.WENT_BACK


class TestNoMembers:
    """Without members and with growing lag it is in trouble within minutes, whatever its history."""

    @pytest.mark.parametrize("pause_s", [1, 5, 60, 300, 590])
    @pytest.mark.parametrize("count", [1, 2, 3, 10])
    def test_after_ten_minutes_at_the_latest(self, pause_s, count):
        commits = [(620 + pause_s * n, 1_000 - n, 5) for n in reversed(range(count))]
        assert alone(evidence(*commits, behind_s=601, has_reader=False)) is LagVerdict.ABANDONED

    @pytest.mark.parametrize("gap_s", [600, 3_600, 86_400])
    def test_one_long_pause_is_no_habit(self, gap_s):
        assert (
            alone(evidence((gap_s + 130, 10, 5), (130, 20, 5), behind_s=125, has_reader=False)) is LagVerdict.ABANDONED
        )

    def test_a_client_without_membership_keeps_its_own_steady_pace(self):
        steady = [(300 * n + 200, 1_000 - n, 5) for n in reversed(range(6))]
        assert alone(evidence(*steady, behind_s=290, has_reader=False)) is LagVerdict.OK

    def test_members_that_restart_again_and_again_and_commit_nothing_have_stopped(self):
        loop = evidence((930, 50, 5), (900, 60, 5))
        for ago_s in range(600, 0, -60):
            loop.commits.note_reader(False, (NOW_S - ago_s) * 1_000)
            loop.commits.note_reader(True, (NOW_S - ago_s + 20) * 1_000)
        assert alone(loop) is LagVerdict.STOPPED


_SILENT = ((900, 10, 5), (800, 20, 5), (700, 30, 5))
#: Of each verdict, one group that has it; before and after its offset is set, without members, it is judged otherwise.
EXAMPLES = {
    LagVerdict.OK: every(60, (900, 9), (1_000, 0), lag=0),
    LagVerdict.IDLE: evidence(*TestBatches.NIGHTS, has_reader=False),
    LagVerdict.CATCHING_UP: every(60, *((1_000 * n, 5_000 - 100 * n) for n in range(10))),
    LagVerdict.UNKNOWN: every(60, *((n, None) for n in range(8))),
    LagVerdict.ABANDONED: evidence(*_SILENT, has_reader=False),
    LagVerdict.WENT_BACK: every(40, (100, 900), (200, 900), (50, 1_000), (60, 990)),
    LagVerdict.NO_COMMIT: evidence(committed=None, behind_s=301),
    LagVerdict.SLOW: every(60, *GROWING),
    LagVerdict.STOPPED: evidence(*_SILENT),
    LagVerdict.STALLED: every(30, *((100, 10 * n) for n in range(10))),
    LagVerdict.BEYOND: every(60, (5_000, 0), (5_000, 0), next_offset=1_000, lag=0),
    LagVerdict.LOST: every(60, *GROWING, lost=500),
}


def test_every_verdict_has_an_example():
    assert EXAMPLES.keys() == set(LagVerdict)


@pytest.mark.parametrize("verdict", LagVerdict)
def test_each_example_is_called_so(verdict):
    assert alone(EXAMPLES[verdict]) is verdict


@pytest.mark.parametrize(
    "verdict", [item for item in LagVerdict if item not in (LagVerdict.NO_COMMIT, LagVerdict.IDLE)]
)
def test_a_group_whose_members_are_gone_is_abandoned_after_a_reset_whatever_it_was(verdict):
    example = EXAMPLES[verdict]
    ring = replace(example.commits, commits=list(example.commits.commits))
    ring.set_to(0, (NOW_S + 601) * 1_000)
    gone = replace(
        example, commits=ring, committed=0, next_offset=9_000, lag=9_000, lost=0, lost_since_ms=None,
        behind_since_ms=(NOW_S - HOUR_S) * 1_000, has_reader=False, now_ms=(NOW_S + 602) * 1_000,
    )  # fmt: skip
    assert alone(gone) is LagVerdict.ABANDONED
