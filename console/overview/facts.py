"""Gathering what health is worked out from, out of what the collector wrote."""

from collections.abc import Collection, Iterable, Sequence

from django.db.models import Q
from django.utils import timezone

from console.access.filters import within
from console.access.last_line import sentence_within
from console.access.reach import EVERYTHING, Reach, Resource
from console.brokers.models import BrokerReport
from console.brokers.open_files import OpenFiles
from console.clusters.models import QUIET_MAX, Broker, ClusterState, Partition, QuietReason
from console.common.clock import now_ms
from console.consumers.models import ConsumerGroup
from console.consumers.queries import groups_in_trouble
from console.overview.health import (
    CrowdedBroker,
    Facts,
    Level,
    Quiet,
    TightDirectory,
    TroubledGroup,
    TroubledPartition,
    TroubledProcess,
)
from console.processes.models import ManagedProcess
from console.processes.presenters import Shown
from console.processes.states import Desired
from console.processes.truths import TROUBLED_STATES, State

#: Groups in trouble that reasons are worked out from.
TROUBLED_GROUPS_MAX = 20


def health_facts(
    state: ClusterState,
    brokers: Sequence[Broker],
    troubled: Iterable[Partition],
    processes: Sequence[Shown],
    reach: Reach = EVERYTHING,
) -> Facts:
    at_ms = now_ms()
    missing = {broker.broker_id: broker.changed_at_ms for broker in brokers if not broker.is_registered}
    said = quiet_reasons(at_ms, reach)
    quiet_names = {each.name for each in said if each.about == Resource.GROUP}
    groups, groups_count = troubled_groups(reach, quiet_names)
    return Facts(
        is_seen=bool(state.brokers_at_ms),
        brokers_error=state.brokers_error,
        topics_error=state.topics_error,
        controller_id=state.controller_id,
        missing=frozenset(missing),
        missing_since_ms=missing,
        flapping={each.broker_id: each.departures_since(at_ms) for each in brokers if each.is_flapping(at_ms)},
        managed=frozenset(_broker_of(each.process) for each in processes if _is_broker(each.process)),
        troubled=tuple(_as_trouble(each) for each in troubled),
        zookeeper_errors={server["address"]: server["error"] for server in state.zookeeper if server["error"]},
        zookeeper_count=len(state.zookeeper),
        groups=groups,
        groups_count=groups_count,
        quiet_groups=tuple(_as_group(each) for each in groups_in_trouble(at_ms, reach).filter(name__in=quiet_names)),
        quiets=tuple(map(_as_quiet, said)),
        now_ms=at_ms,
        directories=tight_directories({each.broker_id for each in brokers if each.is_registered}),
        crowded=crowded_brokers({each.broker_id for each in brokers if each.is_registered}),
        processes=_troubled_processes(reach),
    )


def shown_processes(reach: Reach = EVERYTHING) -> list[Shown]:
    now = timezone.now()
    return [Shown(each, now, reach) for each in ManagedProcess.objects.filter(within(reach, Resource.PROCESS, "name"))]


def quiet_reasons(at_ms: int, reach: Reach = EVERYTHING) -> list[QuietReason]:
    """What is said of reasons of health and not over, of objects in reach; at most QUIET_MAX."""
    lasting = QuietReason.objects.filter(Q(until_ms=None) | Q(until_ms__gt=at_ms))
    seen = ~Q(about__in=(Resource.GROUP, Resource.PROCESS))
    for resource in (Resource.GROUP, Resource.PROCESS):
        seen |= Q(about=resource) & within(reach, resource, "name")
    return list(lasting.filter(seen)[:QUIET_MAX])


def troubled_groups(reach: Reach, but: Collection[str] = ()) -> tuple[tuple[TroubledGroup, ...], int]:
    """The worst of those that read badly or will lose records, and how many there are of both."""
    found = groups_in_trouble(now_ms(), reach).exclude(name__in=but)
    return tuple(_as_group(each) for each in found[:TROUBLED_GROUPS_MAX]), found.count()


def crowded_brokers(broker_ids: set[int]) -> tuple[CrowdedBroker, ...]:
    """Those of these brokers that are near their limit of open files."""
    told = BrokerReport.objects.filter(broker_id__in=broker_ids, open_files__isnull=False).order_by("broker_id")
    return tuple(
        CrowdedBroker(each.broker_id, each.open_files, each.open_files_limit)
        for each in told
        if OpenFiles(each.open_files, each.open_files_limit).is_near_limit
    )


def tight_directories(broker_ids: set[int]) -> tuple[TightDirectory, ...]:
    """Of these brokers, the log directories that are offline or have little room."""
    return tuple(
        TightDirectory(
            report.broker_id,
            each.path,
            each.error,
            1 - (each.used_share or 0.0),
            each.usable_bytes,
            each.tone == "critical",
        )
        for report in BrokerReport.objects.filter(broker_id__in=broker_ids).order_by("broker_id")
        for each in report.directories
        if each.tone != "ok"
    )


def _troubled_processes(reach: Reach) -> tuple[TroubledProcess, ...]:
    rows = ManagedProcess.objects.filter(
        within(reach, Resource.PROCESS, "name"), desired=Desired.RUNNING, state__in=TROUBLED_STATES
    )
    return tuple(
        TroubledProcess(
            row.name,
            row.state,
            sentence_within(reach, row.state_sentence),
            _is_lost(row),
            row.spec.get("broker_id"),
        )
        for row in rows
    )


def _is_lost(process: ManagedProcess) -> bool:
    """The cluster is not well without it, and it is not coming back: sources and stream jobs are only its clients."""
    needed = process.kind in (ManagedProcess.Kind.BROKER, ManagedProcess.Kind.ZOOKEEPER)
    return needed and process.state == State.FAILED


def _is_broker(process: ManagedProcess) -> bool:
    return process.kind == ManagedProcess.Kind.BROKER


def _broker_of(process: ManagedProcess) -> int:
    return int(process.name.rpartition("-")[2])


def _as_group(group: ConsumerGroup) -> TroubledGroup:
    verdict = group.judgement
    return TroubledGroup(
        group.name,
        verdict.value,
        verdict.meaning,
        group.lag,
        group.member_count,
        group.lost,
        group.behind_ms,
        group.expires_in_ms if group.is_expiring else None,
    )


def _as_quiet(row: QuietReason) -> Quiet:
    level, parts = Level(row.level), tuple(row.parts)
    return Quiet(row.key, row.kind, level, row.weight, parts, row.until_ms, row.actor_name, row.why)


def _as_trouble(partition: Partition) -> TroubledPartition:
    return TroubledPartition(
        partition.topic.name,
        partition.leader is not None,
        tuple(partition.replicas),
        tuple(partition.isr),
        partition.partition,
        min(partition.topic.min_insync_replicas or 1, len(partition.replicas)),
        tuple(partition.adding),
    )
