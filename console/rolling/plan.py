"""What a rolling restart will do, before it is begun: the order, and what clients would notice of each broker."""

from dataclasses import dataclass

from django.db.models import F, Q

from console.brokers.models import Broker
from console.clusters.queries import cluster_state
from console.processes.consequences import broker_id_of
from console.processes.models import ManagedProcess
from console.topics.list_length import ListLength
from console.topics.models import Partition

#: Partitions named one by one.
GAPS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Gap:
    """A partition without a replica to spare: `is_offline` without the broker, otherwise it refuses acks=all."""

    topic: str
    partition: int
    broker_id: int
    is_offline: bool

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    @property
    def meaning(self) -> str:
        return "offline" if self.is_offline else "refuses writes with acks=all"


@dataclass(frozen=True, slots=True)
class Planned:
    name: str
    broker_id: int
    is_controller: bool
    leader_count: int
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class RestartPlan:
    brokers: tuple[Planned, ...]

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
    def confirmed(self) -> list:
        """The order may change when the controller does; who is restarted and what it costs may not."""
        gaps = sorted([gap.topic, gap.partition, gap.broker_id, gap.is_offline] for gap in self.gaps)
        return [sorted(self.broker_names), gaps]


def restart_plan() -> RestartPlan:
    """All brokers this console runs, the controller last."""
    controller_id = cluster_state().controller_id
    processes = ManagedProcess.objects.filter(kind=ManagedProcess.Kind.BROKER)
    gaps, leads = find_gaps(), _leaders()
    planned = [
        Planned(
            process.name,
            (broker_id := broker_id_of(process)),
            broker_id == controller_id,
            leads.get(broker_id, 0),
            tuple(gap for gap in gaps if gap.broker_id == broker_id),
        )
        for process in processes
    ]
    return RestartPlan(tuple(sorted(planned, key=lambda each: (each.is_controller, each.broker_id))))


def find_gaps() -> list[Gap]:
    """Partitions that cannot do without one of their replicas even when all are in sync.

    Each by its own replicas: those of one topic may have more or fewer.
    """
    tight = Q(replica_count=1) | Q(topic__min_insync_replicas__gte=F("replica_count"))
    found = Partition.objects.alias(replica_count=ListLength("replicas")).filter(tight)
    rows = found.order_by("topic__name", "partition").values_list("topic__name", "partition", "replicas")
    return [
        Gap(topic, partition, broker_id, is_offline=len(replicas) == 1)
        for topic, partition, replicas in rows
        for broker_id in replicas
    ]


def _leaders() -> dict[int, int]:
    return dict(Broker.objects.values_list("broker_id", "leader_count"))
