"""What the tables say now of everything that is charted, that of features above this one among it."""

from collections.abc import Callable, Iterable, Iterator

from django.db.models import Sum

from console.cluster.brokers.latency import WAITING
from console.cluster.brokers.models import BrokerReport
from console.cluster.charts.measures import API, BROKER, CLUSTER, GROUP, PROCESS, SERVER, TOPIC, Reading
from console.kit.common.hook_point import HookPoint
from console.processes.models import ManagedProcess
from console.processes.states import Observed
from console.state.clusters.models import Broker, ClusterState, Topic
from console.state.clusters.queries import cluster_state
from console.state.consumers.models import ConsumerGroup

#: What was seen longer ago than this says nothing of now: a collector at rest looks four times in a minute.
FRESH_MS = 60_000
#: When what is read was seen, ms since the epoch, and what that is.
SOURCES = HookPoint[Callable[[ClusterState], tuple[int, Iterable[Reading]]]]("console.cluster.charts.readings.SOURCES")


def readings(now_ms: int) -> Iterator[Reading]:
    """Yield readings, the cluster's first: whenever it was observed, everything else was. Old values are unknown."""
    state = cluster_state()
    for seen_ms, series in (
        (state.topics_at_ms, (_cluster(state), *_topics())),
        (state.brokers_at_ms, _brokers()),
        (state.groups_at_ms, _groups(now_ms)),
        (state.zookeeper_at_ms, _servers(state)),
        (state.processes_at_ms, _processes()),
        *(source(state) for source in SOURCES),
    ):
        is_fresh = now_ms - seen_ms <= FRESH_MS
        for reading in series:
            yield reading if is_fresh else Reading(reading.kind, reading.name, (None,) * len(reading.values))


def _cluster(state: ClusterState) -> Reading:
    brokers = Broker.objects.filter(is_registered=True)
    sums = Topic.objects.aggregate(out_of_sync=Sum("under_replicated_count"), leaderless=Sum("leaderless_count"))
    return Reading(
        CLUSTER,
        "",
        (
            state.records_per_second,
            brokers.aggregate(bytes=Sum("bytes_per_second"))["bytes"],
            ConsumerGroup.objects.aggregate(lag=Sum("lag"))["lag"],
            sums["out_of_sync"],
            sums["leaderless"],
            brokers.count(),
        ),
    )


def _topics() -> Iterator[Reading]:
    columns = ("name", "records_per_second", "read_per_second", "size_bytes", "under_replicated_count")
    for name, *values in Topic.objects.order_by().values_list(*columns).iterator():
        yield Reading(TOPIC, name, tuple(values))


def _brokers() -> Iterator[Reading]:
    columns = ("broker_id", "records_per_second", "bytes_per_second", "size_bytes", "leader_count", "out_of_sync_count")
    there = {}
    reports = list(BrokerReport.objects.only("broker_id", "requests", "log_dirs"))
    used = {report.broker_id: _disk_used(report) for report in reports}
    for broker_id, is_registered, *values in Broker.objects.values_list(columns[0], "is_registered", *columns[1:]):
        there[broker_id] = is_registered
        values.append(used.get(broker_id))
        yield Reading(BROKER, str(broker_id), tuple(values) if is_registered else (None,) * len(values))
    for report in reports:
        for request in report.requests if there.get(report.broker_id) else ():
            if request["api"] not in WAITING and request.get("per_second"):
                values = (request["per_second"], request.get("p50_ms"), request.get("p95_ms"), request.get("p99_ms"))
                yield Reading(API, f"{report.broker_id}/{request['api']}", values)


def _disk_used(report: BrokerReport) -> float | None:
    """Return the used percentage of the broker's fullest volume, None where no volume tells its size."""
    shares = [directory.used_share for directory in report.directories if directory.used_share is not None]
    return 100 * max(shares) if shares else None


def _groups(now_ms: int) -> Iterator[Reading]:
    """Yield those of groups; nothing is known of one whose coordinator does not answer: its row is from before."""
    columns = ("name", "is_silent", "lag", "behind_since_ms", "arriving_per_second", "member_count")
    for name, is_silent, lag, since_ms, *values in ConsumerGroup.objects.order_by().values_list(*columns).iterator():
        behind_ms = None if since_ms is None else max(0, now_ms - since_ms)
        known = (lag, behind_ms, *values)
        yield Reading(GROUP, name, (None,) * len(known) if is_silent else known)


def _servers(state: ClusterState) -> Iterator[Reading]:
    for value in state.zookeeper:
        values = (value.get("latency_ms"), value.get("connection_count"), value.get("znode_count"))
        yield Reading(SERVER, value["address"], (None,) * len(values) if value.get("error") else values)


def _processes() -> Iterator[Reading]:
    for process in ManagedProcess.objects.only("name", "observed", "cpu_percent", "memory_bytes", "restart_count"):
        runs = process.observed == Observed.RUNNING
        cost = (process.cpu_percent, process.memory_bytes) if runs else (None, None)
        yield Reading(PROCESS, process.name, (*cost, process.restart_count))
