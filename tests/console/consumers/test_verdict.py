"""Burrow's rules, and each trap they fall into."""

from dataclasses import replace

import pytest

from console.consumers.commits import CommitRing
from console.consumers.verdict import Evidence, Verdict, judge, worst

NOW_S = 10_000


def evidence(*commits: tuple[int, int, int | None], next_offset: int = 1_000, **values) -> Evidence:
    """(seconds ago, offset, lag then) each, oldest first; behind for an hour, with members, unless said otherwise."""
    ring = CommitRing()
    for ago_s, offset, lag in commits:
        ring.add(offset, (NOW_S - ago_s) * 1_000, None if lag is None else offset + lag)
    known = Evidence(
        commits=ring,
        committed=commits[-1][1] if commits else None,
        first_offset=0,
        next_offset=next_offset,
        is_caught_up=bool(commits) and commits[-1][1] >= next_offset,
        behind_since_ms=(NOW_S - 3_600) * 1_000,
        has_members=True,
        now_ms=NOW_S * 1_000,
    )
    return replace(known, **values)


def regular(offsets: list[int], lags: list[int | None] | None = None, every_s: int = 5, **values) -> Evidence:
    """Commits at a steady pace, the last one just now."""
    lags = lags or [50] * len(offsets)
    ago = [every_s * n for n in range(len(offsets) - 1, -1, -1)]
    return evidence(*zip(ago, offsets, lags, strict=True), **values)


class TestBurrow:
    def test_no_lag_is_fine_whatever_the_past(self):
        assert judge(regular([900, 500, 1_000])) is Verdict.OK

    def test_commits_that_ended_while_records_wait_are_a_stop(self):
        assert judge(evidence((900, 10, 5), (890, 20, 5), (880, 30, 5), (870, 40, 5))) is Verdict.STOPPED

    def test_a_lower_offset_than_before_went_back(self):
        assert judge(regular([100, 200, 50, 60])) is Verdict.WENT_BACK

    def test_who_is_back_where_it_was_did_not_go_back(self):
        assert judge(regular([100, 200, 50, 220], [90, 80, 70, 60])) is Verdict.OK

    def test_caught_up_once_in_the_window_is_fine(self):
        assert judge(regular([100, 200, 300, 400], [10, 0, 20, 30])) is Verdict.OK

    def test_the_same_offset_again_and_again_is_a_stall(self):
        assert judge(regular([100, 100, 100, 100], [10, 20, 30, 40])) is Verdict.STALLED

    def test_moving_on_while_the_lag_never_shrinks_is_slow(self):
        assert judge(regular([100, 200, 300, 400], [10, 20, 20, 40])) is Verdict.SLOW

    def test_moving_on_with_a_lag_that_shrinks_at_times_is_fine(self):
        assert judge(regular([100, 200, 300, 400], [10, 20, 15, 40])) is Verdict.OK


class TestTraps:
    def test_a_new_group_that_starts_behind_is_not_dead_after_one_commit(self):
        assert judge(evidence((1, 10, 990))) is Verdict.UNKNOWN
        assert judge(evidence((60, 10, 990))) is Verdict.UNKNOWN

    def test_one_commit_and_then_nothing_for_long_is_a_stop(self):
        assert judge(evidence((900, 10, 990))) is Verdict.STOPPED

    def test_the_first_record_after_a_long_rest_is_no_stop(self):
        """A consumer that commits only what moved has been silent since the topic rests (Burrow #38, #123, #128)."""
        ring = [(9_000, 980, 20), (8_995, 990, 10), (8_990, 1_000, 0)]
        just_arrived = (NOW_S - 2) * 1_000

        assert judge(evidence(*ring, next_offset=1_003, behind_since_ms=just_arrived)) is Verdict.OK
        assert judge(evidence(*ring, next_offset=1_003)) is Verdict.STOPPED

    def test_a_group_that_commits_once_a_minute_is_given_minutes(self):
        ring = [(280, 100, 50), (220, 200, 60), (160, 300, 40), (100, 400, 50)]

        assert judge(evidence(*ring)) is Verdict.OK

    def test_two_close_commits_and_a_short_silence_are_no_stop(self):
        assert judge(evidence((12, 10, 5), (11, 20, 4), (10, 30, 5))) is Verdict.OK

    def test_records_deleted_before_they_were_read_are_lost(self):
        assert judge(regular([10, 20, 30, 40], first_offset=500)) is Verdict.LOST

    def test_a_caught_up_group_below_a_moved_log_start_lost_nothing_worth_a_word(self):
        assert judge(regular([10, 20, 1_000], first_offset=1_000)) is Verdict.OK

    def test_an_offset_beyond_the_end_is_not_called_caught_up(self):
        assert judge(regular([5_000, 5_000, 5_000])) is Verdict.BEYOND

    def test_markers_of_transactions_are_not_unread(self):
        assert judge(regular([999, 999, 999, 999], [1, 1, 1, 1], is_caught_up=True)) is Verdict.OK

    def test_a_new_record_behind_markers_is_no_stall_until_it_has_waited(self):
        lately = (NOW_S - 3) * 1_000

        assert judge(regular([999] * 4, [1] * 4, behind_since_ms=lately)) is not Verdict.STALLED

    def test_a_group_without_members_and_commits_stops_at_once(self):
        assert judge(evidence(committed=10, is_caught_up=False, has_members=False)) is Verdict.STOPPED

    def test_a_group_without_members_that_commits_is_judged_by_its_commits(self):
        assert judge(regular([100, 200, 300, 400], [40, 30, 20, 10], has_members=False)) is Verdict.OK

    def test_a_member_that_never_committed_is_told_apart_from_one_with_nothing_to_read(self):
        assert judge(evidence(committed=None, is_caught_up=False)) is Verdict.NO_COMMIT
        assert judge(evidence(committed=None, is_caught_up=True)) is Verdict.OK

    def test_without_the_end_of_the_log_nothing_is_said(self):
        assert judge(replace(regular([1, 2, 3]), next_offset=None, is_caught_up=False)) is Verdict.UNKNOWN

    def test_lags_that_are_not_known_are_no_evidence(self):
        assert judge(regular([1, 2, 3, 4], [None] * 4)) is Verdict.OK


def test_a_group_is_as_bad_as_its_worst_partition():
    assert worst([Verdict.OK, Verdict.STALLED, Verdict.SLOW]) is Verdict.STALLED
    assert worst([]) is Verdict.OK


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_has_a_colour_and_a_meaning(verdict):
    assert verdict.tone in {"ok", "idle", "warning", "critical"}
    assert verdict.meaning.endswith(".")


class TestBatches:
    """Three nights of ten minutes each, the last one ten hours ago: its commits alone fill the ring."""

    NIGHTS = tuple((ago_s - 60 * minute, 100, 5) for ago_s in (208_800, 122_400, 36_000) for minute in range(11))

    def test_a_nightly_job_is_idle_by_day(self):
        assert judge(evidence(*self.NIGHTS, has_members=False)) is Verdict.IDLE

    def test_a_nightly_job_that_did_not_come_has_stopped(self):
        late = tuple((ago_s + 100_000, offset, lag) for ago_s, offset, lag in self.NIGHTS)
        assert judge(evidence(*late, has_members=False)) is Verdict.STOPPED

    def test_a_member_that_is_there_and_silent_has_stopped_whatever_its_habits(self):
        assert judge(evidence(*self.NIGHTS, has_members=True)) is Verdict.STOPPED

    def test_idle_is_no_trouble_and_no_secret(self):
        assert not Verdict.IDLE.is_bad
        assert worst([Verdict.OK, Verdict.IDLE]) is Verdict.IDLE
        assert worst([Verdict.IDLE, Verdict.STOPPED]) is Verdict.STOPPED
