"""`kafka-console-consumer`: print the records of topics as they come."""

import select
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from broker.cli.clients.client_properties import pair_as_typed
from broker.cli.clients.console_consumer_choices import (
    BEGINNING,
    END,
    check,
    reads_internal_topics,
    settings,
    starting_offset,
)
from broker.cli.clients.consumed import Formatter
from broker.cli.clients.matching_topics import TopicPatternSubscription
from broker.cli.clients.record_formatters import DEFAULT_FORMATTER, formatter
from broker.cli.frame.answers import pattern
from broker.cli.frame.connecting import BOOTSTRAP_SERVER, ZOOKEEPER, client_config, typed_properties
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option
from broker.cli.frame.stopping import Stopping

if TYPE_CHECKING:
    from confluent_kafka import Consumer

#: Records printed by one write, if so many are there.
_AT_ONCE = 1_000
#: How long nothing comes before somebody is listened to who wants it to end.
_POLL_S = 0.1
_ASK_S = 2.0


def run(arguments: Arguments) -> int:
    check(arguments)
    shown = _formatter(arguments)
    in_file, typed = client_config(arguments["consumer.config"]), typed_properties(arguments["consumer-property"])
    chosen = settings(arguments, in_file, typed)
    from broker.cli.clients.clients import as_command_errors, open_consumer

    with as_command_errors():
        consumer = open_consumer(arguments, {**in_file, **typed}, **chosen)
        printing = _Printing(consumer, shown, arguments)
        try:
            with Stopping() as stopping:
                printing.until(stopping, _begin(consumer, arguments, {**in_file, **typed}))
        finally:
            printing.close()
        return stopping.status


class _Printing:
    """Offsets are stored as records are printed: what was fetched and not printed is read again by the group."""

    def __init__(self, consumer: "Consumer", shown: Formatter, arguments: Arguments):
        self._consumer = consumer
        self._shown = shown
        #: None and negative: all.
        self._limit: int | None = arguments["max-messages"]
        if self._limit is not None and self._limit < 0:
            self._limit = None
        self._timeout_ms: int | None = arguments["timeout-ms"]
        self._skips = arguments["skip-message-on-error"]
        self._tells_end = arguments["enable-systest-events"]
        # Unbuffered: what nobody reads any more must not be waited for at the end.
        self._out: BinaryIO = getattr(sys.stdout.buffer, "raw", sys.stdout.buffer)
        self._printed = 0
        self._last_at = time.monotonic()

    def until(self, stopping: Stopping, topics: TopicPatternSubscription | None) -> None:
        """Print until stopped, enough was printed, nothing came for the timeout, or the pipe closed."""
        try:
            while not stopping.is_requested and (self._limit is None or self._printed < self._limit):
                if topics is not None:
                    topics.follow()
                messages = self._next()
                if messages:
                    self._print(messages)
                    self._last_at = time.monotonic()
                elif self._is_over():
                    return
        except BrokenPipeError:
            print("Unable to write to standard out, closing consumer.", file=sys.stderr)
            raise

    def _next(self) -> list[Any]:
        from broker.cli.clients.clients import next_messages

        wanted = _AT_ONCE if self._limit is None else min(_AT_ONCE, self._limit - self._printed)
        messages = next_messages(self._consumer, wanted, _POLL_S)
        for message in messages:
            if message.error() is not None:
                _report_error(message)
        return [message for message in messages if message.error() is None]

    def _print(self, messages: Sequence[Any]) -> None:
        try:
            data = self._shown(messages)
        except CommandError:
            # One of them cannot be shown; those before it can.
            for message in messages:
                self._print_one(message)
        else:
            self._write(data, messages)

    def _write(self, data: bytes, messages: Sequence[Any]) -> None:
        left = memoryview(data)
        while left:
            left = left[self._out.write(left) or 0 :]
        self._count(messages)

    def _print_one(self, message: Any) -> None:
        from broker.cli.clients.clients import log_line

        try:
            data = self._shown([message])
        except CommandError as error:
            if not self._skips:
                raise
            log_line("ERROR", f"Error processing message, skipping this message: {error}")
            data = b""
        self._write(data, [message])

    def _count(self, messages: Sequence[Any]) -> None:
        from confluent_kafka import KafkaException, TopicPartition

        self._printed += len(messages)
        ends = {(message.topic(), message.partition()): message.offset() + 1 for message in messages}
        for (topic, partition), offset in ends.items():
            try:
                self._consumer.store_offsets(offsets=[TopicPartition(topic, partition, offset)])
            except KafkaException:
                # It was taken away meanwhile; whoever has it now prints these again.
                continue

    def _is_over(self) -> bool:
        from broker.cli.clients.clients import log_line

        if _is_closed(self._out):
            raise BrokenPipeError
        if self._timeout_ms is None or (time.monotonic() - self._last_at) * 1000 < self._timeout_ms:
            return False
        log_line("ERROR", "Error processing message, terminating consumer process:  (kafka.tools.ConsoleConsumer$)")
        print("org.apache.kafka.common.errors.TimeoutException", file=sys.stderr)
        return True

    def close(self) -> None:
        """Commit what the group has printed, leave it, and print the total."""
        from broker.cli.clients.clients import close

        try:
            close(self._consumer)
        finally:
            print(f"Processed a total of {self._printed} messages", file=sys.stderr)
        if self._tells_end:
            print("shutdown_complete", flush=True)


def _is_closed(out: BinaryIO) -> bool:
    """Return whether nobody reads a pipe any more: noticed while no record comes, too."""
    try:
        polled = select.poll()
        polled.register(out.fileno(), 0)
    except (OSError, ValueError):
        return False
    return any(event & (select.POLLERR | select.POLLNVAL) for _, event in polled.poll(0))


def _report_error(message: Any) -> None:
    """Report an error in a message's place. Raises CommandError for what does not pass by itself."""
    from confluent_kafka import KafkaError

    from broker.cli.clients.clients import log_line, sentence

    error = message.error()
    if error.code() in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION):
        log_line("WARN", f"Error while fetching metadata : {{{message.topic()}=UNKNOWN_TOPIC_OR_PARTITION}}")
    elif error.fatal() or error.code() in (
        KafkaError._AUTO_OFFSET_RESET,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
    ):
        raise CommandError(sentence(error))
    else:
        log_line("WARN", sentence(error))


def _begin(
    consumer: "Consumer", arguments: Arguments, properties: Mapping[str, str]
) -> TopicPatternSubscription | None:
    """Tell the consumer what to read. Return what is to follow the topics, if they are given as a pattern."""
    from confluent_kafka import TopicPartition

    if arguments.given("partition"):
        start = arguments["offset"]
        if start is None:
            start = BEGINNING if arguments["from-beginning"] else END
        partition = TopicPartition(arguments["topic"], arguments["partition"])
        partition.offset = _start_offset(consumer, partition, start)
        consumer.assign([partition])
    elif arguments["include"]:
        with_internal = reads_internal_topics(properties)
        return TopicPatternSubscription(consumer, pattern(arguments["include"]), with_internal=with_internal)
    else:
        consumer.subscribe([arguments["topic"]])
    return None


def _start_offset(consumer: "Consumer", partition: Any, start: int) -> int:
    """Return the offset, if it can be had at once: librdkafka's own search begins half a second after it connects."""
    from confluent_kafka import KafkaException

    if start >= 0:
        return start
    try:
        first, end = consumer.get_watermark_offsets(partition, timeout=_ASK_S)
    except KafkaException:
        return start
    return int(first if start == BEGINNING else end)


def _formatter(arguments: Arguments) -> Formatter:
    properties = {**client_config(arguments["formatter-config"]), **dict(arguments["property"])}
    for what in ("key-deserializer", "value-deserializer"):
        if arguments[what]:
            properties[what.replace("-", ".")] = arguments[what]
    shown, warning = formatter(arguments["formatter"], properties)
    if warning:
        print(warning, file=sys.stderr)
    return shown


COMMAND = Command(
    name="kafka-console-consumer",
    summary="Print the records of topics as they come.",
    run=run,
    options=(
        BOOTSTRAP_SERVER,
        ZOOKEEPER,
        Option("topic", "The topic to read.", "TOPIC"),
        Option("include", "Topics to read: a regular expression of whole names.", "REGEX", older=("whitelist",)),
        Option("from-beginning", "Begin with the earliest record, if the group has no offset yet."),
        Option("partition", "Read this partition only, without a group.", "N", parse=int),
        Option(
            "offset", "With --partition: where to begin. (default: latest)", "N|earliest|latest", parse=starting_offset
        ),
        Option("group", "Consumer group to join; without it, a new group of its own.", "GROUP"),
        Option("max-messages", "Stop after this many records.", "N", parse=int),
        Option("timeout-ms", "End when no record arrived for this time.", "MS", parse=int),
        Option(
            "isolation-level",
            "Whether records of transactions wait until these are committed.",
            "LEVEL",
            default="read_uncommitted",
            choices=("read_uncommitted", "read_committed"),
        ),
        Option("consumer-property", "A property of the client.", "KEY=VALUE", parse=pair_as_typed, repeatable=True),
        Option("consumer.config", "A properties file of the client.", "FILE", older=("command-config",)),
        Option("formatter", "What prints records, by its class.", "CLASS", default=DEFAULT_FORMATTER),
        Option(
            "property",
            "Of the formatter: print.timestamp, print.partition, print.offset, print.headers, print.key, print.value, "
            "key.separator, line.separator, headers.separator, null.literal, key.deserializer, value.deserializer, "
            "headers.deserializer.",
            "KEY=VALUE",
            parse=pair_as_typed,
            repeatable=True,
        ),
        Option("formatter-config", "A properties file of the formatter; --property wins.", "FILE"),
        Option("key-deserializer", "The class that reads keys.", "CLASS"),
        Option("value-deserializer", "The class that reads values.", "CLASS"),
        Option("skip-message-on-error", "Go on behind a record that cannot be shown."),
        Option("enable-systest-events", "Print shutdown_complete at the end."),
        Option("new-consumer", "", without_effect="there is no other consumer."),
        Option("blacklist", "", "REGEX", without_effect="name topics with --include."),
        Option("delete-consumer-offsets", "", without_effect="without --group, each call starts again."),
        Option("csv-reporter-enabled", "", without_effect="no metrics are written."),
        Option("metrics-dir", "", "DIR", without_effect="no metrics are written."),
    ),
    examples=(
        Example(
            "kafka-console-consumer --bootstrap-server localhost:9092 --topic orders --from-beginning",
            "all records, then those that come, until Ctrl-C",
        ),
        Example(
            "kafka-console-consumer --bootstrap-server localhost:9092 --topic orders --partition 0 --offset 42 "
            "--max-messages 1 --property print.key=true --property print.timestamp=true",
            "one record, with its key and time",
        ),
        Example(
            "kafka-console-consumer --bootstrap-server localhost:9092 --topic __consumer_offsets --from-beginning "
            "--formatter 'kafka.coordinator.group.GroupMetadataManager$OffsetsMessageFormatter'",
            "what groups committed",
        ),
    ),
)
