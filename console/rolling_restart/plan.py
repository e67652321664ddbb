"""What a rolling restart will do, before it is begun: the order, and what the guard says of each broker's absence.

One broker is away at a time and all are in sync before the next is taken, so each partition is judged as if whole.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.db.models import F, Q

from console.clusters.models import Broker
from console.clusters.queries import cluster_state
from console.processes.consequences import broker_id_of, brokers_away, hosted_partitions, world_now
from console.processes.guard import Absence, Hosted, absence_of
from console.processes.guard_words import doubt_sentence
from console.processes.models import ManagedProcess

#: Partitions named one by one.
GAPS_SHOWN = 20
#: What is typed where somebody is refused meanwhile.
TYPED_NAME = "all brokers"


@dataclass(frozen=True, slots=True)
class Gap:
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
class Planned:
    name: str
    broker_id: int
    is_controller: bool
    leader_count: int
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class RestartPlan:
    """`away` are brokers that are away already: while one is, none is taken. `doubt`: why this may be wrong."""

    brokers: tuple[Planned, ...]
    away: tuple[int, ...] = ()
    doubt: str = ""

    @property
    def broker_names(self) -> list[str]:
        return [each.name for each in self.brokers]

    @property
    def gaps(self) -> list[Gap]:
        return [gap for broker in self.brokers for gap in broker.gaps]

    @property
    def partitions_without_spare(self) -> int:
        """Each counted once, though it may pause for more than one broker."""
        return len({gap.name for gap in self.gaps})

    @property
    def typed_name(self) -> str:
        return TYPED_NAME if self.gaps or self.doubt else ""

    @property
    def obstacle(self) -> str:
        """Why it is not begun now."""
        if not self.away:
            return ""
        named = " and ".join(f"broker {each}" for each in self.away)
        they = "is" if len(self.away) == 1 else "are"
        return (
            f"{named[0].upper()}{named[1:]} {they} away already, and one broker is away at a time: no other is taken "
            "before all are back and in sync. Start what is missing, or remove it, first."
        )

    @property
    def confirmed(self) -> list:
        """The order may change when the controller does; who is restarted and what it costs may not."""
        gaps = sorted([gap.topic, gap.partition, gap.broker_id, gap.meaning] for gap in self.gaps)
        return [sorted(self.broker_names), gaps, list(self.away), bool(self.doubt)]


def restart_plan() -> RestartPlan:
    """All brokers this console runs, the controller last."""
    controller_id = cluster_state().controller_id
    processes = list(ManagedProcess.objects.filter(kind=ManagedProcess.Kind.BROKER))
    broker_ids = {process.name: broker_id_of(process) for process in processes}
    gaps, leads = find_gaps(broker_ids.values()), _leaders()
    planned = [
        Planned(
            name,
            broker_id,
            broker_id == controller_id,
            leads.get(broker_id, 0),
            tuple(gap for gap in gaps if gap.broker_id == broker_id),
        )
        for name, broker_id in broker_ids.items()
    ]
    order = tuple(sorted(planned, key=lambda each: (each.is_controller, each.broker_id)))
    return RestartPlan(order, tuple(sorted(brokers_away())), _doubt())


def find_gaps(broker_ids: Iterable[int]) -> list[Gap]:
    """What the guard says of each broker's absence while everybody else is there and in sync, by partition."""
    world = world_now(partitions=[replace(each, isr=each.replicas) for each in _suspects()])
    whole = replace(world, away=frozenset())
    found = [gap for broker_id in sorted(broker_ids) for gap in _gaps(absence_of(broker_id, whole))]
    return sorted(found, key=lambda gap: (gap.topic, gap.partition, gap.broker_id))


def _suspects() -> Iterable[Hosted]:
    """All that may be refused anything when one broker goes: others have a replica to spare, which the guard knows."""
    tight = Q(replica_count=1) | Q(topic__min_insync_replicas__gte=F("replica_count"))
    return hosted_partitions(tight | Q(topic__min_insync_replicas=None))


def _gaps(absence: Absence) -> Iterable[Gap]:
    for meaning, found in ((OFFLINE, absence.offline), (REFUSES, absence.below), (UNKNOWN, absence.unknown)):
        for each in found:
            yield Gap(each.topic, each.partition, absence.broker_id, meaning)


def _doubt() -> str:
    """Of no broker in particular: how old all of it is."""
    absence = absence_of(-1, world_now(partitions=()))
    return doubt_sentence(absence) if absence.is_doubtful else ""


def _leaders() -> dict[int, int]:
    return dict(Broker.objects.values_list("broker_id", "leader_count"))
