"""What a rolling restart is worked out from."""

from collections.abc import Iterable
from dataclasses import replace

from django.db.models import F, Q

from console.automation.rolling_restart.plan import OFFLINE, REFUSES, UNKNOWN, PlannedRestart, ReplicaGap, RestartPlan
from console.processes.consequences import (
    broker_id_of,
    brokers_away,
    hosted_partitions,
    throttle_sentences,
    world_now,
)
from console.processes.guard import Absence, Hosted, absence_of
from console.processes.guard_sentences import doubt_sentence
from console.processes.models import ManagedProcess
from console.state.clusters.models import Broker
from console.state.clusters.queries import cluster_state


def restart_plan() -> RestartPlan:
    """Return the plan for all brokers this console runs, the controller last."""
    controller_id = cluster_state().controller_id
    processes = list(ManagedProcess.objects.filter(kind=ManagedProcess.Kind.BROKER))
    broker_ids = {process.name: broker_id_of(process) for process in processes}
    gaps, leads = find_gaps(broker_ids.values()), _leaders()
    planned = [
        PlannedRestart(
            name,
            broker_id,
            broker_id == controller_id,
            leads.get(broker_id, 0),
            tuple(gap for gap in gaps if gap.broker_id == broker_id),
        )
        for name, broker_id in broker_ids.items()
    ]
    order = tuple(sorted(planned, key=lambda planned: (planned.is_controller, planned.broker_id)))
    throttles = (sentence for broker_id in broker_ids.values() for sentence in throttle_sentences(broker_id))
    return RestartPlan(order, tuple(sorted(brokers_away())), _doubt(), tuple(dict.fromkeys(throttles)))


def find_gaps(broker_ids: Iterable[int]) -> list[ReplicaGap]:
    """Return, by partition, what each broker's absence causes while all others are up and in sync."""
    world = world_now(partitions=[replace(suspect, isr=suspect.replicas) for suspect in _suspects()])
    whole = replace(world, away=frozenset())
    gaps = [gap for broker_id in sorted(broker_ids) for gap in _gaps(absence_of(broker_id, whole))]
    return sorted(gaps, key=lambda gap: (gap.topic, gap.partition, gap.broker_id))


def _suspects() -> Iterable[Hosted]:
    """Yield partitions that may pause when one broker stops: others have a spare replica, which the guard knows."""
    tight = Q(replica_count=1) | Q(topic__min_insync_replicas__gte=F("replica_count"))
    return hosted_partitions(tight | Q(topic__min_insync_replicas=None))


def _gaps(absence: Absence) -> Iterable[ReplicaGap]:
    for meaning, partitions in ((OFFLINE, absence.offline), (REFUSES, absence.below), (UNKNOWN, absence.unknown)):
        for hosted in partitions:
            yield ReplicaGap(hosted.topic, hosted.partition, absence.broker_id, meaning)


def _doubt() -> str:
    """Return how old all data is, of no broker in particular."""
    absence = absence_of(-1, world_now(partitions=()))
    return doubt_sentence(absence) if absence.is_doubtful else ""


def _leaders() -> dict[int, int]:
    return dict(Broker.objects.values_list("broker_id", "leader_count"))
