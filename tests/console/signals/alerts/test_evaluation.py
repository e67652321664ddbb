"""Stories of one rule and one object, and what holds of all of them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.signals.alerts.evaluation import LOOKS_APART_MS, AlertEvent, AlertPhase, AlertState, AlertVerdict, advance
from console.signals.alerts.rules import AlertRule
from tests.examples import examples

MINUTE_MS = 60_000
BAD, WELL, UNKNOWN = AlertVerdict(True), AlertVerdict(False), AlertVerdict(None)


class Story:
    """One object, looked at every minute."""

    def __init__(self, **times: int):
        minutes = {f"{name}_ms": value * MINUTE_MS for name, value in times.items()}
        self.rule = AlertRule("r", ("ops",), escalate_to=("boss",) if "escalate_after" in times else (), **minutes)
        self.alert_state: AlertState | None = None
        self.now_ms = 0
        self.is_silenced = False

    def look(self, *verdicts: AlertVerdict) -> list[AlertEvent | None]:
        messages = []
        for verdict in verdicts:
            self.alert_state, event = advance(
                self.alert_state, verdict, self.rule, self.now_ms, is_silenced=self.is_silenced
            )
            self.now_ms += MINUTE_MS
            messages.append(event)
        return messages


@pytest.mark.parametrize(
    ("times", "looks", "expected"),
    [
        ({}, [BAD, BAD, WELL, BAD], [AlertEvent.FIRED, None, AlertEvent.RESOLVED, AlertEvent.FIRED]),
        ({"for": 2}, [BAD, BAD, BAD], [None, None, AlertEvent.FIRED]),
        ({"for": 2}, [BAD, WELL, BAD, BAD, WELL], [None] * 5),
        ({"for": 2}, [BAD, UNKNOWN, BAD], [None, None, AlertEvent.FIRED]),
        ({"clear": 2}, [BAD, WELL, BAD, WELL, WELL, WELL], [AlertEvent.FIRED, *[None] * 4, AlertEvent.RESOLVED]),
        ({"clear": 1}, [BAD, UNKNOWN, UNKNOWN, UNKNOWN], [AlertEvent.FIRED, None, None, None]),
        ({"repeat": 2}, [BAD] * 5, [AlertEvent.FIRED, None, AlertEvent.REPEATED, None, AlertEvent.REPEATED]),
        ({"escalate_after": 2}, [BAD] * 5, [AlertEvent.FIRED, None, AlertEvent.ESCALATED, None, None]),
    ],
)
def test_an_alert_begins_goes_on_and_ends_when_it_should(times, looks, expected):
    assert Story(**times).look(*looks) == expected


def test_a_time_in_which_nobody_looked_does_not_count():
    story = Story(**{"for": 5})
    story.look(BAD)
    story.now_ms += 2 * LOOKS_APART_MS
    assert story.look(*[BAD] * 5) == [None] * 5
    assert story.look(BAD) == [AlertEvent.FIRED]


def test_what_began_while_silenced_is_told_afterwards_if_it_goes_on():
    story = Story()
    story.is_silenced = True
    assert story.look(BAD, BAD) == [None, None]
    story.is_silenced = False
    assert story.look(BAD) == [AlertEvent.FIRED]


def test_what_nobody_was_told_of_is_over_without_a_word():
    story = Story()
    story.is_silenced = True
    assert story.look(BAD, WELL) == [None, None]
    assert story.alert_state.state is AlertPhase.RESOLVED


def test_who_acknowledges_is_not_told_again_but_that_it_is_over():
    story = Story(repeat=1, escalate_after=2)
    story.look(BAD)
    story.alert_state = story.alert_state.__class__(
        **{name: getattr(story.alert_state, name) for name in story.alert_state.__slots__}
        | {"acknowledged_until_ms": 10 * MINUTE_MS}
    )
    assert story.look(*[BAD] * 5, WELL) == [*[None] * 5, AlertEvent.RESOLVED]


@settings(max_examples=examples(200))
@given(
    st.fixed_dictionaries({name: st.integers(0, 4) for name in ("for", "clear", "repeat", "escalate_after")}),
    st.lists(st.tuples(st.sampled_from([BAD, WELL, UNKNOWN]), st.booleans()), max_size=40),
)
def test_what_is_told_is_a_story_with_one_beginning_and_one_end(times, looks):
    story, is_open = Story(**times), False
    for verdict, story.is_silenced in looks:
        (event,) = story.look(verdict)
        if event is AlertEvent.FIRED:
            assert not is_open
            assert verdict is not WELL
            is_open = True
        elif event is AlertEvent.RESOLVED:
            assert is_open
            assert verdict is WELL
            is_open = False
        elif event is not None:
            assert is_open
