from console.kit.common.rates import RateWindow, RecentValues


def test_the_first_value_has_no_rate():
    assert RateWindow().observe("a", 100, at_ms=0) is None


def test_rate_is_growth_per_second_over_the_window():
    window = RateWindow(window_ms=10_000)
    for second in range(30):
        rate = window.observe("a", 50 * second, at_ms=1000 * second)

    assert rate == 50.0


def test_traffic_that_stopped_fades_to_zero_within_the_window():
    window = RateWindow(window_ms=4_000)
    window.observe("a", 0, at_ms=0)
    window.observe("a", 100, at_ms=1_000)
    rates = [window.observe("a", 100, at_ms=1_000 * second) for second in range(2, 8)]

    assert rates == sorted(rates, reverse=True)
    assert rates[-1] == 0.0


def test_a_number_that_went_back_starts_anew():
    window = RateWindow()
    window.observe("a", 1_000, at_ms=0)

    assert window.observe("a", 10, at_ms=1_000) is None
    assert window.observe("a", 30, at_ms=2_000) == 20.0


def test_two_looks_in_the_same_millisecond_give_no_rate():
    window = RateWindow()
    window.observe("a", 0, at_ms=5)

    assert window.observe("a", 10, at_ms=5) is None


def test_forgotten_keys_start_anew():
    window = RateWindow()
    window.observe("a", 0, at_ms=0)
    window.forget_all_but(set())

    assert window.observe("a", 10, at_ms=1_000) is None


def test_a_clock_set_back_starts_anew():
    window = RateWindow()
    window.observe("a", 0, at_ms=3_600_000)

    assert window.observe("a", 10, at_ms=1_000) is None
    assert window.observe("a", 30, at_ms=2_000) == 20.0


def test_a_burst_after_a_long_rest_counts_from_the_beginning_of_the_window():
    window = RateWindow(window_ms=10_000)
    for second in range(0, 3_600, 2):
        window.observe("a", 500, at_ms=1_000 * second)

    assert window.observe("a", 600, at_ms=3_600_000) == 10.0


def test_a_number_that_rests_takes_no_more_room_however_often_it_is_looked_at():
    values = RecentValues()
    for second in range(9):
        values.add(500, 1_000 * second, 10_000)

    assert values._moments == [0, 8_000]
