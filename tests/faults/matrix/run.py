"""Runs one row of the matrix from a fresh cluster to the verdict of the checkers."""

import contextlib
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from tests.barnabas_cluster import Cluster, await_true, running_cluster
from tests.faults.checker import Verdict, check, faults_in_log
from tests.faults.history import Event, HistoryWriter, read_history
from tests.faults.load import Load, ProducerPlan
from tests.faults.matrix.cluster_checker import check_cluster
from tests.faults.matrix.group import GroupMember, note_committed
from tests.faults.matrix.replica_files import note_stored_batches
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage
from tests.faults.readings import note_extents, read_all, read_replica_files

SESSION_S = 4.0
LAG_S = 3.0
#: After the last fault: a session that has to end, a follower that has to count as gone, a broker that has to start.
RECOVERY_S_MAX = SESSION_S + LAG_S + 15

TIMERS = {
    "zookeeper.session.timeout.ms": str(int(SESSION_S * 1000)),
    "replica.lag.time.max.ms": str(int(LAG_S * 1000)),
    "replica.fetch.wait.max.ms": "200",
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "3",
    "min.insync.replicas": "2",
    "replica.high.watermark.checkpoint.interval.ms": "1000",
}
#: Six partitions, two led by each of three brokers.
KEPT = [(1, 2, 3), (2, 3, 1), (3, 1, 2), (1, 3, 2), (2, 1, 3), (3, 2, 1)]
LOOSE = KEPT[:3]
GROUP = "group"
_MEMBERS = 2
PLANS = (
    ProducerPlan("once-a", "kept", len(KEPT), per_second=200),
    ProducerPlan("once-b", "kept", len(KEPT), per_second=200, settings={"compression.type": "lz4", "linger.ms": 0}),
    ProducerPlan("plain-all", "kept", len(KEPT), is_idempotent=False, retries=False, is_replicated=True, per_second=50),
    ProducerPlan("one", "loose", len(LOOSE), acks="1", is_idempotent=False, per_second=100),
)


def _three_brokers(directory: Path, settings: dict[str, str], zookeepers: int) -> AbstractContextManager[Cluster]:
    return running_cluster(directory, 3, settings, zookeepers)


@dataclass(frozen=True)
class Row:
    """One line of the fault matrix. `play` does the fault and waits for what has to happen; the rest is healed."""

    number: int
    fault: str
    play: Callable[[Stage], None] = lambda stage: None
    #: Plays the row in a directory, on a cluster of its own and without load, instead of all that follows.
    alone: Callable[[Path], Verdict] | None = None
    zookeepers: int = 1
    #: Runs the cluster, in a directory, with settings for its brokers and so many ZooKeeper servers.
    cluster: Callable[[Path, dict[str, str], int], AbstractContextManager[Cluster]] = _three_brokers
    #: What this machine lacks to play the row; nothing if it can.
    missing: Callable[[], str] = lambda: ""
    #: Broker settings besides TIMERS.
    overrides: dict[str, str] = field(default_factory=dict)
    #: Written to besides the usual ones: name to replicas, and by whom.
    topics: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)
    plans: tuple[ProducerPlan, ...] = ()
    #: What is asked of the history besides the invariants.
    judges: tuple[Callable[[list[Event]], Iterator[str]], ...] = ()
    #: Seconds that the figures of the row may have at most (I9).
    bounds: dict[str, float] = field(default_factory=dict)
    #: Files that a broker may have open more afterwards (I9): a row that makes topics has their logs open.
    files_more: int = 60
    #: Patterns of lines that this fault has brokers log: each has to be there, and I10 is about all other lines.
    expected_logs: tuple[str, ...] = ()
    #: Patterns of lines that it has brokers log in some orders of events only.
    may_log: tuple[str, ...] = ()


@dataclass
class Played:
    """What a row came to."""

    row: Row
    seed: int
    verdict: Verdict
    #: Why it was not played.
    missing: str = ""
    #: From the end of the fault until every partition is whole and every client goes on.
    recovery_s: float = 0.0
    took_s: float = 0.0
    measured: dict[str, float] = field(default_factory=dict)


def play(row: Row, directory: Path, seed: int) -> Played:
    """Never raises: what keeps a row from being played to its end is its first violation."""
    played = Played(row, seed, Verdict(), row.missing())
    if played.missing:
        return played
    began = time.monotonic()
    if row.alone is not None:
        _play_alone(row.alone, directory, played)
        played.took_s = time.monotonic() - began
        return played
    history_path = directory / "history.jsonl"
    history = HistoryWriter(history_path)
    logs: list[Path] = []
    try:
        with row.cluster(directory, {**TIMERS, **row.overrides}, row.zookeepers) as cluster:
            logs = [broker.log_path for broker in cluster.brokers]
            stage = Stage(cluster, history, seed)
            with contextlib.closing(stage.watch):
                stage.watch.start()
                _play_under_load(row, stage, played)
            _note_files(stage)
        history.close()
        played.verdict.violations += stage.violations
        _judge(history_path, played)
    except Exception as error:
        played.verdict.violations.insert(0, f"{type(error).__name__}: {error}")
    for path in logs:
        played.verdict.violations += faults_in_log(path, (*row.expected_logs, *row.may_log))
    if logs:
        played.verdict.violations += _untold(logs, row.expected_logs)
    played.took_s = time.monotonic() - began
    return played


def _play_alone(alone: Callable[[Path], Verdict], directory: Path, played: Played) -> None:
    try:
        played.verdict = alone(directory)
    except Exception as error:
        played.verdict.violations.append(f"{type(error).__name__}: {error}")


def _untold(logs: list[Path], patterns: tuple[str, ...]) -> list[str]:
    """A fault that no broker has met was none."""
    lines = "\n".join(path.read_text() for path in logs)
    return [f"no broker logged {pattern!r}" for pattern in patterns if not re.search(pattern, lines)]


def _play_under_load(row: Row, stage: Stage, played: Played) -> None:
    stage.create("kept", KEPT)
    stage.create("loose", LOOSE)
    for topic, replicas in row.topics.items():
        stage.create(topic, replicas, min_insync_replicas="1")
    with _loaded(row, stage):
        stage.await_progress()
        before = stage.holdings()
        try:
            row.play(stage)
        finally:
            healed = time.monotonic()
            stage.heal()
        stage.await_whole()
        stage.await_progress()
        played.recovery_s = time.monotonic() - healed
        stage.compare_holdings(before, files_more=row.files_more)
    played.measured = stage.measured
    for figure, took_s, most_s in (
        ("whole again", played.recovery_s, RECOVERY_S_MAX),
        *((name, stage.measured[name], most_s) for name, most_s in row.bounds.items()),
    ):
        if took_s > most_s:
            stage.violations.append(f"I9: {figure} took {took_s:.1f} s, {most_s:.0f} are allowed")
    topics = _partitions(stage, internal=False)
    read_all(stage.cluster.bootstrap_servers, topics, stage.history)
    note_extents(stage.cluster.bootstrap_servers, _partitions(stage, internal=True), stage.history)
    note_committed(stage.cluster.bootstrap_servers, GROUP, topics, stage.history)


@contextlib.contextmanager
def _loaded(row: Row, stage: Stage) -> Iterator[None]:
    """Producers, a reader of everything and a group, all of whose operations have an outcome afterwards."""
    servers = stage.cluster.bootstrap_servers
    load = Load(PLANS + row.plans, servers, stage.history, stage.random.randrange(10**6))
    members = [GroupMember(GROUP, f"m{index}", ["kept"], servers, stage.history) for index in range(_MEMBERS)]

    def await_progress() -> None:
        read_before = sum(member.records for member in members)
        load.await_progress(WHOLE_WITHIN_S)
        await_true(
            lambda: sum(member.records for member in members) > read_before, "the group reads on", WHOLE_WITHIN_S
        )

    stage.await_progress = await_progress
    load.start()
    for member in members:
        member.start()
    try:
        yield
    finally:
        for member in members:
            member.stop()
        load.stop()
        for member in members:
            member.join(WHOLE_WITHIN_S)
            if member.failure or member.is_alive():
                stage.violations.append(f"{member.name} did not end as it should: {member.failure!r}")


def _partitions(stage: Stage, *, internal: bool) -> dict[str, int]:
    """Of the topics that have to be whole; internal ones hold no records of the load's."""
    return Counter(replica.topic for replica in stage.replicas if replica.topic.startswith("__") == internal)


def _note_files(stage: Stage) -> None:
    stage.cluster.stop_brokers()
    topics, internal = _partitions(stage, internal=False), _partitions(stage, internal=True)
    for broker in stage.cluster.brokers:
        for logs in broker.log_dirs:
            read_replica_files(logs, topics, stage.history, f"files of broker {broker.broker_id}")
            note_stored_batches(broker.broker_id, logs, topics | internal, stage.history)


def _judge(history_path: Path, played: Played) -> None:
    events = list(read_history(history_path))
    for verdict in (check(events), check_cluster(events)):
        played.verdict.violations += verdict.violations
        played.verdict.counts += verdict.counts
    for judge in played.row.judges:
        played.verdict.violations += judge(events)
