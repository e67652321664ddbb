"""Each record's way through converters: what is tried again, what is left out, and what ends the task."""

from threading import Event

import pytest

from broker.connect.api import ConnectError, RetriableError, SourceRecord
from broker.connect.tasks.pipeline import Pipeline
from broker.connect.tasks.tolerance import Failure, Tolerance

RECORD = SourceRecord({}, {}, "t", None, None, None, None, "line")


class Message:
    def topic(self):
        return "t"

    def partition(self):
        return 3

    def offset(self):
        return 7

    def headers(self):
        return None

    def key(self):
        return None

    def value(self):
        return b"line"

    def timestamp(self):
        return 0, -1


class Away:
    """A value converter that cannot convert for now, so many times."""

    def __init__(self, times):
        self.left = times

    def from_connect(self, topic, headers, schema, value):
        return self._converted(value.encode())

    def to_connect(self, topic, headers, data):
        return self._converted((None, data.decode()))

    def _converted(self, value):
        self.left -= 1
        if self.left >= 0:
            raise RetriableError("the registry is away")
        return value


def pipeline(times, **props):
    said = {"errors.tolerance": "all", "errors.retry.delay.max.ms": "1", **props}
    made = Pipeline({f"{side}.converter": "StringConverter" for side in ("key", "value")}, {}, Tolerance(said, Event()))
    made._value = Away(times)
    return made


def test_what_cannot_be_converted_for_now_is_tried_again_both_ways():
    props = {"errors.retry.timeout": "-1"}
    assert pipeline(3, **props).source(RECORD)[1][1] == b"line"
    assert pipeline(3, **props).sink(Message()).value == "line"


def test_what_a_later_try_may_convert_is_never_left_out_whatever_is_tolerated():
    with pytest.raises(ConnectError, match="VALUE_CONVERTER"):
        pipeline(1).source(RECORD)
    with pytest.raises(ConnectError, match="t-3@7"):
        pipeline(1).sink(Message())


def test_what_no_try_will_convert_is_a_failure_of_its_record():
    made = pipeline(0)
    made._value.to_connect = lambda *_: 1 / 0
    assert isinstance(made.sink(Message()), Failure)
