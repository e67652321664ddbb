"""`kafka-verifiable-producer`: send numbers, and tell of each where it was written, for programs that check it."""

import time
from typing import TYPE_CHECKING, Any

from broker.cli.clients.client_properties import pair_as_typed
from broker.cli.clients.figures import SendPace
from broker.cli.clients.verifiable import print_event, text_of
from broker.cli.frame.connecting import BOOTSTRAP_SERVER
from broker.cli.frame.declaration import Arguments, Command, Example, Option
from broker.cli.frame.stopping import Stopping

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message, Producer

_WAIT_S = 0.05
_POLL_EVERY = 100


def run(arguments: Arguments) -> int:
    from broker.cli.clients.clients import as_command_errors, open_producer, properties_of

    properties = {
        "linger.ms": "5",
        **properties_of(arguments, "producer.config", "producer-property"),
        "acks": str(arguments["acks"]),
        # Each number is sent once, as its checker counts on; a producer that may repeat would have to be idempotent.
        "retries": "0",
    }
    with as_command_errors(), Stopping() as stopping:
        producer = open_producer(arguments, properties, **{"enable.idempotence": False})
        print_event("startup_complete")
        sending = _VerifiableSending(producer, arguments)
        try:
            sending.until(stopping)
        finally:
            sending.close()
    return stopping.status


class _VerifiableSending:
    def __init__(self, producer: "Producer", arguments: Arguments):
        self._producer = producer
        self._topic = arguments["topic"]
        self._limit = arguments["max-messages"]
        self._rate = arguments["throughput"]
        self._prefix = arguments["value-prefix"]
        self._keys = arguments["repeating-keys"]
        self._create_time = arguments["message-create-time"]
        self._started = time.monotonic()
        self._sent = self._acked = 0

    def until(self, stopping: Stopping) -> None:
        pace = SendPace(self._rate, self._started)
        while not stopping.is_requested and (self._limit < 0 or self._sent < self._limit):
            wait_s = pace.wait_s(self._sent, time.monotonic())
            if wait_s > 0:
                self._producer.poll(min(wait_s, _WAIT_S))
            elif self._send():
                self._sent += 1
                if self._sent % _POLL_EVERY == 0:
                    self._producer.poll(0)
            else:
                self._producer.poll(_WAIT_S)
        while len(self._producer):
            self._producer.poll(_WAIT_S)

    def _send(self) -> bool:
        """Return whether there was room for it."""
        value = str(self._sent) if self._prefix is None else f"{self._prefix}.{self._sent}"
        key = str(self._sent % self._keys) if self._keys else None
        timed: dict[str, Any] = {}
        if self._create_time >= 0:
            timed["timestamp"] = self._create_time + round((time.monotonic() - self._started) * 1000)
        try:
            self._producer.produce(self._topic, value, key, on_delivery=self._delivered, **timed)
        except BufferError:
            return False
        return True

    def _delivered(self, error: "KafkaError | None", message: "Message") -> None:
        record = {"key": text_of(message.key()), "value": text_of(message.value())}
        if error is None:
            self._acked += 1
            where = {"offset": message.offset(), "partition": message.partition(), "topic": message.topic()}
            print_event("producer_send_success", **record, **where)
        else:
            line = {"topic": message.topic(), "exception": f"class {error.name()}", "message": error.str()}
            print_event("producer_send_error", **record, **line)

    def close(self) -> None:
        print_event("shutdown_complete")
        elapsed = time.monotonic() - self._started
        print_event(
            "tool_data",
            sent=self._sent,
            acked=self._acked,
            target_throughput=self._rate,
            avg_throughput=self._acked / elapsed,
        )


COMMAND = Command(
    name="kafka-verifiable-producer",
    summary="Send numbers, and print a line of JSON for each that was written.",
    run=run,
    options=(
        BOOTSTRAP_SERVER,
        Option("topic", "The topic to write to.", "TOPIC", required=True),
        Option("max-messages", "Stop after this many; -1 for never.", "N", parse=int, default=-1),
        Option("throughput", "How many a second at most; -1 for no limit.", "N", parse=int, default=-1),
        Option("acks", "Acknowledgements to wait for: 0, 1, -1.", "ACKS", default="-1", choices=("-1", "0", "1")),
        Option("message-create-time", "The time of the first record, in ms since 1970.", "MS", parse=int, default=-1),
        Option("value-prefix", "A number that stands before each value.", "N", parse=int),
        Option("repeating-keys", "Keys from 0 to one less than this, again and again.", "N", parse=int),
        Option("producer-property", "A property of the client.", "KEY=VALUE", parse=pair_as_typed, repeatable=True),
        Option("producer.config", "A properties file of the client.", "FILE", older=("command-config",)),
    ),
    examples=(
        Example(
            "kafka-verifiable-producer --bootstrap-server localhost:9092 --topic orders --max-messages 100",
            "a hundred numbers, and where each was written",
        ),
    ),
)
