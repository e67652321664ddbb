from console.cluster.retention.growth import SAMPLES_MAX, SPAN_MIN_MS, WINDOW_MS, GrowthWindow, full_in_ms


def test_growth_is_told_once_it_was_watched_for_a_minute():
    window = GrowthWindow()

    assert window.observe("a", 1_000, 0) is None
    assert window.observe("a", 2_000, SPAN_MIN_MS - 1) is None
    assert window.observe("a", 7_000, SPAN_MIN_MS) == 100.0


def test_a_deletion_shows_as_less_and_is_not_forgotten():
    window = GrowthWindow()
    window.observe("a", 9_000, 0)

    assert window.observe("a", 3_000, 60_000) == -100.0


def test_what_is_older_than_the_window_does_not_count():
    window = GrowthWindow()
    for minute in range(60):
        last = window.observe("a", 0 if minute < 30 else (minute - 30) * 6_000, minute * 60_000)

    assert 90 <= last <= 100


def test_memory_is_bounded_however_often_it_looks():
    window = GrowthWindow()
    for second in range(0, 3 * WINDOW_MS // 1_000, 5):
        window.observe("a", second, second * 1_000)

    assert len(window._samples["a"]) <= SAMPLES_MAX + 1


def test_a_clock_that_goes_back_begins_anew():
    window = GrowthWindow()
    window.observe("a", 0, 100_000)

    assert window.observe("a", 1_000, 0) is None


def test_numbers_nobody_asks_for_are_forgotten():
    window = GrowthWindow()
    window.observe("a", 0, 0)
    window.forget_all_but({"b"})

    assert window.observe("a", 6_000, 60_000) is None


def test_a_disk_that_does_not_fill_is_never_full():
    assert full_in_ms(1_000, 0.0) is None
    assert full_in_ms(1_000, -5.0) is None
    assert full_in_ms(None, 5.0) is None
    assert full_in_ms(1_000, None) is None
    assert full_in_ms(1_000, 10.0) == 100_000
