"""Reading what the collector wrote about the cluster. Pages never ask a broker."""

from django.db.models import Count, F, Q, Sum

from console.brokers.models import Broker
from console.clusters.health import Facts, TroubledPartition, assess
from console.clusters.models import ClusterState
from console.topics.models import Partition, Topic

#: One cluster for now; the row's name is where a second one will hang.
DEFAULT_CLUSTER = "default"
#: Partitions in trouble that the reasons are worked out from; beyond it the counts on the tiles still are complete.
TROUBLED_PARTITIONS_MAX = 2_000
BUSIEST_TOPICS = 8


def cluster_state() -> ClusterState:
    """The stored state, or an empty unsaved one before the collector has run for the first time."""
    return ClusterState.objects.filter(name=DEFAULT_CLUSTER).first() or ClusterState(name=DEFAULT_CLUSTER)


def topic_totals() -> dict[str, int]:
    """topic_count, internal_count, partitions, under_replicated and leaderless (partitions) over all topics."""
    totals = Topic.objects.aggregate(
        topic_count=Count("pk", filter=Q(is_internal=False)),
        internal_count=Count("pk", filter=Q(is_internal=True)),
        partitions=Sum("partition_count"),
        under_replicated=Sum("under_replicated_count"),
        leaderless=Sum("leaderless_count"),
    )
    return {name: value or 0 for name, value in totals.items()}


def overview_facts() -> dict:
    """Everything the overview's partials show, for the page and for the push alike."""
    state = cluster_state()
    brokers = list(Broker.objects.all())
    totals = topic_totals()
    return {
        "cluster": state,
        "brokers": brokers,
        "registered_count": sum(broker.is_registered for broker in brokers),
        "totals": totals,
        "serving_zookeeper_count": sum(not server["error"] for server in state.zookeeper),
        "health": assess(_health_facts(state, brokers, totals)),
        "busiest": busiest_topics(),
    }


def busiest_topics() -> list[Topic]:
    topics = Topic.objects.filter(is_internal=False)
    return list(topics.order_by(F("records_per_second").desc(nulls_last=True), "name")[:BUSIEST_TOPICS])


def _health_facts(state: ClusterState, brokers: list[Broker], totals: dict[str, int]) -> Facts:
    return Facts(
        is_seen=bool(state.brokers_at_ms),
        brokers_error=state.brokers_error,
        topics_error=state.topics_error,
        controller_id=state.controller_id,
        missing=frozenset(broker.broker_id for broker in brokers if not broker.is_registered),
        troubled=_troubled_partitions() if totals["leaderless"] or totals["under_replicated"] else (),
        zookeeper_errors={server["address"]: server["error"] for server in state.zookeeper if server["error"]},
        zookeeper_count=len(state.zookeeper),
    )


def _troubled_partitions() -> tuple[TroubledPartition, ...]:
    in_trouble = Q(topic__leaderless_count__gt=0) | Q(topic__under_replicated_count__gt=0)
    partitions = Partition.objects.filter(in_trouble).select_related("topic").order_by("topic__name", "partition")
    return tuple(
        TroubledPartition(each.topic.name, each.leader is not None, tuple(each.replicas), tuple(each.isr))
        for each in partitions[:TROUBLED_PARTITIONS_MAX]
        if each.leader is None or each.is_under_replicated
    )
