"""How far reassignments and moves between log directories have come, in Kafka's sentences of both generations. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from broker.cli.placement.reassignment import Assignment, LogDirs
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition


@dataclass(frozen=True, slots=True)
class ReassignmentLine:
    subject: str
    sentence: str
    is_done: bool
    is_active: bool = False


def partition_lines(
    targets: Assignment,
    current: Assignment,
    moves: Mapping[TopicPartition, ReplicaAssignment],
    *,
    as_before: bool = False,
) -> list[ReassignmentLine]:
    """Return lines of reassignments. `as_before`: in the words of Kafka before 2.6."""
    return [
        _partition_line(partition, target, current.get(partition, ()), partition in moves, as_before)
        for partition, target in sorted(targets.items())
    ]


def _partition_line(
    partition: TopicPartition, target: tuple[int, ...], current: tuple[int, ...], is_moving: bool, as_before: bool
) -> ReassignmentLine:
    if is_moving:
        sentence = f"Reassignment of partition {partition} is still in progress."
        return ReassignmentLine(str(partition), sentence, is_done=False, is_active=True)
    if current == target:
        done = "completed successfully" if as_before else "is completed."
        return ReassignmentLine(str(partition), f"Reassignment of partition {partition} {done}", is_done=True)
    failed = (
        f"Reassignment of partition [{partition.topic},{partition.partition}] failed"
        if as_before
        else f"There is no active reassignment of partition {partition}, but replica set is {_ids(current)} "
        f"rather than {_ids(target)}."
    )
    return ReassignmentLine(str(partition), failed, is_done=False)


@dataclass(frozen=True, slots=True)
class ReplicaLocation:
    """Directory of a replica, and the one it is being copied to on the same broker."""

    current: str | None = None
    future: str | None = None


def log_dir_lines(
    wanted: LogDirs, locations: Mapping[tuple[TopicPartition, int], ReplicaLocation]
) -> list[ReassignmentLine]:
    return [
        _log_dir_line(partition, broker, goal, locations.get((partition, broker), ReplicaLocation()))
        for (partition, broker), goal in sorted(wanted.items())
    ]


def _log_dir_line(partition: TopicPartition, broker: int, goal: str, lies: ReplicaLocation) -> ReassignmentLine:
    replica = f"{partition}-{broker}"
    if lies.future == goal:
        return ReassignmentLine(
            replica, f"Reassignment of replica {replica} is still in progress.", is_done=False, is_active=True
        )
    if lies.future:
        sentence = (
            f"Partition {partition} on broker {broker} is being moved to log dir {lies.future} instead of {goal}."
        )
        return ReassignmentLine(replica, sentence, is_done=False, is_active=True)
    if lies.current is None:
        sentence = f"Partition {partition} is not found in any live log dir on broker {broker}."
        return ReassignmentLine(
            replica, f"{sentence} There is likely an offline log directory on the broker.", is_done=False
        )
    if lies.current != goal:
        sentence = f"Partition {partition} on broker {broker} is not being moved from log dir {lies.current} to {goal}."
        return ReassignmentLine(replica, sentence, is_done=False)
    return ReassignmentLine(replica, f"Reassignment of replica {replica} completed successfully.", is_done=True)


def listed(moves: Mapping[TopicPartition, ReplicaAssignment]) -> list[str]:
    if not moves:
        return ["No partition reassignments found."]
    lines = ["Current partition reassignments:"]
    for partition, move in sorted(moves.items()):
        line = f"{partition}: replicas: {_ids(move.replicas)}."
        line += f" adding: {_ids(move.adding)}." if move.adding else ""
        lines.append(line + (f" removing: {_ids(move.removing)}." if move.removing else ""))
    return lines


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers))
