"""The audit topic: made if it is not there, and read from its beginning to its end."""

import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from broker.audit.increment import AUDIT_TOPIC, BadIncrement, Increment
from broker.audit.ledger import Ledger
from broker.common.quiet_clients import muted, told

PARTITIONS = 4
REPLICAS_MAX = 3
RETENTION_MS = 7 * 24 * 3_600_000
_TIMEOUT_S = 30.0
_AT_ONCE = 1000


def ensure_topic(config: Mapping[str, Any], topic: str = AUDIT_TOPIC) -> None:
    """Raises KafkaException."""
    admin = AdminClient(muted(config))
    replicas = min(REPLICAS_MAX, len(admin.list_topics(timeout=_TIMEOUT_S).brokers))
    settings = {"retention.ms": str(RETENTION_MS), "cleanup.policy": "delete"}
    made = admin.create_topics([NewTopic(topic, PARTITIONS, replicas, config=settings)])
    try:
        made[topic].result(_TIMEOUT_S)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise


def reader(config: Mapping[str, Any]) -> Consumer:
    """Of committed records, a member of no group; who falls behind retention is told so."""
    settings = {
        "group.id": f"barnabas-audit-{uuid.uuid4().hex}",
        "enable.auto.commit": False,
        # It would rest for a second whenever it is ahead of who counts.
        "fetch.queue.backoff.ms": 10,
        "isolation.level": "read_committed",
        "auto.offset.reset": "error",
        "enable.partition.eof": True,
    }
    return Consumer(told({**config, **settings}))


def read_ledger(config: Mapping[str, Any], topic: str = AUDIT_TOPIC) -> Ledger:
    """All that is committed by now; empty when there is no such topic. Raises KafkaException."""
    ledger = Ledger()
    for increment in read_increments(config, topic):
        ledger.add(increment)
    return ledger


def read_increments(config: Mapping[str, Any], topic: str) -> Iterator[Increment]:
    consumer = reader({**config, "auto.offset.reset": "earliest"})
    try:
        described = consumer.list_topics(topic, timeout=_TIMEOUT_S).topics[topic]
        left = set(described.partitions) if described.error is None else set()
        consumer.assign([TopicPartition(topic, index, OFFSET_BEGINNING) for index in left])
        heard_at = time.monotonic()
        while left:
            if time.monotonic() > heard_at + _TIMEOUT_S:
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"{topic} cannot be read to its end"))
            for message in consumer.consume(_AT_ONCE, 1.0):
                error = message.error()
                if error is None:
                    heard_at = time.monotonic()
                    yield from _parsed(message.value())
                elif error.code() == KafkaError._PARTITION_EOF:
                    left.discard(message.partition())
                elif error.fatal():
                    raise KafkaException(error)
    finally:
        consumer.close()


def _parsed(data: bytes | None) -> Iterator[Increment]:
    """What is no increment is passed over: who may write the topic may not end the audit."""
    try:
        yield Increment.from_bytes(data)
    except BadIncrement:
        return
