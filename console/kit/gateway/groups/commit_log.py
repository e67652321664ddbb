"""Commits as they are made, read from the end of the offsets topic: only there it is written when a group committed.

Reading costs the brokers one more consumer of a small topic. A cluster that does not let us read it is no error:
commits are then noticed by the offsets that changed.
"""

import logging
import time

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from broker.client.security.properties import PLAINTEXT
from broker.common.errors import BarnabasError
from broker.coordinator.group.records import OffsetKey, decode_key, decode_offset_value
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.own_requests import statistics
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.groups.interface import SET_BY_CONSOLE, CommitView

logger = logging.getLogger(__name__)

OFFSETS_TOPIC = "__consumer_offsets"
#: Records of each partition's past that the first reading brings.
PAST_RECORDS = 500
#: librdkafka: the offset n before the end is this number minus n.
_TAIL_BASE = -2_000
RECORDS_PER_CALL = 20_000
#: A commit ends a fetch at once; without one each leader is asked as seldom as this.
FETCH_WAIT_MS = 5_000
SECONDS_PER_CALL = 0.5
#: After not finding the topic it is looked for again.
LOOK_AGAIN_SECONDS = 5.0


class CommitLog:
    """Not thread-safe: one thread uses it."""

    def __init__(self, client: ClusterClient, timeout_seconds: float):
        self._client = client
        self._timeout = timeout_seconds
        self._consumer: Consumer | None = None
        self._security = PLAINTEXT
        self._partition_count = 0
        self._look_after = 0.0

    def read(self) -> list[CommitView]:
        """Return what has arrived since the last call; nothing while the topic is unreadable."""
        try:
            self._follow_partitions()
            if self._consumer is None or not self._partition_count:
                return []
            return _read_arrived(self._consumer)
        except (KafkaException, GatewayError) as error:
            logger.debug("commits not read: %s", error)
            return []

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def _follow_partitions(self) -> None:
        security = self._client.security()
        if security != self._security:
            # The library goes on with the password that it was made with.
            self.close()
            self._security, self._partition_count, self._look_after = security, 0, 0.0
        if self._partition_count or time.monotonic() < self._look_after:
            return
        self._look_after = time.monotonic() + LOOK_AGAIN_SECONDS
        # The library looks for the coordinator of the group, and a Kafka without this topic creates it for that.
        known = self._client.metadata(OFFSETS_TOPIC, self._timeout).topics.get(OFFSETS_TOPIC)
        if known is None or known.error is not None or not known.partitions:
            return
        self._consumer = self._consumer or Consumer(
            self._client.settings(
                {
                    "group.id": "barnabas-console",  # demanded by the library; nothing is joined or committed
                    "client.id": "barnabas-console-commits",
                    "enable.auto.commit": False,
                    "auto.offset.reset": "latest",
                    "isolation.level": "read_committed",
                    "allow.auto.create.topics": False,
                    "queued.max.messages.kbytes": 4_096,
                    "fetch.queue.backoff.ms": 10,
                    "fetch.wait.max.ms": FETCH_WAIT_MS,
                    "log_level": 0,
                    **statistics(),
                }
            )
        )
        start = _TAIL_BASE - PAST_RECORDS
        self._consumer.assign([TopicPartition(OFFSETS_TOPIC, number, start) for number in known.partitions])
        self._partition_count = len(known.partitions)


def _read_arrived(consumer: Consumer) -> list[CommitView]:
    until = time.monotonic() + SECONDS_PER_CALL
    commits: list[CommitView] = []
    seen = 0
    while seen < RECORDS_PER_CALL and time.monotonic() < until:
        arrived = consumer.consume(min(2_000, RECORDS_PER_CALL - seen), timeout=0.05)
        if not arrived:
            break
        seen += len(arrived)
        commits += [commit for message in arrived if (commit := commit_in(message)) is not None]
    return commits


def commit_in(message: Message) -> CommitView | None:
    """Return the commit in a message; None for an error, a group's own record, or a record of a later version."""
    message_key, value = message.key(), message.value()
    if message.error() is not None or message_key is None:
        return None
    try:
        key = decode_key(message_key)
        if not isinstance(key, OffsetKey):
            return None
        place = (key.partition.topic, key.partition.partition)
        if value is None:
            return CommitView(key.group_id, place, None, message.timestamp()[1])
        committed = decode_offset_value(value)
        is_set = committed.metadata == SET_BY_CONSOLE
        return CommitView(key.group_id, place, committed.offset, committed.commit_timestamp_ms, is_set)
    except BarnabasError as error:
        logger.debug("a record of the offsets topic cannot be read: %s", error)
        return None
