"""The counter of the audit counts on after whatever a cluster that is away makes of its requests."""

from threading import Event

import pytest
from confluent_kafka import KafkaError, KafkaException

from broker.audit import counter
from broker.audit.counter import Counter
from broker.client.cluster import ClusterConnections
from broker.client.errors import BrokerUnreachable
from broker.common.errors import ApiError, ErrorCode

_RETRIED = [
    KafkaException(KafkaError(KafkaError._TIMED_OUT)),
    KafkaException(KafkaError(KafkaError.COORDINATOR_NOT_AVAILABLE)),
    TimeoutError(),
    BufferError("queue full"),
    ApiError(ErrorCode.OFFSET_OUT_OF_RANGE),
    BrokerUnreachable("no broker is named"),
]


@pytest.fixture
def stumbling(monkeypatch):
    """stumbling(error): a counter whose next epoch fails by it, and that ends with the one behind it."""
    monkeypatch.setattr(counter, "_AGAIN_AFTER_S", 0.01)

    def make(error):
        counting, errors = Counter({}, lambda: ClusterConnections([])), [error]

        def run_once(stop):
            if errors:
                raise errors.pop()
            stop.set()

        monkeypatch.setattr(counting, "_run_once", run_once)
        return counting

    return make


@pytest.mark.parametrize("error", _RETRIED, ids=repr)
def test_a_time_out_is_followed_by_another_epoch(stumbling, error):
    stop = Event()
    stumbling(error).run(stop)
    assert stop.is_set()


def test_a_counter_that_was_fenced_ends(stumbling):
    with pytest.raises(KafkaException):
        stumbling(KafkaException(KafkaError(KafkaError._FENCED))).run(Event())
