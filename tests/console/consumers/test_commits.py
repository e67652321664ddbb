from console.consumers.commits import COMMITS_MAX, CommitRing


def ring(*commits: tuple[int, int], log_end: int | None = 1_000) -> CommitRing:
    """(moment in s, offset) each."""
    kept = CommitRing()
    for at_s, offset in commits:
        kept.add(offset, at_s * 1_000, log_end)
    return kept


def offsets(kept: CommitRing) -> list[int]:
    return [each.offset for each in kept.commits]


def test_the_lag_is_that_of_the_moment_and_never_below_zero():
    assert [each.lag for each in ring((1, 990), (5, 1_010)).commits] == [10, 0]
    assert ring((1, 990), log_end=None).commits[0].lag is None


def test_the_oldest_commit_leaves_a_full_ring():
    kept = ring(*((second, second) for second in range(0, 60, 2)))

    assert len(kept.commits) == COMMITS_MAX
    assert offsets(kept)[-1] == 58


def test_fast_commits_move_the_newest_on_and_keep_its_time():
    kept = CommitRing()
    for number in range(100):
        kept.add(number, number * 100, None)

    assert offsets(kept)[-1] == 99
    assert kept.span_ms >= 8_000


def test_a_commit_out_of_order_is_put_in_its_place_without_a_lag():
    kept = ring((1, 10), (10, 30), (5, 20))

    assert offsets(kept) == [10, 20, 30]
    assert kept.commits[1].lag is None


def test_the_same_commit_told_twice_is_one():
    assert offsets(ring((1, 10), (5, 20), (5, 20), (1, 10))) == [10, 20]


def test_a_commit_older_than_a_full_ring_is_dropped():
    kept = ring(*((second, second) for second in range(100, 100 + 2 * COMMITS_MAX, 2)))
    kept.add(3, 3_000, 1_000)

    assert 3 not in offsets(kept)


def test_the_usual_gap_is_the_median():
    assert ring((0, 1), (10, 2), (20, 3), (500, 4)).usual_gap_ms == 10_000
    assert ring((0, 1)).usual_gap_ms == 0


def test_what_was_taken_away_is_forgotten():
    kept = ring((0, 1), (10, 2))
    kept.forget()

    assert not kept.commits
