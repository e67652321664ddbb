from console.state.consumers.log_ends import POINTS_MAX, LogEnds


def ends(*points: tuple[int, int]) -> LogEnds:
    """(moment in s, next offset) each."""
    kept = LogEnds()
    for at_s, offset in points:
        kept.observe(offset, at_s * 1_000)
    return kept


def test_a_record_between_two_points_was_appended_between_them():
    kept = ends((0, 100), (10, 200))

    assert kept.appended_at_ms(100) == 0
    assert kept.appended_at_ms(150) == 5_000
    assert kept.appended_at_ms(199) == 9_900


def test_what_is_older_than_the_first_point_or_not_there_yet_is_not_known():
    kept = ends((0, 100), (10, 200))

    assert kept.appended_at_ms(99) is None
    assert kept.appended_at_ms(200) is None
    assert LogEnds().appended_at_ms(0) is None


def test_a_rest_before_the_record_is_not_counted_as_waiting():
    kept = ends((0, 100), (10, 100), (600, 100), (610, 110))

    assert kept.appended_at_ms(100) == 600_000
    assert kept.appended_at_ms(105) == 605_000


def test_a_rest_is_kept_as_its_two_ends():
    kept = ends(*((second, 100) for second in range(500)))

    assert len(kept._moments) == 2
    assert kept.resting_since_ms() == 0


def test_a_moving_log_rests_since_its_last_point():
    assert ends((0, 1), (10, 5), (20, 9)).resting_since_ms() == 20_000


def test_an_end_that_went_back_belongs_to_another_log():
    kept = ends((0, 100), (10, 200), (20, 5), (30, 10))

    assert kept.appended_at_ms(150) is None
    assert kept.appended_at_ms(5) == 20_000


def test_a_busy_log_takes_bounded_room_and_its_newest_end_is_exact():
    kept = LogEnds()
    for number in range(5_000):
        kept.observe(number * 10, number * 1_500)

    assert len(kept._moments) <= POINTS_MAX
    assert kept.last == 49_990
    assert abs(kept.appended_at_ms(49_500) - 4_950 * 1_500) < 3_000


def test_an_end_of_the_same_moment_is_passed_over():
    assert ends((1, 10), (1, 20)).last == 10
