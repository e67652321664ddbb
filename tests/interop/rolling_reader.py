"""A consumer in a process of its own that says what it is assigned, what it gives up and what it reads, and when.

As a program it is librdkafka's consumer with the settings of its command line. `RollingReader` is the test's end of it,
and of Kafka's verifiable consumer, whose lines are the same.
"""

import contextlib
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.fetched import KAFKA, class_path

_JAVA = "org.apache.kafka.tools.VerifiableConsumer"
_ROOT = Path(__file__).parents[2]
SESSION_MS = 10_000


class RollingReader:
    """`tenures` are (partition, from, to) of partitions given up, in seconds of the wall clock; `reads` offsets."""

    def __init__(self, command: list[str]):
        self.tenures: list[tuple[int, float, float]] = []
        self.reads: set[tuple[int, int]] = set()
        self.assigned: dict[int, float] = {}
        self._process = subprocess.Popen(
            command, cwd=_ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._thread.join(5)
        self._process.stdout.close()

    def _follow(self) -> None:
        for line in self._process.stdout:
            if line.startswith("{"):
                self._take(json.loads(line))
        self._give_up(list(self.assigned), time.time())

    def _take(self, event: dict) -> None:
        at = event.get("timestamp", 0) / 1_000
        match event.get("name"):
            case "partitions_assigned":
                self.assigned = {part["partition"]: at for part in event["partitions"]} | self.assigned
            case "partitions_revoked" | "partitions_lost":
                self._give_up([p["partition"] for p in event["partitions"]], at)
            case "records_consumed":
                for part in event["partitions"]:
                    offsets = range(part["minOffset"], part["maxOffset"] + 1)
                    self.reads |= {(part["partition"], offset) for offset in offsets}

    def _give_up(self, partitions: list[int], at: float) -> None:
        for partition in partitions:
            if (since := self.assigned.pop(partition, None)) is not None:
                self.tenures.append((partition, since, at))


def librdkafka_reader(servers: str, topic: str, protocol: str, strategy: str = "cooperative-sticky") -> RollingReader:
    classic = {
        "partition.assignment.strategy": strategy,
        "session.timeout.ms": SESSION_MS,
        "heartbeat.interval.ms": 500,
    }
    settings = {
        "bootstrap.servers": servers,
        "group.id": topic,
        "group.protocol": protocol,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        **(classic if protocol == "classic" else {}),
    }
    return RollingReader([sys.executable, "-m", "tests.interop.rolling_reader", topic, json.dumps(settings)])


def java_reader(servers: str, topic: str, protocol: str) -> RollingReader:
    """Kafka's own consumer of the version that `KAFKA` names."""
    words = ["--bootstrap-server", servers, "--topic", topic, "--group-id", topic, "--reset-policy", "earliest"]
    words += ["--group-protocol", protocol]
    if protocol == "classic":
        strategy = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
        words += ["--assignment-strategy", strategy, "--session-timeout", str(SESSION_MS)]
    return RollingReader(["java", "-Xmx96m", "-cp", class_path(KAFKA, fetch=True), _JAVA, *words])


def _say(name: str, partitions: list[dict]) -> None:
    print(json.dumps({"name": name, "timestamp": time.time() * 1_000, "partitions": partitions}), flush=True)


def _run(topic: str, settings: dict, over: threading.Event) -> None:
    from confluent_kafka import Consumer, KafkaException, TopicPartition

    consumer, position = Consumer(settings), {}

    def commit() -> None:
        if position:
            offsets = [TopicPartition(topic, *place) for place in position.items()]
            with contextlib.suppress(KafkaException):  # the records are read again
                consumer.commit(offsets=offsets, asynchronous=False)

    def on_assign(_, partitions) -> None:
        _say("partitions_assigned", [{"partition": p.partition} for p in partitions])

    def on_revoke(_, partitions) -> None:
        commit()
        for partition in partitions:
            position.pop(partition.partition, None)
        _say("partitions_revoked", [{"partition": p.partition} for p in partitions])

    consumer.subscribe([topic], on_assign=on_assign, on_revoke=on_revoke, on_lost=on_revoke)
    while not over.is_set():
        records = [record for record in consumer.consume(500, 0.2) if record.error() is None]
        for record in records:
            position[record.partition()] = record.offset() + 1
        if records:
            read = [{"partition": r.partition(), "minOffset": r.offset(), "maxOffset": r.offset()} for r in records]
            _say("records_consumed", read)
            commit()
    consumer.close()


def main() -> None:
    over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    _run(sys.argv[1], json.loads(sys.argv[2]), over)


if __name__ == "__main__":
    main()
