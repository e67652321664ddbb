"""What healing is decided on, out of what the collector and the reconcile last wrote down. It asks nobody."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet, Sum, Value

from console.automation.healing.symptoms import BrokerSymptoms, HealingFacts
from console.cluster.brokers.models import BrokerReport
from console.cluster.placement.models import OPEN, OngoingMove, Reassignment
from console.kit.common.current_cluster import is_main
from console.kit.common.kept_statements import kept_rows, kept_values
from console.kit.operations.queries import operation_under_way
from console.processes.consequences import broker_id_of
from console.processes.models import ManagedProcess
from console.processes.states import Desired
from console.state.clusters.models import Broker, Topic
from console.state.clusters.queries import all_brokers, cluster_state


def facts_now(now_ms: int) -> HealingFacts:
    state = cluster_state()
    stopped, disks = _stopped_by_wish(), _disks_used()
    (lacking,) = kept_values(_lacking)
    return HealingFacts(
        now_ms=now_ms,
        seen_at_ms=min(state.brokers_at_ms, state.topics_at_ms),
        error=state.brokers_error or state.topics_error,
        brokers=tuple(_seen(broker, now_ms, stopped, disks) for broker in all_brokers()),
        lacking=sum(value or 0 for value in lacking),
        operation=operation_under_way(),
        moving=bool(kept_values(_on_the_move) or kept_values(_asked_for)),
    )


def _seen(row: Broker, now_ms: int, stopped: frozenset[int], disks: Mapping[int, float]) -> BrokerSymptoms:
    return BrokerSymptoms(
        broker_id=row.broker_id,
        rack=row.rack,
        is_registered=row.is_registered,
        changed_at_ms=row.changed_at_ms,
        is_flapping=row.is_flapping(now_ms),
        is_stopped_by_wish=row.broker_id in stopped,
        replicas=row.replica_count,
        preferred=row.preferred_count,
        preferred_elsewhere=row.preferred_count - row.preferred_led_count,
        disk_used_percent=disks.get(row.broker_id),
        bytes_per_second=row.bytes_per_second,
    )


def _stopped_by_wish() -> frozenset[int]:
    """Return brokers that were stopped on purpose; processes belong to the first cluster."""
    if not is_main():
        return frozenset()
    return frozenset(map(broker_id_of, kept_rows(_stopped_brokers)))


def _stopped_brokers() -> QuerySet[ManagedProcess]:
    return ManagedProcess.objects.filter(kind=ManagedProcess.Kind.BROKER, desired=Desired.STOPPED)


def _lacking() -> QuerySet[Any]:
    whole = Topic.objects.order_by().values(whole=Value(1))
    sums = {"short": Sum("under_replicated_count"), "led_by_none": Sum("leaderless_count")}
    return whole.annotate(**sums).values_list(*sums)


def _on_the_move() -> QuerySet[Any]:
    return OngoingMove.objects.order_by().values_list("pk")[:1]


def _asked_for() -> QuerySet[Any]:
    return Reassignment.objects.filter(state__in=OPEN).order_by().values_list("pk")[:1]


def _disks_used() -> dict[int, float]:
    """Return the fullest disk of each broker that tells, in percent."""
    used = {
        report.broker_id: [
            directory.used_percent for directory in report.directories if directory.used_percent is not None
        ]
        for report in kept_rows(_reports)
    }
    return {broker_id: max(sizes) for broker_id, sizes in used.items() if sizes}


def _reports() -> QuerySet[BrokerReport]:
    return BrokerReport.objects.only("broker_id", "log_dirs")
