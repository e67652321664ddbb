"""`kafka-consumer-perf-test`: read records as fast as they come, and tell how fast that was."""

import random
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

from broker.cli.clients.client_properties import pair_as_typed
from broker.cli.clients.figures import CONSUMED_HEAD, consumed_columns, java_date_format
from broker.cli.frame.connecting import BOOTSTRAP_SERVER, ZOOKEEPER
from broker.cli.frame.declaration import Arguments, Command, Example, Option, UsageError

if TYPE_CHECKING:
    from confluent_kafka import Consumer

_AT_ONCE = 1_000
_POLL_S = 0.1


def run(arguments: Arguments) -> None:
    if not arguments["topic"] or not arguments.given("messages"):
        missing = [name for name in ("topic", "messages") if not arguments.given(name)]
        raise UsageError(f'Missing required argument "[{", ".join(missing)}]"')
    from broker.cli.clients.clients import as_command_errors, close, open_consumer, properties_of

    properties = {
        "group.id": f"perf-consumer-{random.randrange(100_000)}",
        "auto.offset.reset": "latest" if arguments["from-latest"] else "earliest",
        "max.partition.fetch.bytes": str(arguments["fetch-size"]),
        "receive.buffer.bytes": str(arguments["socket-buffer-size"]),
        **properties_of(arguments, "consumer.config", "consumer-property"),
    }
    if arguments.given("group"):
        properties["group.id"] = arguments["group"]
    is_detailed = arguments["show-detailed-stats"]
    if not arguments["hide-header"]:
        print(f"{'time, threadId' if is_detailed else 'start.time, end.time'}, {CONSUMED_HEAD}", flush=True)
    with as_command_errors():
        consumer = open_consumer(arguments, properties)
        reading = _PerfReading(consumer, arguments)
        try:
            reading.read()
        finally:
            close(consumer)
        reading.tell()


class _PerfReading:
    def __init__(self, consumer: "Consumer", arguments: Arguments):
        self._consumer = consumer
        self._topic = arguments["topic"]
        self._wanted = arguments["messages"]
        self._timeout_ms = arguments["timeout"]
        self._is_detailed = arguments["show-detailed-stats"]
        self._interval_s = arguments["reporting-interval"] / 1000
        self._prints_metrics = arguments["print-metrics"]
        self._date_format = java_date_format(arguments["date-format"])
        self._count = self._size = 0
        self._began_at = datetime.now().astimezone()
        self._began = time.monotonic()
        #: Since when partitions are waited for; None while there are some.
        self._joining_since: float | None = self._began
        self._rebalance_s = 0.0
        #: When a line was printed last, and of how much.
        self._last_line = (self._began, 0, 0, 0.0)

    def read(self) -> None:
        self._consumer.subscribe([self._topic], on_assign=self._assigned, on_revoke=self._revoked)
        last = time.monotonic()
        while self._count < self._wanted:
            messages = self._consumer.consume(min(_AT_ONCE, self._wanted - self._count), _POLL_S)
            now = time.monotonic()
            if messages:
                last = now
                self._take(messages)
            elif (now - last) * 1000 > self._timeout_ms:
                print(
                    "WARNING: Exiting before consuming the expected number of messages: timeout "
                    f"({self._timeout_ms} ms) exceeded. You can use the --timeout option to increase the timeout."
                )
                return
            if self._is_detailed and now - self._last_line[0] >= self._interval_s:
                self._print_progress(now)

    def tell(self) -> None:
        elapsed = time.monotonic() - self._began
        if not self._is_detailed:
            columns = consumed_columns(self._size, self._count, elapsed, self._rebalance_s)
            print(f"{self._shown(self._began_at)}, {self._shown(datetime.now().astimezone())}, {columns}")
        if self._prints_metrics:
            print(f"\n{'Metric Name':<60} Value")
            for name, value in (("bytes-consumed-total", self._size), ("records-consumed-total", self._count)):
                print(f"{f'consumer-fetch-manager-metrics:{name}:{{client-id=consumer-perf-test}}':<60}: {value:.3f}")

    def _print_progress(self, now: float) -> None:
        then, size, count, rebalance_s = self._last_line
        columns = consumed_columns(
            self._size,
            self._count,
            now - then,
            self._rebalance_s - rebalance_s,
            size_before=size,
            count_before=count,
        )
        print(f"{self._shown(datetime.now().astimezone())}, 0, {columns}", flush=True)
        self._last_line = (now, self._size, self._count, self._rebalance_s)

    def _take(self, messages: list[Any]) -> None:
        from broker.cli.clients.clients import log_line, sentence

        for message in messages:
            if message.error() is None:
                self._count += 1
                key = message.key()
                self._size += len(message) + (len(key) if key is not None else 0)
            else:
                log_line("WARN", sentence(message.error()))

    def _assigned(self, _consumer: "Consumer", _partitions: list[Any]) -> None:
        if self._joining_since is not None:
            self._rebalance_s += time.monotonic() - self._joining_since
            self._joining_since = None

    def _revoked(self, _consumer: "Consumer", _partitions: list[Any]) -> None:
        self._joining_since = time.monotonic()

    def _shown(self, at: datetime) -> str:
        return at.strftime(self._date_format.replace("%f", f"{at.microsecond // 1000:03}"))


COMMAND = Command(
    name="kafka-consumer-perf-test",
    summary="Read records, and tell how many a second came.",
    run=run,
    options=(
        BOOTSTRAP_SERVER,
        ZOOKEEPER,
        Option("topic", "The topic to read.", "TOPIC"),
        Option("messages", "How many records to read.", "N", parse=int),
        Option("group", "The group to read as; otherwise a new one.", "GROUP"),
        Option("fetch-size", "What a partition may send at once.", "BYTES", parse=int, default=1_048_576),
        Option("from-latest", "Begin at the end of the log, if the group has no offset yet."),
        Option("socket-buffer-size", "Of TCP.", "BYTES", parse=int, default=2_097_152),
        Option("timeout", "End when no record arrived for this time.", "MS", parse=int, default=10_000),
        Option("reporting-interval", "Between lines of --show-detailed-stats.", "MS", parse=int, default=5_000),
        Option("show-detailed-stats", "A line for each interval, instead of the total."),
        Option("print-metrics", "Print what the client counted."),
        Option("hide-header", "Leave out the line that names the columns."),
        Option("date-format", "Of times, in Java's letters.", "FORMAT", default="yyyy-MM-dd HH:mm:ss:SSS"),
        Option("consumer-property", "A property of the client.", "KEY=VALUE", parse=pair_as_typed, repeatable=True),
        Option("consumer.config", "A properties file of the client.", "FILE", older=("command-config",)),
        Option("threads", "", "N", parse=int, without_effect="one thread reads."),
        Option("num-fetch-threads", "", "N", parse=int, without_effect="one thread reads."),
        Option("new-consumer", "", without_effect="there is no other consumer."),
    ),
    examples=(
        Example(
            "kafka-consumer-perf-test --bootstrap-server localhost:9092 --topic orders --messages 1000000",
            "how fast a million records can be read",
        ),
    ),
)
