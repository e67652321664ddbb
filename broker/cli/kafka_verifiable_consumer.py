"""`kafka-verifiable-consumer`: read as a member of a group, and tell of each step, for programs that check it."""

from typing import TYPE_CHECKING, Any

from broker.cli.clients.client_properties import pair_as_typed
from broker.cli.clients.verifiable import print_event, text_of
from broker.cli.frame.connecting import BOOTSTRAP_SERVER
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option
from broker.cli.frame.stopping import Stopping

if TYPE_CHECKING:
    from confluent_kafka import Consumer

_AT_ONCE = 500
_POLL_S = 0.1
_ASSIGNOR = "org.apache.kafka.clients.consumer.RangeAssignor"


def run(arguments: Arguments) -> int:
    from broker.cli.clients.clients import as_command_errors, close, open_consumer, properties_of

    reset = arguments["reset-policy"]
    properties = {
        **properties_of(arguments, "consumer.config", "consumer-property"),
        "group.id": arguments["group-id"],
        "auto.offset.reset": "error" if reset == "none" else reset,
        "session.timeout.ms": str(arguments["session-timeout"]),
        "partition.assignment.strategy": arguments["assignment-strategy"],
        "enable.auto.commit": str(arguments["enable-autocommit"]).lower(),
    }
    if arguments["group-instance-id"]:
        properties["group.instance.id"] = arguments["group-instance-id"]
    with as_command_errors():
        consumer = open_consumer(arguments, properties)
        try:
            with Stopping() as stopping:
                print_event("startup_complete")
                _VerifiableReading(consumer, arguments).until(stopping)
        finally:
            close(consumer)
            print_event("shutdown_complete")
    return stopping.status


class _VerifiableReading:
    def __init__(self, consumer: "Consumer", arguments: Arguments):
        self._consumer = consumer
        self._limit = arguments["max-messages"]
        self._is_verbose = arguments["verbose"]
        self._commits = not arguments["enable-autocommit"]
        self._read = 0
        consumer.subscribe([arguments["topic"]], on_assign=_reporter_of("assigned"), on_revoke=_reporter_of("revoked"))

    def until(self, stopping: Stopping) -> None:
        from broker.cli.clients.clients import next_messages

        while not stopping.is_requested and (self._limit < 0 or self._read < self._limit):
            wanted = _AT_ONCE if self._limit < 0 else min(_AT_ONCE, self._limit - self._read)
            records = [message for message in next_messages(self._consumer, wanted, _POLL_S) if _is_record(message)]
            if records:
                self._take(records)

    def _take(self, records: list[Any]) -> None:
        self._read += len(records)
        if self._is_verbose:
            for record in records:
                print_event(
                    "record_data",
                    key=text_of(record.key()),
                    value=text_of(record.value()),
                    topic=record.topic(),
                    partition=record.partition(),
                    offset=record.offset(),
                )
        ranges = _ranges(records)
        print_event("records_consumed", count=len(records), partitions=ranges)
        if self._commits:
            self._commit({(range_["topic"], range_["partition"]): range_["maxOffset"] + 1 for range_ in ranges})

    def _commit(self, offsets: dict[tuple[str, int], int]) -> None:
        from confluent_kafka import KafkaException, TopicPartition

        from broker.cli.clients.clients import sentence

        shown = [{"topic": topic, "partition": number, "offset": at} for (topic, number), at in offsets.items()]
        try:
            self._consumer.commit(
                offsets=[TopicPartition(topic, number, at) for (topic, number), at in offsets.items()],
                asynchronous=False,
            )
        except KafkaException as error:
            print_event("offsets_committed", offsets=shown, success=False, error=sentence(error.args[0]))
        else:
            print_event("offsets_committed", offsets=shown, success=True)


def _ranges(records: list[Any]) -> list[dict[str, Any]]:
    """Return the number of records and the first and last offset of each partition."""
    offsets: dict[tuple[str, int], list[int]] = {}
    for record in records:
        offsets.setdefault((record.topic(), record.partition()), []).append(record.offset())
    return [
        {
            "topic": topic,
            "partition": partition,
            "count": len(consumed),
            "minOffset": consumed[0],
            "maxOffset": consumed[-1],
        }
        for (topic, partition), consumed in offsets.items()
    ]


def _is_record(message: Any) -> bool:
    """CommandError for an error that does not pass by itself."""
    from confluent_kafka import KafkaError

    from broker.cli.clients.clients import log_line, sentence

    error = message.error()
    if error is None:
        return True
    if error.fatal() or error.code() == KafkaError._AUTO_OFFSET_RESET:
        raise CommandError(sentence(error))
    log_line("WARN", sentence(error))
    return False


def _reporter_of(what: str) -> Any:
    def tell(_consumer: "Consumer", partitions: list[Any]) -> None:
        shown = [{"topic": partition.topic, "partition": partition.partition} for partition in partitions]
        print_event(f"partitions_{what}", partitions=shown)

    return tell


COMMAND = Command(
    name="kafka-verifiable-consumer",
    summary="Read as a member of a group, and print a line of JSON for each step.",
    run=run,
    options=(
        BOOTSTRAP_SERVER,
        Option("topic", "The topic to read.", "TOPIC", required=True),
        Option("group-id", "The group to read as.", "GROUP", required=True),
        Option("group-instance-id", "Makes a static member.", "ID"),
        Option("max-messages", "Stop after this many; -1 for never.", "N", parse=int, default=-1),
        Option(
            "session-timeout",
            "A member without a heartbeat for this time leaves the group.",
            "MS",
            parse=int,
            default=30_000,
        ),
        Option("verbose", "Print each record."),
        Option("enable-autocommit", "Let the client commit, now and then."),
        Option(
            "reset-policy",
            "Where to begin without an offset.",
            "POLICY",
            default="earliest",
            choices=("earliest", "latest", "none"),
        ),
        Option("assignment-strategy", "How partitions are shared.", "CLASS", default=_ASSIGNOR),
        Option("consumer-property", "A property of the client.", "KEY=VALUE", parse=pair_as_typed, repeatable=True),
        Option("consumer.config", "A properties file of the client.", "FILE", older=("command-config",)),
        Option("group-protocol", "", "NAME", without_effect="members use the classic protocol."),
        Option("group-remote-assignor", "", "NAME", without_effect="members use the classic protocol."),
    ),
    examples=(
        Example(
            "kafka-verifiable-consumer --bootstrap-server localhost:9092 --topic orders --group-id checkers --verbose",
            "each record, and what the group does",
        ),
    ),
)
