"""A member of a consumer group in a process of its own, so that it can crash; one source, three client libraries.

As a program it reads its settings from the command line as JSON, joins, and writes a line for each change of what it is
assigned; SIGTERM makes it leave, SIGKILL is a crash. `Member` is the test's end of that.
"""

import asyncio
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LIBRARIES = ["confluent-kafka", "kafka-python", "aiokafka"]
SESSION_MS = 6_000
#: kafka-python 3.0 forgets what it was assigned if a poll ends between its SyncGroup and the answer.
_LONG_POLL_MS = 5_000
_ROOT = Path(__file__).parents[2]


@dataclass
class Member:
    """`events` are (what, partitions) in order; `assignment` is what the member has now."""

    settings: dict[str, Any]
    events: list[tuple[str, list[tuple[str, int]]]] = field(default_factory=list)
    assignment: set[tuple[str, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        command = [sys.executable, "-m", "tests.interop.group_member", json.dumps(self.settings)]
        self._process = subprocess.Popen(
            command, cwd=_ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stdout:
            what, partitions = json.loads(line)
            changed = [tuple(partition) for partition in partitions]
            self.events.append((what, changed))
            if what == "assigned":
                self.assignment = self.assignment | set(changed)
            else:
                self.assignment = self.assignment - set(changed)

    def leave(self) -> None:
        self._end(signal.SIGTERM)

    def crash(self) -> None:
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self._process.poll() is None:
            self._process.send_signal(how)
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(5)
        self._process.stdout.close()


def _tell(what: str, partitions) -> None:
    print(json.dumps([what, sorted((partition.topic, partition.partition) for partition in partitions)]), flush=True)


def _run_confluent(settings: dict[str, Any], is_over: Callable[[], bool]) -> None:
    from confluent_kafka import Consumer

    consumer = Consumer(
        {
            "bootstrap.servers": settings["servers"],
            "group.id": settings["group"],
            "topic.metadata.refresh.interval.ms": 500,
            **({"group.protocol": "consumer"} if settings.get("is_consumer_protocol") else _classic(settings)),
            **({"group.instance.id": settings["instance"]} if settings.get("instance") else {}),
        }
    )
    topic = settings["topic"]
    consumer.subscribe(
        [topic if not settings.get("is_pattern") else f"^{topic}.*"],
        on_assign=lambda _, partitions: _tell("assigned", partitions),
        on_revoke=lambda _, partitions: _tell("revoked", partitions),
        on_lost=lambda _, partitions: _tell("revoked", partitions),
    )
    while not is_over():
        consumer.poll(0.1)
    consumer.close()


def _classic(settings: dict[str, Any]) -> dict[str, Any]:
    """Return what members say of their group in the classic protocol; in the other one the broker does."""
    return {
        "session.timeout.ms": SESSION_MS,
        "heartbeat.interval.ms": 300,
        "partition.assignment.strategy": "cooperative-sticky" if settings.get("is_cooperative") else "range",
    }


def _run_kafka_python(settings: dict[str, Any], is_over: Callable[[], bool]) -> None:
    from kafka import ConsumerRebalanceListener, KafkaConsumer
    from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
    from kafka.coordinator.assignors.range import RangePartitionAssignor

    class Listener(ConsumerRebalanceListener):
        def on_partitions_assigned(self, assigned) -> None:
            _tell("assigned", assigned)

        def on_partitions_revoked(self, revoked) -> None:
            _tell("revoked", revoked)

        def on_partitions_lost(self, lost) -> None:
            _tell("revoked", lost)

    assignor = CooperativeStickyAssignor if settings.get("is_cooperative") else RangePartitionAssignor
    consumer = KafkaConsumer(
        bootstrap_servers=settings["servers"],
        group_id=settings["group"],
        session_timeout_ms=SESSION_MS,
        heartbeat_interval_ms=300,
        metadata_max_age_ms=500,
        partition_assignment_strategy=[assignor],
        group_instance_id=settings.get("instance"),
    )
    if settings.get("is_pattern"):
        consumer.subscribe(pattern=settings["topic"], listener=Listener())
    else:
        consumer.subscribe([settings["topic"]], listener=Listener())
    while not is_over():
        consumer.poll(_LONG_POLL_MS)
    consumer.close()


def _run_aiokafka(settings: dict[str, Any], is_over: Callable[[], bool]) -> None:
    asyncio.run(_run_in_loop(settings, is_over))


async def _run_in_loop(settings: dict[str, Any], is_over: Callable[[], bool]) -> None:
    from aiokafka import AIOKafkaConsumer
    from aiokafka.abc import ConsumerRebalanceListener

    class Listener(ConsumerRebalanceListener):
        async def on_partitions_assigned(self, assigned) -> None:
            _tell("assigned", assigned)

        async def on_partitions_revoked(self, revoked) -> None:
            _tell("revoked", revoked)

    consumer = AIOKafkaConsumer(
        bootstrap_servers=settings["servers"],
        group_id=settings["group"],
        session_timeout_ms=SESSION_MS,
        heartbeat_interval_ms=300,
        metadata_max_age_ms=500,
        group_instance_id=settings.get("instance"),
    )
    if settings.get("is_pattern"):
        consumer.subscribe(pattern=settings["topic"], listener=Listener())
    else:
        consumer.subscribe([settings["topic"]], listener=Listener())
    await consumer.start()
    while not is_over():
        await consumer.getmany(timeout_ms=100)
    await consumer.stop()


def main() -> None:
    settings = json.loads(sys.argv[1])
    over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    run = {"confluent-kafka": _run_confluent, "kafka-python": _run_kafka_python, "aiokafka": _run_aiokafka}
    run[settings["library"]](settings, over.is_set)


if __name__ == "__main__":
    main()
