"""`kafka-producer-perf-test`: send records as fast as they go, or as told, and tell how it went.

Three generations of its options: today's, the positional one of 0.8.2, and that of the old tool (`--broker-list
--topics --messages`).
"""

import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from broker.cli.clients.client_properties import pair_as_typed
from broker.cli.clients.figures import SendLatencies, SendPace
from broker.cli.frame.connecting import client_config, typed_properties
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option, UsageError

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message, Producer

_REPORT_EVERY_S = 5.0
_POLL_EVERY = 200
_WAIT_S = 0.01
_CLIENT_ID = "perf-producer-client"
_OLD_HEAD = (
    "start.time, end.time, compression, message.size, batch.size, total.data.sent.in.MB, MB.sec, "
    "total.data.sent.in.nMsg, nMsg.sec"
)


class _Workload:
    """What is to be sent, in whichever generation it was said."""

    def __init__(self, arguments: Arguments):
        pairs = list(arguments["producer-props"])
        words = arguments.words
        if words and not arguments.given("topic") and not arguments.given("topics"):
            if len(words) < 4:
                raise UsageError("USAGE: topic_name num_records record_size target_records_sec [prop_name=prop_value]*")
            self.topic = words[0]
            self.count, self.size, self.rate = (_number(word) for word in words[1:4])
            pairs += [_pair(word) for word in words[4:]]
        else:
            self.topic = arguments["topic"] or arguments["topics"]
            self.count = _required(arguments, "num-records", "messages")
            self.rate = arguments["throughput"]
            self.size = arguments["record-size"] or arguments["message-size"]
        if not self.topic:
            raise UsageError('Missing required argument "[topic]"')
        self.pairs = typed_properties(pairs)
        self.payloads = _payloads(arguments)
        if self.payloads is None and not self.size:
            raise UsageError("one of the arguments --record-size --payload-file is required")

    def values(self) -> Iterator[bytes]:
        """Yield values: letters, the same in each record, or random lines of the file."""
        if self.payloads is not None:
            for _ in range(self.count):
                yield random.choice(self.payloads)
        else:
            value = bytes(random.choices(range(ord("A"), ord("Z") + 1), k=self.size))
            for _ in range(self.count):
                yield value


def run(arguments: Arguments) -> None:
    wanted = _Workload(arguments)
    from broker.cli.clients.clients import as_command_errors, open_producer

    properties = {
        **client_config(arguments["producer.config"]),
        **wanted.pairs,
        **_typed(arguments),
    }
    if not properties:
        raise UsageError("Either --producer-props or --producer.config must be specified.")
    name = _transactional(arguments)
    settings = {"client.id": _CLIENT_ID, **({"transactional.id": name} if name else {})}
    with as_command_errors():
        sending = _PerfSending(open_producer(arguments, properties, **settings), wanted, arguments)
        sending.send()
        sending.tell()


class _PerfSending:
    def __init__(self, producer: "Producer", wanted: _Workload, arguments: Arguments):
        self._producer = producer
        self._wanted = wanted
        self._is_old = arguments.given("messages")
        self._compression = arguments["compression-codec"]
        self._prints_metrics = arguments["print-metrics"]
        self._transaction_ms = arguments["transaction-duration-ms"] or 3000 if _transactional(arguments) else 0
        self._failed: KafkaError | None = None
        self._started_at = time.time()
        self._started = time.monotonic()
        self._latencies = SendLatencies(self._started)

    def send(self) -> None:
        """Waits for what is due, and while the queue is full. CommandError if nothing can be delivered."""
        if self._transaction_ms:
            self._producer.init_transactions()
        began = self._begin(None)
        pace = SendPace(self._wanted.rate, self._started)
        for number, value in enumerate(self._wanted.values()):
            while (wait := pace.wait_s(number, time.monotonic())) > 0:
                self._poll(min(wait, 0.1))
            self._produce(value)
            if number % _POLL_EVERY == 0:
                self._poll(0)
                began = self._begin(began)
        while len(self._producer):
            self._poll(0.1)
        if self._transaction_ms:
            self._producer.commit_transaction()

    def tell(self) -> None:
        now = time.monotonic()
        if self._latencies.count == 0 and self._failed is not None:
            from broker.cli.clients.clients import sentence

            raise CommandError(f"No record was delivered: {sentence(self._failed)}")
        if self._is_old:
            self._print_as_before(now)
        else:
            print(self._latencies.total_line(now))
        if self._prints_metrics:
            print(f"\n{'Metric Name':<60} Value")
            print(
                f"{f'producer-metrics:record-send-total:{{client-id={_CLIENT_ID}}}':<60}: {self._latencies.count:.3f}"
            )

    def _print_as_before(self, now: float) -> None:
        from datetime import datetime

        mb, elapsed = self._latencies.bytes / (1024 * 1024), now - self._started
        start, end = (
            f"{datetime.fromtimestamp(at).astimezone():%Y-%m-%d %H:%M:%S:%f}"[:-3]
            for at in (self._started_at, time.time())
        )
        print(_OLD_HEAD)
        print(
            f"{start}, {end}, {self._compression}, {self._wanted.size}, 200, {mb:.2f}, {mb / elapsed:.4f}, "
            f"{self._latencies.count}, {self._latencies.count / elapsed:.4f}"
        )

    def _begin(self, began: float | None) -> float | None:
        """Return the next transaction, when the last one has been open for long enough."""
        if not self._transaction_ms:
            return None
        now = time.monotonic()
        if began is not None and (now - began) * 1000 < self._transaction_ms:
            return began
        if began is not None:
            self._producer.commit_transaction()
        self._producer.begin_transaction()
        return now

    def _produce(self, value: bytes) -> None:
        while True:
            try:
                self._producer.produce(self._wanted.topic, value, on_delivery=self._delivered)
                return
            except BufferError:
                self._poll(_WAIT_S)

    def _poll(self, wait_s: float) -> None:
        self._producer.poll(wait_s)
        now = time.monotonic()
        if now - self._latencies.recent_since >= _REPORT_EVERY_S and not self._is_old:
            print(self._latencies.window_line(now), flush=True)

    def _delivered(self, error: "KafkaError | None", message: "Message") -> None:
        if error is None:
            self._latencies.add((message.latency() or 0.0) * 1000, len(message))
            return
        if self._failed is None:
            from broker.cli.clients.clients import log_line, sentence

            log_line("ERROR", f"Error when sending message to topic {self._wanted.topic}: {sentence(error)}")
        self._failed = error


def _typed(arguments: Arguments) -> dict[str, str]:
    """Return options of the tool's older versions as properties."""
    names = {
        "bootstrap-server": "bootstrap.servers",
        "batch-size": "batch.num.messages",
        "compression-codec": "compression.type",
        "request-num-acks": "acks",
        "request-timeout-ms": "request.timeout.ms",
        "message-send-max-retries": "retries",
    }
    typed = {name: str(arguments[option]) for option, name in names.items() if arguments.given(option)}
    return typed | ({"linger.ms": "0"} if arguments["sync"] else {})


def _transactional(arguments: Arguments) -> str:
    """Return the id to produce with; a duration alone asks for transactions too."""
    given: str = arguments["transactional-id"] or ""
    return given or ("performance-producer-default-transactional-id" if arguments["transaction-duration-ms"] else "")


def _payloads(arguments: Arguments) -> list[bytes] | None:
    if not arguments["payload-file"]:
        return None
    try:
        data = Path(arguments["payload-file"]).read_bytes()
    except OSError as error:
        raise CommandError(f"File does not exist or empty file provided: {error.filename}: {error.strerror}") from None
    delimiter = arguments["payload-delimiter"].replace("\\n", "\n").encode()
    payloads = [part for part in data.split(delimiter) if part]
    if not payloads:
        raise CommandError("File does not exist or empty file provided.")
    return payloads


def _required(arguments: Arguments, name: str, before: str) -> int:
    value: int | None = arguments[name] if arguments.given(name) else arguments[before]
    if value is None:
        raise UsageError(f"argument --{name} is required")
    return value


def _number(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise UsageError(f"{word!r} is no number") from None


def _pair(word: str) -> tuple[str, str]:
    try:
        return pair_as_typed(word)
    except ValueError:
        raise UsageError(f"Invalid property: {word}") from None


COMMAND = Command(
    name="kafka-producer-perf-test",
    summary="Send records, and tell how many a second, and how long each took.",
    run=run,
    words=("topic", "num_records", "record_size", "target_records_sec", "property=value"),
    words_repeat=True,
    options=(
        Option("topic", "The topic to write to.", "TOPIC"),
        Option("num-records", "How many to send.", "N", parse=int),
        Option("throughput", "How many a second at most; -1 for no limit.", "N", parse=float, default=-1.0),
        Option("record-size", "Bytes of each record.", "BYTES", parse=int),
        Option("payload-file", "Lines to send, any of them, instead of letters.", "FILE"),
        Option("payload-delimiter", "What stands between them.", "TEXT", default="\\n"),
        Option(
            "producer-props",
            "Properties of the client.",
            "KEY=VALUE",
            parse=pair_as_typed,
            takes_rest=True,
            older=("producer-property",),
        ),
        Option("producer.config", "A properties file of the client.", "FILE", older=("command-config",)),
        Option("print-metrics", "Print what the client counted."),
        Option("transactional-id", "Send in transactions, as this producer.", "ID"),
        Option("transaction-duration-ms", "How long each transaction is open.", "MS", parse=int),
        Option(
            "bootstrap-server",
            "Some brokers of the cluster, if properties do not say.",
            "HOST:PORT,…",
            older=("broker-list",),
        ),
        Option("topics", "The old tool's --topic.", "TOPIC"),
        Option("messages", "The old tool's --num-records.", "N", parse=int),
        Option("message-size", "The old tool's --record-size.", "BYTES", parse=int, default=100),
        Option("batch-size", "Records of a batch.", "N", parse=int),
        Option("compression-codec", "How batches are compressed.", "CODEC", default="none"),
        Option("request-num-acks", "Acknowledgements to wait for.", "ACKS"),
        Option("request-timeout-ms", "How long a broker may take to answer.", "MS", parse=int),
        Option("message-send-max-retries", "How often a batch is sent again.", "N", parse=int),
        Option("sync", "Send each record at once."),
        Option("threads", "", "N", parse=int, without_effect="one thread sends them all."),
        Option("payload-monotonic", "", without_effect="payloads are letters or lines of a file."),
        Option("show-detailed-stats", "", without_effect="only the total is printed."),
        Option("hide-header", "", without_effect="the header is printed."),
        Option("new-producer", "", without_effect="there is no other producer."),
    ),
    examples=(
        Example(
            "kafka-producer-perf-test --topic orders --num-records 1000000 --record-size 100 --throughput -1 "
            "--producer-props bootstrap.servers=localhost:9092 acks=all",
            "a million records of 100 bytes, as fast as they go",
        ),
        Example(
            "kafka-producer-perf-test orders 1000000 100 -1 bootstrap.servers=localhost:9092", "the same as in 0.8.2"
        ),
    ),
)
