"""What retention and compaction would delete from a topic, gathered from the leaders of its partitions."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from broker.client.cluster import ClusterConnections
from broker.client.errors import BrokerUnreachable, LoginRefused
from broker.common.errors import ApiError, ErrorCode, ProtocolError, error_code_of
from broker.protocol.messages.metadata import MetadataResponse
from broker.protocol.messages.preview_retention import (
    PreviewRetentionConfig,
    PreviewRetentionPartitionResult,
    PreviewRetentionRequest,
    PreviewRetentionTopic,
    PreviewRetentionTopicResult,
)
from broker.security.membership import ClusterMembership

#: How often leaders are looked for again that have just moved.
_TRIES = 3
#: Beyond the broker's own deadline, for the way there and back.
_ANSWER_GRACE_S = 5.0
_MOVED = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.LEADER_NOT_AVAILABLE)


@dataclass(frozen=True, slots=True)
class PreviewQuestion:
    """`configs` count instead of what the topic sets; None as if it did not set the key. No `partitions` are all."""

    topic: str
    partitions: Collection[int] = ()
    configs: Mapping[str, str | None] = field(default_factory=dict)
    include_compaction: bool = True
    timeout_s: float = 30.0


def preview_retention(
    cluster: ClusterConnections, question: PreviewQuestion, membership: ClusterMembership | None
) -> PreviewRetentionTopicResult:
    """Return the answers of all leaders as one; a partition that could not be asked carries its own error.

    Brokers answer members of the cluster only. Raises ApiError for the topic as a whole (unknown, a configuration that
    cannot be, nobody's business), BrokerUnreachable, ApiNotServed, LoginRefused, ProtocolError.
    """
    gathered = _Gathered(question, membership)
    for _ in range(_TRIES):
        metadata = cluster.describe_topics([question.topic])
        for address, partitions in gathered.missing_by_leader(metadata).items():
            gathered.ask(cluster, address, partitions)
        if not gathered.has_moved:
            break
    return gathered.result


class _Gathered:
    """Responses that arrived so far."""

    def __init__(self, question: PreviewQuestion, membership: ClusterMembership | None):
        self._question = question
        self._membership = membership
        self._partitions: dict[int, PreviewRetentionPartitionResult] = {}
        self._topic = PreviewRetentionTopicResult(name=question.topic)

    @property
    def has_moved(self) -> bool:
        return any(partition.error_code in _MOVED for partition in self._partitions.values())

    @property
    def result(self) -> PreviewRetentionTopicResult:
        self._topic.partitions = [self._partitions[index] for index in sorted(self._partitions)]
        return self._topic

    def missing_by_leader(self, metadata: MetadataResponse) -> dict[tuple[str, int], list[int]]:
        """Return the partitions still to ask for by leader's address; those without a leader get their error now."""
        brokers = {broker.node_id: (broker.host, broker.port) for broker in metadata.brokers}
        leaders = self._leaders(metadata)
        missing: dict[tuple[str, int], list[int]] = {}
        for index in sorted(self._question.partitions or leaders):
            known = self._partitions.get(index)
            if known is not None and known.error_code not in _MOVED:
                continue
            if index not in leaders:
                self._note_error(index, ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "there is no such partition"))
            elif leaders[index] not in brokers:
                self._note_error(index, ApiError(ErrorCode.LEADER_NOT_AVAILABLE))
            else:
                missing.setdefault(brokers[leaders[index]], []).append(index)
        return missing

    def _leaders(self, metadata: MetadataResponse) -> dict[int, int]:
        (topic,) = metadata.topics
        if topic.error_code:
            code = error_code_of(topic.error_code)
            known = {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: f"there is no topic {self._question.topic!r}"}
            raise ApiError(code, known.get(code))
        return {partition.partition_index: partition.leader_id for partition in topic.partitions}

    def ask(self, cluster: ClusterConnections, address: tuple[str, int], partitions: list[int]) -> None:
        try:
            connection = cluster.connection(*address)
            response = connection.ask(
                self._request(partitions),
                timeout_s=self._question.timeout_s + _ANSWER_GRACE_S,
                membership=self._membership,
            )
        except LoginRefused:
            cluster.forget(*address)
            raise
        except (BrokerUnreachable, ProtocolError) as error:
            cluster.forget(*address)
            for index in partitions:
                self._note_error(index, ApiError(ErrorCode.NETWORK_EXCEPTION, str(error)))
            return
        (topic,) = response.topics
        if topic.error_code:
            raise ApiError(error_code_of(topic.error_code), topic.error_message)
        self._topic = topic
        self._partitions |= {partition.partition_index: partition for partition in topic.partitions}

    def _request(self, partitions: list[int]) -> PreviewRetentionRequest:
        question = self._question
        configs = [PreviewRetentionConfig(name=name, value=value) for name, value in question.configs.items()]
        topic = PreviewRetentionTopic(name=question.topic, partitions=partitions, configs=configs)
        return PreviewRetentionRequest(
            topics=[topic],
            include_compaction=question.include_compaction,
            timeout_ms=int(question.timeout_s * 1000),
        )

    def _note_error(self, index: int, error: ApiError) -> None:
        self._partitions[index] = PreviewRetentionPartitionResult(
            partition_index=index, error_code=error.code, error_message=error.message
        )
