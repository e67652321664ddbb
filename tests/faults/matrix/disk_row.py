"""A broker whose disk is full: a small one of memory, mounted for the row and filled up by somebody else's file."""

import contextlib
import os
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from broker.common.errors import ErrorCode, NotNowError
from broker.common.types import TopicPartition
from tests.barnabas_cluster import Cluster, await_true, running_cluster
from tests.faults.matrix.late_client import LateProducer
from tests.faults.matrix.stage import Stage
from tests.zookeeper_server import ZooKeeperServer

#: Whose disk it is.
_SMALL = 2
_DISK_BYTES = 64 << 20
#: What the load fills up in a few seconds.
_LEFT_BYTES = 256 << 10
_FULL_S = 4.0
_RECORDS = 10
#: The directory stays online, so whoever hears this knows that the record was not written.
_REFUSALS = frozenset((ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_LEADER_OR_FOLLOWER))
#: From the first refusal until another broker leads: no session has to end for that.
HANDED_OVER = {"handed over": 5.0}
_TOPICS = ("kept", "loose")
DISK_IS_FULL = "No space left on device"
#: A log that is opened while its disk is full waits for room.
WAITS_FOR_ROOM = 'event="(log out of reach|cannot host partition)".* reason="there is no room in '


def missing_for_a_small_disk() -> str:
    """What this machine lacks to mount one; nothing if it can."""
    return "" if os.geteuid() == 0 else "root, to mount a file system"


@contextlib.contextmanager
def cluster_with_a_small_disk(directory: Path, settings: dict[str, str], _zookeepers: int) -> Iterator[Cluster]:
    with cluster_with_small_disks(directory, settings, [_SMALL]) as cluster:
        yield cluster


@contextlib.contextmanager
def cluster_with_small_disks(
    directory: Path, settings: dict[str, str], broker_ids: Iterable[int], zookeeper: ZooKeeperServer | None = None
) -> Iterator[Cluster]:
    """Three brokers; those of `broker_ids` have a small disk each."""
    with contextlib.ExitStack() as disks:
        for broker_id in broker_ids:
            disks.enter_context(_disk(directory / f"broker-{broker_id}" / "logs"))
        with running_cluster(directory, 3, settings, zookeeper=zookeeper) as cluster:
            yield cluster


@contextlib.contextmanager
def _disk(path: Path) -> Iterator[None]:
    path.mkdir(parents=True)
    options = f"size={_DISK_BYTES},mode=700"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "barnabas-faults", str(path)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


def fill_the_disk(stage: Stage) -> None:
    """The broker hands over what it leads, the others serve all of it, and what was refused is never seen. With room it
    follows at once, and leads again when it is asked to.

    Then the same, and the broker dies: it may start or not, but it says why, and does when there is room.
    """
    logs, others = stage.broker(_SMALL).directory / "logs", stage.others(_SMALL)
    with _ballast(logs):
        _await_handed_over(stage)
        for index in (replica.partition for replica in stage.replicas if replica.topic == "kept"):
            stage.await_isr("kept", index, others)
        _stay_full(stage, others)
    stage.note("there is room again")
    stage.await_whole()
    for topic in _TOPICS:
        stage.lead_as_preferred(topic)
    _expect(stage, _codes(stage, _SMALL, "kept", "all"), {ErrorCode.NONE})
    with _ballast(logs):
        _await_handed_over(stage)
        stage.kill(_SMALL)
        stage.start(_SMALL)
        _expect_served_or_told_why(stage)


def _await_handed_over(stage: Stage) -> None:
    refused_before = _refused_appends(stage)
    stage.note("hardly any room left")
    await_true(lambda: _refused_appends(stage) > refused_before, "the full disk refuses")
    at = stage.note("the disk is full")
    await_true(
        lambda: not any(stage.led_by(_SMALL, topic) for topic in _TOPICS), "all that was led there is led elsewhere"
    )
    stage.measured["handed over"] = stage.note("another broker leads") - at


def _refused_appends(stage: Stage) -> int:
    return stage.broker(_SMALL).log_path.read_text().count('event="append failed"')


def _stay_full(stage: Stage, others: list[int]) -> None:
    """All partitions take writes, and none changes its leader once more."""
    epochs = _leader_epochs(stage)
    until = time.monotonic() + _FULL_S
    while time.monotonic() < until:
        for topic, acks in (("kept", "all"), ("loose", "1")):
            for other in others:
                _expect(stage, _codes(stage, other, topic, acks), {ErrorCode.NONE})
        stage.await_progress()
    if _leader_epochs(stage) != epochs:
        stage.violations.append("leadership went on changing on a disk that stayed full")


def _leader_epochs(stage: Stage) -> dict[TopicPartition, int]:
    return {replica: stage.state(*replica).leader_epoch for replica in stage.replicas if replica.topic in _TOPICS}


def _expect_served_or_told_why(stage: Stage) -> None:
    broker = stage.broker(_SMALL)
    with contextlib.suppress(AssertionError):
        broker.await_healthy()
    status = broker.process.poll()
    last = broker.log_path.read_text().splitlines()[-1]
    stage.note(f"on the full disk it ended with {status}: {last}" if status else "it runs on the full disk")
    if status not in (None, NotNowError.exit_status) or (status and DISK_IS_FULL not in last):
        stage.violations.append(f"I10: on a full disk the broker ended with {status}: {last}")


@contextlib.contextmanager
def _ballast(directory: Path) -> Iterator[None]:
    """A file that leaves hardly any room while this lasts."""
    path, disk = directory / "ballast", os.statvfs(directory)
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, disk.f_bavail * disk.f_frsize - _LEFT_BYTES)
    try:
        yield
    finally:
        path.unlink()


def _codes(stage: Stage, broker_id: int, topic: str, acks: str) -> set[ErrorCode]:
    """What the broker says to a few records for each partition that it leads."""
    broker = stage.broker(broker_id)
    name = f"{topic}-{broker_id}-{time.monotonic_ns()}"
    producer = LateProducer(name, broker.port, topic, acks, stage.history, broker.host, _REFUSALS)
    for index in stage.led_by(broker_id, topic):
        for _ in range(_RECORDS):
            producer.send(index)
    return set(producer.outcomes())


def _expect(stage: Stage, codes: set[ErrorCode], allowed: set[ErrorCode]) -> None:
    if codes - allowed:
        wanted = " or ".join(sorted(item.name for item in allowed))
        stage.violations.append(f"{wanted} was due, {sorted(code.name for code in codes)} was answered")
