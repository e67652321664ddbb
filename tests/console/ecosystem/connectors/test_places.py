"""What a trace tells: the error at the bottom of it, and the record."""

import pytest

from console.ecosystem.connectors.places import RecordRange, error_in, place_in

JAVA = """org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler
\tat org.apache.kafka.connect.runtime.errors.RetryWithToleranceOperator.execAndHandleError(RetryWithToleranceOperator.java:230)
Caused by: org.apache.kafka.connect.errors.DataException: Converting byte[] to Kafka Connect data failed due to error: 
\tat org.apache.kafka.connect.json.JsonConverter.toConnectData(JsonConverter.java:331)
Caused by: org.apache.kafka.common.errors.SerializationException: Unrecognized token 'no'
\t... 14 more
"""  # noqa: E501, W291
PYTHON = """Traceback (most recent call last):
  File "/x/json.py", line 3, in to_connect
    raise DataError("it is no JSON")
broker.connect.api.errors.DataError: it is no JSON

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/x/sink_task.py", line 3, in _give_up
broker.connect.api.errors.ConnectError: Tolerance exceeded in error handler: VALUE_CONVERTER by JsonConverter of the record at orders-eu-3@42
"""  # noqa: E501


def test_of_java_the_last_cause_and_of_python_the_first_error():
    assert error_in(JAVA) == ("SerializationException", "Unrecognized token 'no'")
    assert error_in(PYTHON) == ("DataError", "it is no JSON")
    assert error_in("something\nelse") == ("", "something")
    assert error_in("") == ("", "")


@pytest.mark.parametrize(
    ("trace", "place"),
    [
        (PYTHON, RecordRange("orders-eu", 3, 42)),
        (
            "Error converting message key in topic 'a.b' partition 7 at offset 12 and timestamp 5:",
            RecordRange("a.b", 7, 12),
        ),
        (JAVA, None),
        ("ConnectError: put failed at the record at a-b-0@7", RecordRange("a-b", 0, 7)),
        ("put failed between the record at a-0@7 and the record at a-0@9", RecordRange("a", 0, 7, 9)),
        (
            "put failed between the record at a-0@7 and the record at a-0@9, or at the record at b-1@2",
            RecordRange("a", 0, 7, 9, elsewhere=True),
        ),
        (
            "put failed at the record at a-0@7, or between the record at b-1@2 and …",
            RecordRange("a", 0, 7, elsewhere=True),
        ),
        ("x-1@" * 5_000, None),
        ("record at " * 2_000 + "a-" * 4_000, None),
    ],
)  # fmt: skip
def test_the_record_that_a_task_failed_at(trace, place):
    assert place_in(trace) == place


def test_a_place_is_said_as_exactly_as_it_is_known():
    assert RecordRange("a", 0, 7).sentence == "at the record a-0@7"
    assert RecordRange("a", 0, 7, 9).sentence == "between the records a-0@7 and a-0@9"
    assert RecordRange("a", 0, 7, 9, elsewhere=True).sentence.endswith("a-0@9 or in another partition")
