"""`kafka-console-producer`: a record of each line that is typed or piped in."""

import os
import select
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from broker.cli.clients.client_properties import pair_as_typed
from broker.cli.clients.input_lines import LineRecord, LineSplitter, line_parser
from broker.cli.frame.connecting import BOOTSTRAP_SERVER, client_config
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option
from broker.cli.frame.running import Terminated

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message, Producer

#: Read by one call, if so much is there.
_READ_BYTES = 1 << 20
#: Reports of deliveries are taken after so many lines at the latest.
_LINES_PER_POLL = 1_000
_WAIT_S = 0.05
#: How long an interrupted command tries to deliver what it has read.
_GRACE_S = 10.0
#: What may wait to be sent; a full queue makes the reading wait. Java's is 32 MiB; lines may be empty.
_QUEUE_KBYTES, _QUEUE_RECORDS = 32_768, 200_000
#: librdkafka's default of 5 ms makes many small batches of lines that come in a stream.
_LINGER_MS = 20
_LINE_READERS = ("kafka.tools.ConsoleProducer$LineMessageReader", "org.apache.kafka.tools.LineMessageReader")
#: Deliveries are many; only those that failed are told.
_ONLY_ERRORS = "delivery.report.only.error"
#: Option → the property it sets, if it was typed.
_PROPERTIES = {
    "request-required-acks": "acks",
    "message-send-max-retries": "retries",
    "retry-backoff-ms": "retry.backoff.ms",
    "timeout": "linger.ms",
    "request-timeout-ms": "request.timeout.ms",
    "metadata-expiry-ms": "metadata.max.age.ms",
    "max-block-ms": "max.block.ms",
    "max-memory-bytes": "buffer.memory",
    "socket-buffer-size": "send.buffer.bytes",
    "batch-size": "batch.size",
    "max-partition-memory-bytes": "batch.size",
    "compression-codec": "compression.type",
}


def run(arguments: Arguments) -> None:
    if arguments["line-reader"] not in _LINE_READERS:
        raise CommandError(f"ClassNotFoundException: {arguments['line-reader']}; line readers cannot be loaded.")
    parse = line_parser({**client_config(arguments["reader-config"]), **dict(arguments["property"])})
    from broker.cli.clients.clients import as_command_errors, open_producer, properties_of

    properties = properties_of(arguments, "producer.config", "producer-property")
    with as_command_errors():
        producer = open_producer(arguments, _settings(arguments, properties), **{_ONLY_ERRORS: True})
        sending = _ConsoleSending(producer, arguments["topic"], parse, waits=arguments["sync"])
        try:
            for lines in _lines(sending.poll):
                sending.send(lines)
        except (KeyboardInterrupt, Terminated):
            sending.give_up()
            raise
        except CommandError:
            producer.flush()
            raise
        producer.flush()
        sending.check()


class _ConsoleSending:
    """Hands records to librdkafka, and tells of those that were not delivered."""

    def __init__(
        self, producer: "Producer", topic: str, parse: Callable[[bytes, int], LineRecord] | None, *, waits: bool
    ):
        self._producer = producer
        self._topic = topic
        self._parse = parse
        self._waits = waits
        self._number = 0
        self._failed: KafkaError | None = None

    def send(self, lines: list[bytes]) -> None:
        """Waits while the queue is full. CommandError for a line that is no record; with --sync, for one not sent."""
        if self._parse is None and not self._waits:
            self._send_values(lines)
            return
        for line in lines:
            self._number += 1
            self._send_one(self._parse(line, self._number) if self._parse else LineRecord(line))
            if self._waits:
                self._producer.flush()
                self.check()
            elif self._number % _LINES_PER_POLL == 0:
                self._producer.poll(0)

    def _send_values(self, lines: list[bytes]) -> None:
        """Send lines as values in bulk: hundreds of thousands a second leave no time for anything else between them."""
        from confluent_kafka import KafkaException

        produce, topic, on_delivery = self._producer.produce, self._topic, self._on_delivery
        for at in range(0, len(lines), _LINES_PER_POLL):
            for line in lines[at : at + _LINES_PER_POLL]:
                try:
                    produce(topic, line, None, -1, on_delivery)
                except (BufferError, KafkaException):
                    self._send_one(LineRecord(line))
            self._producer.poll(0)

    def _send_one(self, record: LineRecord) -> None:
        from confluent_kafka import KafkaError, KafkaException

        headers: dict[str, Any] = {"headers": record.headers} if record.headers else {}
        while True:
            try:
                self._producer.produce(self._topic, record.value, record.key, on_delivery=self._on_delivery, **headers)
                return
            except BufferError:
                self._producer.poll(_WAIT_S)
            except KafkaException as error:
                if error.args[0].code() == KafkaError._FATAL:
                    raise
                self._report_error(error.args[0], record.key, record.value)
                return

    def give_up(self) -> None:
        """Send the lines read so far, within a few seconds."""
        from broker.cli.clients.clients import log_line

        left = self._producer.flush(_GRACE_S)
        if left:
            log_line("ERROR", f"{left} records were not delivered to topic {self._topic}.")

    def poll(self) -> bool:
        """Takes reports; whether there will be more."""
        self._producer.poll(0)
        return len(self._producer) > 0

    def check(self) -> None:
        """Raise CommandError for an undelivered record, with --sync."""
        if self._waits and self._failed is not None:
            from broker.cli.clients.clients import sentence

            raise CommandError(f"The record was not delivered: {sentence(self._failed)}")

    def _on_delivery(self, error: "KafkaError | None", message: "Message") -> None:
        if error is not None:
            self._report_error(error, message.key(), message.value())

    def _report_error(self, error: "KafkaError", key: bytes | None, value: bytes | None) -> None:
        from broker.cli.clients.clients import log_line, sentence

        self._failed = error
        if self._waits:
            return
        log_line(
            "ERROR",
            f"Error when sending message to topic {self._topic} with key: {_size(key)}, value: {_size(value)} with "
            "error: (org.apache.kafka.clients.producer.internals.ErrorLoggingCallback)",
        )
        print(sentence(error), file=sys.stderr, flush=True)


def _size(data: bytes | None) -> str:
    return "null" if data is None else f"{len(data)} bytes"


def _lines(poll: Callable[[], bool]) -> Iterator[list[bytes]]:
    """Yield lines of stdin as they come; between them call `poll` as long as it asks for that."""
    stdin = sys.stdin.fileno()
    is_typed = sys.stdin.isatty() and sys.stdout.isatty()
    splitter = LineSplitter()
    while True:
        if is_typed:
            print(">", end="", flush=True)
        while poll() and not select.select([stdin], [], [], _WAIT_S)[0]:
            pass
        data = os.read(stdin, _READ_BYTES)
        if not data:
            break
        lines = splitter.feed(data)
        if lines:
            yield lines
    if lines := splitter.end():
        yield lines


def _settings(arguments: Arguments, properties: Mapping[str, str]) -> dict[str, str]:
    """Return properties by Java's names: defaults, given ones, and typed options, which win."""
    settings = {
        "linger.ms": "0" if arguments["sync"] else str(_LINGER_MS),
        "buffer.memory": str(_QUEUE_KBYTES * 1024),
        "queue.buffering.max.messages": str(_QUEUE_RECORDS),
        **properties,
    }
    settings |= {name: str(arguments[option]) for option, name in _PROPERTIES.items() if arguments.given(option)}
    if not arguments.given("compression-codec"):
        settings["compression.type"] = "none"
    return settings


def _acks(text: str) -> str:
    if text not in ("all", "-1", "0", "1"):
        raise ValueError("it is 0, 1, -1 or all")
    return text


COMMAND = Command(
    name="kafka-console-producer",
    summary="Make a record of each line of the standard input.",
    run=run,
    options=(
        BOOTSTRAP_SERVER,
        Option("topic", "The topic to write to.", "TOPIC", required=True),
        Option("sync", "Wait for each record, and end at the first that is not delivered."),
        Option(
            "compression-codec",
            "How batches are compressed; gzip if no codec is named. (default: none)",
            "CODEC",
            if_bare="gzip",
            choices=("none", "gzip", "snappy", "lz4", "zstd"),
        ),
        Option("request-required-acks", "Acknowledgements to wait for: 0, 1, all. (default: all)", "ACKS", parse=_acks),
        Option("batch-size", "Bytes of a batch.", "BYTES", parse=int),
        Option("max-partition-memory-bytes", "The same; it wins.", "BYTES", parse=int),
        Option("timeout", f"How long a batch waits for more records. (default: {_LINGER_MS})", "MS", parse=int),
        Option("message-send-max-retries", "How often a batch is sent again.", "N", parse=int),
        Option("retry-backoff-ms", "How long to wait before that.", "MS", parse=int),
        Option("request-timeout-ms", "How long a broker may take to answer.", "MS", parse=int),
        Option("metadata-expiry-ms", "How long the leaders of partitions are cached.", "MS", parse=int),
        Option(
            "max-block-ms",
            "How long to wait for an unknown topic.",
            "MS",
            parse=int,
            older=("metadata-fetch-timeout-ms",),
        ),
        Option(
            "max-memory-bytes",
            f"What may wait to be sent; a full queue makes reading wait. (default: {_QUEUE_KBYTES * 1024})",
            "BYTES",
            parse=int,
        ),
        Option("socket-buffer-size", "Of TCP.", "BYTES", parse=int),
        Option("line-reader", "What reads lines; there is one.", "CLASS", default=_LINE_READERS[0]),
        Option(
            "property",
            "Of the reader: parse.key, key.separator, parse.headers, headers.delimiter, headers.separator, "
            "headers.key.separator, null.marker, ignore.error.",
            "KEY=VALUE",
            parse=pair_as_typed,
            repeatable=True,
        ),
        Option("reader-config", "A properties file of the reader; --property wins.", "FILE"),
        Option("producer-property", "A property of the client.", "KEY=VALUE", parse=pair_as_typed, repeatable=True),
        Option("producer.config", "A properties file of the client.", "FILE", older=("command-config",)),
        Option("queue-size", "", "N", parse=int, without_effect="--max-memory-bytes says what may wait."),
        Option("queue-enqueuetimeout-ms", "", "MS", parse=int, without_effect="sending waits while the queue is full."),
        Option("key-serializer", "", "CLASS", without_effect="keys are sent as they are typed."),
        Option("value-serializer", "", "CLASS", without_effect="lines are sent as they are typed."),
        Option("new-producer", "", without_effect="there is no other producer."),
        Option("old-producer", "", without_effect="there is no other producer."),
    ),
    examples=(
        Example("kafka-console-producer --bootstrap-server localhost:9092 --topic orders", "type records, end with ^D"),
        Example(
            "kafka-console-producer --bootstrap-server localhost:9092 --topic orders --property parse.key=true "
            "--property key.separator=: < orders.txt",
            "a file of lines like 4711:two apples",
        ),
    ),
)
