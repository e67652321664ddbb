"""`kafka-preferred-replica-election`: leaders where they were planned, as it was asked before Kafka 2.4."""

from broker.cli.frame.answers import exception_of
from broker.cli.frame.connecting import BOOTSTRAP_SERVER, ZOOKEEPER, connected
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example
from broker.cli.frame.json_files import read_partitions
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.cli.placement.elections import ADMIN_CONFIG, PATH_TO_JSON_FILE, ElectionOutcome, elect, named
from broker.client.cluster import ClusterConnections
from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.elect_leaders import ElectionType

_DEPRECATED = "This tool is deprecated. Please use kafka-leader-election tool. Tracking issue: KAFKA-8405"


def run(arguments: Arguments) -> None:
    partitions = read_partitions(arguments["path-to-json-file"]) if arguments["path-to-json-file"] else None
    with connected(arguments, "admin.config") as cluster:
        outcome = elect(cluster, ElectionType.PREFERRED, partitions)
        wanted = _all_partitions(cluster) if partitions is None else partitions
    if wants_json(arguments):
        print_json({"elected": list(map(str, outcome.elected)), "notNeeded": list(map(str, outcome.not_needed))})
    else:
        print(_DEPRECATED)
        _print_outcome(arguments, outcome, wanted)
    failed = _failed(arguments, outcome)
    if failed:
        raise CommandError("\n".join(failed))


def _print_outcome(arguments: Arguments, outcome: ElectionOutcome, partitions: list[TopicPartition]) -> None:
    if arguments["zookeeper"]:
        absent = [item for item, (code, _) in outcome.failed.items() if _is_absent(code)]
        for partition in absent:
            sentence = f"Skipping preferred replica leader election for partition {partition} since it doesn't exist."
            print(sentence)
        known = named(set(partitions) - set(absent))
        print(f"Successfully started preferred replica election for partitions Set({known})")
        return
    if outcome.elected:
        print(f"Successfully completed preferred leader election for partitions {named(outcome.elected)}")
    if outcome.not_needed:
        print(f"Preferred replica already elected for partitions {named(outcome.not_needed)}")


def _failed(arguments: Arguments, outcome: ElectionOutcome) -> list[str]:
    """Return the failures; in ZooKeeper's generation a missing topic was skipped."""
    return [
        f"Error completing preferred leader election for partition: {partition}: {exception_of(code)}: {sentence}"
        for partition, (code, sentence) in outcome.failed.items()
        if not (arguments["zookeeper"] and _is_absent(code))
    ]


def _is_absent(code: int) -> bool:
    return code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _all_partitions(cluster: ClusterConnections) -> list[TopicPartition]:
    return [
        TopicPartition(topic.name or "", partition.partition_index)
        for topic in cluster.describe_topics(None).topics
        for partition in topic.partitions
    ]


COMMAND = Command(
    name="kafka-preferred-replica-election",
    summary="Have each partition led by the first of its replicas, as before Kafka 2.4 (now: kafka-leader-election).",
    run=run,
    options=(BOOTSTRAP_SERVER, ZOOKEEPER, ADMIN_CONFIG, OUTPUT, PATH_TO_JSON_FILE),
    examples=(
        Example("kafka-preferred-replica-election --zookeeper localhost:2181", "for all partitions of the cluster"),
    ),
)
