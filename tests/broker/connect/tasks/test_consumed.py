"""What a sink's consumer hands over beside records: errors it goes on after, and errors that end its task."""

from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError

from broker.connect.api import ConnectError, ConnectPartition
from broker.connect.tasks.consumed import is_passing, partition_of

_PASSING = [
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._MAX_POLL_EXCEEDED,
    KafkaError._PARTITION_EOF,
    KafkaError._TIMED_OUT,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
]


@pytest.mark.parametrize("code", _PASSING)
def test_a_sink_goes_on_after_a_time_out_and_a_lost_coordinator(code):
    assert is_passing(KafkaError(code))


@pytest.mark.parametrize("code", [KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError._AUTO_OFFSET_RESET])
def test_a_refusal_ends_its_task(code):
    with pytest.raises(ConnectError, match="records cannot be read"):
        is_passing(KafkaError(code))


def test_a_record_is_no_error():
    message = SimpleNamespace(topic=lambda: "t", partition=lambda: 3)
    assert not is_passing(None)
    assert partition_of(message) == ConnectPartition("t", 3)
