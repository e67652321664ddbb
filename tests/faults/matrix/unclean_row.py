"""A replica that missed records comes back alone: it leads only where the topic says that it may."""

import time

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from broker.common.errors import ErrorCode
from tests.faults.history import Policy
from tests.faults.matrix.late_client import LateProducer
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage

_RECORDS = 40
_STAYS_OFFLINE_S = 1.0


def elect_outside_the_isr(stage: Stage) -> None:
    """Of two topics with the same fate, one waits for its ISR, the other may lose records, and its reader is told."""
    stage.create("strict", [(1, 2, 3)], min_insync_replicas="1")
    stage.create("careless", [(1, 2, 3)], Policy.UNCLEAN, min_insync_replicas="1")
    _write(stage, "before", "strict", "careless")
    reader = FollowingReader(stage.cluster.bootstrap_servers, "careless")
    stale = 3
    for dead, isr in ((stale, [1, 2]), (2, [1])):
        stage.kill_and_expire(dead)
        for topic in ("strict", "careless"):
            stage.await_isr(topic, 0, isr)
        _write(stage, f"without-{dead}", "strict", "careless")
    reader.read(3 * _RECORDS)
    stage.kill_and_expire(1)
    epoch = stage.state("careless").leader_epoch
    stage.start(stale)
    stage.broker(stale).await_healthy()
    _expect_offline(stage, stale, "strict", "careless")
    _allow_unclean_election(stage, "careless")
    stage.await_leader("careless", 0, [stale])
    if stage.state("careless").leader_epoch <= epoch:
        stage.violations.append(f"I8: led from outside the ISR under the old epoch {epoch}")
    for number in range(4):
        _write(stage, f"after-{number}", "careless")
    reader.expect_truncation(stage)
    _expect_offline(stage, stale, "strict")


def _write(stage: Stage, name: str, *topics: str) -> None:
    """Records that all in-sync replicas acknowledge; it is noted if they do not."""
    for topic in topics:
        port = stage.broker(stage.state(topic).leader).port
        end = time.monotonic() + WHOLE_WITHIN_S
        while _refusal(stage, f"{name}-{time.monotonic_ns()}", port, topic, 1) and time.monotonic() < end:
            time.sleep(0.05)
        refusal = _refusal(stage, name, port, topic, _RECORDS - 1)
        if refusal is not None:
            stage.violations.append(
                f"{topic}: acks=all was answered {refusal.name} with the ISR {stage.state(topic).isr}"
            )


def _refusal(stage: Stage, name: str, port: int, topic: str, count: int) -> ErrorCode | None:
    producer = LateProducer(f"{topic}-{name}", port, topic, "all", stage.history)
    for _ in range(count):
        producer.send(0)
    return next((code for code in producer.outcomes() if code), None)


def _expect_offline(stage: Stage, alive: int, *topics: str) -> None:
    """Nobody leads, though a replica is there, and goes on not leading."""
    stage.await_controller([alive])
    end = time.monotonic() + _STAYS_OFFLINE_S
    while time.monotonic() < end:
        for topic in topics:
            leader = stage.state(topic).leader
            if leader == alive:
                stage.violations.append(
                    f"{topic} is led by {leader}, which was not in its ISR, and that was not allowed"
                )
                return
        time.sleep(0.05)


def _allow_unclean_election(stage: Stage, topic: str) -> None:
    allowed = ConfigEntry("unclean.leader.election.enable", "true", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[allowed])
    admin = stage.admin()
    admin.incremental_alter_configs([resource])[resource].result(20)


class FollowingReader:
    """Follows one partition and does not jump when its offset is gone."""

    def __init__(self, bootstrap_servers: str, topic: str):
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": "told",
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "topic.metadata.refresh.interval.ms": 1_000,
                "log_level": 0,
            }
        )
        self._consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])

    def read(self, records: int) -> None:
        read = 0
        end = time.monotonic() + WHOLE_WITHIN_S
        while read < records:
            assert time.monotonic() < end, f"{read} records were read, not {records}"
            read += sum(message.error() is None for message in self._consumer.consume(100, 0.1))

    def expect_truncation(self, stage: Stage) -> None:
        """It is told that its position is behind a cut, though the log is longer than that by now."""
        met: list[str] = []
        end = time.monotonic() + WHOLE_WITHIN_S
        while time.monotonic() < end:
            for message in self._consumer.consume(100, 0.1):
                error = message.error()
                met.append(error.name() if error else "a record")
                if error and error.code() in (KafkaError._LOG_TRUNCATION, KafkaError._AUTO_OFFSET_RESET):
                    self._consumer.close()
                    return
        stage.violations.append(f"a reader was not told that what it had read is gone; it met {met[:10]}")
        self._consumer.close()
