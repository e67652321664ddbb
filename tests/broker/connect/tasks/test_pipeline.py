"""Each record's way through converters: what is tried again, what is left out, and what ends the task."""

from threading import Event

import pytest

from broker.connect.api import ConnectError, Header, RetriableError, SourceRecord
from broker.connect.herder.validation import validate
from broker.connect.settings import STANDALONE, read_settings
from broker.connect.tasks.pipeline import Pipeline
from broker.connect.tasks.tolerance import RecordFailure, Tolerance

RECORD = SourceRecord({}, {}, "t", None, None, None, None, "line")


class Message:
    def __init__(self, value=b"line", offset=7, key=None, headers=None, timestamp=(0, -1)):
        self._value, self._offset, self._key, self._headers, self._timestamp = value, offset, key, headers, timestamp

    def topic(self):
        return "t"

    def partition(self):
        return 3

    def offset(self):
        return self._offset

    def headers(self):
        return self._headers

    def key(self):
        return self._key

    def value(self):
        return self._value

    def timestamp(self):
        return self._timestamp


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
    properties = {"errors.tolerance": "all", "errors.retry.delay.max.ms": "1", **props}
    made = Pipeline(
        {f"{side}.converter": "StringConverter" for side in ("key", "value")}, {}, Tolerance(properties, Event())
    )
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
    assert isinstance(made.sink(Message()), RecordFailure)


def envelope(n):
    schema = b'{"type":"struct","fields":[{"field":"n","type":"int32"}]}'
    return b'{"schema":%b,"payload":{"n":%d}}' % (schema, n)


def json_pipeline(**props):
    worker = {"key.converter": "JsonConverter", "value.converter": "JsonConverter"}
    return Pipeline(worker, props, Tolerance({}, Event()))


RUN = [
    Message(envelope(1), 7, timestamp=(1, 123)),
    Message(envelope(2), 9, b'{"schema":{"type":"string"},"payload":"k"}', [("h", b"1")]),
]


def test_records_of_one_schema_are_converted_together_and_say_what_they_say_alone():
    made = json_pipeline()
    columns, alone = made.columns(RUN), [made.sink(item) for item in RUN]
    assert (columns.topic, columns.partition) == ("t", 3)
    assert columns.offsets == [item.offset for item in alone] == [7, 9]
    assert columns.timestamps_ms == [item.timestamp_ms for item in alone] == [123, None]
    assert columns.schema == alone[0].value_schema
    assert columns.columns == [[item.value["n"] for item in alone]] == [[1, 2]]


@pytest.mark.parametrize(
    "odd",
    [Message(None, 11), Message(b"poison", 11), Message(envelope(2**40), 11), Message(envelope(3), 11, b"poison")],
)
def test_one_odd_record_has_all_of_them_converted_one_by_one(odd):
    assert json_pipeline().columns([*RUN, odd]) is None


def test_what_a_transform_has_to_see_is_not_converted_together():
    props = {"transforms": "a", "transforms.a.type": "InsertField$Value", "transforms.a.topic.field": "topic"}
    assert json_pipeline(**props).columns(RUN) is None


def test_what_is_accepted_with_blanks_around_it_starts_with_them():
    own = {
        "name": "c",
        "connector.class": "FileStreamSink",
        "topics": "t",
        "key.converter": " StringConverter ",
        "header.converter": " org.apache.kafka.connect.converters.ByteArrayConverter",
        "transforms": "a",
        "transforms.a.type": " Filter ",
        "transforms.a.predicate": " p ",
        "predicates": "p",
        "predicates.p.type": " RecordIsTombstone",
    }
    worker = {f"{side}.converter": "StringConverter" for side in ("key", "value")}
    settings = read_settings({**worker, "offset.storage.file.filename": "/x"}, STANDALONE)
    assert [c["value"] for c in validate(own, settings)["configs"] if c["value"]["errors"]] == []
    made = Pipeline(worker, own, Tolerance(own, Event()))
    _, (_, value, headers) = made.source(SourceRecord({}, {}, "t", None, None, None, None, "line", 0, (_BYTES,)))
    assert (value, headers) == (b"line", [("h", b"\xff")])


_BYTES = Header("h", None, b"\xff")
