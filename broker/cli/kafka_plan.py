"""`kafka-plan`: how many partitions a topic needs, what they cost, and the command that makes them (see sizing.py)."""

import sys
import time
from collections.abc import Mapping
from contextlib import redirect_stdout
from typing import Any

from broker.cli.frame.answers import at_least_one
from broker.cli.frame.connecting import ADMIN, connected
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option, UsageError, command_line
from broker.cli.frame.output import OUTPUT, ProgressLine, print_json, wants_json
from broker.cli.frame.parsing import parse
from broker.cli.kafka_topics import COMMAND as KAFKA_TOPICS
from broker.cli.topics.sizing import (
    ClusterCapacity,
    Size,
    TopicDemand,
    bytes_of_text,
    milliseconds_of_text,
    size,
    text_of_bytes,
)
from broker.cli.topics.topic_figures import directories, is_there, leaders_per_broker, look, rate_between, settings
from broker.client.cluster import ClusterConnections

_PLACEHOLDER = "NAME"
_CONNECTION = ("bootstrap-server", "zookeeper", "command-config")


def run(arguments: Arguments) -> None:
    if arguments["execute"] and not arguments["topic"]:
        raise UsageError('Missing required argument "[topic]": --execute needs to know which')
    demand, place = _without_cluster(arguments) if not _has_cluster(arguments) else _with_cluster(arguments)
    try:
        planned = size(demand, place)
    except ValueError as error:
        raise CommandError(f"This cannot be planned: {error}.") from None
    values = _to_apply(arguments, demand, planned)
    line = command_line(KAFKA_TOPICS, values) if values else ""
    if wants_json(arguments):
        print_json(_as_json(demand, planned, line))
    else:
        print("\n".join(_lines(arguments, demand, planned, line)))
    if arguments["execute"] and values:
        _execute(arguments, values)


def _has_cluster(arguments: Arguments) -> bool:
    return any(arguments[name] for name in _CONNECTION[:2])


def _without_cluster(arguments: Arguments) -> tuple[TopicDemand, ClusterCapacity]:
    """Return the demand and capacity from the options alone."""
    if arguments["throughput"] is None:
        raise UsageError('Missing required argument "[throughput]"')
    if arguments["execute"]:
        raise UsageError("--bootstrap-server must be specified")
    demand = _demand(arguments, arguments["throughput"], {}, arguments["replication-factor"] or 3)
    return demand, ClusterCapacity(arguments["brokers"] or demand.replication_factor, arguments["directories"] or 1)


def _with_cluster(arguments: Arguments) -> tuple[TopicDemand, ClusterCapacity]:
    topic = arguments["topic"]
    with connected(arguments) as cluster:
        factor = is_there(cluster, topic) if topic else None
        throughput = arguments["throughput"] or _measured(cluster, topic if factor else None, arguments["measure"])
        known = settings(cluster, topic if factor else None)
        disks = directories(cluster)
        place = ClusterCapacity(
            brokers=arguments["brokers"] or disks.brokers,
            directories_per_broker=arguments["directories"] or disks.per_broker,
            leaders_per_broker=leaders_per_broker(cluster, topic),
            usable_bytes=disks.usable_bytes,
            session_timeout_s=_session_timeout_s(cluster),
        )
        partitions = len(cluster.describe_topics([topic]).topics[0].partitions) if factor else 0
    replicas = arguments["replication-factor"] or factor or min(3, place.brokers)
    return _demand(arguments, throughput, known, replicas, partitions), place


def _measured(cluster: ClusterConnections, topic: str | None, seconds: int) -> float:
    """Measure the topic's rate by two looks."""
    if topic is None:
        raise UsageError('Missing required argument "[throughput]": only of a topic that is there it can be measured')
    before = look(cluster, topic)
    with ProgressLine() as progress:
        progress.show(f"looking for {seconds} s at what is written to {topic}")
        time.sleep(seconds)
    rate = rate_between(before, look(cluster, topic))
    if rate <= 0:
        raise CommandError(
            f"Nothing was written to {topic} within {seconds} s: say by --throughput what it shall take."
        )
    return rate


def _session_timeout_s(cluster: ClusterConnections) -> float:
    return int(settings(cluster, None).get("zookeeper.session.timeout.ms", "18000")) / 1000


def _demand(
    arguments: Arguments, throughput: float, known: Mapping[str, str], replicas: int, partitions: int = 0
) -> TopicDemand:
    """Return the demand as typed; else as the topic or its brokers are set; else by Kafka's defaults."""
    retention_ms = arguments["retention"]
    if retention_ms is None:
        retention_ms = int(known.get("retention.ms") or _broker_retention_ms(known))
    return TopicDemand(
        throughput=throughput,
        consumer_throughput=arguments["consumer-throughput"],
        producer_throughput=arguments["producer-throughput"],
        growth=arguments["growth"],
        consumers=arguments["consumers"],
        replication_factor=replicas,
        retention_ms=retention_ms,
        retention_bytes=int(known.get("retention.bytes") or known.get("log.retention.bytes") or -1),
        segment_bytes=int(known.get("segment.bytes") or known.get("log.segment.bytes") or 1 << 30),
        head_room=arguments["head-room"] / 100,
        partitions=partitions,
    )


def _broker_retention_ms(known: Mapping[str, str]) -> int:
    if known.get("log.retention.ms"):
        return int(known["log.retention.ms"])
    if known.get("log.retention.minutes"):
        return int(known["log.retention.minutes"]) * 60_000
    return int(known.get("log.retention.hours", "168")) * 3_600_000


def _to_apply(arguments: Arguments, demand: TopicDemand, planned: Size) -> dict[str, Any]:
    """Return the options of kafka-topics; nothing if there are enough partitions."""
    values: dict[str, Any] = {name: arguments[name] for name in _CONNECTION if arguments[name]}
    values.setdefault("bootstrap-server", "localhost:9092") if not arguments["zookeeper"] else None
    topic = arguments["topic"] or _PLACEHOLDER
    if demand.partitions:
        if planned.partitions <= demand.partitions:
            return {}
        return {**values, "alter": True, "topic": topic, "partitions": planned.partitions}
    values |= {"create": True, "topic": topic, "partitions": planned.partitions}
    values |= {"replication-factor": demand.replication_factor}
    if arguments["retention"] is not None:
        values["config"] = [f"retention.ms={demand.retention_ms}"]
    return values


def _execute(arguments: Arguments, values: Mapping[str, Any]) -> None:
    """Delete after the topic's name was typed; any other word changes nothing."""
    topic = arguments["topic"]
    print(f"Type {topic} to have it done: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip() != topic:
        raise CommandError("Nothing was changed.")
    words: list[str] = []
    for name, value in values.items():
        if value is True:
            words.append(f"--{name}")
        else:
            words += [
                word for item in (value if isinstance(value, list) else [value]) for word in (f"--{name}", str(item))
            ]
    typed, _ = parse(KAFKA_TOPICS, words)
    # Who reads JSON from stdout reads nothing else there.
    with redirect_stdout(sys.stderr if wants_json(arguments) else sys.stdout):
        KAFKA_TOPICS.run(typed)
        if "alter" in values:
            print(f"{topic} has {values['partitions']} partitions.")


def _lines(arguments: Arguments, demand: TopicDemand, planned: Size, line: str) -> list[str]:
    measured = " (measured)" if arguments["throughput"] is None else ""
    grown = f", planned for {text_of_bytes(demand.planned_throughput)}/s" if demand.growth != 1 else ""
    lines = [f"Throughput: {text_of_bytes(demand.throughput)}/s{measured}{grown}"]
    for reason in planned.reasons:
        mark = "  <- decides" if reason is planned.decisive else ""
        lines.append(f"  {reason.partitions:>6}  by {reason.name}: {reason.sentence}{mark}")
    lines += [
        f"Partitions: {planned.partitions}",
        f"Replication: {demand.replication_factor}",
        f"Kept in a partition: {text_of_bytes(planned.partition_bytes)}",
        f"Disk of a broker: {text_of_bytes(planned.broker_bytes)} (with {demand.head_room:.0%} head-room)",
        f"Disk of the fullest directory: {text_of_bytes(planned.directory_bytes)}",
        f"Leaders on a broker: {planned.leaders_per_broker}, replicas: {planned.replicas_per_broker}, "
        f"files: {planned.files_per_broker}",
        f"Fail-over of a broker: {planned.fail_over_s:.1f} s, until all it led serve again",
    ]
    lines += [f"WARNING: {warning}" for warning in planned.warnings]
    return [*lines, "", line or f"{arguments['topic']} has enough partitions: nothing is to be done."]


def _as_json(demand: TopicDemand, planned: Size, line: str) -> dict[str, Any]:
    return {
        "throughput": demand.throughput,
        "partitions": planned.partitions,
        "decisive": planned.decisive.name,
        "reasons": [
            {"name": reason.name, "partitions": reason.partitions, "why": reason.sentence} for reason in planned.reasons
        ],
        "replicationFactor": demand.replication_factor,
        "partitionBytes": round(planned.partition_bytes),
        "brokerBytes": round(planned.broker_bytes),
        "directoryBytes": round(planned.directory_bytes),
        "leadersPerBroker": planned.leaders_per_broker,
        "replicasPerBroker": planned.replicas_per_broker,
        "filesPerBroker": planned.files_per_broker,
        "failOverSeconds": round(planned.fail_over_s, 3),
        "warnings": list(planned.warnings),
        "command": line or None,
    }


def _growth(text: str) -> float:
    factor = float(text)
    if not 0 < factor <= 1_000_000:
        raise ValueError("it must be greater than 0")
    return factor


def _percent(text: str) -> int:
    number = int(text.removesuffix("%"))
    if not 0 <= number <= 1_000:
        raise ValueError("it is from 0 to 1000")
    return number


COMMAND = Command(
    name="kafka-plan",
    summary="Work out how many partitions a topic needs, and what they cost.",
    run=run,
    options=(
        *ADMIN,
        OUTPUT,
        Option("topic", "The topic; one that is there is measured where nothing else is said.", "TOPIC"),
        Option("throughput", "What is written to the topic.", "BYTES/S", parse=bytes_of_text),
        Option("consumer-throughput", "What one consumer can do in one partition.", "BYTES/S", parse=bytes_of_text),
        Option("producer-throughput", "What one producer can do in one partition.", "BYTES/S", parse=bytes_of_text),
        Option("growth", "Plan for this multiple of the throughput.", "FACTOR", parse=_growth, default=1.0),
        Option(
            "consumers", "Members of the largest group, which shall all have work.", "N", parse=at_least_one, default=1
        ),
        Option(
            "retention",
            "How long records are kept (7d, 12h); as the topic or its brokers say.",
            "TIME",
            parse=milliseconds_of_text,
        ),
        Option("replication-factor", "Replicas of each partition; as the topic has, or 3.", "N", parse=at_least_one),
        Option(
            "head-room", "Disk that stays free, in percent of what is needed.", "PERCENT", parse=_percent, default=40
        ),
        Option("brokers", "How many brokers; those that are alive.", "N", parse=at_least_one),
        Option("directories", "Log directories of each broker; as they have.", "N", parse=at_least_one),
        Option("measure", "How many seconds to look at a topic that is measured.", "S", parse=at_least_one, default=5),
        Option("execute", "Make the topic, or add the partitions, after its name has been typed once more."),
    ),
    examples=(
        Example(
            "kafka-plan --throughput 1GB --consumer-throughput 50MB --brokers 5", "the books' example: 20 partitions"
        ),
        Example(
            "kafka-plan --bootstrap-server localhost:9092 --topic orders --growth 4 --consumer-throughput 20MB",
            "four times what is written to a topic now",
        ),
    ),
    notes=(
        "kafka-producer-perf-test and kafka-consumer-perf-test measure what one partition takes: on a topic of one "
        "partition, with the application's own work in the consumer.",
        "Units are decimal (1 GB is 1,000 MB), binary with an i (1 GiB).",
    ),
)
