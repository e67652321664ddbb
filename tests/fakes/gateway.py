"""A cluster in memory that answers as a real one: for tests of everything above the gateway."""

import re
import time
import uuid
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from broker.common.errors import ErrorCode
from broker.common.limits import PARTITIONS_PER_TOPIC_MAX, TOPIC_NAME_LENGTH_MAX
from console.kit.gateway.brokers.interface import ReplicaSizes
from console.kit.gateway.errors import ClusterUnreachableError, refusal
from console.kit.gateway.interface import INTERNAL_TOPICS, BrokerView, ClusterView, PartitionView, TopicView
from console.kit.gateway.records.interface import BatchView, Headers, OffsetSpan, RecordStream, RecordView
from console.kit.gateway.retention.interface import (
    EVERYTHING_GOES,
    CommittedView,
    PartitionRetention,
    RetentionView,
    SettingView,
)
from tests.fakes.acls import FakeAcls
from tests.fakes.brokers import FakeBrokers
from tests.fakes.client_metrics import FakeClientMetrics
from tests.fakes.clients import FakeClients
from tests.fakes.credentials import FakeCredentials
from tests.fakes.groups import FakeGroups
from tests.fakes.moves import FakeMoves
from tests.fakes.producers import FakeProducers
from tests.fakes.quorum import FakeQuorum
from tests.fakes.quotas import FakeQuotas
from tests.fakes.records import FakeRecordStream
from tests.fakes.retention import FakeSegment, FakeTopicState


def wall_ms() -> int:
    return time.time_ns() // 1_000_000


#: Every record in memory counts as this large.
RECORD_BYTES = 100
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")


class FakeGateway:
    """Brokers 1 to `broker_count` on one host; tests move it with `append`, `stop_broker`, `cut_off`."""

    def __init__(self, broker_count: int = 3, cluster_id: str = "fake-cluster", clock_ms: Callable[[], int] = wall_ms):
        self._cluster_id = cluster_id
        self._brokers = {n: BrokerView(n, "127.0.0.1", 9091 + n, f"rack-{n}") for n in range(1, broker_count + 1)}
        self._stopped: set[int] = set()
        self._topics: dict[str, TopicView] = {}
        self._is_cut_off = False
        #: Partitions not led by their first living replica.
        self._led_by: dict[tuple[str, int], int] = {}
        self._states: dict[str, FakeTopicState] = {}
        self._now_ms = clock_ms
        self.groups = FakeGroups(self)
        self.brokers = FakeBrokers(self, self._brokers)
        self.moves = FakeMoves(self)
        self.producers = FakeProducers(self)
        self.clients = FakeClients(self)
        self.credentials = FakeCredentials(self)
        self.quotas = FakeQuotas(self)
        self.acls = FakeAcls(self)
        self.quorum = FakeQuorum(self)
        self.client_metrics = FakeClientMetrics(self)

    # What the console asks -------------------------------------------------------------------------------------------

    def describe_cluster(self) -> ClusterView:
        alive = self._alive()
        return ClusterView(self._cluster_id, min(alive), tuple(self._brokers[n] for n in alive))

    def describe_topics(self) -> list[TopicView]:
        self._alive()
        return [self._as_seen(self._topics[name]) for name in sorted(self._topics)]

    def elect_preferred_leaders(self, partitions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
        alive, refused = set(self._alive()), {}
        for topic, number in partitions:
            known = (
                {partition.partition: partition for partition in self._topics[topic].partitions}
                if topic in self._topics
                else {}
            )
            if number not in known:
                refused[topic, number] = str(refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
            elif known[number].replicas[0] not in alive:
                refused[topic, number] = str(refusal(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE))
            else:
                self._led_by.pop((topic, number), None)
        return refused

    def create_topic(
        self, name: str, partition_count: int, replication_factor: int, configs: dict[str, str] | None = None
    ) -> None:
        alive = self._alive()
        self.check_new_topic(name, partition_count, replication_factor, configs or {})
        partitions = tuple(_new_partition(number, alive, replication_factor) for number in range(partition_count))
        self._states[name] = FakeTopicState(dict(configs or {}))
        topic = TopicView(name, str(uuid.uuid4()), name.startswith("__") or name in INTERNAL_TOPICS, partitions)
        self._topics[name] = replace(topic, **self._states[name].watched)

    def check_new_topic(
        self, name: str, partition_count: int, replication_factor: int, configs: Mapping[str, str]
    ) -> None:
        self._check_new_topic(name, partition_count, replication_factor, len(self._alive()))
        FakeTopicState().with_changes(configs)

    def add_partitions(self, name: str, partition_count: int) -> None:
        self._state(name)
        alive, known = self._alive(), self._topics[name].partitions
        if not len(known) < partition_count <= PARTITIONS_PER_TOPIC_MAX:
            raise refusal(ErrorCode.INVALID_PARTITIONS)
        factor = len(known[0].replicas)
        added = (_new_partition(number, alive, factor) for number in range(len(known), partition_count))
        self._topics[name] = replace(self._topics[name], partitions=(*known, *added))

    def delete_topic(self, name: str) -> None:
        self._alive()
        if self._topics.pop(name, None) is None:
            raise refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        self.moves.forget(name)

    def preview_retention(self, topic: str, changes: Mapping[str, str | None]) -> RetentionView:
        state = self._state(topic)
        return state.preview(self._as_seen(self._topics[topic]).partitions, changes, self._now_ms())

    def retention_outlook(self, topics: Collection[str]) -> Mapping[str, RetentionView]:
        self._alive()
        return {topic: self.preview_retention(topic, {}) for topic in topics if topic in self._topics}

    def segments_of(self, topic: str, partition: int) -> PartitionRetention:
        view = self.preview_retention(topic, EVERYTHING_GOES)
        return next(item for item in view.partitions if item.partition == partition)

    def oldest_records(self, places: Collection[tuple[str, int]]) -> Mapping[tuple[str, int], int | None]:
        return self._times(places, lambda span: span.first)

    def newest_records(self, places: Collection[tuple[str, int]]) -> Mapping[tuple[str, int], int | None]:
        return self._times(places, lambda span: span.next - 1)

    def _times(self, places: Collection[tuple[str, int]], offset_in: Callable[[OffsetSpan], int]) -> dict:
        spans = {
            topic: self.record_spans(topic, False) for topic in {place[0] for place in places} & self._topics.keys()
        }
        return {
            (topic, partition): self.written_at_ms(topic, partition, offset_in(spans[topic][partition]))
            if spans[topic][partition].next > spans[topic][partition].first
            else None
            for topic, partition in places
            if partition in spans.get(topic, ())
        }

    def delete_records(self, topic: str, before: Mapping[int, int]) -> dict[int, str]:
        state, refused = self._state(topic), {}
        spans = self.record_spans(topic, False)
        for partition, offset in before.items():
            if partition not in spans:
                refused[partition] = str(refusal(ErrorCode.LEADER_NOT_AVAILABLE))
            elif "delete" not in state.configs.get("cleanup.policy", "delete"):
                refused[partition] = str(refusal(ErrorCode.POLICY_VIOLATION))
            elif not 0 <= offset <= spans[partition].next:
                refused[partition] = str(refusal(ErrorCode.OFFSET_OUT_OF_RANGE))
            else:
                self._begin_log_at(topic, partition, max(offset, spans[partition].first))
        return refused

    def topic_settings(self, topic: str) -> tuple[SettingView, ...]:
        return self._state(topic).settings()

    def check_topic_settings(self, topic: str, changes: Mapping[str, str | None]) -> None:
        self._state(topic).with_changes(changes)

    def change_topic_settings(self, topic: str, changes: Mapping[str, str | None]) -> None:
        state = self._state(topic)
        state.configs = state.with_changes(changes)
        self._topics[topic] = replace(self._topics[topic], **state.watched)

    def committed_offsets(self, topic: str) -> CommittedView:
        self._alive()
        return CommittedView(self.groups.describe().committed_in(topic))

    def record_spans(self, topic: str, committed_only: bool) -> Mapping[int, OffsetSpan]:
        self._state(topic)
        partitions = self._as_seen(self._topics[topic]).partitions
        return {
            partition.partition: OffsetSpan(partition.first_offset or 0, partition.next_offset or 0)
            for partition in partitions
            if partition.leader is not None
        }

    def offsets_at(self, topic: str, at_ms: int, partitions: Iterable[int]) -> Mapping[int, int | None]:
        state, spans = self._state(topic), self.record_spans(topic, False)
        results = {}
        for partition in spans.keys() & set(partitions):
            offsets = range(spans[partition].first, spans[partition].next)
            results[partition] = next((n for n in offsets if (state.record_at(partition, n).at_ms or 0) >= at_ms), None)
        return results

    def open_records(self, topic: str, starts: Mapping[int, int], committed_only: bool) -> RecordStream:
        state = self._state(topic)
        return FakeRecordStream(state.record_at, starts)

    def batches_at(self, topic: str, starts: Mapping[int, int]) -> list[BatchView]:
        """Each record was sent alone."""
        state, spans = self._state(topic), self.record_spans(topic, False)
        return [
            BatchView(start, offset, 1, state.record_at(start, offset).size_bytes, "none")
            for start in starts.keys() & spans.keys()
            for offset in range(starts[start], spans[start].next)
        ]

    def produce_record(
        self, topic: str, partition: int | None, key: bytes | None, value: bytes | None, headers: Headers = ()
    ) -> tuple[int, int]:
        state, partitions = self._state(topic), self._topics[topic].partitions
        chosen = zlib.crc32(key or b"") % len(partitions) if partition is None else partition
        if chosen >= len(partitions):
            raise refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        offset = partitions[chosen].next_offset or 0
        self.append(topic, chosen, 1)
        state.records[chosen, offset] = RecordView(chosen, offset, self._now_ms(), key, value, tuple(headers))
        return chosen, offset

    def close(self) -> None:
        self._is_cut_off = True

    # What tests do to it ---------------------------------------------------------------------------------------------

    def append(self, name: str, partition: int, record_count: int) -> None:
        """As if `record_count` records had been produced, and a new segment begun after them."""
        topic = self._topics[name]
        first = topic.partitions[partition].next_offset or 0
        segment = FakeSegment(first, first + record_count - 1, RECORD_BYTES * record_count, self._now_ms())
        self._states[name].segments.setdefault(partition, []).append(segment)
        grown = [
            replace(item, next_offset=item.next_offset + record_count) if item.partition == partition else item
            for item in topic.partitions
        ]
        self._topics[name] = replace(topic, partitions=tuple(grown))

    def _begin_log_at(self, name: str, partition: int, offset: int) -> None:
        topic, segments = self._topics[name], self._states[name].segments.get(partition, [])
        segments[:] = [
            replace(s, first_offset=max(s.first_offset, offset)) for s in segments if s.last_offset >= offset
        ]
        moved = (replace(p, first_offset=offset) if p.partition == partition else p for p in topic.partitions)
        self._topics[name] = replace(topic, partitions=tuple(moved))

    def join_segments(self, name: str, partition: int) -> None:
        """As if no segment had been begun between what was appended: all is one, as old as its newest record."""
        segments = self._states[name].segments[partition]
        newest = segments[-1]
        size = sum(segment.size_bytes for segment in segments)
        segments[:] = [FakeSegment(segments[0].first_offset, newest.last_offset, size, newest.newest_at_ms)]

    def place_replicas(self, name: str, partition: int, replicas: tuple[int, ...]) -> None:
        """As a move does when it begins and when it ends."""
        topic = self._topics[name]
        placed = [
            replace(item, replicas=replicas) if item.partition == partition else item for item in topic.partitions
        ]
        self._topics[name] = replace(topic, partitions=tuple(placed))

    def stop_broker(self, broker_id: int) -> None:
        self._stopped.add(broker_id)

    def commit(self, group: str, name: str, partition: int, offset: int) -> None:
        """As if a consumer of `group` had committed."""
        self.groups.commit(group, name, partition, offset)

    def move_leader(self, name: str, partition: int, broker_id: int) -> None:
        """As after a fail-over: another replica than the first leads until somebody elects."""
        self._led_by[name, partition] = broker_id

    def give_up_records(self, name: str, partition: int, next_offset: int) -> None:
        """As an unclean election does: a new epoch begins where the log of another replica ends."""
        topic = self._topics[name]
        given_up = [
            replace(item, next_offset=next_offset, leader_epoch=(item.leader_epoch or 0) + 1)
            if item.partition == partition
            else item
            for item in topic.partitions
        ]
        self._topics[name] = replace(topic, partitions=tuple(given_up))

    def start_broker(self, broker_id: int) -> None:
        self._stopped.discard(broker_id)

    def cut_off(self, is_cut_off: bool = True) -> None:
        """As if no broker could be reached."""
        self._is_cut_off = is_cut_off

    def replica_sizes(self) -> ReplicaSizes:
        """What its brokers say in their log directories."""
        alive = set(self._alive())
        return {
            (topic.name, partition.partition): {
                broker_id: self._bytes_of(topic.name, partition, broker_id)
                for broker_id in partition.replicas
                if broker_id in alive
            }
            for topic in self._topics.values()
            for partition in topic.partitions
        }

    @property
    def broker_count(self) -> int:
        return len(self._brokers)

    def alive_brokers(self) -> list[int]:
        """Raises ClusterUnreachableError if none is."""
        return self._alive()

    def now_ms(self) -> int:
        return self._now_ms()

    def written_at_ms(self, name: str, partition: int, offset: int) -> int:
        """When the record was appended; now, if nobody knows."""
        segments = self._states[name].segments.get(partition, [])
        return next((segment.newest_at_ms for segment in segments if offset <= segment.last_offset), self._now_ms())

    def _state(self, topic: str) -> FakeTopicState:
        self._alive()
        if topic not in self._topics:
            raise refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return self._states[topic]

    def _alive(self) -> list[int]:
        alive = sorted(self._brokers.keys() - self._stopped)
        if self._is_cut_off or not alive:
            raise ClusterUnreachableError("No broker answered in time.")
        return alive

    def _as_seen(self, topic: TopicView) -> TopicView:
        """Leadership moves to the first live replica; without one the ISR keeps its last member, as in Kafka."""
        return replace(
            topic, partitions=tuple(self._partition_as_seen(topic.name, partition) for partition in topic.partitions)
        )

    def _partition_as_seen(self, name: str, partition: PartitionView) -> PartitionView:
        alive = [
            broker_id
            for broker_id in partition.replicas
            if broker_id not in self._stopped and not self.moves.is_copying((name, partition.partition), broker_id)
        ]
        if not alive:
            last = (partition.leader,)
            return replace(partition, leader=None, isr=last, leader_epoch=None, first_offset=None, next_offset=None)
        moved_to = self._led_by.get((name, partition.partition))
        leader = moved_to if moved_to in alive else alive[0]
        return replace(partition, leader=leader, isr=tuple(sorted(alive)))

    def _bytes_of(self, name: str, partition: PartitionView, broker_id: int) -> int:
        place = (name, partition.partition)
        if self.moves.is_copying(place, broker_id):
            return self.moves.copied_bytes(place, broker_id)
        return RECORD_BYTES * ((partition.next_offset or 0) - (partition.first_offset or 0))

    def _check_new_topic(self, name: str, partition_count: int, replication_factor: int, alive_count: int) -> None:
        if name in self._topics:
            raise refusal(ErrorCode.TOPIC_ALREADY_EXISTS)
        if not _LEGAL_NAME.fullmatch(name) or name in (".", "..") or len(name) > TOPIC_NAME_LENGTH_MAX:
            raise refusal(ErrorCode.INVALID_TOPIC_EXCEPTION)
        if not 1 <= partition_count <= PARTITIONS_PER_TOPIC_MAX:
            raise refusal(ErrorCode.INVALID_PARTITIONS)
        if not 1 <= replication_factor <= alive_count:
            raise refusal(ErrorCode.INVALID_REPLICATION_FACTOR)


def _new_partition(number: int, alive: list[int], replication_factor: int) -> PartitionView:
    replicas = tuple(alive[(number + shift) % len(alive)] for shift in range(replication_factor))
    return PartitionView(number, replicas[0], replicas, tuple(sorted(replicas)), 0, 0, 0)
