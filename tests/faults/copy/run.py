"""Exactly once, under random kills: a feeder fills a topic, a group of copiers copies it in transactions, brokers and
copiers die. In the end what came out is what went in, and no transaction is left open.

What a copier may meet is drawn from a seed; when exactly it hits is up to the machine.
"""

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException
from confluent_kafka.admin import AdminClient

from tests.barnabas_cluster import await_true, running_cluster
from tests.faults.checker import faults_in_log
from tests.faults.copy.checker import check_copy
from tests.faults.copy.copier import GROUP
from tests.faults.copy.copier_process import CopierProcess
from tests.faults.copy.feeder import Feeder, Undecided
from tests.faults.copy.random_faults import INTERNAL_PARTITIONS, OFFSETS, TRANSACTIONS, RandomFaults
from tests.faults.copy.readings import CommittedRecords, open_in_partitions, read_committed, transactions_under_way
from tests.faults.history import HistoryWriter
from tests.faults.matrix.diagnosis import await_coordinated
from tests.faults.matrix.run import TIMERS
from tests.faults.matrix.stage import Stage

SOURCE, TARGET = "source", "target"
_REPLICAS = [(1, 2, 3), (2, 3, 1), (3, 1, 2)]
_PARTITIONS = len(_REPLICAS)
_COPIERS = 2
_PER_SECOND = 300
_SETTINGS = TIMERS | {
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.num.partitions": str(INTERNAL_PARTITIONS),
    "transaction.state.log.min.isr": "2",
}
_DRAINED_WITHIN_S = 120
_ENDED_WITHIN_S = 60


@dataclass
class CopyRun:
    """What a run came to."""

    seed: int
    violations: list[str] = field(default_factory=list)
    copied: int = 0
    aborted: int = 0
    faults: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        faults = ", ".join(f"{count} × {name}" for name, count in sorted(self.faults.items()))
        facts = f"seed {self.seed}: {self.copied:,} records copied, {self.aborted:,} aborted ones left out; {faults}"
        return "\n".join([facts, *self.violations]) if self.violations else f"{facts}; input equals output"


def run_copy(directory: Path, seconds: float, seed: int) -> CopyRun:
    """Faults for `seconds`, then everything heals, is copied to the end and compared."""
    run = CopyRun(seed)
    history = HistoryWriter(directory / "history.jsonl")
    with running_cluster(directory, 3, _SETTINGS) as cluster:
        stage = Stage(cluster, history, seed)
        with contextlib.closing(stage.watch):
            stage.watch.start()
            for topic in (SOURCE, TARGET):
                stage.create(topic, _REPLICAS)
            _copy_under_faults(stage, directory, seconds, run)
            run.violations += stage.violations
    for broker in cluster.brokers:
        run.violations += faults_in_log(broker.log_path)
    history.close()
    return run


def _copy_under_faults(stage: Stage, directory: Path, seconds: float, run: CopyRun) -> None:
    servers = stage.cluster.bootstrap_servers
    feeder = Feeder(servers, SOURCE, _PARTITIONS, _PER_SECOND)
    undecided = Undecided(servers, SOURCE, _PARTITIONS)
    with _copiers(servers, directory, run) as copiers, _working(feeder, undecided):
        _await_copying(stage, copiers)
        faults = RandomFaults(stage, copiers, run.seed)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            faults.go_on()
        run.faults = faults.counts
        stage.heal()
        stage.await_whole()
        for thread in (feeder, undecided):
            thread.stop()
            thread.join(150)
            assert thread.failure is None, f"{thread.name}: {thread.failure!r}"
            assert not thread.is_alive(), f"{thread.name} did not end"
        await_true(lambda: not open_in_partitions(stage, SOURCE), "what was aborted is over", _ENDED_WITHIN_S)
        came_in = read_committed(servers, SOURCE, _PARTITIONS)
        _await_copied(stage, copiers, came_in)
    ended = "every transaction has ended"
    await_coordinated(lambda: not transactions_under_way(stage), ended, _ENDED_WITHIN_S, stage, GROUP)
    run.violations += [f"I7 hanging: {partition}" for partition in open_in_partitions(stage)]
    came_out = read_committed(servers, TARGET, _PARTITIONS)
    run.violations += check_copy(feeder.sent, came_in.values, SOURCE)
    run.violations += check_copy(came_in.values, came_out.values, TARGET)
    run.copied = sum(map(len, came_out.values.values()))
    run.aborted = undecided.aborted * _PARTITIONS


def _await_copying(stage: Stage, copiers: list[CopierProcess]) -> None:
    """Until a first transaction has been committed; both internal topics are there then."""
    servers = stage.cluster.bootstrap_servers

    def is_copying() -> bool:
        for copier in copiers:
            copier.tend()
        return any(offset > 0 for offset in _committed(servers).values())

    _await(is_copying, "the copiers copy", stage, copiers)
    for topic in (OFFSETS, TRANSACTIONS):
        stage.follow_internal(topic, INTERNAL_PARTITIONS)
    stage.await_whole()


def _await_copied(stage: Stage, copiers: list[CopierProcess], came_in: CommittedRecords) -> None:
    """Until the group has committed everything that there is."""
    servers = stage.cluster.bootstrap_servers

    def is_copied() -> bool:
        for copier in copiers:
            copier.tend()
        committed = _committed(servers)
        return all(committed.get(partition, -1) >= end for partition, end in came_in.ends.items())

    _await(is_copied, "all that went in is copied", stage, copiers)


def _await(condition: Callable[[], bool], what: str, stage: Stage, copiers: list[CopierProcess]) -> None:
    """What is in vain leaves word of everybody: coordinators in the error, copiers in their logs."""
    try:
        await_coordinated(condition, what, _DRAINED_WITHIN_S, stage, GROUP)
    except AssertionError:
        for copier in copiers:
            copier.tell_where()
        raise


def _committed(servers: str) -> dict[int, int]:
    """Offsets the copiers have committed, by partition; none while nobody answers. A fresh client asks, see
    `note_committed`.
    """
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    try:
        offsets = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(GROUP)])[GROUP].result(5)
    except (KafkaException, TimeoutError):
        return {}
    return {
        partition.partition: partition.offset for partition in offsets.topic_partitions if partition.topic == SOURCE
    }


@contextlib.contextmanager
def _copiers(servers: str, directory: Path, run: CopyRun) -> Iterator[list[CopierProcess]]:
    topics = SOURCE, TARGET
    copiers = [CopierProcess(number, servers, topics, directory, run.seed + number) for number in range(_COPIERS)]
    try:
        yield copiers
    finally:
        for copier in copiers:
            if not copier.stop():
                run.violations.append(f"{copier.name} did not end as it should")
            run.faults["copier that could not go on"] += copier.gave_up


@contextlib.contextmanager
def _working(feeder: Feeder, undecided: Undecided) -> Iterator[None]:
    try:
        for increment in (feeder, undecided):
            increment.start()
        yield
    finally:
        for item in (feeder, undecided):
            item.stop()
