"""Which errors of a librdkafka client a cluster that comes back mends."""

import pytest
from confluent_kafka import KafkaError

from broker.client.retriable import is_retriable_error

_MENDED = [
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._MAX_POLL_EXCEEDED,
    KafkaError._MSG_TIMED_OUT,
    KafkaError._RESOLVE,
    KafkaError._TIMED_OUT,
    KafkaError._TRANSPORT,
    KafkaError._WAIT_COORD,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.CONCURRENT_TRANSACTIONS,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError.NOT_ENOUGH_REPLICAS,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.REBALANCE_IN_PROGRESS,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
]
_FINAL = [
    KafkaError._AUTHENTICATION,
    KafkaError._AUTO_OFFSET_RESET,
    KafkaError._BAD_COMPRESSION,
    KafkaError._FATAL,
    KafkaError._FENCED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.INVALID_MSG,
    KafkaError.MSG_SIZE_TOO_LARGE,
    KafkaError.PRODUCER_FENCED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.UNSUPPORTED_VERSION,
]


@pytest.mark.parametrize("code", _MENDED)
def test_waiting_mends_a_time_out_a_lost_leader_and_a_lost_coordinator(code):
    assert is_retriable_error(KafkaError(code))


@pytest.mark.parametrize("code", _FINAL)
def test_waiting_mends_no_refusal_of_the_request_itself(code):
    assert not is_retriable_error(KafkaError(code))


def test_a_fatal_error_of_a_client_stays_fatal_whatever_its_code():
    assert not is_retriable_error(KafkaError(KafkaError._TIMED_OUT, "gone", fatal=True))
