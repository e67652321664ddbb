"""Whatever a plugin raises is told in a text that can be kept: half a character, megabytes, errors without words."""

import json

import pytest

from broker.connect.group.wire import Unit
from broker.connect.tasks.unit import RunningUnit
from broker.connect.traces import sentence_of, trace_of


class WordlessError(Exception):
    def __str__(self):
        raise LookupError("none")


def raised(error):
    def run():
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (LookupError("thrown"), "LookupError: thrown"),
        (ValueError("half \ud800 of it"), "ValueError: half \\ud800 of it"),
        (WordlessError(), "WordlessError: <exception str() failed>"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
    ],
)
def test_a_unit_whose_plugin_raises_anything_is_failed_and_says_why(error, sentence):
    messages = []
    unit = RunningUnit(Unit("c", 0), lambda *states: messages.append(states), is_paused=False)
    unit.run = raised(error)
    unit.begin()
    assert unit.await_stop(30)
    ((_, state, trace),) = messages
    assert state == "FAILED"
    assert trace.rstrip().endswith(sentence)
    assert unit.failed
    json.dumps(trace, ensure_ascii=False).encode()
    assert sentence_of(error).startswith(sentence.partition("<")[0])


def test_of_a_long_one_beginning_and_end_are_kept():
    trace = trace_of(ValueError("x" * 3_000_000))
    assert trace.startswith("ValueError: xxx")
    assert " characters …\nxxx" in trace
    assert len(trace) < 40_000
    assert len(sentence_of(ValueError("x" * 3_000_000))) < 4_000
