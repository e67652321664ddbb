"""What `kafka-leader-election` and its predecessor share: an election, and what became of each partition."""

from collections.abc import Collection
from dataclasses import dataclass, field

from broker.cli.frame.answers import check
from broker.cli.frame.declaration import Option
from broker.client.cluster import ClusterConnections
from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.elect_leaders import ElectionType, ElectLeadersRequest, TopicPartitions

#: Of Kafka's tool, what elections were given as --command-config before.
ADMIN_CONFIG = Option("admin.config", "A properties file of the client.", "FILE")
PATH_TO_JSON_FILE = Option("path-to-json-file", 'Partitions as {"partitions":[{"topic":"foo","partition":1}]}.', "FILE")


@dataclass(slots=True)
class ElectionOutcome:
    """Election outcome of one election, each list in the order of names."""

    elected: list[TopicPartition] = field(default_factory=list)
    #: Led already as was asked.
    not_needed: list[TopicPartition] = field(default_factory=list)
    #: Error code and sentence.
    failed: dict[TopicPartition, tuple[int, str]] = field(default_factory=dict)


def elect(
    cluster: ClusterConnections, kind: ElectionType, partitions: Collection[TopicPartition] | None
) -> ElectionOutcome:
    """Elect leaders of these partitions; None: of all. Raises ApiError, BrokerUnreachable, ApiNotServed."""
    answer = cluster.ask_controller(ElectLeadersRequest(election_type=kind, topic_partitions=_by_topic(partitions)))
    check(answer.error_code)
    outcome = ElectionOutcome()
    results = {
        TopicPartition(result.topic, one.partition_id): one
        for result in answer.replica_election_results
        for one in result.partition_result
    }
    for partition, result in sorted(results.items()):
        if not result.error_code:
            outcome.elected.append(partition)
        elif result.error_code == ErrorCode.ELECTION_NOT_NEEDED:
            outcome.not_needed.append(partition)
        else:
            outcome.failed[partition] = result.error_code, result.error_message or "no reason given"
    return outcome


def _by_topic(partitions: Collection[TopicPartition] | None) -> list[TopicPartitions] | None:
    if partitions is None:
        return None
    topics: dict[str, list[int]] = {}
    for topic, index in sorted(partitions):
        topics.setdefault(topic, []).append(index)
    return [TopicPartitions(topic=topic, partitions=indexes) for topic, indexes in topics.items()]


def named(partitions: Collection[TopicPartition]) -> str:
    return ", ".join(map(str, sorted(partitions)))
