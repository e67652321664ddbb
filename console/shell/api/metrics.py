"""What a person may see, as Prometheus metrics: they name topics and groups, so they are asked for with a token.

`/metrics` beside it is for everybody and names nobody. Series are bounded: of groups and topics the worst and the
busiest come first, and one metric says how many were left out.
"""

from collections.abc import Callable, Iterator
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from console.kit.access.filters import within
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, reach_of, require
from console.kit.common.current_cluster import is_main
from console.processes.models import ManagedProcess
from console.processes.states import Observed
from console.shell.api.access import NoToken, admitted
from console.signals.overview.exposition import ClusterMetrics, of_cluster
from console.state.clusters.access import topics_within
from console.state.consumers.models import ConsumerGroup

#: Of each kind.
NAMED_MAX = 2_000
#: (name, meaning, value of a row; None: not known).
_Figures = tuple[tuple[str, str, Callable[[Any], float | None]], ...]
_GROUPS: _Figures = (
    ("group_lag_records", "Records a group has not read.", lambda value: value.lag),
    ("group_lag_seconds", "How long the oldest of them has waited.", lambda value: _seconds(value.behind_ms)),
    ("group_expires_in_seconds", "When retention may delete it.", lambda value: _seconds(value.expires_in_ms)),
    ("group_members", "Members of a group.", lambda value: value.member_count),
    ("group_records_lost", "Records deleted before the group had read them.", lambda value: value.lost),
)
_TOPICS: _Figures = (
    ("topic_records_in_per_second", "Records appended a second.", lambda value: value.records_per_second),
    ("topic_records_read_per_second", "Records groups read a second.", lambda value: value.read_per_second),
    ("topic_records", "Records, at most.", lambda value: value.record_count),
    ("topic_bytes", "Bytes on disk, all replicas.", lambda value: value.size_bytes),
    ("topic_partitions_under_replicated", "Short of replicas.", lambda value: value.under_replicated_count),
    ("topic_partitions_leaderless", "Without a leader.", lambda value: value.leaderless_count),
)


class NamedMetrics(Collector):
    """Read from the database when scraped; a scrape costs the brokers nothing."""

    def __init__(self, reach: Reach):
        self._reach = reach

    def collect(self) -> Iterator[Metric]:
        yield from of_cluster(self._collect())

    def _collect(self) -> Iterator[Metric]:
        groups = ConsumerGroup.objects.filter(within(self._reach, Resource.GROUP, "name"))
        yield from _families("group", _GROUPS, groups.order_by(F("lag").desc(nulls_last=True), "name"))
        topics = topics_within(self._reach)
        yield from _families("topic", _TOPICS, topics.order_by(F("records_per_second").desc(nulls_last=True), "name"))
        processes = ManagedProcess.objects.filter(within(self._reach, Resource.PROCESS, "name"))
        family = _family("process_running", "1 while a process does what it is for.", "process")
        for process in processes[:NAMED_MAX]:
            family.add_metric([process.name], int(process.observed == Observed.RUNNING))
        yield family


def _families(label: str, figures: _Figures, rows: QuerySet[Any]) -> Iterator[Metric]:
    shown, count = list(rows[:NAMED_MAX]), rows.count()
    for name, meaning, figure in figures:
        family = _family(name, meaning, label)
        for entry in shown:
            value = figure(entry)
            if value is not None:
                family.add_metric([entry.name], value)
        yield family
    yield GaugeMetricFamily(
        f"barnabas_{label}s_left_out", f"Number of {label}s left out here, beyond the limit.", count - len(shown)
    )


def _family(name: str, meaning: str, label: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"barnabas_{name}", meaning, labels=[label])


def _seconds(value_ms: int | None) -> float | None:
    return None if value_ms is None else value_ms / 1_000


@csrf_exempt
@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    try:
        admitted(request, "read")
        require(request.user, Right.VIEW)
    except NoToken as error:
        return JsonResponse({"detail": str(error)}, status=401, headers={"WWW-Authenticate": "Bearer"})
    except PermissionDenied as error:
        return JsonResponse({"detail": str(error)}, status=403)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(NamedMetrics(reach_of(request.user)))
    if not is_main():
        registry.register(ClusterMetrics())  # of the first they are at /metrics, for everybody
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
