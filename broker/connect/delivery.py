"""Records out of a connector into the cluster, in order, until each is acknowledged by every in-sync replica."""

import logging
from collections.abc import Callable, Iterable, Mapping
from threading import Event
from types import MappingProxyType
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from broker.common.errors import BarnabasError
from broker.common.logs import logger
from broker.connect.source import SourceRecord

#: What the producer itself retries for, before the worker sees a failure and backs off.
MESSAGE_TIMEOUT_MS = 10_000
BACKOFF_FIRST_S = 0.5
BACKOFF_MAX_S = 10.0

#: No repetition will make a broker accept these; the record is left out and said so.
_REFUSED = {KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_RECORD, KafkaError.INVALID_TIMESTAMP}

_log = logger("broker.connect")


class DeliveryStopped(BarnabasError):
    """The worker was told to stop first. `acknowledged` has the indexes of the records that arrived."""

    def __init__(self, acknowledged: set[int]):
        super().__init__("stopped before every record was acknowledged")
        self.acknowledged = acknowledged


def connect_producer(
    bootstrap_servers: str, client_id: str, security: Mapping[str, Any] = MappingProxyType({})
) -> Producer:
    """acks=all and one request at a time: a batch that is sent again cannot overtake the one before it."""
    return Producer(
        {
            "bootstrap.servers": bootstrap_servers,
            "client.id": client_id,
            "acks": "all",
            "max.in.flight.requests.per.connection": 1,
            "message.timeout.ms": MESSAGE_TIMEOUT_MS,
            "partitioner": "murmur2_random",
            "compression.type": "lz4",
            "linger.ms": 5,
            "reconnect.backoff.max.ms": 2_000,
            "queue.buffering.max.kbytes": 16_384,
            "log.connection.close": False,
            **security,
        },
        logger=logging.getLogger("broker.connect.producer"),
    )


def deliver(producer: Producer, records: list[SourceRecord], stop: Event) -> set[int]:
    """Send and send again with growing pauses until every record has arrived or was refused for good.

    Returns the indexes that need not be sent again. Raises DeliveryStopped when `stop` is set before that.
    """
    settled: set[int] = set()
    pause = BACKOFF_FIRST_S
    while len(settled) < len(records):
        missing = [index for index in range(len(records)) if index not in settled]
        failure = _send(producer, records, missing, settled.add, stop)
        if len(settled) == len(records):
            break
        if stop.is_set():
            raise DeliveryStopped(settled)
        _log.warning("delivery failed", topic=records[0].topic, missing=len(records) - len(settled), reason=failure)
        stop.wait(pause)
        pause = min(pause * 2, BACKOFF_MAX_S)
    return settled


def _send(
    producer: Producer, records: list[SourceRecord], indexes: Iterable[int], settle: Callable[[int], None], stop: Event
) -> str:
    """One attempt for the given records; returns the reason of the last failure."""
    failures: list[str] = []
    outstanding = set(indexes)

    def report(index: int, error: KafkaError | None) -> None:
        outstanding.discard(index)
        if error is not None and error.code() in _REFUSED:
            _log.error("record refused", topic=records[index].topic, reason=error.str())
        elif error is not None:
            failures.append(error.str())
            return
        settle(index)

    for index in sorted(outstanding):
        _produce(producer, records[index], index, report)
    while outstanding:
        producer.poll(0.1)
        if stop.is_set():
            producer.flush(1.0)
            break
    return failures[-1] if failures else "no answer"


def _produce(
    producer: Producer, record: SourceRecord, index: int, report: Callable[[int, KafkaError | None], None]
) -> None:
    try:
        producer.produce(
            record.topic,
            record.value,
            record.key,
            headers=list(record.headers),
            timestamp=record.timestamp_ms,
            on_delivery=lambda error, _message: report(index, error),
        )
    except BufferError:
        report(index, KafkaError(KafkaError._QUEUE_FULL))
    except KafkaException as error:
        report(index, error.args[0])
