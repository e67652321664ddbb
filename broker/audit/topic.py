"""The audit topic: made if it is not there, and read from its beginning to its end."""

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from broker.audit.increment import AUDIT_TOPIC, BadIncrement, Increment
from broker.audit.ledger import AuditState
from broker.client.cluster import ClusterConnections
from broker.client.leaders import Leaders
from broker.client.read_to_end import read_to_end
from broker.client.record_reader import LeftOutBatch
from broker.common.errors import ApiError, ErrorCode
from broker.common.quiet_clients import with_quiet_logging

PARTITIONS = 4
REPLICAS_MAX = 3
RETENTION_MS = 7 * 24 * 3_600_000
_TIMEOUT_S = 30.0
_log = logging.getLogger(__name__)


def ensure_topic(config: Mapping[str, Any], topic: str = AUDIT_TOPIC) -> None:
    """Raises KafkaException."""
    admin = AdminClient(with_quiet_logging(config))
    replicas = min(REPLICAS_MAX, len(admin.list_topics(timeout=_TIMEOUT_S).brokers))
    settings = {"retention.ms": str(RETENTION_MS), "cleanup.policy": "delete"}
    made = admin.create_topics([NewTopic(topic, PARTITIONS, replicas, config=settings)])
    try:
        made[topic].result(_TIMEOUT_S)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise


def read_ledger(cluster: ClusterConnections, topic: str = AUDIT_TOPIC) -> AuditState:
    """Return everything committed so far; empty when there is no such topic.

    Raises ApiError, BrokerUnreachable, TimeoutError.
    """
    ledger = AuditState()
    try:
        partitions = Leaders(cluster).partitions(topic)
    except ApiError as error:
        if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise
        return ledger
    for run in read_to_end(cluster, partitions, _pass_over, _TIMEOUT_S):
        for record in run.records:
            for increment in _parsed(record.value):
                ledger.add(increment)
    return ledger


def _pass_over(batch: LeftOutBatch) -> None:
    """Skip a batch that is no increment: a client that may write the topic must not end the audit."""
    _log.warning("%s, offsets %d to %d, is skipped: %s", batch.partition, batch.first, batch.last, batch.reason)


def _parsed(data: bytes | None) -> Iterator[Increment]:
    """Yield the increment in `data`, or nothing for other bytes: a client that may write the topic must not end the
    audit.
    """
    try:
        yield Increment.from_bytes(data)
    except BadIncrement:
        return
