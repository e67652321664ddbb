"""`kafka-replica-verification`: read every replica of topics, and tell where they differ or how far they lag.

Followers are read as consumers of their rack read them (KIP-392), as far as they know records to be committed.
"""

import json
import sys
import time
from collections.abc import Iterable
from datetime import datetime

from broker.cli.frame.answers import at_least_one, int64, pattern
from broker.cli.frame.connecting import BOOTSTRAP_SERVER, COMMAND_CONFIG, connected
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option
from broker.cli.frame.output import OUTPUT, wants_json
from broker.cli.placement.replica_comparison import Compared, ReplicaRead, batches_of, report
from broker.client.cluster import ClusterConnections
from broker.client.errors import BrokerUnreachable
from broker.client.leaders import Leaders
from broker.client.offsets import list_offsets
from broker.common.errors import ApiError, ErrorCode, error_code_of
from broker.common.types import TopicPartition
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from broker.protocol.messages.list_offsets import EARLIEST_TIMESTAMP

#: The newest version that names topics; from 11 on a follower answers a consumer.
_FETCH_BY_NAME = 12
_ANY_RACK = "kafka-replica-verification"
_REQUEST_BYTES_MAX = 32 * 1024 * 1024
#: A replica says so of an offset that it does not know to be committed yet.
_LAGS = (ErrorCode.OFFSET_OUT_OF_RANGE, ErrorCode.OFFSET_NOT_AVAILABLE)


def run(arguments: Arguments) -> None:
    """Compare replicas until interrupted, or until replicas hold different records."""
    with connected(arguments) as cluster:
        partitions = _partitions(cluster, arguments)
        _print_message(arguments, "verification process is started")
        due = time.monotonic() + arguments["report-interval-ms"] / 1000
        while True:
            _round(cluster, partitions, arguments)
            if time.monotonic() >= due:
                _report(arguments, partitions)
                due = time.monotonic() + arguments["report-interval-ms"] / 1000


def _partitions(cluster: ClusterConnections, arguments: Arguments) -> list[Compared]:
    wanted = pattern(arguments["topics-include"])
    replicas = {
        TopicPartition(topic.name or "", partition.partition_index): tuple(sorted(partition.replica_nodes))
        for topic in cluster.describe_topics(None).topics
        if wanted.fullmatch(topic.name or "")
        for partition in topic.partitions
    }
    if not replicas:
        raise CommandError("No topics found. --topics-include if specified, is either filtering out all topics or "
                           "there is no topic.")  # fmt: skip
    offsets = list_offsets(Leaders(cluster), dict.fromkeys(replicas, arguments["time"]))
    if any(offset < 0 for offset in offsets.values()):
        offsets |= list_offsets(Leaders(cluster), {item: -1 for item, offset in offsets.items() if offset < 0})
    return [
        Compared(partition, of_partition, offsets[partition]) for partition, of_partition in sorted(replicas.items())
    ]


def _round(cluster: ClusterConnections, partitions: list[Compared], arguments: Arguments) -> None:
    """Fetch once from each broker."""
    reads: dict[TopicPartition, dict[int, ReplicaRead]] = {partition.partition: {} for partition in partitions}
    brokers = sorted({replica for partition in partitions for replica in partition.replicas})
    wait_ms = min(arguments["max-wait-ms"], arguments["report-interval-ms"]) // len(brokers)
    began = time.monotonic()
    for broker in brokers:
        hosted = [partition for partition in partitions if broker in partition.replicas]
        try:
            _fetch(cluster, broker, hosted, reads, arguments["fetch-size"], wait_ms)
        except BrokerUnreachable as error:
            _forget(cluster, broker)
            for compared in hosted:
                compared.unread[broker] = str(error)
    for partition in partitions:
        for difference in partition.compare(reads[partition.partition]):
            _print_message(arguments, difference)
    # Brokers that do not answer, or at once, are not asked without a pause.
    if not any(read.batches for by_broker in reads.values() for read in by_broker.values()):
        time.sleep(max(0.0, wait_ms * len(brokers) / 1000 - (time.monotonic() - began)))


def _fetch(
    cluster: ClusterConnections,
    broker: int,
    hosted: Iterable[Compared],
    reads: dict[TopicPartition, dict[int, ReplicaRead]],
    bytes_max: int,
    wait_ms: int,
) -> None:
    by_partition = {compared.partition: compared for compared in hosted}
    topics: dict[str, list[FetchPartition]] = {}
    for partition in by_partition.values():
        fetch = FetchPartition(
            partition=partition.partition.partition, fetch_offset=partition.offset, partition_max_bytes=bytes_max
        )
        topics.setdefault(partition.partition.topic, []).append(fetch)
    request = FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=1,
        max_bytes=_REQUEST_BYTES_MAX,
        topics=[FetchTopic(topic=name, partitions=fetches) for name, fetches in topics.items()],
        rack_id=_ANY_RACK,
    )
    answer = cluster.ask_broker(broker, request, version_max=_FETCH_BY_NAME)
    for topic in answer.responses:
        for data in topic.partitions:
            compared = by_partition[TopicPartition(topic.topic, data.partition_index)]
            compared.unread.pop(broker, None)
            if data.error_code in _LAGS:
                _begin_where_it_begins(cluster, compared)
            elif data.error_code:
                compared.unread[broker] = error_code_of(data.error_code).meaning
            else:
                replica_read = ReplicaRead(batches_of(data.records, compared.offset), data.high_watermark)
                reads[compared.partition][broker] = replica_read


def _forget(cluster: ClusterConnections, broker: int) -> None:
    """Drop the connection to a broker; the next round connects again."""
    address = cluster.brokers().get(broker)
    if address is not None:
        cluster.forget(*address)


def _begin_where_it_begins(cluster: ClusterConnections, compared: Compared) -> None:
    """Begin at the log start where older records have been deleted."""
    try:
        (earliest,) = list_offsets(Leaders(cluster), {compared.partition: EARLIEST_TIMESTAMP}).values()
    except (ApiError, BrokerUnreachable):
        return
    compared.offset = max(compared.offset, earliest)


def _report(arguments: Arguments, partitions: list[Compared]) -> None:
    if wants_json(arguments):
        lags = {
            str(partition.partition): {"lag": partition.lag, "offset": partition.offset} for partition in partitions
        }
        print(json.dumps({"time": _now(), "partitions": lags}), flush=True)
    else:
        _print_message(arguments, report(partitions))
    for partition in partitions:
        for replica, sentence in sorted(partition.unread.items()):
            print(f"{_now()}: replica {replica} of {partition.partition} cannot be read: {sentence}", file=sys.stderr)


def _print_message(arguments: Arguments, sentence: str) -> None:
    if wants_json(arguments):
        print(json.dumps({"time": _now(), "message": sentence}), flush=True)
    else:
        print(f"{_now()}: {sentence}", flush=True)


def _now() -> str:
    """Format the local time, as Kafka's tool."""
    return datetime.now().astimezone().isoformat(" ", "milliseconds")[:23].replace(".", ",")


COMMAND = Command(
    name="kafka-replica-verification",
    summary="Compare the records of all replicas, until it is interrupted.",
    run=run,
    options=(
        BOOTSTRAP_SERVER,
        COMMAND_CONFIG,
        OUTPUT,
        Option(
            "topics-include", "A regular expression of whole names.", "REGEX", default=".*", older=("topic-white-list",)
        ),
        Option("time", "Where to begin: -1 the end, -2 the beginning, or a time.", "MS", parse=int64, default=-1),
        Option("report-interval-ms", "How often to report.", "MS", parse=at_least_one, default=30_000),
        Option("fetch-size", "Bytes to read of a partition at a time.", "N", parse=at_least_one, default=1_048_576),
        Option("max-wait-ms", "How long brokers may wait for records.", "MS", parse=at_least_one, default=1_000),
    ),
    examples=(
        Example(
            "kafka-replica-verification --broker-list localhost:9092 --topics-include orders --time -2",
            "compare all there is, and go on with what comes",
        ),
    ),
)
