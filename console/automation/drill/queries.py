"""What a drill is decided on, out of what the collector and the reconcile wrote; and whom it may be about."""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.conf import settings
from django.db.models import F, Sum

from console.automation.drill.expect import ExpectedEffects, of_broker, of_server
from console.automation.drill.faults import Fault, FaultTarget
from console.automation.drill.groups import GroupLook
from console.automation.drill.guarding import Start, why_not
from console.automation.drill.models import Drill
from console.automation.drill.samples import Sample
from console.cluster.placement.models import OPEN, OngoingMove, Reassignment
from console.ecosystem.probe.collect import probe_process
from console.ecosystem.probe.store import newest_minute_ms
from console.ecosystem.probe.store import state as probe_state
from console.kit.access.read_only import why_read_only
from console.kit.common.clock import now_ms
from console.kit.common.current_cluster import is_main
from console.kit.operations.queries import operation_under_way
from console.processes.consequences import broker_id_of, brokers_away, consequence_of, ensemble_now, world_now
from console.processes.guard import Absence, ServerAbsence, absence_of, absence_of_server
from console.processes.models import ManagedProcess
from console.processes.truths import ProcessState
from console.state.clusters.models import Broker, Partition, Topic
from console.state.clusters.queries import cluster_state
from console.state.consumers.models import ConsumerGroup

#: What a broker does without a word of its own: milliseconds.
_DEFAULTS = {"zookeeper.session.timeout.ms": 6_000, "replica.lag.time.max.ms": 30_000}
_WELL = (ProcessState.HEALTHY, ProcessState.RUNNING)
KINDS = (ManagedProcess.Kind.BROKER, ManagedProcess.Kind.ZOOKEEPER)


@dataclass(frozen=True, slots=True)
class DrillTarget:
    """The target of a fault and the reason for it; without a process `why` says that there is none of that kind."""

    process: ManagedProcess | None
    why: str


@dataclass(frozen=True, slots=True)
class DrillOutlook:
    """What is expected; `harms` and `course` as the question of Kill says them; `why_not`: it may not begin."""

    expected: ExpectedEffects
    course: tuple[str, ...]
    harms: tuple[str, ...]
    confirmed: tuple[str, ...]
    why_not: str


def find_target(whom: FaultTarget, name: str) -> DrillTarget:
    """Return the target. `name`: of the process, or of the topic whose first partition's leader it is."""
    match whom:
        case FaultTarget.PROCESS:
            process = ManagedProcess.objects.filter(name=name, kind__in=KINDS).first()
            return DrillTarget(
                process, f"{name}, as chosen" if process else f"No broker and no ZooKeeper server {name} here."
            )
        case FaultTarget.CONTROLLER:
            controller = cluster_state().controller_id
            return _broker(controller, f"broker {controller} is the controller", "No broker is controller.")
        case FaultTarget.LEADER:
            leader = Partition.objects.filter(topic__name=name, partition=0).values_list("leader", flat=True).first()
            return _broker(leader, f"broker {leader} leads {name}-0", f"{name}-0 has no leader.")
        case FaultTarget.ZOOKEEPER_LEADER:
            return _zookeeper_leader()


def outlook(process: ManagedProcess, fault: Fault, seconds: int, but: Drill | None = None) -> DrillOutlook:
    """Return the outlook. `but`: the drill itself, which does not count as another operation."""
    consequence = consequence_of(process)
    absence: Absence | ServerAbsence
    if process.kind == ManagedProcess.Kind.BROKER:
        absence = absence_of(broker_id_of(process), world_now())
        expected = of_broker(fault, seconds, absence, *_patience(process))
    else:
        absence = absence_of_server(process.ports[0], ensemble_now())
        expected = of_server(fault, seconds, absence)
    start = _start(process, absence, but)
    return DrillOutlook(expected, consequence.course, consequence.harms, consequence.confirmed, why_not(start))


def sample_now(drill: Drill) -> Sample:
    state = cluster_state()
    totals = Topic.objects.aggregate(
        leaderless=Sum("leaderless_count"),
        under_replicated=Sum("under_replicated_count"),
        below=Sum("under_min_isr_count"),
    )
    brokers: Mapping[int, Broker] = {broker.broker_id: broker for broker in Broker.objects.all()}
    target = brokers.get(drill.broker_id) if drill.broker_id is not None else None
    sample = Sample(
        at_ms=now_ms(),
        seen_at_ms=min(state.topics_at_ms, state.brokers_at_ms),
        leaderless=totals["leaderless"] or 0,
        under_replicated=totals["under_replicated"] or 0,
        below=totals["below"] or 0,
        led=target.leader_count if target else 0,
        controller_id=state.controller_id,
        registered=tuple(sorted(item for item, row in brokers.items() if row.is_registered)),
        zookeeper=sum(not value["error"] for value in state.zookeeper),
    )
    return _with_probe(sample)


def group_looks() -> list[GroupLook]:
    """Return looks at the groups, those with members first if there are more than are watched."""
    columns = ("name", "lag", "behind_since_ms", "state", "coordinator", "members", "is_silent")
    rows = ConsumerGroup.objects.order_by(F("member_count").desc(nulls_last=True), "name").values_list(*columns)
    return [
        GroupLook(name, lag or 0, since_ms if lag else None, state, coordinator, _who(members), is_silent)
        for name, lag, since_ms, state, coordinator, members, is_silent in rows
    ]


def _who(members: list[list[object]]) -> int:
    """Return a digest of the members' assignment that is the same in every process."""
    return zlib.crc32(json.dumps(sorted(member[0:5:4] for member in members)).encode())


def is_counted(drill: Drill) -> bool:
    """Return whether the probe has reported the minute in which everything was restored, or there is no probe."""
    return (
        probe_process() is None or drill.back_ms is None or newest_minute_ms() >= drill.back_ms - drill.back_ms % 60_000
    )


def _broker(broker_id: int | None, why: str, nobody: str) -> DrillTarget:
    if broker_id is None:
        return DrillTarget(None, nobody)
    rows = ManagedProcess.objects.filter(kind=ManagedProcess.Kind.BROKER)
    process = next((row for row in rows if broker_id_of(row) == broker_id), None)
    return DrillTarget(process, why if process else f"{why[:1].upper()}{why[1:]}, and is not run by this console.")


def _zookeeper_leader() -> DrillTarget:
    ports = [
        int(str(item["address"]).rpartition(":")[2])
        for item in cluster_state().zookeeper
        if item["mode"] in ("leader", "standalone")
    ]
    rows = ManagedProcess.objects.filter(kind=ManagedProcess.Kind.ZOOKEEPER)
    process = next((row for row in rows if row.ports and row.ports[0] in ports), None)
    return DrillTarget(
        process, "it leads the ensemble" if process else "No ZooKeeper server that this console runs leads."
    )


def _start(process: ManagedProcess, absence: Absence | ServerAbsence, but: Drill | None) -> Start:
    totals = Topic.objects.aggregate(short=Sum("under_replicated_count"), led_by_none=Sum("leaderless_count"))
    start = Start(
        allowed=settings.DRILLS and is_main(),
        read_only=why_read_only(),
        is_doubtful=absence.is_doubtful or absence_of(-1, world_now(partitions=())).is_doubtful,
        operation=operation_under_way(but),
        is_moving=OngoingMove.objects.exists() or Reassignment.objects.filter(state__in=OPEN).exists(),
        away=sorted(brokers_away()),
        lacking=sum(total or 0 for total in totals.values()),
        zookeeper_silent=sum(bool(value["error"]) for value in cluster_state().zookeeper),
        is_elsewhere=process.host != settings.HOST_NAME,
        is_running=process.state in _WELL and not process.request and process.pid is not None,
        name=process.name,
    )
    if isinstance(absence, Absence):
        return replace(start, offline=len(absence.offline))
    return replace(start, costs_quorum=absence.costs_quorum)


def _patience(process: ManagedProcess) -> tuple[float, float]:
    """Return the seconds after which it is missed, and is out of sync, as its file says."""
    properties = process.spec.get("first_properties", {})
    session, lag = (int(properties.get(name, default)) / 1_000 for name, default in _DEFAULTS.items())
    return session, lag


def _with_probe(sample: Sample) -> Sample:
    """Add the probe's figures to the sample; none if it does not answer."""
    kept = probe_state()
    if probe_process() is None or kept.error or not kept.at_ms:
        return sample
    return replace(sample, failing=len(kept.troubled), lost=kept.lost)
