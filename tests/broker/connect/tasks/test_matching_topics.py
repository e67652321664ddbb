"""`topics.regex` means what it means in Java, and topics that come later are found."""

from types import SimpleNamespace

import pytest

from broker.connect.api import ConfigError
from broker.connect.group.wire import Unit
from broker.connect.tasks.matching_topics import REFRESH_S, MatchingTopics
from broker.connect.tasks.sink_batch import SinkBatch
from broker.connect.tasks.sink_task import RunningSink
from broker.connect.tasks.unit import RunningUnit


class Clock:
    now_s = 0.0

    def __call__(self):
        return self.now_s


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        (r"orders-\d", ["orders-1"]),
        (r"(?:orders|other)-?.*", ["orders", "orders-1", "other"]),
        ("o", []),
        (".*", ["orders", "orders-1", "other"]),
    ],
)
def test_a_pattern_is_javas_and_of_whole_names(pattern, matched):
    names = ["orders", "orders-1", "other", "__consumer_offsets", "__transaction_state"]
    assert MatchingTopics(pattern, lambda: names, Clock()).changed() == (matched or None)


def test_a_topic_that_comes_later_is_found_and_one_that_goes_is_not():
    clock, names = Clock(), ["a1"]
    topics = MatchingTopics(r"a\d", lambda: names, clock)
    assert topics.changed() == ["a1"]
    names.append("a2")
    assert topics.changed() is None
    clock.now_s = REFRESH_S
    assert topics.changed() == ["a1", "a2"]
    clock.now_s *= 2
    assert topics.changed() is None
    names.clear()
    clock.now_s *= 2
    assert topics.changed() == []


def test_a_name_that_would_be_matched_for_years_keeps_nobody_from_the_others():
    names = ["aaa", "a" * 60 + "-"]
    assert MatchingTopics("(a+)+", lambda: names, Clock()).changed() == ["aaa"]


def test_what_is_no_pattern_is_refused():
    with pytest.raises(ConfigError, match=r"topics\.regex"):
        MatchingTopics("([", list, Clock())


def test_a_sink_of_whose_pattern_no_topic_is_seen_says_so_while_it_runs():
    """As where its login may describe none: the consumer is told of no such topic, and no request is refused."""
    clock, names, states = Clock(), ["other"], []
    sink = RunningSink.__new__(RunningSink)
    RunningUnit.__init__(sink, Unit("archive", 0), lambda _unit, state, trace: states.append((state, trace)), False)
    sink._matching = MatchingTopics("orders.*", lambda: names, clock)
    sink._subscribe_to = lambda topics: states.append(topics)
    sink._batch, sink._is_uncommitted, sink._processed = SinkBatch(), False, {}
    sink._task, sink._assigned = SimpleNamespace(put=list), set()
    sink._find_topics()
    sink._deliver()
    clock.now_s = REFRESH_S
    sink._find_topics()
    [(state, trace)] = states
    assert state == "RUNNING"
    assert "no topic that this login may describe matches topics.regex" in trace

    names.append("orders")
    clock.now_s *= 2
    sink._find_topics()
    sink._deliver()
    assert states[1:] == [["orders"], ("RUNNING", None)]
