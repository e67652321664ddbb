"""Records are sent until each has arrived; what arrived is not sent again, what is refused for good is left out."""

from threading import Event

import pytest
from confluent_kafka import KafkaError, KafkaException

from broker.connect import delivery
from broker.connect.delivery import DeliveryStopped, deliver
from broker.connect.source import SourceRecord

RECORDS = [SourceRecord("t", None, b"%d" % n, 1_000, (("h", b"1"),)) for n in range(4)]
LOST = KafkaError(KafkaError._MSG_TIMED_OUT)
TOO_LARGE = KafkaError(KafkaError.MSG_SIZE_TOO_LARGE)
NEVER = object()


class ScriptedProducer:
    """Answers each record by its script, one list per value: errors first, then acknowledged for ever."""

    def __init__(self, script: dict[bytes, list]):
        self._script = script
        self._pending = []
        self.sent: list[bytes] = []

    def produce(self, topic, value, key, headers, timestamp, on_delivery):
        answer = self._script[value].pop(0) if self._script.get(value) else None
        self.sent.append(value)
        if isinstance(answer, Exception):
            raise answer
        if answer is not NEVER:
            self._pending.append((answer, on_delivery))

    def poll(self, _timeout):
        pending, self._pending = self._pending, []
        for error, on_delivery in pending:
            on_delivery(error, None)

    flush = poll


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(delivery, "BACKOFF_FIRST_S", 0)


def test_only_what_failed_is_sent_again_in_order():
    producer = ScriptedProducer({b"1": [LOST, LOST], b"2": [LOST]})
    assert deliver(producer, RECORDS, Event()) == {0, 1, 2, 3}
    assert producer.sent == [b"0", b"1", b"2", b"3", b"1", b"2", b"1"]


def test_full_queue_and_refused_call_are_failures_like_others():
    producer = ScriptedProducer({b"0": [BufferError()], b"3": [KafkaException(LOST)]})
    assert deliver(producer, RECORDS, Event()) == {0, 1, 2, 3}
    assert producer.sent == [b"0", b"1", b"2", b"3", b"0", b"3"]


def test_record_no_broker_takes_does_not_hold_up_the_others():
    producer = ScriptedProducer({b"2": [TOO_LARGE]})
    assert deliver(producer, RECORDS, Event()) == {0, 1, 2, 3}
    assert producer.sent == [b"0", b"1", b"2", b"3"]


def test_stop_tells_what_had_arrived():
    stop = Event()
    stop.set()
    with pytest.raises(DeliveryStopped) as stopped:
        deliver(ScriptedProducer({b"2": [NEVER]}), RECORDS, stop)
    assert stopped.value.acknowledged == {0, 1, 3}
