"""`kafka-log-dirs`: what lies in the log directories of brokers, as one line of JSON behind two of prose."""

import json
from dataclasses import replace
from typing import Any

from broker.cli.frame.answers import check, exception_of
from broker.cli.frame.connecting import BOOTSTRAP_SERVER, COMMAND_CONFIG, ZOOKEEPER, connected
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option
from broker.client.cluster import ClusterConnections
from broker.common.errors import ErrorCode
from broker.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)


def run(arguments: Arguments) -> None:
    with connected(arguments) as cluster:
        brokers = _brokers(cluster, arguments["broker-list"])
        print("Querying brokers for log directories information", flush=True)
        request = DescribeLogDirsRequest(topics=_topics(cluster, arguments["topic-list"]))
        descriptions = [described(broker_id, cluster.ask_broker(broker_id, request)) for broker_id in brokers]
    print(f"Received log directory information from brokers {','.join(map(str, brokers))}")
    print(json.dumps({"version": 1, "brokers": descriptions}, separators=(",", ":"), ensure_ascii=False))


def _brokers(cluster: ClusterConnections, wanted: list[int] | None) -> list[int]:
    """Raises CommandError for one that is not alive."""
    alive = sorted(cluster.brokers())
    if absent := [name for name in wanted or () if name not in alive]:
        raise CommandError(
            f"ERROR: The given brokers do not exist from --broker-list: {_listed(absent)}. "
            f"Current existent brokers: {_listed(alive)}"
        )
    return list(dict.fromkeys(wanted)) if wanted else alive


def _listed(numbers: list[int]) -> str:
    return ",".join(map(str, numbers))


def _topics(cluster: ClusterConnections, names: list[str]) -> list[DescribableLogDirTopic] | None:
    """Return the topics, all if none is named; an unknown topic is absent."""
    if not names:
        return None
    return [
        DescribableLogDirTopic(
            topic=topic.name, partitions=[partition.partition_index for partition in topic.partitions]
        )
        for topic in cluster.describe_topics(names).topics
        if topic.name and not topic.error_code
    ]


def described(broker_id: int, answer: DescribeLogDirsResponse) -> dict[str, Any]:
    """Return the broker's log directories as Kafka's JSON has them. Raises ApiError if the broker refuses."""
    check(answer.error_code)
    return {
        "broker": broker_id,
        "logDirs": [
            {
                "logDir": directory.log_dir,
                "error": exception_of(directory.error_code) if directory.error_code != ErrorCode.NONE else None,
                "partitions": [
                    {
                        "partition": f"{topic.name}-{partition.partition_index}",
                        "size": partition.partition_size,
                        "offsetLag": partition.offset_lag,
                        "isFuture": bool(partition.is_future_key),
                    }
                    for topic in directory.topics
                    for partition in topic.partitions
                ],
            }
            for directory in answer.results
        ],
    }


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part]
    except ValueError:
        raise ValueError("write broker ids as 1,2,3") from None


def _names(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


COMMAND = Command(
    name="kafka-log-dirs",
    summary="Tell the size of every replica in the log directories of brokers.",
    run=run,
    options=(
        # --broker-list means ids here, as in Kafka.
        replace(BOOTSTRAP_SERVER, older=("bootstrap-servers",)),
        ZOOKEEPER,
        COMMAND_CONFIG,
        Option("describe", "Do it.", required=True),
        Option("topic-list", "Only these topics.", "TOPIC,…", parse=_names, default=[]),
        Option("broker-list", "Only these brokers.", "ID,…", parse=_numbers),
    ),
    examples=(
        Example(
            "kafka-log-dirs --bootstrap-server localhost:9092 --describe --topic-list orders",
            "how large the replicas of a topic are; the last line is JSON",
        ),
    ),
)
