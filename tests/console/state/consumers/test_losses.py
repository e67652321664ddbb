"""Records that were deleted unread are counted once, and the count of an episode never shrinks."""

from dataclasses import replace

from console.state.consumers.losses import EPISODE_MS, NO_LOSS, PlaceReads, observe_loss

MINUTE = 60_000


def test_deleted_records_are_counted_once_while_deletion_goes_on():
    loss = observe_loss(NO_LOSS, committed=100, first_offset=150, next_offset=900, is_lost=True, now_ms=1_000)
    assert (loss.count, loss.since_ms, loss.at_ms) == (50, 1_000, 1_000)
    again = observe_loss(loss, committed=100, first_offset=150, next_offset=950, is_lost=True, now_ms=2_000)
    assert again == loss
    more = observe_loss(loss, committed=100, first_offset=180, next_offset=950, is_lost=True, now_ms=3_000)
    assert (more.count, more.since_ms, more.at_ms) == (80, 1_000, 3_000)


def test_the_count_stays_when_the_group_reads_on_from_the_log_start():
    loss = observe_loss(NO_LOSS, committed=100, first_offset=150, next_offset=900, is_lost=True, now_ms=1_000)
    after = observe_loss(loss, committed=160, first_offset=150, next_offset=900, is_lost=False, now_ms=2_000)
    assert after == loss
    more = observe_loss(after, committed=160, first_offset=200, next_offset=950, is_lost=True, now_ms=3_000)
    assert (more.count, more.since_ms) == (90, 1_000)


def test_what_may_have_been_read_and_not_committed_yet_is_not_counted():
    loss = observe_loss(NO_LOSS, committed=100, first_offset=150, next_offset=900, is_lost=False, now_ms=1_000)
    assert loss == NO_LOSS


def test_an_episode_ends_a_day_after_its_last_loss_and_not_while_the_position_is_deleted():
    loss = observe_loss(NO_LOSS, committed=100, first_offset=150, next_offset=900, is_lost=True, now_ms=1_000)
    later_ms = 1_000 + EPISODE_MS + 1
    stuck = observe_loss(loss, committed=100, first_offset=150, next_offset=900, is_lost=True, now_ms=later_ms)
    assert stuck.count == 50
    over = observe_loss(loss, committed=200, first_offset=150, next_offset=900, is_lost=False, now_ms=later_ms)
    assert over.count == 0
    new = observe_loss(over, committed=200, first_offset=210, next_offset=900, is_lost=True, now_ms=later_ms + 5)
    assert (new.count, new.since_ms) == (10, later_ms + 5)


def test_a_topic_that_was_created_anew_has_lost_nothing():
    loss = observe_loss(NO_LOSS, committed=100, first_offset=150, next_offset=900, is_lost=True, now_ms=1_000)
    assert observe_loss(loss, committed=0, first_offset=0, next_offset=3, is_lost=False, now_ms=2_000) == NO_LOSS


def test_a_loss_from_before_the_first_look_has_no_beginning():
    loss = observe_loss(
        NO_LOSS, committed=100, first_offset=150, next_offset=900, is_lost=True, now_ms=1_000, is_first_look=True
    )
    assert (loss.count, loss.since_ms, loss.at_ms) == (50, None, 1_000)
    more = observe_loss(loss, committed=100, first_offset=151, next_offset=900, is_lost=True, now_ms=2_000)
    assert replace(more, at_ms=1_000, count=50, until=150) == loss


def test_a_jump_over_deleted_records_is_no_reading():
    reads = PlaceReads()
    reads.observe(committed=100, first_offset=0, at_ms=0)
    reads.observe(committed=200, first_offset=0, at_ms=10_000)
    assert reads.per_second == 10.0
    # The log start has passed the position: of 1,000 offsets only the last 100 could be read.
    reads.observe(committed=1_200, first_offset=1_100, at_ms=20_000)
    assert reads.per_second == 10.0


def test_offsets_that_an_operator_set_are_no_reading():
    reads = PlaceReads()
    reads.observe(committed=100, first_offset=0, at_ms=0)
    reads.observe(committed=900, first_offset=0, at_ms=10_000, is_set=True)
    assert reads.per_second == 0.0
    reads.observe(committed=400, first_offset=0, at_ms=20_000)
    reads.observe(committed=500, first_offset=0, at_ms=30_000)
    assert reads.per_second == 3.3


def test_a_group_that_stops_reads_nothing_after_the_window():
    reads = PlaceReads()
    for minute in range(3):
        reads.observe(committed=600 * minute, first_offset=0, at_ms=minute * MINUTE)
    assert reads.per_second == 10.0
    for minute in range(3, 10):
        reads.observe(committed=1_200, first_offset=0, at_ms=minute * MINUTE)
    assert reads.per_second == 0.0
