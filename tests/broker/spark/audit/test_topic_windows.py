"""The state of a topic says what the audit's ledger and verdict say, whatever is repeated, killed, lost and cut."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.audit.increment import AuditTier, Chain, Increment
from broker.spark.audit.topic_windows import NEWEST_APART, TopicWindows, horizon, understood, written
from tests.broker.spark.audit.table import Table, ledger_of
from tests.broker.spark.audit.world import BEGIN, MINUTE, STEPS, TOPIC, World, rows_of, tally, verdicts_of
from tests.examples import examples

CONSUMED, APPENDED, PRODUCED = AuditTier.CONSUMED, AuditTier.APPENDED, AuditTier.PRODUCED


def counted(batches, now_ms, kept_ms=10**12):
    """The table, the state and what was late after these batches, each of which finds the state as text.

    A batch is at the time of the newest that is told, the last one at `now_ms`.
    """
    table, text, late = Table(), None, []
    for number, batch in enumerate(batches, 1):
        at_ms = now_ms if number == len(batches) else max(item.at_ms for item in batch)
        windows = understood(TOPIC, text) if text else TopicWindows(TOPIC)
        late += [item for item in (windows.add(increment, at_ms) for increment in batch) if item]
        table.write(windows.rows(at_ms))
        windows.forget(horizon([(0, item.at_ms) for item in batch], kept_ms))
        text = written(windows)
    return table, text, late


def cut_up(increments, cuts):
    places = sorted({0, len(increments), *(cut % (len(increments) + 1) for cut in cuts)})
    return [increments[start:end] for start, end in pairwise(places)]


@settings(max_examples=examples(300), deadline=None)
@given(STEPS, st.lists(st.integers(0, 100), max_size=8))
def test_windows_are_those_of_the_ledger_however_batches_are_cut(steps, cuts):
    world = World()
    for step in steps:
        world.do(step)
    now_ms = world.now_ms + 2 * MINUTE
    table, text, late = counted([*cut_up(world.increments, cuts), []], now_ms)
    ledger = ledger_of(world.increments)
    assert late == []
    assert table.rows() == rows_of(ledger)
    assert table.verdicts() == verdicts_of(ledger, now_ms)
    if text:
        assert written(understood(TOPIC, text)) == text


@settings(max_examples=examples(100), deadline=None)
@given(STEPS, st.integers(0, 60), st.lists(st.integers(0, 100), max_size=4))
def test_a_batch_that_is_done_again_from_the_state_before_leads_to_the_same_rows(steps, again, cuts):
    world = World()
    for step in steps:
        world.do(step)
    batches, table, text = cut_up(world.increments, cuts), Table(), None
    for number, batch in enumerate(batches):
        for _ in range(2 if number == again % max(len(batches), 1) else 1):
            windows = understood(TOPIC, text) if text else TopicWindows(TOPIC)
            for item in batch:
                windows.add(item, world.now_ms)
            table.write(windows.rows(world.now_ms))
        text = written(windows)
    assert table.rows() == rows_of(ledger_of(world.increments))


def consumed(start, end, *, epoch="e", sequence=0, window=BEGIN, at_ms=BEGIN):
    windows = {window: tally(window, start, end - 1)}
    return Increment(Chain(CONSUMED, "g", TOPIC, 0), epoch, sequence, at_ms, windows, start, end)


def appended(end, window=BEGIN):
    return Increment(Chain(APPENDED, "counter", TOPIC, 0), "c", 0, BEGIN, {window: tally(window, 0, end - 1)}, 0, end)


@pytest.mark.parametrize(
    "newcomer",
    [
        replace(consumed(9, 12, window=BEGIN + 9 * MINUTE), chain=Chain(CONSUMED, "another", TOPIC, 0)),
        consumed(9, 12, sequence=7, window=BEGIN + 9 * MINUTE),
    ],
    ids=["a tier that appears", "an increment that did not arrive"],
)
def test_what_concerns_windows_that_nobody_tells_of_any_more_is_said_of_them(newcomer):
    now_ms, before = BEGIN + 20 * MINUTE, [appended(9), consumed(0, 9, at_ms=BEGIN + 5 * MINUTE)]
    batches = [before, [replace(newcomer, at_ms=BEGIN + 9 * MINUTE)]]
    assert counted([before], BEGIN + 5 * MINUTE)[0].verdicts()[BEGIN] == ("complete", [])
    table, _, _ = counted([*batches, []], now_ms)
    assert table.verdicts()[BEGIN] == ("unknown", [])
    assert table.verdicts() == verdicts_of(ledger_of([item for batch in batches for item in batch]), now_ms)


def test_who_goes_far_back_is_not_known_until_it_has_come_again_and_never_said_to_have_lost():
    far = 3 * NEWEST_APART
    increments = [appended(far), *(consumed(index, index + 1, sequence=index) for index in range(far))]
    table, text, _ = counted([increments], BEGIN + 5 * MINUTE)
    assert table.verdicts()[BEGIN][0] == "complete"
    assert len(understood(TOPIC, text).stories[increments[-1].chain].increments) < far, "it is folded"
    back = [consumed(2, 3, epoch="again")]
    table, _, _ = counted([increments, back], BEGIN + 5 * MINUTE)
    assert table.verdicts()[BEGIN][0] == "pending"
    on = [consumed(index, index + 1, epoch="again", sequence=index - 2) for index in range(3, far)]
    table, _, _ = counted([increments, back, on], BEGIN + 5 * MINUTE)
    assert table.verdicts()[BEGIN][0] == "unknown"


def test_windows_leave_the_state_and_keep_their_rows_and_who_is_late_is_told():
    old, new = consumed(0, 5), consumed(5, 9, sequence=1, window=BEGIN + 30 * MINUTE, at_ms=BEGIN + 30 * MINUTE)
    now_ms, kept_ms = BEGIN + 30 * MINUTE, 10 * MINUTE
    table, text, late = counted([[appended(5), old], [new]], now_ms, kept_ms)
    assert late == []
    state = understood(TOPIC, text)
    assert {
        window for story in state.stories.values() for increment in story.increments for window in increment.windows
    } == {BEGIN + 30 * MINUTE}
    assert table.rows()[BEGIN, "consumed", "g"][0].count == 5
    later = consumed(9, 11, sequence=2, at_ms=BEGIN + 31 * MINUTE)
    table, text, late = counted([[appended(5), old], [new], [later, old]], now_ms, kept_ms)
    assert [tuple(item.increment.windows) for item in late] == [(BEGIN,)], "what was read before is not late"
    assert table.rows()[BEGIN, "consumed", "g"][0].count == 5
    assert understood(TOPIC, text).stories[old.chain].end == 11, "it is known how far it has come"


def test_who_goes_back_behind_what_was_forgotten_is_late_and_goes_on():
    new = consumed(5, 9, sequence=1, window=BEGIN + 30 * MINUTE, at_ms=BEGIN + 30 * MINUTE)
    back = [consumed(2, 5, epoch="again", at_ms=BEGIN + 31 * MINUTE), replace(new, epoch="again")]
    table, text, late = counted([[appended(5), consumed(0, 5)], [new], back], BEGIN + 31 * MINUTE, 10 * MINUTE)
    assert [tuple(item.increment.windows) for item in late] == [(BEGIN,)]
    assert table.rows()[BEGIN, "consumed", "g"][0].count == 5, "its row stays"
    assert table.rows()[BEGIN + 30 * MINUTE, "consumed", "g"][0].count == 4
    assert understood(TOPIC, text).stories[new.chain].end == 9


def test_a_chain_nobody_hears_of_is_forgotten_with_its_windows():
    others = [replace(consumed(0, 1), at_ms=BEGIN + 60 * MINUTE, windows={})]
    _, text, _ = counted(
        [[appended(5)], [replace(other, chain=Chain(CONSUMED, "h", TOPIC, 1)) for other in others]],
        BEGIN + 60 * MINUTE,
        MINUTE,
    )
    assert {chain.source for chain in understood(TOPIC, text).stories} == {"h"}


@pytest.mark.parametrize("window", [-1, BEGIN + 100 * MINUTE])
def test_records_without_a_time_and_of_the_future_hold_no_window_open(window):
    _, text, late = counted([[consumed(0, 3, window=window)]], BEGIN)
    assert [tuple(item.increment.windows) for item in late] == [(window,)]
    assert understood(TOPIC, text).stories[late[0].increment.chain].end == 3


def test_a_state_stays_small_however_often_is_told():
    producer = Chain(PRODUCED, "p", TOPIC, 0)
    windows, sizes = TopicWindows(TOPIC), []
    for number in range(200):
        at_ms = BEGIN + number * 10_000
        window = at_ms // MINUTE * MINUTE
        for chain, ends in ((producer, (-1, -1)), (Chain(CONSUMED, "g", TOPIC, 0), (number, number + 1))):
            tallies = {window: tally(window, number, number)}
            windows.add(Increment(chain, "e", number, at_ms, tallies, *ends), at_ms)
        windows.rows(at_ms)
        windows.forget(horizon([(0, at_ms)], 10 * MINUTE))
        sizes.append(len(written(windows)))
    assert max(sizes[130:]) <= 1.01 * max(sizes[70:130])
    assert all(len(story.increments) <= 12 + NEWEST_APART for story in windows.stories.values())


def test_the_audit_topics_partition_that_is_behind_says_what_is_late():
    assert horizon([(0, 5_000), (1, 100), (0, 10), (1, 900)], 300) == 600
    assert horizon([], 300) == -300
