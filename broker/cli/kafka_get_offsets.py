"""`kafka-get-offsets`, before Kafka 3.0 GetOffsetShell: the offset of a moment in each partition, as `topic:0:13`."""

import sys

from broker.cli.frame.connecting import ADMIN, connected
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.cli.topics.partition_filters import Filter, of_topic_partitions, of_topics
from broker.client.cluster import ClusterConnections
from broker.client.errors import ApiNotServed, BrokerUnreachable
from broker.client.leaders import Leaders
from broker.client.log_ends import led
from broker.client.offsets import list_offsets
from broker.common.errors import ApiError
from broker.common.types import TopicPartition
from broker.protocol.messages import list_offsets as timestamps

_MOMENTS = {
    "latest": timestamps.LATEST_TIMESTAMP,
    "earliest": timestamps.EARLIEST_TIMESTAMP,
    "max-timestamp": timestamps.MAX_TIMESTAMP,
    "earliest-local": timestamps.EARLIEST_LOCAL_TIMESTAMP,
    "latest-tiered": timestamps.LATEST_TIERED_TIMESTAMP,
}


def run(arguments: Arguments) -> None:
    moment, leaves = _moment(arguments["time"]), _filter(arguments)
    try:
        with connected(arguments) as cluster:
            _print_offsets(cluster, moment, leaves, arguments)
    except (ApiError, ApiNotServed, BrokerUnreachable) as error:
        raise CommandError(f"Error occurred: {error}") from None


def _moment(text: str) -> int:
    if text in _MOMENTS:
        return _MOMENTS[text]
    try:
        moment = int(text)
    except ValueError:
        moment = min(_MOMENTS.values()) - 1
    if not min(_MOMENTS.values()) <= moment < 1 << 63:
        raise CommandError(
            f"Error occurred: Malformed time argument {text}. Please use -1 or latest / -2 or earliest / "
            "-3 or max-timestamp / -4 or earliest-local / -5 or latest-tiered, or a specified long format timestamp"
        )
    return moment


def _filter(arguments: Arguments) -> Filter:
    if not arguments["topic-partitions"]:
        return of_topics(arguments["topic"], arguments["partitions"])
    if arguments.given("topic") or arguments.given("partitions"):
        raise CommandError("Error occurred: --topic-partitions cannot be used with --topic or --partitions")
    return of_topic_partitions(arguments["topic-partitions"])


def _print_offsets(cluster: ClusterConnections, moment: int, leaves: Filter, arguments: Arguments) -> None:
    metadata = cluster.describe_topics(None)
    partitions = sorted(
        partition
        for topic in metadata.topics
        if topic.name and not (topic.is_internal and arguments["exclude-internal-topics"])
        for response_partition in topic.partitions
        if leaves(partition := TopicPartition(topic.name, response_partition.partition_index))
    )
    if not partitions:
        raise CommandError("Error occurred: Could not match any topic-partitions with the specified filters")
    leaders = Leaders(cluster)
    leaders.learn(metadata)
    led_partitions = led(leaders, partitions)
    for partition in sorted(set(partitions) - set(led_partitions)):
        print(f"Skip getting offsets for topic-partition {partition}: it has no leader.", file=sys.stderr)
    offsets = list_offsets(leaders, dict.fromkeys(led_partitions, moment)) if led_partitions else {}
    known_offsets = {partition: offset for partition in led_partitions if (offset := offsets[partition]) >= 0}
    if wants_json(arguments):
        print_json([{**partition._asdict(), "offset": offset} for partition, offset in known_offsets.items()])
    else:
        sys.stdout.write("".join(f"{topic}:{number}:{offset}\n" for (topic, number), offset in known_offsets.items()))


COMMAND = Command(
    name="kafka-get-offsets",
    summary="Tell the first, the next or a moment's offset of partitions.",
    run=run,
    options=(
        *ADMIN,
        OUTPUT,
        Option("topic", "A regular expression of whole names; all topics without it.", "TOPIC"),
        Option("partitions", "Only these; all without it.", "0,1"),
        Option(
            "topic-partitions",
            "Patterns of topics with partitions, instead; of a range the end is left out.",
            "t:0,u:1-3,v:5-,:2",
        ),
        Option(
            "time",
            "latest (-1), earliest (-2), max-timestamp (-3), earliest-local (-4), latest-tiered (-5), or milliseconds: "
            "the first record from then on. A partition without one has no line.",
            "MOMENT",
            default="latest",
        ),
        Option("exclude-internal-topics", "Leave out topics that brokers keep for themselves."),
        Option("offsets", "", "N", without_effect="each partition has one offset of a moment."),
        Option("max-wait-ms", "", "MS", without_effect="an answer waits for nothing."),
    ),
    examples=(
        Example(
            "kafka-get-offsets --bootstrap-server localhost:9092 --topic orders", "how far each partition is written"
        ),
        Example(
            "kafka-get-offsets --bootstrap-server localhost:9092 --topic-partitions orders:0-2 --time earliest",
            "the first offset of partitions 0 and 1",
        ),
    ),
)
