"""A rolling restart as a plan: who is restarted, and what the guard says of each broker's absence. Pure.

One broker is away at a time and all are in sync before the next is taken, so each partition is judged as if whole.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from console.cluster.placement.sentences import count_of
from console.kit.plans.plan import Plan, PlanLine

ACTION = "begin rolling restart"
OBJECT_TYPE, OBJECT_NAME = "rolling restart", "all brokers"
UNDER_WAY = "A rolling restart is under way already."


@dataclass(frozen=True, slots=True)
class ReplicaGap:
    """A partition without a replica to spare, and what it comes to while `broker_id` is away."""

    topic: str
    partition: int
    broker_id: int
    meaning: str

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"


OFFLINE = "offline"
REFUSES = "below min.insync.replicas: acks=all is refused"
UNKNOWN = "min.insync.replicas is not known: acks=all may be refused"


@dataclass(frozen=True, slots=True)
class PlannedRestart:
    name: str
    broker_id: int
    is_controller: bool
    leader_count: int
    gaps: tuple[ReplicaGap, ...]


@dataclass(frozen=True, slots=True)
class RestartPlan:
    """`away` are brokers that are away already: while one is, none is taken. `doubt`: why this may be wrong.

    throttles: what replication throttles mean for brokers that have to catch up.
    """

    brokers: tuple[PlannedRestart, ...]
    away: tuple[int, ...] = ()
    doubt: str = ""
    throttles: tuple[str, ...] = ()

    @property
    def broker_names(self) -> list[str]:
        return [broker.name for broker in self.brokers]

    @property
    def gaps(self) -> list[ReplicaGap]:
        return [gap for broker in self.brokers for gap in broker.gaps]

    @property
    def partitions_without_spare(self) -> int:
        """Partitions that may pause during the restart, each counted once."""
        return len({gap.name for gap in self.gaps})

    def as_plan(self, is_under_way: bool = False) -> Plan:
        """Return the plan. The order of brokers may change with the controller; who is restarted and what it costs may
        not.
        """
        return Plan(
            action=ACTION,
            object_type=OBJECT_TYPE,
            object_name=OBJECT_NAME,
            lines=tuple(_lines(self)),
            read=tuple(_read(self)),
            touches=tuple(_touches(self)),
            losses=tuple(_losses(self)),
            safe_because="" if self.gaps or self.doubt or self.throttles else _WHY_SAFE,
            undo=_UNDO,
            typed_name=OBJECT_NAME if self.gaps or self.doubt else "",
            obstacle=UNDER_WAY if is_under_way else _away_sentence(self.away),
        )


_WHY_SAFE = "Each partition keeps enough replicas in sync while one broker is away."
_UNDO = "it can be paused, and called off: brokers that have been restarted stay so, the others are left as they are."


def _lines(planned: RestartPlan) -> Iterable[PlanLine]:
    if planned.brokers:
        yield PlanLine("brokers", None, sorted(planned.broker_names))
        yield PlanLine("accepts gaps", None, bool(planned.gaps))


def _read(planned: RestartPlan) -> Iterable[str]:
    yield f"away={list(planned.away)} doubt={bool(planned.doubt)}"
    yield from sorted(f"{gap.name} without {gap.broker_id}: {gap.meaning}" for gap in planned.gaps)


def _touches(planned: RestartPlan) -> Iterable[str]:
    yield (
        f"{count_of(len(planned.brokers), 'broker')} will be stopped and started, one at a time: each hands its "
        "partitions over, comes back, and has to be in sync everywhere before the next one is taken. The controller "
        "comes last."
    )
    yield from planned.throttles
    if not (planned.gaps or planned.doubt or planned.away):
        yield "Clients learn the new leaders and continue; no partition goes below its minimum."


def _losses(planned: RestartPlan) -> Iterable[str]:
    if planned.doubt:
        yield planned.doubt
    if count := planned.partitions_without_spare:
        they = "goes offline or refuses" if count == 1 else "go offline or refuse"
        yield (
            f"{count_of(count, 'partition')} without a replica to spare {they} acks=all while a broker of theirs is "
            "away."
        )


def _away_sentence(away: tuple[int, ...]) -> str:
    if not away:
        return ""
    named = " and ".join(f"broker {number}" for number in away)
    they = "is" if len(away) == 1 else "are"
    return (
        f"{named[0].upper()}{named[1:]} {they} away already, and one broker is away at a time: no other is taken "
        "before all are back and in sync. Start what is missing, or remove it, first."
    )
