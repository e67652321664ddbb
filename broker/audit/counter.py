"""The tier `appended`: a process that reads what is committed in each partition, and tells what each range holds.

It goes on where its last committed increment ends, and its increments are one transaction; so a counter, or a broker,
that is killed at any moment leads to the same counts. One counter works under a name at a time: the next one with
that name fences it. What retention deleted before it was read, or an unclean election took back, stays a gap, and the
verdict says UNKNOWN of it. So does a batch that cannot be read, or not within the bound. What compaction removed before
it was read is not counted: leave compacted topics out.
"""

import logging
import re
import time
import uuid
from collections.abc import Callable, Mapping
from threading import Event
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from broker.audit.hook import now_ms
from broker.audit.increment import AUDIT_TOPIC, AuditTier, Increment
from broker.audit.reporter import SourceReporter
from broker.audit.tally import WINDOW_MS, CountedRecord, WindowCounter
from broker.audit.topic import ensure_topic, read_ledger
from broker.client.cluster import ClusterConnections
from broker.client.leaders import Leaders
from broker.client.offsets import EARLIEST, LATEST, list_offsets
from broker.client.record_reader import LeftOutBatch, PartitionRefused, RecordReader, RecordRun
from broker.common.errors import BarnabasError, ErrorCode
from broker.common.quiet_clients import with_quiet_logging
from broker.common.types import IsolationLevel, TopicPartition

EXCLUDED = "__.*|_barnabas.*|barnabas\\..*|_schemas|connect-(configs|offsets|status)"
_log = logging.getLogger(__name__)
_TIMEOUT_S = 30.0
_AT_ONCE = 1000
_WAIT_S = 0.2
_FETCH_BYTES, _FETCH_WAIT_MS = 8 << 20, 200
#: A request names all partitions, some 20 microseconds each: a counter that keeps up sends none for every record.
_PAUSE_PER_PARTITION_S = 0.0001
#: One batch at a time is unpacked, and one call brings twice as much at most.
UNPACKED_BYTES_MAX = 64 << 20
#: How often topics and partitions that are new are looked for.
_LOOK_EVERY_S = 5.0
_AGAIN_AFTER_S = 1.0
#: After so long a leader that refused is asked again: a right may have been granted.
_REFUSED_FOR_S = 60.0


class Counter:
    """`run` until an event; `publish_every_s` bounds how far the audit is behind the log while it keeps up."""

    def __init__(
        self,
        config: Mapping[str, Any],
        connect: Callable[[], ClusterConnections],
        *,
        source: str = "counter",
        exclude: str = EXCLUDED,
        window_ms: int = WINDOW_MS,
        publish_every_s: float = 10.0,
        audit_topic: str = AUDIT_TOPIC,
    ):
        """`config` is librdkafka's, for what is produced; `connect` makes a cluster to read from."""
        self._config, self._connect = dict(config), connect
        self._source = source
        self._exclude = re.compile(exclude)
        self._window_ms = window_ms
        self._publish_every_s = publish_every_s
        self._audit_topic = audit_topic

    def run(self, stop: Event) -> None:
        """Count until `stop` is set, starting again from the committed state after a failure.

        Raises KafkaException when another counter took over.
        """
        while not stop.is_set():
            try:
                self._run_once(stop)
            except KafkaException as error:
                if error.args[0].code() in (KafkaError._FENCED, KafkaError.PRODUCER_FENCED):
                    raise
                _log.warning("counting begins again: %s", error)
                stop.wait(_AGAIN_AFTER_S)
            except (TimeoutError, BufferError, BarnabasError) as error:  # no response about a topic, or brokers away
                _log.warning("counting begins again: %s", error or "no response in time")
                stop.wait(_AGAIN_AFTER_S)

    def _run_once(self, stop: Event) -> None:
        ensure_topic(self._config, self._audit_topic)
        producer = Producer(with_quiet_logging({**self._config, "transactional.id": f"barnabas-audit-{self._source}"}))
        producer.init_transactions(_TIMEOUT_S)
        with self._connect() as cluster:
            counting = _Counting(self._ends(cluster), cluster, self._exclude, self._source, self._window_ms)
            while not stop.is_set():
                counting.count_until(time.monotonic() + self._publish_every_s, stop)
                self._publish(producer, counting.increments())

    def _ends(self, cluster: ClusterConnections) -> dict[TopicPartition, int]:
        stories = read_ledger(cluster, self._audit_topic).stories.items()
        mine = {
            chain: story for chain, story in stories if (chain.tier, chain.source) == (AuditTier.APPENDED, self._source)
        }
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
        self,
        ends: dict[TopicPartition, int],
        cluster: ClusterConnections,
        exclude: re.Pattern[str],
        source: str,
        window_ms: int,
    ):
        #: Where the next increment of a partition begins.
        self._ends = ends
        self._cluster, self._leaders = cluster, Leaders(cluster)
        self._reader = RecordReader(
            cluster, {}, IsolationLevel.READ_COMMITTED, fetch_bytes=_FETCH_BYTES, fetch_wait_ms=_FETCH_WAIT_MS,
            unpacked_bytes_max=UNPACKED_BYTES_MAX, reset=None,
        )  # fmt: skip
        self._exclude = exclude
        self._reporter = SourceReporter(AuditTier.APPENDED, source, uuid.uuid4().hex, window_ms)
        self._counter = WindowCounter(window_ms)
        #: Behind the last record counted; of partitions that are read.
        self._positions: dict[TopicPartition, int] = {}
        #: Not read until then, because their leader refused.
        self._refused: dict[TopicPartition, float] = {}
        self._looked_at = -_LOOK_EVERY_S
        self._increments: list[Increment] = []

    def count_until(self, deadline: float, stop: Event) -> None:
        """Count until the deadline. Raises BarnabasError for records it cannot read past; then a new epoch begins."""
        while time.monotonic() < deadline and not stop.is_set() and not self._increments:
            if time.monotonic() >= self._looked_at + _LOOK_EVERY_S:
                self._look_for_partitions()
            count = self._read()
            if not self._positions:
                stop.wait(_WAIT_S)
            elif 0 < count < _AT_ONCE:
                stop.wait(min(_WAIT_S, _PAUSE_PER_PARTITION_S * len(self._positions)))

    def _read(self) -> int:
        """Return how many records came."""
        try:
            runs = self._reader.read(_WAIT_S, _AT_ONCE)
        except PartitionRefused as error:
            if error.code is ErrorCode.OFFSET_OUT_OF_RANGE:
                raise
            _log.warning("a partition is not counted: %s", error)
            self._refused[error.partition] = time.monotonic() + _REFUSED_FOR_S
            self._forget({error.partition})
            return 0
        for run in runs:
            self._count(run)
        for batch in self._reader.take_left_out():
            self._leave_out(batch)
        return sum(len(run.records) for run in runs)

    def _count(self, run: RecordRun) -> None:
        partition = run.partition
        for offset, timestamp_ms, key, value, _ in run.records:
            if self._counter.is_full:
                self._report()
            self._counter.add(partition, CountedRecord(timestamp_ms, offset, key, value))
            self._positions[partition] = offset + 1

    def _leave_out(self, batch: LeftOutBatch) -> None:
        """Leave the batch out of the counts: the increment ends before it, and the next one begins behind it."""
        _log.warning("%s, offsets %d to %d, is not counted: %s", batch.partition, batch.first, batch.last, batch.reason)
        self._report()
        self._ends[batch.partition] = self._positions[batch.partition] = batch.last + 1

    def _look_for_partitions(self) -> None:
        self._looked_at = time.monotonic()
        metadata = self._cluster.describe_topics(None)
        self._leaders.learn(metadata)
        has_leader = {
            TopicPartition(topic.name or "", partition.partition_index): partition.leader_id >= 0
            for topic in metadata.topics
            if not self._exclude.fullmatch(topic.name or "")
            for partition in topic.partitions
        }
        self._refused = {item: until for item, until in self._refused.items() if until > self._looked_at}
        new = [
            position
            for position in has_leader.keys() - self._positions.keys() - self._refused.keys()
            if has_leader[position]
        ]
        lows, highs = (
            list_offsets(self._leaders, dict.fromkeys(new, at), timeout_s=_TIMEOUT_S) for at in (EARLIEST, LATEST)
        )
        for partition in new:
            low, high = lows[partition], highs[partition]
            start = min(max(self._ends.get(partition, low), low), high)
            self._ends[partition] = self._positions[partition] = start
            self._reader.seek(partition, start)
        self._forget(self._positions.keys() - has_leader.keys())

    def _forget(self, partitions: set[TopicPartition]) -> None:
        """Read them no more. What was counted of them is told first: they may come back, and go on behind it."""
        if partitions:
            self._report()
        for partition in partitions:
            del self._positions[partition]
            self._reader.drop(partition)

    def increments(self) -> list[Increment]:
        """Return the increments of all partitions that had records since the last call."""
        self._report()
        increments, self._increments = self._increments, []
        return increments

    def _report(self) -> None:
        for partition, windows in self._counter.drain():
            end = self._positions.get(partition)
            if end is not None:
                offsets = self._ends[partition], end
                self._ends[partition] = end
                self._increments.append(self._reporter.tell(partition, windows, now_ms(), offsets=offsets))
