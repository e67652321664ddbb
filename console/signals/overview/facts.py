"""Gathering what health is worked out from, out of what the collector wrote."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from console.cluster.brokers.certificates import ends_soon
from console.cluster.brokers.models import BrokerReport
from console.cluster.brokers.open_files import OpenFiles
from console.cluster.topics.grace_queries import planned_within
from console.cluster.topics.models import KEPT, PlannedDeletion
from console.ecosystem.completeness.models import AuditedTopic
from console.ecosystem.completeness.queries import disagreeing, lagging
from console.ecosystem.mirrors.queries import MirroredTopicRow, troubled
from console.ecosystem.probe.access import may_see_probe
from console.ecosystem.probe.collect import probe_process
from console.ecosystem.probe.store import state as probe_state
from console.kit.access.filters import within
from console.kit.access.log_tail import sentence_within
from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.common.clock import now_ms
from console.kit.common.current_cluster import is_main
from console.kit.common.kept_statements import AT_MS, kept_rows
from console.kit.gateway.errors import is_refusal
from console.processes.models import ManagedProcess
from console.processes.presenters import ManagedProcessRow
from console.processes.states import Desired
from console.processes.truths import TROUBLED_STATES, ProcessState
from console.signals.overview.capacity_facts import capacity_facts
from console.signals.overview.connector_facts import troubled_connectors
from console.signals.overview.group_facts import as_troubled_group
from console.signals.overview.health import (
    BrokerBudget,
    CrowdedBroker,
    DisagreeingTopic,
    EndingCertificate,
    FailingPartition,
    HealthFacts,
    HealthLevel,
    KeptTopic,
    LateTopic,
    PastElection,
    ProbeWord,
    Quiet,
    SetAsideLogs,
    TightDirectory,
    TroubledGroup,
    TroubledMirror,
    TroubledPartition,
    TroubledProcess,
    UnloadedCoordinators,
)
from console.signals.overview.unclean_reason import TOLD_FOR_MS
from console.state.clusters.models import QUIET_MAX, Broker, ClusterState, Partition, QuietReason, Topic
from console.state.consumers.models import ConsumerGroup
from console.state.consumers.queries import groups_in_trouble
from console.state.history.models import Change
from console.state.history.queries import unclean_elections_since

#: Groups in trouble that reasons are worked out from.
TROUBLED_GROUPS_MAX = 20
DISAGREEING_MAX, KEPT_TOPICS_MAX = 5, 5
COORDINATORS_TOPICS = ("__consumer_offsets", "__transaction_state")


def health_facts(
    state: ClusterState,
    brokers: Sequence[Broker],
    troubled: Iterable[Partition],
    processes: Sequence[ManagedProcessRow],
    reach: Reach = EVERYTHING,
) -> HealthFacts:
    at_ms = now_ms()
    missing = {broker.broker_id: broker.changed_at_ms for broker in brokers if not broker.is_registered}
    quiets = quiet_reasons(at_ms, reach)
    quiet_names = {item.name for item in quiets if item.about == Resource.GROUP}
    registered = [broker.broker_id for broker in brokers if broker.is_registered]
    reports = _reports_of(registered)
    return HealthFacts(
        is_seen=bool(state.brokers_at_ms),
        **state.outages,
        is_refused=is_refusal(state.brokers_error),
        controller_id=state.controller_id,
        quorum=None if state.quorum_error else state.quorum,
        missing=frozenset(missing),
        missing_since_ms=missing,
        flapping={broker.broker_id: broker.times_left_since(at_ms) for broker in brokers if broker.is_flapping(at_ms)},
        **_of_processes([process.process for process in processes], reach),
        troubled=tuple(_as_trouble(partition) for partition in troubled),
        zookeeper_errors={server["address"]: server["error"] for server in state.zookeeper if server["error"]},
        zookeeper_count=len(state.zookeeper),
        **_of_groups(reach, quiet_names),
        quiets=tuple(map(_as_quiet, quiets)),
        now_ms=at_ms,
        directories=tight_directories(reports),
        crowded=crowded_brokers(reports),
        certificates=ending_certificates(reports, at_ms),
        unclean=tuple(map(_as_past_election, unclean_elections_since(at_ms - TOLD_FOR_MS, reach))),
        **_of_reports(reports),
        **_of_connectors(state, reach),
        probe=probe_word(reach),
        mirrors=troubled_mirrors(at_ms, reach),
        **_of_audit(at_ms, reach),
        **_of_deletions(reach),
        lone_internal_topics=_lone_internal_topics(len(registered)),
        **capacity_facts(state, brokers, reports, at_ms, reach),
    )


def _of_groups(reach: Reach, quiet_names: Collection[str]) -> dict[str, Any]:
    groups, count = troubled_groups(reach, quiet_names)
    quiet = groups_in_trouble(now_ms(), reach).filter(name__in=quiet_names) if quiet_names else ()
    return {"groups": groups, "groups_count": count, "quiet_groups": tuple(map(as_troubled_group, quiet))}


def _of_processes(rows: Sequence[ManagedProcess], reach: Reach) -> dict[str, Any]:
    managed = frozenset(_broker_of(row) for row in rows if _is_broker(row))
    return {"manages_processes": is_main(), "managed": managed, "processes": _troubled_processes(rows, reach)}


def _of_connectors(state: ClusterState, reach: Reach) -> dict[str, Any]:
    connectors, count = troubled_connectors(reach)
    return {"connectors": connectors, "connectors_count": count, "connectors_error": state.connectors_error}


def _of_reports(reports: Collection[BrokerReport]) -> dict[str, Any]:
    """Return what brokers report of their coordinators, bounds and strays, and the controller of foreign brokers."""
    foreign = {broker_id for report in reports for broker_id in report.foreign_brokers}
    return {
        "unloaded": _unloaded_coordinators(reports),
        "crowded_budgets": _crowded_budgets(reports),
        "strays": tuple(_strays(reports)),
        "foreign_brokers": tuple(sorted(foreign)),
    }


def _of_deletions(reach: Reach) -> dict[str, Any]:
    kept = kept_rows(_first_kept, reach)
    some = tuple(KeptTopic(value.topic, value.outcome, _ms(value.decided_at)) for value in kept)
    return {"kept": some, "kept_count": len(some) if len(some) < KEPT_TOPICS_MAX else _kept(reach).count()}


def _kept(reach: Reach) -> QuerySet[PlannedDeletion]:
    return planned_within(reach).filter(state=KEPT).order_by("due_at")


def _first_kept(reach: Reach) -> QuerySet[PlannedDeletion]:
    return _kept(reach)[:KEPT_TOPICS_MAX]


def _ms(at: datetime | None) -> int | None:
    return round(at.timestamp() * 1_000) if at else None


def shown_processes(reach: Reach = EVERYTHING) -> list[ManagedProcessRow]:
    now = timezone.now()
    return [ManagedProcessRow(row, now, reach) for row in kept_rows(_processes_within, reach)]


def _processes_within(reach: Reach) -> QuerySet[ManagedProcess]:
    return ManagedProcess.objects.filter(within(reach, Resource.PROCESS, "name"))


def quiet_reasons(at_ms: int, reach: Reach = EVERYTHING) -> list[QuietReason]:
    """Return acknowledged and muted reasons in effect, of objects in reach; at most QUIET_MAX."""
    return kept_rows(_lasting_quiet, reach, at_ms=at_ms)


def _lasting_quiet(reach: Reach) -> QuerySet[QuietReason]:
    lasting = QuietReason.objects.filter(Q(until_ms=None) | Q(until_ms__gt=AT_MS))
    seen = ~Q(about__in=(Resource.GROUP, Resource.PROCESS))
    for resource in (Resource.GROUP, Resource.PROCESS):
        seen |= Q(about=resource) & within(reach, resource, "name")
    return lasting.filter(seen)[:QUIET_MAX]


def troubled_groups(reach: Reach, but: Collection[str] = ()) -> tuple[tuple[TroubledGroup, ...], int]:
    """Return the worst lagging groups and the number of all unhealthy ones."""
    at_ms, quiet = now_ms(), frozenset(but)
    worst = tuple(map(as_troubled_group, kept_rows(_worst_groups, reach, quiet, at_ms=at_ms)))
    if len(worst) < TROUBLED_GROUPS_MAX:
        return worst, len(worst)
    return worst, groups_in_trouble(at_ms, reach).exclude(name__in=quiet).count()


def _worst_groups(reach: Reach, but: frozenset[str]) -> QuerySet[ConsumerGroup]:
    return groups_in_trouble(AT_MS, reach).exclude(name__in=but)[:TROUBLED_GROUPS_MAX]


def _of_audit(at_ms: int, reach: Reach) -> dict[str, Any]:
    """Return the worst audited topics, and how many there are."""
    audited_rows, late = kept_rows(_most_disagreeing, reach), kept_rows(_most_lagging, reach, at_ms=at_ms)
    worst = [DisagreeingTopic(item.name, item.finding_count, item.findings[0][-1]) for item in audited_rows]
    latest = [LateTopic(item.name, item.late_count, item.complete_until_ms) for item in late]
    return {
        "disagreeing": tuple(worst),
        "disagreeing_count": disagreeing(reach).count() if worst else 0,
        "late": tuple(latest),
        "late_count": lagging(at_ms, reach).count() if latest else 0,
    }


def _most_disagreeing(reach: Reach) -> QuerySet[AuditedTopic]:
    return disagreeing(reach)[:DISAGREEING_MAX]


def _most_lagging(reach: Reach) -> QuerySet[AuditedTopic]:
    return lagging(AT_MS, reach)[:DISAGREEING_MAX]


def troubled_mirrors(at_ms: int, reach: Reach = EVERYTHING) -> tuple[TroubledMirror, ...]:
    topic_rows: dict[str, list[MirroredTopicRow]] = {}
    for row in troubled(at_ms, reach):
        topic_rows.setdefault(row.row.flow, []).append(row)
    return tuple(_as_troubled_mirror(flow, rows) for flow, rows in sorted(topic_rows.items()))


def _as_troubled_mirror(flow: str, rows: list[MirroredTopicRow]) -> TroubledMirror:
    failing = [row for row in rows if not row.is_silent]
    since_ms = min(row.row.at_ms for row in rows)
    error = f"{failing[0].row.topic}: {failing[0].row.error}" if failing else ""
    return TroubledMirror(flow, len(failing), len(rows) - len(failing), since_ms, error, rows[0].row.cluster)


def probe_word(reach: Reach = EVERYTHING) -> ProbeWord | None:
    """Return the probe's measurement; of a failing process only the earlier one, since its silence is another
    reason.
    """
    process = probe_process() if may_see_probe(reach) else None
    if process is None:
        return None
    kept = probe_state()
    if kept.error:
        is_told = process.state not in (ProcessState.HEALTHY, ProcessState.RUNNING)
        return ProbeWord(
            process.name, lost=kept.lost, error="" if is_told else kept.error, error_since_ms=kept.error_since_ms
        )
    replicas = {number: tuple(held) for number, _, held in kept.partitions}
    failing = tuple(
        FailingPartition(number, since_ms, error, replicas.get(number, ()))
        for number, since_ms, error, _ in kept.troubled
    )
    silent = {number: (since_ms, why) for number, _, _, since_ms, why in kept.brokers if since_ms is not None}
    return ProbeWord(process.name, silent, failing, kept.lost)


def _reports_of(broker_ids: Iterable[int]) -> list[BrokerReport]:
    return kept_rows(_reports, tuple(broker_ids))


def _reports(broker_ids: tuple[int, ...]) -> QuerySet[BrokerReport]:
    return BrokerReport.objects.filter(broker_id__in=broker_ids).order_by("broker_id").defer("requests")


def crowded_brokers(reports: Iterable[BrokerReport]) -> tuple[CrowdedBroker, ...]:
    """Return the brokers that are near their limit of open files."""
    return tuple(
        CrowdedBroker(report.broker_id, report.open_files, report.open_files_limit)
        for report in reports
        if report.open_files is not None
        and report.open_files_limit is not None
        and OpenFiles(report.open_files, report.open_files_limit).is_near_limit
    )


def ending_certificates(reports: Iterable[BrokerReport], at_ms: int) -> tuple[EndingCertificate, ...]:
    """Return the certificates that have ended or will soon."""
    return tuple(
        EndingCertificate(report.broker_id, listener, ends_at_ms, ends_at_ms - at_ms)
        for report in reports
        for listener, ends_at_ms in sorted(report.certificates.items())
        if ends_soon(ends_at_ms, at_ms)
    )


def tight_directories(reports: Iterable[BrokerReport]) -> tuple[TightDirectory, ...]:
    """Return the log directories that are offline or full, or have little room."""
    return tuple(
        TightDirectory(
            report.broker_id,
            directory.path,
            directory.error,
            1 - (directory.used_share or 0.0),
            directory.usable_bytes,
            directory.tone == "critical",
            directory.is_full,
        )
        for report in reports
        for directory in report.directories
        if directory.tone != "ok"
    )


def _troubled_processes(rows: Iterable[ManagedProcess], reach: Reach) -> tuple[TroubledProcess, ...]:
    return tuple(
        TroubledProcess(
            row.name,
            row.state,
            sentence_within(reach, row.state_sentence),
            _is_lost(row),
            row.spec.get("broker_id"),
        )
        for row in rows
        if row.desired == Desired.RUNNING and row.state in TROUBLED_STATES
    )


def _unloaded_coordinators(reports: Iterable[BrokerReport]) -> tuple[UnloadedCoordinators, ...]:
    return tuple(
        UnloadedCoordinators(report.broker_id, report.groups_not_loaded, report.transactions_not_loaded)
        for report in reports
        if report.groups_not_loaded or report.transactions_not_loaded
    )


def _strays(reports: Iterable[BrokerReport]) -> Iterator[SetAsideLogs]:
    for report in reports:
        directories = [directory for directory in report.directories if directory.stray_count]
        if directories:
            count, in_bytes = (
                sum(directory.stray_count for directory in directories),
                sum(directory.stray_bytes for directory in directories),
            )
            yield SetAsideLogs(report.broker_id, count, in_bytes, tuple(directory.path for directory in directories))


def _crowded_budgets(reports: Iterable[BrokerReport]) -> tuple[BrokerBudget, ...]:
    return tuple(BrokerBudget(report.broker_id, budget) for report in reports for budget in report.budgets)


def _lone_internal_topics(broker_count: int) -> tuple[str, ...]:
    """Return internal topics with one replica that a broker made while it was alone: adding brokers does not change
    that.
    """
    if broker_count < 2:
        return ()
    return tuple(row.name for row in kept_rows(_unreplicated_coordinators))


def _unreplicated_coordinators() -> QuerySet[Topic]:
    alone = Topic.objects.filter(name__in=COORDINATORS_TOPICS, replication_factor=1)
    return alone.order_by("name").only("name")


def _as_past_election(change: Change) -> PastElection:
    return PastElection(change.pk, change.object_name, change.sentence, change.at_ms, change.tone == "critical")


def _is_lost(process: ManagedProcess) -> bool:
    """Return whether the cluster suffers without the process and it is not coming back; sources and stream jobs are
    only clients.
    """
    needed = process.kind in (ManagedProcess.Kind.BROKER, ManagedProcess.Kind.ZOOKEEPER)
    return needed and process.state == ProcessState.FAILED


def _is_broker(process: ManagedProcess) -> bool:
    return process.kind == ManagedProcess.Kind.BROKER


def _broker_of(process: ManagedProcess) -> int:
    return int(process.name.rpartition("-")[2])


def _as_quiet(row: QuietReason) -> Quiet:
    level, parts = HealthLevel(row.level), tuple(row.parts)
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
