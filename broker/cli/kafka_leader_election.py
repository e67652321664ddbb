"""`kafka-leader-election`: have partitions led by their preferred replica, or by one out of sync where none else is."""

import sys

from broker.cli.frame.answers import exception_of, int32
from broker.cli.frame.connecting import BOOTSTRAP_SERVER, connected
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option, UsageError
from broker.cli.frame.json_files import read_partitions
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.cli.placement.elections import ADMIN_CONFIG, PATH_TO_JSON_FILE, ElectionOutcome, elect, named
from broker.common.types import TopicPartition
from broker.protocol.messages.elect_leaders import ElectionType

_SCOPES = ("topic", "all-topic-partitions", "path-to-json-file")


def run(arguments: Arguments) -> None:
    partitions = _scope(arguments)
    kind: ElectionType = arguments["election-type"]
    with connected(arguments, "admin.config") as cluster:
        outcome = elect(cluster, kind, partitions)
    if wants_json(arguments):
        print_json(_as_json(kind, outcome))
    else:
        _print_outcome(kind, outcome)
    if outcome.failed:
        raise CommandError(f"{len(outcome.failed)} replica(s) could not be elected")


def _scope(arguments: Arguments) -> list[TopicPartition] | None:
    """Return the chosen partitions; None for all."""
    if sum(arguments.given(name) for name in _SCOPES) != 1:
        raise UsageError(f"One and only one of the following options is required: {', '.join(_SCOPES)}")
    if arguments.given("topic") != arguments.given("partition"):
        missing, given = ("partition", "topic") if arguments.given("topic") else ("topic", "partition")
        raise UsageError(f"Missing required option(s): {missing} (it belongs to --{given})")
    if arguments["all-topic-partitions"]:
        return None
    if arguments.given("topic"):
        return [TopicPartition(arguments["topic"], arguments["partition"])]
    return read_partitions(arguments["path-to-json-file"])


def _print_outcome(kind: ElectionType, outcome: ElectionOutcome) -> None:
    if outcome.elected:
        done = named(outcome.elected)
        print(f"Successfully completed leader election ({kind.name}) for partitions {done}")
    if outcome.not_needed:
        print(f"Valid replica already elected for partitions {named(outcome.not_needed)}")
    for partition, (code, sentence) in outcome.failed.items():
        reason = f"{exception_of(code)}: {sentence}"
        print(f"Error completing leader election ({kind.name}) for partition: {partition}: {reason}")
    sys.stdout.flush()


def _as_json(kind: ElectionType, outcome: ElectionOutcome) -> dict[str, object]:
    return {
        "electionType": kind.name,
        "elected": list(map(str, outcome.elected)),
        "notNeeded": list(map(str, outcome.not_needed)),
        "failed": {str(partition): sentence for partition, (_, sentence) in outcome.failed.items()},
    }


def _election_type(text: str) -> ElectionType:
    try:
        return ElectionType[text.upper()]
    except KeyError:
        raise ValueError("it is preferred or unclean") from None


COMMAND = Command(
    name="kafka-leader-election",
    summary="Have the controller elect leaders now.",
    run=run,
    options=(
        BOOTSTRAP_SERVER,
        ADMIN_CONFIG,
        OUTPUT,
        Option(
            "election-type",
            "preferred: the first of the replicas leads again; unclean: one out of sync leads where no other is "
            "alive, and records may be lost.",
            "TYPE",
            parse=_election_type,
            required=True,
        ),
        Option("topic", "Of this topic the partition that --partition names.", "TOPIC"),
        Option("partition", "Its number.", "N", parse=int32),
        Option("all-topic-partitions", "All partitions there are."),
        PATH_TO_JSON_FILE,
    ),
    examples=(
        Example(
            "kafka-leader-election --bootstrap-server localhost:9092 --election-type preferred --all-topic-partitions",
            "spread leaders again as they were planned, after brokers have come back",
        ),
    ),
)
