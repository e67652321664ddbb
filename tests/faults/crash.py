"""kill -9 of a broker, again and again, at moments drawn from a seed, under a load that rolls segments, compacts and
deletes them; then everything acknowledged is looked for.

python -m tests.faults crash --kills 50 --seed 7
"""

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import BrokerProcess, Cluster, running_cluster
from tests.faults.checker import Verdict, check, faults_in_log
from tests.faults.history import Fault, HistoryWriter, Policy, TopicDeclared, now, read_history
from tests.faults.load import Load, ProducerPlan
from tests.faults.readings import note_extents, read_all, read_replica_files

#: Upkeep all the time, so that kills meet it.
RESTLESS = {
    "log.retention.check.interval.ms": "300",
    "log.cleaner.backoff.ms": "300",
    "log.initial.task.delay.ms": "100",
    "log.flush.scheduler.interval.ms": "200",
    "log.flush.offset.checkpoint.interval.ms": "400",
}
_ROLLING = {"segment.bytes": "40000", "file.delete.delay.ms": "200", "index.interval.bytes": "512"}
TOPICS = {
    "kept": (3, Policy.KEEP, _ROLLING),
    "once": (3, Policy.KEEP, {**_ROLLING, "flush.messages": "50"}),
    "retained": (2, Policy.RETAIN, {**_ROLLING, "retention.bytes": "150000"}),
    "compacted": (2, Policy.COMPACT, {**_ROLLING, "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.1"}),
}
PLANS = (
    ProducerPlan("plain", "kept", 3, acks="1", is_idempotent=False, retries=False),
    ProducerPlan("plain-all", "kept", 3, is_idempotent=False, retries=False, settings={"compression.type": "lz4"}),
    ProducerPlan("stubborn", "kept", 3, acks="1", is_idempotent=False),
    ProducerPlan("once-a", "once", 3),
    ProducerPlan("once-b", "once", 3, settings={"compression.type": "zstd", "linger.ms": 0}),
    ProducerPlan("passing", "retained", 2),
    ProducerPlan("keyed", "compacted", 2, keys=40, settings={"compression.type": "gzip"}),
)
_LONGEST_LIFE_S = 2.0
_SHORTEST_LIFE_S = 0.1
_KILLED_WHILE_STARTING = 0.25
_START_S = 0.8


@dataclass
class CrashRun:
    """What a run came to."""

    verdict: Verdict
    recovery_s: list[float]
    kills_while_starting: int

    def __str__(self) -> str:
        slowest, typical = max(self.recovery_s), sorted(self.recovery_s)[len(self.recovery_s) // 2]
        return (
            f"{len(self.recovery_s) + self.kills_while_starting} kills, {self.kills_while_starting} of them during a "
            f"start; healthy again after {typical:.2f} s (median), {slowest:.2f} s (slowest)\n{self.verdict}"
        )


def run_crashes(directory: Path, kills: int, seed: int) -> CrashRun:
    """Kill the one broker of a cluster `kills` times. AssertionError if it does not come back or makes no progress."""
    history_path = directory / "history.jsonl"
    history = HistoryWriter(history_path)
    with running_cluster(directory, overrides=RESTLESS) as cluster:
        declare_topics(cluster, history)
        load = Load(PLANS, cluster.bootstrap_servers, history, seed)
        load.start()
        load.await_progress()
        rounds = list(_kill_rounds(cluster.brokers[0], load, history, kills, random.Random(seed)))
        load.stop()
        partitions = {name: count for name, (count, *_) in TOPICS.items()}
        read_all(cluster.bootstrap_servers, partitions, history)
        note_extents(cluster.bootstrap_servers, partitions, history)  # retention went on while all was read
        cluster.stop_brokers()
        broker = cluster.brokers[0]
        read_replica_files(broker.directory / "logs", TOPICS, history, f"files of broker {broker.broker_id}")
        history.close()
        verdict = check(read_history(history_path), surviving_acks=("all", "1"))
        verdict.violations += faults_in_log(broker.log_path)
    return CrashRun(verdict, [seconds for seconds, _ in rounds], sum(early for _, early in rounds))


def declare_topics(cluster: Cluster, history: HistoryWriter, replicas: int = 1) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    wanted = [NewTopic(name, partitions, replicas, config=config) for name, (partitions, _, config) in TOPICS.items()]
    for creation in admin.create_topics(wanted).values():
        creation.result(30)
    for name, (_, policy, _) in TOPICS.items():
        history.note(TopicDeclared(name, policy))


def _kill_rounds(
    broker: BrokerProcess, load: Load, history: HistoryWriter, kills: int, rng: random.Random
) -> Iterator[tuple[float, int]]:
    """(seconds from the last start to healthy, kills during a start) of each round."""
    while kills > 0:
        time.sleep(rng.uniform(_SHORTEST_LIFE_S, _LONGEST_LIFE_S))
        _kill(broker, history, "while it served")
        kills -= 1
        early = 0
        while kills > 0 and rng.random() < _KILLED_WHILE_STARTING:
            broker.start()
            time.sleep(rng.uniform(0, _START_S))
            _kill(broker, history, "while it started")
            early += 1
            kills -= 1
        began = time.monotonic()
        broker.start()
        broker.await_healthy()
        yield time.monotonic() - began, early
        load.await_progress()


def _kill(broker: BrokerProcess, history: HistoryWriter, when: str) -> None:
    broker.kill()
    history.note(Fault(f"kill -9 broker {broker.broker_id} {when}", now()))
