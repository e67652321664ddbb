"""Who is blamed: whoever is silent, in time; nobody who answers; nobody for a pause of the probe itself."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.probe.fault_attribution import BROKEN_MS, SILENT_MS, STEP_MS_MAX, BrokerWatch
from console.processes.embedded import probe_spec
from console.processes.setup import read_setup
from tests.examples import examples


def watch_of(*brokers):
    watch = BrokerWatch()
    watch.follow(brokers)
    watch.tick(0, 0)
    return watch


def test_one_that_hangs_is_blamed_and_one_that_answers_is_not():
    watch, blamed = watch_of(1, 2), []
    for at in range(250, 6_000, 250):
        watch.ask(1)
        watch.ask(2)
        watch.answer(2)
        blamed += [(at, broker) for broker in watch.tick(at, at)]
    assert blamed == [(SILENT_MS, 1)]
    assert watch.blamed[1].noticed_after_ms == SILENT_MS


def test_one_whose_connections_break_is_blamed_sooner():
    watch = watch_of(1)
    watch.fail(1, "refused", is_broken=True)
    watch.tick(500, 500)
    watch.fail(1, "refused", is_broken=True)
    assert watch.tick(BROKEN_MS, 0) == [1]
    assert watch.blamed[1].why == "refused"
    assert watch.answer(1)
    assert not watch.blamed


def test_one_broken_connection_is_nothing():
    watch = watch_of(1)
    watch.fail(1, "closed", is_broken=True)
    watch.answer(1)
    assert watch.tick(400, 0) == []
    assert not watch.blamed


def test_while_the_probe_was_stopped_nobody_was_silent():
    watch = watch_of(1)
    watch.ask(1)
    assert watch.tick(3_600_000, 0) == []


@settings(max_examples=examples(300))
@given(st.lists(st.tuples(st.sampled_from(("ask", "answer", "fail", "tick")), st.integers(0, 900)), max_size=80))
def test_nobody_is_blamed_within_less_silence_than_is_said(steps):
    watch, now, silent = watch_of(1), 0, 0.0
    is_asked = False
    for deed, more in steps:
        if deed == "tick":
            now += more
            silent += min(more, STEP_MS_MAX) if is_asked else 0
            blamed = watch.tick(now, now)
            assert not blamed or silent >= BROKEN_MS
            assert not is_asked or silent < SILENT_MS or watch.blamed
        elif deed == "answer":
            watch.answer(1)
            is_asked, silent = False, 0.0
        else:
            watch.ask(1) if deed == "ask" else watch.fail(1, "", is_broken=True)
            is_asked = True


def test_who_is_not_followed_any_more_is_not_blamed():
    watch = watch_of(1, 2)
    watch.follow([2])
    watch.ask(1)
    assert list(watch.brokers) == [2]


@pytest.mark.parametrize("is_broken", [True, False], ids=["killed", "hangs"])
def test_who_is_written_to_once_a_second_is_blamed_within_five_seconds(is_broken):
    """As the product's own probe is set up; it dies just after it has answered."""
    interval_ms = int(probe_spec(read_setup({}, ""), Path("probe"))["properties"]["record.interval.ms"])
    watch = BrokerWatch()
    watch.follow([1, 2])
    blamed_at_ms = {}
    for at_ms in range(0, 8_000, 250):
        if at_ms % interval_ms == 0:
            watch.ask(1)
            watch.ask(2)
            watch.answer(2)
            if at_ms == 0:
                watch.answer(1)
            elif is_broken:
                watch.fail(1, "refused", is_broken=True)
        blamed_at_ms |= dict.fromkeys(watch.tick(at_ms, at_ms), at_ms)
    assert blamed_at_ms.keys() == {1}
    assert blamed_at_ms[1] <= 5_000
