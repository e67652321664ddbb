"""Calling moves off as a plan: who goes back to where, and what was copied for nothing. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from console.cluster.placement.move import reassignment_json
from console.cluster.placement.sentences import ids
from console.kit.common.figures import size
from console.kit.gateway.commands import shell_command
from console.kit.gateway.groups.interface import TopicPartition
from console.kit.gateway.moves.interface import MoveView
from console.kit.plans.plan import Plan, PlanLine

ACTION = "call off move"


@dataclass(frozen=True, slots=True)
class CalledOff:
    place: TopicPartition
    view: MoveView
    copied_bytes: int

    @property
    def name(self) -> str:
        return f"{self.place[0]}-{self.place[1]}"


@dataclass(frozen=True, slots=True)
class CancelPlan:
    moves: tuple[CalledOff, ...]

    @property
    def json_file(self) -> str:
        return reassignment_json({move.place: move.view.target for move in self.moves})

    def as_plan(self, bootstrap_servers: str) -> Plan:
        topics = sorted({move.place[0] for move in self.moves})
        return Plan(
            action=ACTION,
            object_type="topic" if len(topics) == 1 else "cluster",
            object_name=topics[0] if len(topics) == 1 else f"{len(topics)} topics",
            lines=tuple(PlanLine(move.name, list(move.view.target), list(move.view.origin)) for move in self.moves),
            read=tuple(
                f"{move.name} {move.view.replicas}+{move.view.adding}-{move.view.removing}" for move in self.moves
            ),
            touches=_touches(self.moves),
            about=tuple(topics),
            losses=(),
            safe_because="The replicas from before serve on.",
            undo="plan the move again.",
            command=shell_command(
                "kafka-reassign-partitions",
                bootstrap_servers,
                {"reassignment-json-file": "moves.json", "cancel": True},
            ),
        )


def plan_cancel(
    under_way: Mapping[TopicPartition, MoveView],
    chosen: Collection[TopicPartition],
    copied: Mapping[TopicPartition, int],
) -> CancelPlan:
    """Plan cancelling the running moves of `chosen`, or all of them if that is empty."""
    moves = (
        CalledOff(place, view, copied.get(place, 0))
        for place, view in sorted(under_way.items())
        if not chosen or place in chosen
    )
    return CancelPlan(tuple(moves))


def _touches(moves: tuple[CalledOff, ...]) -> tuple[str, ...]:
    adding = sorted({item for move in moves for item in move.view.adding})
    if not adding:
        return ("Replicas that were about to be deleted stay.",)
    thrown_away = sum(move.copied_bytes for move in moves)
    return (
        f"{size(thrown_away)} that were copied to broker{'' if len(adding) == 1 else 's'} {ids(adding)} "
        "are thrown away; the replicas from before serve on, and no record is lost.",
    )
