from console.state.consumers.commits import COMMITS_MAX, DISTANCE_MS, CommitRing


def ring(*commits: tuple[int, int], log_end: int | None = 1_000) -> CommitRing:
    """(moment in s, offset) each."""
    kept = CommitRing()
    for at_s, offset in commits:
        kept.add(offset, at_s * 1_000, log_end)
    return kept


def offsets(kept: CommitRing) -> list[int]:
    return [commit.offset for commit in kept.commits]


def test_the_lag_is_that_of_the_moment_and_never_below_zero():
    assert [commit.lag for commit in ring((1, 990), (50, 1_010)).commits] == [10, 0]
    assert ring((1, 990), log_end=None).commits[0].lag is None


def test_the_oldest_commit_leaves_a_full_ring():
    kept = ring(*((40 * n, n) for n in range(30)))

    assert len(kept.commits) == COMMITS_MAX
    assert offsets(kept)[-1] == 29


def test_whoever_commits_all_the_time_is_remembered_for_minutes_and_its_newest_commit_is_exact():
    kept = CommitRing()
    for number in range(10_000):
        kept.add(number, number * 100, None)

    assert (kept.last.offset, kept.last.at_ms) == (9_999, 999_900)
    assert len(kept.commits) == COMMITS_MAX
    assert kept.last.at_ms - kept.commits[0].at_ms >= (COMMITS_MAX - 2) * DISTANCE_MS


def test_a_pause_counts_only_while_there_was_something_to_commit():
    kept = ring((0, 1), (60, 2), (120, 3))
    assert kept.usual_pause_ms == 60_000
    kept.add(4, 3_720_000, 1_000, waited_ms=5_000)
    assert kept.last.pause_ms == 5_000


def test_progress_is_what_was_read_and_what_came_between_two_commits():
    kept = CommitRing()
    for at_s, offset, end in ((0, 0, 900), (60, 100, 1_000), (120, 250, 1_300)):
        kept.add(offset, at_s * 1_000, end)
    assert kept.progress(60_000, 60_000) == (150, 300)
    assert kept.progress(0, 60_000) == (250, 400)
    assert kept.progress(61_000, 60_000) is None


class TestWayBack:
    def test_it_went_back_until_it_has_come_to_where_it_was(self):
        kept = ring((1, 100), (2, 110), (3, 130), (4, 120))
        assert kept.left_offset == 130
        kept.add(129, 5_000, 1_000)
        assert kept.left_offset == 130
        kept.add(130, 6_000, 1_000)
        assert kept.left_offset is None

    def test_what_a_coordinator_answers_never_makes_it_go_back(self):
        """It was asked before the commits were read: they are ahead of it, and several of a second are one."""
        kept = ring((1, 100), (2, 110), (3, 130))
        for second, offset in enumerate((110, 120, 110, 130), start=4):
            kept.see(offset, second * 1_000, 1_000)
        assert kept.left_offset is None
        assert kept.last.offset == 130

    def test_a_log_told_of_late_does_not_make_it_go_back(self):
        kept = ring((1, 100))
        kept.see(100, 1_000, 1_000)
        kept.see(140, 30_000, 1_000)
        kept.add(120, 20_000, 1_000)
        kept.add(140, 29_000, 1_000)
        assert kept.left_offset is None

    def test_a_commit_with_an_earlier_time_than_the_one_before_was_made_after_it(self):
        kept = ring((10, 100), (4, 110))
        assert (kept.left_offset, kept.last.offset, kept.last.at_ms) == (None, 110, 10_000)


class TestSilentLog:
    """A cluster that does not let the offsets topic be read."""

    def test_an_offset_that_moved_is_a_commit(self):
        kept = CommitRing(since_ms=0)
        for at_s in range(0, 60, 2):
            kept.see(at_s, at_s * 1_000, 1_000)
        assert kept.last == (58, 58_000, 942, 2_000)

    def test_the_first_offset_seen_is_no_commit_of_now(self):
        kept = CommitRing(since_ms=0)
        kept.see(7, 60_000, 1_000)
        assert kept.last is None


def test_what_was_taken_away_is_forgotten():
    kept = ring((0, 1), (10, 2), (20, 1))
    kept.forget()

    assert not kept.commits
    assert kept.left_offset is None
