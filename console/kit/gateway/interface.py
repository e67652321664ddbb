"""What the console may ask of a cluster, and the words it gets for an answer.

Two implementations pass the same tests: `cluster.KafkaGateway` speaks to any Kafka cluster, `fake.FakeGateway` is in
memory. Every call returns within its timeout or raises a `GatewayError`.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from broker.common.limits import PARTITIONS_PER_TOPIC_MAX, TOPIC_NAME_LENGTH_MAX
from broker.spark.ledger_names import DECISIONS_TOPIC
from console.kit.gateway.acls.interface import AclGateway
from console.kit.gateway.brokers.interface import BrokerGateway
from console.kit.gateway.client_metrics.interface import ClientMetricsGateway
from console.kit.gateway.clients.interface import ClientGateway
from console.kit.gateway.credentials.interface import CredentialGateway
from console.kit.gateway.groups.interface import GroupGateway
from console.kit.gateway.moves.interface import MoveGateway
from console.kit.gateway.producers.interface import ProducerGateway
from console.kit.gateway.quorum.interface import QuorumGateway
from console.kit.gateway.quotas.interface import QuotaGateway
from console.kit.gateway.records.interface import BatchView, Headers, OffsetSpan, RecordStream
from console.kit.gateway.retention.interface import CommittedView, PartitionRetention, RetentionView, SettingView

__all__ = [
    "INTERNAL_TOPICS",
    "PARTITIONS_PER_TOPIC_MAX",
    "TOPIC_NAME_LENGTH_MAX",
    "BrokerView",
    "ClusterGateway",
    "ClusterView",
    "PartitionView",
    "TopicView",
]

#: Names Kafka keeps for itself (its describe call may say so later), and what our stream jobs keep for themselves.
INTERNAL_TOPICS = frozenset(
    {"__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata", DECISIONS_TOPIC}
)


@dataclass(frozen=True, slots=True)
class BrokerView:
    id: int
    host: str
    port: int
    rack: str = ""


@dataclass(frozen=True, slots=True)
class ClusterView:
    """The registered brokers. `cluster_id` is empty and `controller_id` None while unknown."""

    cluster_id: str
    controller_id: int | None
    brokers: tuple[BrokerView, ...]


@dataclass(frozen=True, slots=True)
class PartitionView:
    """`leader` is None without one. Offsets are None when the leader did not answer; `next_offset` is exclusive."""

    partition: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader_epoch: int | None = None
    first_offset: int | None = None
    next_offset: int | None = None


@dataclass(frozen=True, slots=True, weakref_slot=True)
class TopicView:
    """`topic_id` is empty on clusters that give topics no id. Partitions are sorted by number.

    The settings are unknown (None, empty) until the cluster has said; they may be some seconds old.
    """

    name: str
    topic_id: str
    is_internal: bool
    partitions: tuple[PartitionView, ...]
    min_insync_replicas: int | None = None
    retention_ms: int | None = None
    cleanup_policy: str = ""
    #: (name, value) of those that are the topic's own, sorted.
    own_settings: tuple[tuple[str, str], ...] | None = None


class ClusterGateway(Protocol):
    @property
    def groups(self) -> GroupGateway: ...

    @property
    def brokers(self) -> BrokerGateway: ...

    @property
    def moves(self) -> MoveGateway: ...

    @property
    def producers(self) -> ProducerGateway: ...

    @property
    def clients(self) -> ClientGateway: ...

    @property
    def credentials(self) -> CredentialGateway: ...

    @property
    def quotas(self) -> QuotaGateway: ...

    @property
    def acls(self) -> AclGateway: ...

    @property
    def client_metrics(self) -> ClientMetricsGateway: ...

    @property
    def quorum(self) -> QuorumGateway: ...

    def describe_cluster(self) -> ClusterView:
        """Return brokers, controller and cluster id as one live broker knows them."""
        ...

    def describe_topics(self) -> list[TopicView]:
        """Return every topic, sorted by name, with leaders, replicas, ISR and the offsets of partitions whose leader
        answers.

        A broker that does not answer costs the offsets of its partitions, never the whole call. A topic that reads as
        when it was asked for before is the same object, if the caller has kept it; that is no promise.
        """
        ...

    def elect_preferred_leaders(self, partitions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
        """Give each partition's leadership to its first replica. What could not be elected, with a sentence why.

        A partition led by its first replica already is no failure.
        """
        ...

    def create_topic(
        self, name: str, partition_count: int, replication_factor: int, configs: dict[str, str] | None = None
    ) -> None:
        """Create a topic; returns when the controller has accepted it. It may take a moment until it is listed."""
        ...

    def check_new_topic(
        self, name: str, partition_count: int, replication_factor: int, configs: Mapping[str, str]
    ) -> None:
        """Validate a topic with the cluster without creating it. Raises RefusedError with its reason, GatewayError."""
        ...

    def add_partitions(self, name: str, partition_count: int) -> None:
        """Raise the topic's partitions to `partition_count`; returns when the controller has accepted it."""
        ...

    def delete_topic(self, name: str) -> None:
        """Delete a topic and all its records; returns when the controller has accepted it."""
        ...

    def preview_retention(self, topic: str, changes: Mapping[str, str | None]) -> RetentionView:
        """Return what retention would delete now if `changes` were made (None: as if the topic did not set it).

        Nothing is deleted by asking. A partition that could not be asked carries its own error.
        """
        ...

    def retention_outlook(self, topics: Collection[str]) -> Mapping[str, RetentionView]:
        """Return what retention would delete now, by topic, without compaction; topics whose brokers do not answer are
        missing.

        Raises GatewayError, also for a cluster that does not know the question.
        """
        ...

    def segments_of(self, topic: str, partition: int) -> PartitionRetention:
        """Return every segment, oldest first, as if all were old enough to be deleted; nothing is deleted by asking.

        What is empty, or of just now, is counted and not listed. Raises as `preview_retention`.
        """
        ...

    def oldest_records(self, places: Collection[tuple[str, int]]) -> Mapping[tuple[str, int], int | None]:
        """Return the time of each partition's first record, ms since the epoch; None without one; silent leaders are
        missing.
        """
        ...

    def newest_records(self, places: Collection[tuple[str, int]]) -> Mapping[tuple[str, int], int | None]:
        """Return the latest time of each partition's records, as `oldest_records`."""
        ...

    def delete_records(self, topic: str, before: Mapping[int, int]) -> dict[int, str]:
        """Delete what lies before these offsets, partition by partition; what was refused, with a sentence why.

        Returns when no living replica can show it any more.
        """
        ...

    def topic_settings(self, topic: str) -> tuple[SettingView, ...]:
        """Return every setting of the topic in effect, sorted by name."""
        ...

    def check_topic_settings(self, topic: str, changes: Mapping[str, str | None]) -> None:
        """Validate a change with the cluster without making it. Raises RefusedError with the cluster's reason."""
        ...

    def change_topic_settings(self, topic: str, changes: Mapping[str, str | None]) -> None:
        """Set what is named, and only that; None takes the topic's own value away."""
        ...

    def committed_offsets(self, topic: str) -> CommittedView:
        """Return what consumer groups have committed in the topic."""
        ...

    def record_spans(self, topic: str, committed_only: bool) -> Mapping[int, OffsetSpan]:
        """Return the readable offsets of each partition; one whose leader does not answer is missing.

        With `committed_only` a span ends before the first transaction that is still open.
        """
        ...

    def offsets_at(self, topic: str, at_ms: int, partitions: Iterable[int]) -> Mapping[int, int | None]:
        """Return the first offset whose record is of `at_ms` or later, None without one; silent partitions are
        missing.
        """
        ...

    def open_records(self, topic: str, starts: Mapping[int, int], committed_only: bool) -> RecordStream:
        """Read from partition → offset on. The caller closes the stream. No group is joined, no offset committed."""
        ...

    def batches_at(self, topic: str, starts: Mapping[int, int]) -> list[BatchView]:
        """Return stored batches, some from each offset on, without markers; a silent partition has none."""
        ...

    def produce_record(
        self, topic: str, partition: int | None, key: bytes | None, value: bytes | None, headers: Headers = ()
    ) -> tuple[int, int]:
        """Append a record, wait for every replica in sync, answer its partition and offset.

        Without a `partition` the key decides as Kafka's own producer would, without a key too any may be taken.
        """
        ...

    def close(self) -> None: ...
