"""The tier `appended`: a process that reads what is committed in each partition, and tells what each range holds.

It goes on where its last committed increment ends, and its increments are one transaction; so a counter, or a broker,
that is killed at any moment leads to the same counts. One counter works under a name at a time: the next one with
that name fences it. What retention deleted before it was read, or an unclean election took back, stays a gap, and the
verdict says UNKNOWN of it. What compaction removed before it was read is not counted: leave compacted topics out.
"""

import logging
import re
import time
import uuid
from collections.abc import Mapping
from threading import Event
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka import TopicPartition as Position

from broker.audit.hook import counted, now_ms
from broker.audit.increment import AUDIT_TOPIC, Increment, Tier
from broker.audit.reporter import Reporter
from broker.audit.tally import WINDOW_MS, WindowCounter
from broker.audit.topic import ensure_topic, read_ledger, reader
from broker.common.quiet_clients import muted
from broker.common.types import TopicPartition

EXCLUDED = "__.*|_barnabas.*|barnabas\\..*|_schemas|connect-(configs|offsets|status)"
_log = logging.getLogger(__name__)
_TIMEOUT_S = 30.0
_AT_ONCE = 1000
_WAIT_S = 0.2
#: How often topics and partitions that are new are looked for.
_LOOK_EVERY_S = 5.0
_AGAIN_AFTER_S = 1.0


class Counter:
    """`run` until an event; `publish_every_s` bounds how far the audit is behind the log while it keeps up."""

    def __init__(
        self,
        config: Mapping[str, Any],
        *,
        source: str = "counter",
        exclude: str = EXCLUDED,
        window_ms: int = WINDOW_MS,
        publish_every_s: float = 10.0,
        audit_topic: str = AUDIT_TOPIC,
    ):
        self._config = dict(config)
        self._source = source
        self._exclude = re.compile(exclude)
        self._window_ms = window_ms
        self._publish_every_s = publish_every_s
        self._audit_topic = audit_topic

    def run(self, stop: Event) -> None:
        """What fails is begun again from what is committed. Raises KafkaException when another counter took over."""
        while not stop.is_set():
            try:
                self._run_once(stop)
            except KafkaException as error:
                if error.args[0].code() in (KafkaError._FENCED, KafkaError.PRODUCER_FENCED):
                    raise
                _log.warning("counting begins again: %s", error)
                stop.wait(_AGAIN_AFTER_S)
            except (TimeoutError, BufferError) as error:  # no response about a topic, or brokers away for long
                _log.warning("counting begins again: %s", error or "no response in time")
                stop.wait(_AGAIN_AFTER_S)

    def _run_once(self, stop: Event) -> None:
        ensure_topic(self._config, self._audit_topic)
        producer = Producer(muted({**self._config, "transactional.id": f"barnabas-audit-{self._source}"}))
        producer.init_transactions(_TIMEOUT_S)
        counting = _Counting(self._ends(), reader(self._config), self._exclude, self._source, self._window_ms)
        try:
            while not stop.is_set():
                counting.count_until(time.monotonic() + self._publish_every_s, stop)
                self._publish(producer, counting.increments())
        finally:
            counting.close()

    def _ends(self) -> dict[TopicPartition, int]:
        stories = read_ledger(self._config, self._audit_topic).stories.items()
        mine = {chain: story for chain, story in stories if (chain.tier, chain.source) == (Tier.APPENDED, self._source)}
        return {chain.topic_partition: story.end for chain, story in mine.items()}

    def _publish(self, producer: Producer, increments: list[Increment]) -> None:
        if not increments:
            return
        producer.begin_transaction()
        for increment in increments:
            producer.produce(self._audit_topic, value=increment.to_bytes(), key=increment.key())
            producer.poll(0)
        producer.commit_transaction(_TIMEOUT_S)


class _Counting:
    """One epoch of a counter: what is read since the last increments."""

    def __init__(
        self, ends: dict[TopicPartition, int], consumer: Consumer, exclude: re.Pattern[str], source: str, window_ms: int
    ):
        self._ends = ends
        self._consumer = consumer
        self._exclude = exclude
        self._reporter = Reporter(Tier.APPENDED, source, uuid.uuid4().hex, window_ms)
        self._counter = WindowCounter(window_ms)
        self._positions: dict[TopicPartition, int] = {}
        self._looked_at = -_LOOK_EVERY_S
        self._told: list[Increment] = []

    def close(self) -> None:
        self._consumer.close()

    def count_until(self, deadline: float, stop: Event) -> None:
        """Raises KafkaException for what cannot be read on, after which an epoch begins again."""
        while time.monotonic() < deadline and not stop.is_set() and not self._told:
            if time.monotonic() >= self._looked_at + _LOOK_EVERY_S:
                self._look_for_partitions()
            for message in self._consumer.consume(_AT_ONCE, _WAIT_S) if self._positions else ():
                self._count(message)
            if not self._positions:
                stop.wait(_WAIT_S)

    def _count(self, message: Any) -> None:
        error = message.error()
        if error is None:
            partition = TopicPartition(message.topic(), message.partition())
            if self._counter.is_full:
                self._tell()
            self._counter.add(partition, counted(message))
            self._positions[partition] = message.offset() + 1
        elif error.code() == KafkaError._AUTO_OFFSET_RESET or error.fatal():
            raise KafkaException(error)

    def _look_for_partitions(self) -> None:
        self._looked_at = time.monotonic()
        found = {
            TopicPartition(name, index)
            for name, topic in self._consumer.list_topics(timeout=_TIMEOUT_S).topics.items()
            if not self._exclude.fullmatch(name)
            for index in topic.partitions
        }
        for partition in found - self._positions.keys():
            low, high = self._consumer.get_watermark_offsets(Position(*partition), timeout=_TIMEOUT_S)
            start = min(max(self._ends.get(partition, low), low), high)
            self._ends[partition] = self._positions[partition] = start
            self._consumer.incremental_assign([Position(*partition, start)])
        gone = self._positions.keys() - found
        for partition in gone:
            del self._positions[partition]
        if gone:
            self._consumer.incremental_unassign([Position(*partition) for partition in gone])

    def increments(self) -> list[Increment]:
        """Of all partitions with records since the last call."""
        self._tell()
        told, self._told = self._told, []
        return told

    def _tell(self) -> None:
        for partition, windows in self._counter.drain():
            end = self._positions.get(partition)
            if end is not None:
                offsets = self._ends[partition], end
                self._ends[partition] = end
                self._told.append(self._reporter.tell(partition, windows, now_ms(), offsets=offsets))
