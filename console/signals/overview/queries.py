"""What the overview shows, out of what the collector wrote. Pages never ask a broker."""

from typing import Any

from django.db.models import Case, Count, F, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Coalesce

from console.cluster.brokers.state_names import with_state_names
from console.cluster.topics.grace_queries import open_deletions_within
from console.cluster.topics.models import PlannedDeletion
from console.kit.access.filters import within
from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.common.current_cluster import here
from console.kit.common.kept_statements import kept_rows, kept_values
from console.kit.common.list_length import ListLength
from console.signals.overview.facts import health_facts, shown_processes
from console.signals.overview.health import Health
from console.signals.overview.reasons import assess
from console.state.clusters.access import topics_within
from console.state.clusters.models import ClusterState, Partition, Topic
from console.state.clusters.queries import all_brokers, cluster_state
from console.state.history.queries import recent_changes

#: Partitions in trouble that the reasons are worked out from; beyond it the counts on the tiles still are complete.
TROUBLED_PARTITIONS_MAX = 2_000
#: Of those, how many the overview lists.
TROUBLED_PARTITIONS_SHOWN = 12
BUSIEST_TOPICS = 8
PLANNED_DELETIONS_SHOWN = 5
_TOTALS = {
    "topic_count": Count("pk", filter=Q(is_internal=False)),
    "internal_count": Count("pk", filter=Q(is_internal=True)),
    "partitions": Sum("partition_count"),
    "under_replicated": Sum("under_replicated_count"),
    "under_min_isr": Sum("under_min_isr_count"),
    "leaderless": Sum("leaderless_count"),
}


def topic_totals(reach: Reach = EVERYTHING) -> dict[str, int]:
    """Return topic_count, internal_count, and over the topics in reach the partitions: all, and those in each
    trouble.
    """
    totals = next(iter(kept_values(_totals, reach)), (None,) * len(_TOTALS))
    return {name: value or 0 for name, value in zip(_TOTALS, totals, strict=True)}


def _totals(reach: Reach) -> QuerySet[Topic]:
    whole = topics_within(reach).order_by().values(whole=Value(1))
    return whole.annotate(**_TOTALS).values_list(*_TOTALS)


def overview_facts(reach: Reach = EVERYTHING) -> dict[str, Any]:
    """Return everything the overview's partials show, for the page and for the push alike, of the topics in reach."""
    state = state_within(reach)
    brokers = with_state_names(all_brokers(), reach)
    totals = topic_totals(reach)
    troubled = troubled_partitions(reach) if _is_troubled(totals) else []
    processes = shown_processes(reach)
    return {
        "cluster": state,
        "brokers": brokers,
        "registered_count": sum(broker.is_registered for broker in brokers),
        "totals": totals,
        "has_zookeeper": bool(here.ZOOKEEPER) and not state.quorum,
        "serving_zookeeper_count": sum(not server["error"] for server in state.zookeeper),
        "health": assess(health_facts(state, brokers, troubled, processes, reach)),
        "processes": processes,
        "troubled": [] if state.outage else troubled[:TROUBLED_PARTITIONS_SHOWN],
        "troubled_hidden_count": 0 if state.outage else max(0, len(troubled) - TROUBLED_PARTITIONS_SHOWN),
        "planned_deletions": kept_rows(_planned_deletions, reach),
        "busiest": busiest_topics(reach),
        "recent_changes": recent_changes(reach),
    }


def health_within(reach: Reach) -> Health:
    """Return the health as the overview shows it."""
    troubled = troubled_partitions(reach) if _is_troubled(topic_totals(reach)) else []
    return assess(health_facts(state_within(reach), all_brokers(), troubled, shown_processes(reach), reach))


def _is_troubled(totals: dict[str, int]) -> bool:
    return any(totals[name] for name in ("leaderless", "under_replicated", "under_min_isr"))


def state_within(reach: Reach) -> ClusterState:
    """Return the state; for a limited reach without the rate's history and other topics' part."""
    state = cluster_state()
    if reach.is_limited(Resource.TOPIC):
        seen = topics_within(reach).filter(is_internal=False)
        state.records_per_second = seen.aggregate(rate=Sum("records_per_second"))["rate"]
        state.rate_history = []
    return state


def busiest_topics(reach: Reach = EVERYTHING) -> list[Topic]:
    return kept_rows(_busiest, reach)


def _busiest(reach: Reach) -> QuerySet[Topic]:
    topics = topics_within(reach).filter(is_internal=False)
    return topics.order_by(F("records_per_second").desc(nulls_last=True), "name")[:BUSIEST_TOPICS]


def _planned_deletions(reach: Reach) -> QuerySet[PlannedDeletion]:
    return open_deletions_within(reach)[:PLANNED_DELETIONS_SHOWN]


def troubled_partitions(reach: Reach = EVERYTHING) -> list[Partition]:
    """Return partitions without leader or short of replicas, the worst first, at most TROUBLED_PARTITIONS_MAX.

    Whatever is left out is no worse than what is in. A replica that a move is still copying is no trouble.
    """
    of_topics = Q(topic__leaderless_count__gt=0) | Q(topic__under_replicated_count__gt=0)
    lengths = {"in_sync_count": "isr", "replica_count": "replicas", "adding_count": "adding"}
    counted = Partition.objects.alias(**{name: ListLength(column) for name, column in lengths.items()})
    in_trouble = counted.filter(
        of_topics & within(reach, Resource.TOPIC, "topic__name"),
        Q(leader=None) | Q(in_sync_count__lt=F("replica_count")),
    )
    is_under_min_isr = Q(in_sync_count__lt=Coalesce("topic__min_insync_replicas", 1))
    lacks = Q(in_sync_count__lt=F("replica_count") - F("adding_count"))
    severity = Case(When(leader=None, then=0), When(is_under_min_isr, then=1), When(lacks, then=2), default=3)
    worst = in_trouble.order_by(severity, "topic__is_internal", "topic__name", "partition")
    partitions = worst.select_related("topic")[:TROUBLED_PARTITIONS_MAX]
    return [
        partition
        for partition in partitions
        if partition.leader is None or partition.is_under_min_isr or partition.is_under_replicated
    ]
