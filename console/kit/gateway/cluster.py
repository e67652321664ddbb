"""A real cluster, asked by confluent-kafka's admin client as any operator's tool would ask.

Metadata gives brokers, leaders and ISR, and any live broker answers it; offsets are asked of each leader on its own, so
a dead broker costs its own partitions only. Topic ids and racks come from the describe calls, which go to
the controller; they do not change while a topic or broker lives, so they are asked for once.
"""

import logging
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future
from itertools import islice
from typing import TypeVar

from confluent_kafka import (
    ElectionType,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
    Uuid,
)
from confluent_kafka.admin import (
    BrokerMetadata,
    ClusterMetadata,
    ConfigResource,
    ListOffsetsResultInfo,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    TopicMetadata,
)

from broker.protocol.messages.metadata import MetadataResponse
from console.kit.gateway.acls.kafka import KafkaAcls
from console.kit.gateway.brokers.interface import replica_sizes
from console.kit.gateway.brokers.kafka import KafkaBrokers
from console.kit.gateway.client_metrics.kafka import KafkaClientMetrics
from console.kit.gateway.clients.kafka import KafkaClients
from console.kit.gateway.connection.admin_results import wait_for
from console.kit.gateway.connection.at_once import Address
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.membership import ConsoleMembership
from console.kit.gateway.credentials.kafka import KafkaCredentials
from console.kit.gateway.errors import ClusterUnreachableError, GatewayError, error_from_kafka
from console.kit.gateway.groups.interface import TopicPartition as Place
from console.kit.gateway.groups.kafka import KafkaGroups
from console.kit.gateway.interface import INTERNAL_TOPICS, BrokerView, ClusterView, PartitionView, TopicView
from console.kit.gateway.moves.kafka import KafkaMoves
from console.kit.gateway.producers.kafka import KafkaProducers
from console.kit.gateway.quorum.kafka import KafkaQuorum
from console.kit.gateway.quotas.kafka import KafkaQuotas
from console.kit.gateway.records.batches import ask_batches
from console.kit.gateway.records.deletion import ask_to_delete
from console.kit.gateway.records.interface import BatchView, Headers, OffsetSpan, RecordStream
from console.kit.gateway.records.kafka import KafkaRecordStream, produce
from console.kit.gateway.retention.estimate import PartitionExtent, estimate, limits_with
from console.kit.gateway.retention.interface import CommittedView, PartitionRetention, RetentionView, SettingView
from console.kit.gateway.retention.kafka import PreviewNotServedError, ask_outlook, ask_retention, ask_segments
from console.kit.gateway.topics.log_bounds import BoundsLook, LogBounds
from console.kit.gateway.topics.offset_times import offset_spec_at
from console.kit.gateway.topics.seen import SeenTopics
from console.kit.gateway.topics.settings import TopicAdministration, own_settings
from console.kit.gateway.topics.watch import TopicWatch, WatchedSettings

logger = logging.getLogger(__name__)

REQUEST_TIMEOUT_SECONDS = 2.0
#: Creating a topic with many partitions is the slowest thing asked.
CHANGE_TIMEOUT_SECONDS = 10.0
PARTITIONS_PER_OFFSET_REQUEST = 1_000
TOPICS_PER_DESCRIBE_REQUEST = 200
#: Likewise for topic ids, which the library asks of the controller: there may be none for a moment.
IDENTIFY_PAUSE_SECONDS = 10.0
#: The zero id in base64: two Uuids of confluent-kafka are never equal.
_NO_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAA"

T = TypeVar("T")


class KafkaGateway:
    """One cluster. Threads may share it."""

    def __init__(
        self,
        client: ClusterClient,
        membership: ConsoleMembership,
        request_timeout_seconds: float = REQUEST_TIMEOUT_SECONDS,
    ):
        self._client = client
        self._membership = membership
        self._timeout = request_timeout_seconds
        self._identities: dict[str, tuple[str, bool]] = {}
        self._identify_after = 0.0
        self._bounds = BoundsLook(client, request_timeout_seconds)
        self._watch, self._seen = TopicWatch(self._watched_settings), SeenTopics()
        self.brokers = KafkaBrokers(client, self._broker_addresses, membership, request_timeout_seconds)
        self._administration = TopicAdministration(client.admin, self.brokers.ask_any, request_timeout_seconds)
        self.groups = KafkaGroups(client, self._broker_addresses, request_timeout_seconds)
        self.moves = KafkaMoves(client, self.brokers, self._administration, request_timeout_seconds)
        self.producers = KafkaProducers(client, membership, request_timeout_seconds)
        self.clients = KafkaClients(self.brokers, membership)
        self.credentials = KafkaCredentials(client)
        self.quotas = KafkaQuotas(client)
        self.client_metrics = KafkaClientMetrics(client)
        self.quorum = KafkaQuorum(client)
        self.acls = KafkaAcls(client, self.brokers, membership)

    def describe_cluster(self) -> ClusterView:
        metadata = self._brokers()
        brokers = (
            BrokerView(broker.node_id, broker.host, broker.port, broker.rack or "") for broker in metadata.brokers
        )
        return ClusterView(
            cluster_id=metadata.cluster_id or "",
            controller_id=_known(metadata.controller_id),
            brokers=tuple(sorted(brokers, key=lambda broker: broker.id)),
        )

    def describe_topics(self) -> list[TopicView]:
        metadata = self._metadata()
        topics = {name: topic for name, topic in metadata.topics.items() if topic.error is None}
        self._learn_identities(topics)
        bounds = self._bounds.look(_led(topics, metadata.brokers))
        watched = self._watch.look(topics)
        views = (self._view(name, topics[name], bounds, watched.get(name)) for name in sorted(topics))
        return [self._seen.as_seen(view) for view in views]

    def elect_preferred_leaders(self, partitions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
        wanted = [TopicPartition(topic, partition) for topic, partition in partitions]
        # confluent-kafka 2.16 fails on the timeouts it documents here; the wait below is ours.
        future = self._client.admin().elect_leaders(ElectionType.PREFERRED, wanted)
        answers = wait_for(future, CHANGE_TIMEOUT_SECONDS)
        return {
            (item.topic, item.partition): str(error_from_kafka(refused))
            for item, refused in answers.items()
            if refused is not None and refused.code() != KafkaError.ELECTION_NOT_NEEDED
        }

    def create_topic(
        self, name: str, partition_count: int, replication_factor: int, configs: dict[str, str] | None = None
    ) -> None:
        self._create_topic(name, partition_count, replication_factor, configs or {})

    def check_new_topic(
        self, name: str, partition_count: int, replication_factor: int, configs: Mapping[str, str]
    ) -> None:
        self._create_topic(name, partition_count, replication_factor, configs, validate_only=True)

    def _create_topic(
        self,
        name: str,
        partition_count: int,
        replication_factor: int,
        configs: Mapping[str, str],
        *,
        validate_only: bool = False,
    ) -> None:
        topic = NewTopic(name, partition_count, replication_factor, config=dict(configs))
        futures = self._client.admin().create_topics(
            [topic],
            validate_only=validate_only,
            operation_timeout=CHANGE_TIMEOUT_SECONDS,
            request_timeout=CHANGE_TIMEOUT_SECONDS,
        )
        wait_for(futures[name], CHANGE_TIMEOUT_SECONDS)

    def add_partitions(self, name: str, partition_count: int) -> None:
        futures = self._client.admin().create_partitions(
            [NewPartitions(name, partition_count)],
            operation_timeout=CHANGE_TIMEOUT_SECONDS,
            request_timeout=CHANGE_TIMEOUT_SECONDS,
        )
        wait_for(futures[name], CHANGE_TIMEOUT_SECONDS)

    def delete_topic(self, name: str) -> None:
        futures = self._client.admin().delete_topics(
            [name], operation_timeout=CHANGE_TIMEOUT_SECONDS, request_timeout=CHANGE_TIMEOUT_SECONDS
        )
        wait_for(futures[name], CHANGE_TIMEOUT_SECONDS)
        self._identities.pop(name, None)

    def preview_retention(self, topic: str, changes: Mapping[str, str | None]) -> RetentionView:
        try:
            return ask_retention(self._client, topic, changes, self._membership, self._timeout)
        except PreviewNotServedError:
            return self._estimate_retention(topic, changes)

    def _estimate_retention(self, topic: str, changes: Mapping[str, str | None]) -> RetentionView:
        limits = limits_with(self.topic_settings(topic), changes)
        leaders = {partition.id: partition.leader for partition in self._topic_metadata(topic).partitions.values()}
        spans = self.record_spans(topic, committed_only=False)
        sizes = replica_sizes(self.brokers.log_dirs([(topic, leader) for leader in leaders]))
        logs = [
            PartitionExtent(item, span.first, span.next, sizes.get((topic, item), {}).get(leaders.get(item, -1)))
            for item, span in spans.items()
        ]
        young_from: Mapping[int, int | None] = {}
        if limits.deletes and limits.retention_ms >= 0:
            oldest_kept_ms = time.time_ns() // 1_000_000 - limits.retention_ms
            young_from = self.offsets_at(topic, max(0, oldest_kept_ms), spans)
        return estimate(limits, logs, young_from, sorted(leaders.keys() - spans.keys()))

    def retention_outlook(self, topics: Collection[str]) -> Mapping[str, RetentionView]:
        return ask_outlook(self._client, topics, self._membership, self._timeout)

    def segments_of(self, topic: str, partition: int) -> PartitionRetention:
        return ask_segments(self._client, topic, partition, self._membership, self._timeout)

    def oldest_records(self, places: Collection[tuple[str, int]]) -> Mapping[tuple[str, int], int | None]:
        # The first record that is not older than time itself.
        return self._times(places, OffsetSpec.for_timestamp(0))

    def newest_records(self, places: Collection[tuple[str, int]]) -> Mapping[tuple[str, int], int | None]:
        return self._times(places, OffsetSpec.max_timestamp())

    def _times(self, places: Collection[tuple[str, int]], spec: OffsetSpec) -> dict[tuple[str, int], int | None]:
        times: dict[tuple[str, int], int | None] = {}
        for names in _batches(iter(places), PARTITIONS_PER_OFFSET_REQUEST):
            for partition, future in self._ask_offsets(names, spec).items():
                try:
                    answer = wait_for(future, self._timeout)
                    times[partition.topic, partition.partition] = _known(answer.timestamp)
                except GatewayError as error:
                    logger.debug("no time of a record of %s-%s: %s", partition.topic, partition.partition, error)
        return times

    def delete_records(self, topic: str, before: Mapping[int, int]) -> dict[int, str]:
        return ask_to_delete(self._client, topic, before, CHANGE_TIMEOUT_SECONDS)

    def topic_settings(self, topic: str) -> tuple[SettingView, ...]:
        return self._administration.settings(topic)

    def check_topic_settings(self, topic: str, changes: Mapping[str, str | None]) -> None:
        self._administration.change(topic, changes, validate_only=True)

    def change_topic_settings(self, topic: str, changes: Mapping[str, str | None]) -> None:
        self._administration.change(topic, changes)

    def committed_offsets(self, topic: str) -> CommittedView:
        groups = self.groups.describe()
        silent = {broker_id for broker_id, _, _ in self._broker_addresses()} - groups.answered
        return CommittedView(groups.committed_in(topic), len(silent))

    def record_spans(self, topic: str, committed_only: bool) -> Mapping[int, OffsetSpan]:
        leaders = self._leaders(topic)
        level = IsolationLevel.READ_COMMITTED if committed_only else IsolationLevel.READ_UNCOMMITTED
        first = self._ask_offsets([(topic, leader) for leader in leaders], OffsetSpec.earliest())
        following = self._ask_offsets([(topic, leader) for leader in leaders], OffsetSpec.latest(), level)
        firsts, nexts = self._answers_of(first), self._answers_of(following)
        return {first: OffsetSpan(firsts[first], nexts[first]) for first in sorted(firsts.keys() & nexts.keys())}

    def offsets_at(self, topic: str, at_ms: int, partitions: Iterable[int]) -> Mapping[int, int | None]:
        answers = self._answers_of(
            self._ask_offsets([(topic, partition) for partition in partitions], offset_spec_at(at_ms))
        )
        return {partition: _known(offset) for partition, offset in answers.items()}

    def open_records(self, topic: str, starts: Mapping[int, int], committed_only: bool) -> RecordStream:
        return KafkaRecordStream(self._client, topic, starts, committed_only)

    def batches_at(self, topic: str, starts: Mapping[int, int]) -> list[BatchView]:
        return ask_batches(self._client, topic, starts, self._timeout)

    def produce_record(
        self, topic: str, partition: int | None, key: bytes | None, value: bytes | None, headers: Headers = ()
    ) -> tuple[int, int]:
        return produce(self._client, topic, partition, key, value, headers)

    def close(self) -> None:
        """Close the client; its admin client closes its connections when it is collected."""
        self._identities.clear()
        self.groups.close()

    def _broker_addresses(self) -> list[tuple[int, str, int]]:
        return [(broker.node_id, broker.host, broker.port) for broker in self._brokers().brokers]

    def _brokers(self) -> MetadataResponse:
        """Return brokers, answered by any live broker, also while there is no controller."""
        try:
            return self._client.brokers(self._timeout)
        except ClusterUnreachableError as error:
            raise self._why_not(error) from error

    def _metadata(self, topic: str | None = None) -> ClusterMetadata:
        """Return metadata, answered by any live broker, also while there is no controller."""
        try:
            return self._client.metadata(topic, self._timeout)
        except KafkaException as error:
            raise self._why_not(error_from_kafka(error.args[0])) from error

    def _why_not(self, error: GatewayError) -> GatewayError:
        """Return the error, a better one if the cluster does not let us in."""
        is_silence = type(error) is ClusterUnreachableError
        return (is_silence and self._client.why_refused(self._timeout)) or error

    def _learn_identities(self, topics: dict[str, TopicMetadata]) -> None:
        """Ask for the id of topics not seen before. A cluster that cannot say leaves them empty; that is no error."""
        for gone in self._identities.keys() - topics.keys():
            self._identities.pop(gone, None)
        if time.monotonic() < self._identify_after:
            return
        unknown = iter(sorted(topics.keys() - self._identities.keys()))
        for names in _batches(unknown, TOPICS_PER_DESCRIBE_REQUEST):
            futures = self._client.admin().describe_topics(TopicCollection(names), request_timeout=self._timeout)
            for name, future in futures.items():
                try:
                    described = wait_for(future, self._timeout)
                except GatewayError as error:
                    logger.debug("topic %s not described: %s", name, error)
                    self._identify_after = time.monotonic() + IDENTIFY_PAUSE_SECONDS
                else:
                    self._identities[name] = (_topic_id(described.topic_id), bool(described.is_internal))

    def _ask_offsets(
        self,
        names: list[tuple[str, int]],
        spec: OffsetSpec,
        level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
    ) -> dict[TopicPartition, Future[ListOffsetsResultInfo]]:
        wanted = {TopicPartition(topic, partition): spec for topic, partition in names}
        if not wanted:
            return {}
        return self._client.admin().list_offsets(wanted, isolation_level=level, request_timeout=self._timeout)

    def _leaders(self, topic: str) -> list[int]:
        """Return partitions of `topic` that have a leader now. Raises GatewayError for an unknown topic."""
        return sorted(
            partition.id for partition in self._topic_metadata(topic).partitions.values() if partition.leader >= 0
        )

    def _topic_metadata(self, topic: str) -> TopicMetadata:
        """Raises GatewayError for a topic that the cluster does not know."""
        known = self._metadata(topic=topic).topics[topic]
        if known.error is not None:
            raise error_from_kafka(known.error)
        return known

    def _answers_of(self, futures: dict[TopicPartition, Future[ListOffsetsResultInfo]]) -> dict[int, int]:
        """Return the offsets of one topic that were answered, by partition."""
        answers = {}
        for partition, future in futures.items():
            try:
                answers[partition.partition] = wait_for(future, self._timeout).offset
            except GatewayError as error:
                logger.debug("no offset of %s-%s: %s", partition.topic, partition.partition, error)
        return answers

    def _watched_settings(self, names: list[str]) -> dict[str, WatchedSettings]:
        resources = [ConfigResource(ConfigResource.Type.TOPIC, name) for name in names]
        answers = {}
        for resource, future in self._client.admin().describe_configs(resources, request_timeout=self._timeout).items():
            try:
                results = wait_for(future, self._timeout)
                answers[resource.name] = WatchedSettings(
                    int(results["min.insync.replicas"].value),
                    int(results["retention.ms"].value),
                    results["cleanup.policy"].value,
                    own_settings(results.values()),
                )
            except (GatewayError, KeyError, TypeError, ValueError) as error:
                logger.debug("no settings of %s: %s", resource.name, error)
        return answers

    def _view(
        self, name: str, topic: TopicMetadata, bounds: Mapping[Place, LogBounds], watched: WatchedSettings | None
    ) -> TopicView:
        topic_id, is_internal = self._identities.get(name, ("", False))
        is_internal = is_internal or name in INTERNAL_TOPICS
        partitions = []
        for partition in sorted(topic.partitions.values(), key=lambda partition: partition.id):
            bound = bounds.get((name, partition.id))
            partitions.append(
                PartitionView(
                    partition=partition.id,
                    leader=partition.leader if partition.leader >= 0 else None,
                    replicas=tuple(partition.replicas),
                    isr=tuple(sorted(partition.isrs)),
                    leader_epoch=_known(bound and bound.leader_epoch),
                    first_offset=_known(bound and bound.first_offset),
                    next_offset=_known(bound and bound.next_offset),
                )
            )
        if watched is None:
            return TopicView(name, topic_id, is_internal, tuple(partitions))
        settings = (watched.min_insync_replicas, watched.retention_ms, watched.cleanup_policy, watched.own)
        return TopicView(name, topic_id, is_internal, tuple(partitions), *settings)


def _led(topics: Mapping[str, TopicMetadata], brokers: Mapping[int, BrokerMetadata]) -> dict[Address, list[Place]]:
    """Return each partition with a live leader, by that leader's address."""
    addresses = {broker.id: (_host(broker), broker.port) for broker in brokers.values()}
    led: dict[Address, list[Place]] = {}
    for name, topic in topics.items():
        for partition in topic.partitions.values():
            if partition.leader in addresses:
                led.setdefault(addresses[partition.leader], []).append((name, partition.id))
    return led


def _host(broker: BrokerMetadata) -> str:
    """Return the host of a described broker; confluent-kafka declares None, for a broker it has not filled in."""
    return broker.host or ""


def _known(value: int | None) -> int | None:
    """Return the number, None for Kafka's -1."""
    return None if value is None or value < 0 else value


def _topic_id(uuid: Uuid | None) -> str:
    """Return the id as Kafka's tools write it; the zero id means that the cluster gives none."""
    text = "" if uuid is None else str(uuid)
    return "" if text == _NO_TOPIC_ID else text


def _batches(items: Iterator[T], size: int) -> Iterator[list[T]]:
    while batch := list(islice(items, size)):
        yield batch
