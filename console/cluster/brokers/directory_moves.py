"""Replicas of a broker into another of its directories, as a plan. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from console.kit.common.figures import size
from console.kit.gateway.brokers.interface import LogDirView
from console.kit.gateway.commands import shell_command
from console.kit.plans.plan import Plan, PlanLine

MOVE = "move replicas between directories"
#: Of one plan.
REPLICAS_MAX = 500
Place = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryPlan(Plan):
    """Where each replica that moves lies now, and where it shall lie."""

    broker_id: int
    now: Mapping[Place, str]
    wanted: Mapping[Place, str]


@dataclass(frozen=True, slots=True)
class HeldReplica:
    """`going_to`: where a copy of it is on its way to, empty if none is."""

    place: Place
    size_bytes: int
    path: str
    going_to: str = ""

    @property
    def name(self) -> str:
        return f"{self.place[0]}-{self.place[1]}"

    @property
    def token(self) -> str:
        """A topic's name has no colon."""
        return f"{self.place[0]}:{self.place[1]}"


def held_in(directories: Iterable[LogDirView]) -> dict[Place, HeldReplica]:
    directories = tuple(directories)
    going = {(topic, number): directory.path for directory in directories for topic, number, _ in directory.arriving}
    return {
        (topic, number): HeldReplica((topic, number), bytes_, directory.path, going.get((topic, number), ""))
        for directory in directories
        for topic, number, bytes_ in directory.replicas
    }


def parse_places(texts: Iterable[str]) -> list[Place]:
    """Parse `topic:partition` texts, skipping invalid ones, up to the size of a plan."""
    parts = (text.rpartition(":") for text in texts)
    places = [(topic, int(number)) for topic, _, number in parts if topic and number.isdecimal() and len(number) < 7]
    return list(dict.fromkeys(places))[:REPLICAS_MAX]


def directory_plan(
    broker_id: int,
    directories: Sequence[LogDirView],
    wanted: Mapping[Place, str],
    assigned: Mapping[Place, Sequence[int]],
    bootstrap_servers: str,
) -> DirectoryPlan:
    """Plan moves between directories.

    `wanted`: the target of each replica, `assigned`: its brokers; replicas already there are left out.
    """
    held = held_in(directories)
    moves = [
        (held[place], path) for place, path in sorted(wanted.items()) if place in held and held[place].path != path
    ]
    return DirectoryPlan(
        broker_id=broker_id,
        now={move.place: move.path for move, _ in moves},
        wanted={move.place: path for move, path in moves},
        action=MOVE,
        object_type="broker",
        object_name=str(broker_id),
        lines=tuple(PlanLine(move.name, move.path, path) for move, path in moves),
        read=tuple(f"{move.name} goes to {move.going_to}" for move, _ in moves if move.going_to),
        touches=tuple(_touches(moves)),
        losses=(),
        safe_because="Each replica serves from where it is until its copy has caught up.",
        undo="they can be moved back; where each was is kept.",
        command=_command(broker_id, moves, assigned, bootstrap_servers),
        about=tuple(sorted({move.place[0] for move, _ in moves})),
        obstacle=_obstacle(directories, moves, wanted, held),
    )


def _touches(moves: Sequence[tuple[HeldReplica, str]]) -> Iterable[str]:
    copied = sum(move.size_bytes for move, _ in moves)
    yield f"{size(copied)} are copied on the broker's own disks; nothing goes over the network."
    yield "Each replica serves from where it is until its copy has caught up; then the copy takes its place."


def _obstacle(
    directories: Sequence[LogDirView],
    moves: Sequence[tuple[HeldReplica, str]],
    wanted: Mapping[Place, str],
    held: Mapping[Place, HeldReplica],
) -> str:
    by_path = {directory.path: directory for directory in directories}
    if gone := [place for place in wanted if place not in held]:
        return f"The broker has no replica of {gone[0][0]}-{gone[0][1]}, or its directory is offline."
    for path in sorted({path for _, path in moves}):
        directory = by_path.get(path)
        if directory is None:
            return f"The broker has no directory {path}."
        if directory.error:
            return f"{path} is offline: {directory.error}."
        coming = sum(move.size_bytes for move, to in moves if to == path)
        if directory.usable_bytes is not None and coming > directory.usable_bytes:
            return f"{path} has {size(directory.usable_bytes)} free, and {size(coming)} would come."
    return ""


def _command(
    broker_id: int,
    moves: Sequence[tuple[HeldReplica, str]],
    assigned: Mapping[Place, Sequence[int]],
    bootstrap_servers: str,
) -> str:
    """Return the command; `any` leaves a replica where it is."""
    partitions = []
    for move, path in moves:
        brokers = list(assigned.get(move.place, ())) or [broker_id]
        dirs = [path if broker == broker_id else "any" for broker in brokers]
        partitions.append({"topic": move.place[0], "partition": move.place[1], "replicas": brokers, "log_dirs": dirs})
    moves_json = json.dumps({"version": 1, "partitions": partitions})
    options = {"reassignment-json-file": "directories.json", "execute": True}
    command = shell_command("kafka-reassign-partitions", bootstrap_servers, options)
    return f"cat > directories.json <<'END'\n{moves_json}\nEND\n{command}"
