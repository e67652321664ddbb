"""The KRaft quorum and the features of a real cluster, by DescribeQuorum and ApiVersions."""

from functools import partial

from broker.client.cluster import ClusterConnections
from broker.protocol.messages.api_versions import OWN_SOFTWARE, ApiVersionsRequest
from broker.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    QuorumPartition,
    QuorumReplica,
    QuorumTopic,
)
from broker.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    TopicRequest,
)
from broker.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from console.kit.gateway.connection.any_broker import ask
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.errors import refusal
from console.kit.gateway.quorum.interface import EligibleLeaders, FeatureView, QuorumReplicaView, QuorumView

_METADATA_TOPIC = "__cluster_metadata"
NO_QUORUM = "This cluster has no KRaft quorum: ZooKeeper or another store keeps its metadata."
_NO_ELIGIBLE_LEADERS = "These brokers do not tell eligible leader replicas (KIP-966)."
_NO_FEATURES = "These brokers tell no features."
_NO_UPGRADES = "These brokers have no features whose level could be raised."


class KafkaQuorum:
    def __init__(self, client: ClusterClient):
        self._client = client

    def describe(self) -> QuorumView:
        topic = QuorumTopic(topic_name=_METADATA_TOPIC, partitions=[QuorumPartition(partition_index=0)])
        request = DescribeQuorumRequest(topics=[topic])
        answer = ask(self._client, lambda cluster: cluster.ask_any(request), NO_QUORUM)
        if answer.error_code:
            raise refusal(answer.error_code, answer.error_message or "")
        (partition,) = answer.topics[0].partitions
        if partition.error_code:
            raise refusal(partition.error_code, partition.error_message or "")
        return QuorumView(
            leader_id=_known(partition.leader_id),
            leader_epoch=partition.leader_epoch,
            high_watermark=_known(partition.high_watermark),
            voters=tuple(_replica(voter) for voter in partition.current_voters),
            observers=tuple(_replica(observer) for observer in partition.observers),
        )

    def features(self) -> tuple[FeatureView, ...]:
        request = ApiVersionsRequest(client_software_name=OWN_SOFTWARE, client_software_version="1")
        answer = ask(self._client, lambda cluster: cluster.ask_any(request), _NO_FEATURES)
        if answer.error_code:
            raise refusal(answer.error_code)
        finalized = {feature.name: feature.max_version_level for feature in answer.finalized_features}
        supported = sorted(answer.supported_features, key=lambda feature: feature.name)
        return tuple(
            FeatureView(value.name, value.min_version, value.max_version, finalized.get(value.name))
            for value in supported
        )

    def check_upgrade(self, name: str, level: int) -> None:
        self._upgrade(name, level, validate_only=True)

    def upgrade(self, name: str, level: int) -> None:
        self._upgrade(name, level, validate_only=False)

    def _upgrade(self, name: str, level: int, *, validate_only: bool) -> None:
        """Upgrade a feature. Version 0 of the request has no `validate_only`, so that a broker with nothing later is
        not asked.
        """
        update = FeatureUpdateKey(feature=name, max_version_level=level)
        request = UpdateFeaturesRequest(feature_updates=[update], validate_only=validate_only)
        response = ask(self._client, lambda cluster: cluster.ask_controller(request), _NO_UPGRADES)
        for result in response.results:
            if result.error_code:
                raise refusal(result.error_code, result.error_message or "")
        if response.error_code:
            raise refusal(response.error_code, response.error_message or "")

    def eligible_leaders(self, topic: str) -> tuple[EligibleLeaders, ...]:
        partitions: list[EligibleLeaders] = []
        cursor: Cursor | None = None
        while True:
            request = DescribeTopicPartitionsRequest(topics=[TopicRequest(name=topic)], cursor=cursor)
            response = ask(self._client, partial(_any_answer, request), _NO_ELIGIBLE_LEADERS)
            for described in response.topics:
                if described.error_code:
                    raise refusal(described.error_code)
                partitions += map(_eligible, described.partitions)
            if response.next_cursor is None or response.next_cursor.topic_name != topic:
                return tuple(sorted(partitions, key=lambda leaders: leaders.partition))
            cursor = response.next_cursor


def _any_answer(
    request: DescribeTopicPartitionsRequest, cluster: ClusterConnections
) -> DescribeTopicPartitionsResponse:
    return cluster.ask_any(request)


def _eligible(partition: DescribeTopicPartitionsResponsePartition) -> EligibleLeaders:
    elr, last = partition.eligible_leader_replicas, partition.last_known_elr
    return EligibleLeaders(
        partition.partition_index,
        _known(partition.leader_id),
        tuple(partition.isr_nodes),
        None if elr is None else tuple(elr),
        None if last is None else tuple(last),
    )


def _replica(replica: QuorumReplica) -> QuorumReplicaView:
    return QuorumReplicaView(
        replica.replica_id,
        _known(replica.log_end_offset),
        _known(replica.last_fetch_timestamp),
        _known(replica.last_caught_up_timestamp),
    )


def _known(value: int) -> int | None:
    """Return the number, None for Kafka's -1."""
    return None if value < 0 else value
