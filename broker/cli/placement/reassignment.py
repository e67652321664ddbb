"""Plans of `kafka-reassign-partitions`: read and written as JSON, made anew, and throttled. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from broker.cli.frame.declaration import CommandError
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition
from broker.controller.placement import place_replicas

#: A replica may lie in any log directory of its broker.
ANY = "any"
LEADER_REPLICAS, FOLLOWER_REPLICAS = "leader.replication.throttled.replicas", "follower.replication.throttled.replicas"
LEADER_RATE, FOLLOWER_RATE = "leader.replication.throttled.rate", "follower.replication.throttled.rate"
LOG_DIRS_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"

Assignment = Mapping[TopicPartition, tuple[int, ...]]
#: (partition, broker) → log directory.
LogDirs = Mapping[tuple[TopicPartition, int], str]


@dataclass(frozen=True, slots=True)
class ReassignmentPlan:
    """Replicas of each partition, preferred leader first, and the log directories of those that are not to lie
    anywhere."""

    targets: Assignment
    log_dirs: LogDirs

    @property
    def brokers(self) -> set[int]:
        return {broker for replicas in self.targets.values() for broker in replicas}

    @property
    def topics(self) -> list[str]:
        return sorted({partition.topic for partition in self.targets})


def parse_plan(listed: Iterable[Mapping[str, Any]]) -> ReassignmentPlan:
    """Parse the "partitions" of a plan. Raises CommandError."""
    targets: dict[TopicPartition, tuple[int, ...]] = {}
    log_dirs: dict[tuple[TopicPartition, int], str] = {}
    twice: list[TopicPartition] = []
    for mapping in listed:
        partition = TopicPartition(mapping["topic"], mapping["partition"])
        replicas = _replicas(partition, mapping["replicas"])
        directories = mapping.get("log_dirs") or [ANY] * len(replicas)
        if not isinstance(directories, list) or not all(isinstance(path, str) for path in directories):
            raise CommandError(f"The log_dirs of {partition} are paths, not {directories}.")
        if len(directories) != len(replicas):
            raise CommandError(
                f"Size of replicas list {list(replicas)} is different from size of log dirs list {directories} for "
                f"partition {partition}"
            )
        twice += [partition] if partition in targets else []
        targets[partition] = replicas
        log_dirs |= {(partition, at): path for at, path in zip(replicas, directories, strict=True) if path != ANY}
    if twice:
        raise CommandError(f"Partition reassignment contains duplicate topic partitions: {_named(twice)}")
    if not targets:
        raise CommandError("Partition reassignment data file is empty")
    return ReassignmentPlan(targets, log_dirs)


def _replicas(partition: TopicPartition, listed: list[Any]) -> tuple[int, ...]:
    if not listed:
        raise CommandError(f"Partition replica list cannot be empty for {partition}")
    if not all(type(value) is int and 0 <= value < 1 << 31 for value in listed):
        raise CommandError(f"The replicas of {partition} are broker ids, not {listed}.")
    if len(set(listed)) != len(listed):
        several = sorted({item for item in listed if listed.count(item) > 1})
        raise CommandError(f"{partition} contains multiple entries for {', '.join(map(str, several))}")
    return tuple(listed)


def as_plan(assignment: Assignment) -> dict[str, Any]:
    """Return the assignment as a plan for Kafka's tool, in the order of names."""
    partitions = [
        {"topic": topic, "partition": index, "replicas": replicas, "log_dirs": [ANY] * len(replicas)}
        for (topic, index), replicas in sorted(assignment.items())
    ]
    return {"version": 1, "partitions": partitions}


def plan_json(assignment: Assignment) -> str:
    """Return the plan as JSON, in one line."""
    return json.dumps(as_plan(assignment), separators=(",", ":"))


def propose(
    current: Assignment, racks: Mapping[int, str | None], starts: Sequence[tuple[int, int]]
) -> dict[TopicPartition, tuple[int, ...]]:
    """Return an assignment that spreads each topic of `current` over the brokers of `racks` as if it were new, with as
    many replicas as it has.

    `starts`: for each topic, in the order of names, where to begin and how far apart (drawn at random by the caller).
    Raises ApiError when there are too few brokers.
    """
    proposed: dict[TopicPartition, tuple[int, ...]] = {}
    for topic, (start, shift) in zip(sorted({item.topic for item in current}), starts, strict=True):
        partitions = sorted(partition for partition in current if partition.topic == topic)
        placed = place_replicas(racks, len(partitions), len(current[partitions[0]]), start, shift)
        proposed |= {partition: placed[at] for at, partition in enumerate(partitions)}
    return proposed


def replica_throttles(
    targets: Assignment, current: Assignment, moves: Mapping[TopicPartition, ReplicaAssignment]
) -> tuple[dict[str, dict[str, str | None]], set[int]]:
    """Return topic → its throttled replicas, while `targets` and `moves` go on: present replicas send, new ones
    receive. Also return those brokers. A partition that stays where it is is not throttled.
    """
    givers: dict[str, list[str]] = {}
    takers: dict[str, list[str]] = {}
    brokers: set[int] = set()
    sources = {item: move.origin for item, move in moves.items()}
    goals = {item: move.target for item, move in moves.items()} | dict(targets)
    for partition, goal in sorted(goals.items()):
        before = sources.get(partition) or current[partition]
        fresh = [item for item in goal if item not in before]
        if fresh:
            givers.setdefault(partition.topic, []).extend(f"{partition.partition}:{number}" for number in before)
            takers.setdefault(partition.topic, []).extend(f"{partition.partition}:{number}" for number in fresh)
            brokers |= {*before, *fresh}
    return {
        topic: {LEADER_REPLICAS: ",".join(givers[topic]), FOLLOWER_REPLICAS: ",".join(takers[topic])}
        for topic in sorted(givers)
    }, brokers


def _named(partitions: Iterable[TopicPartition]) -> str:
    return ",".join(map(str, sorted(set(partitions))))
