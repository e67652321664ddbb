"""Plans of moves from what is true now, which the cluster is asked; proposals start from what was last seen of all."""

from collections.abc import Callable, Collection
from dataclasses import replace

from django.db.models import Q

from console.cluster.placement.models import OPEN, Reassignment
from console.cluster.placement.move import MovePlan, PlacementFacts, Targets, plan_moves
from console.cluster.placement.optimise import Goal, Spread, Weighed, propose_balance, spreads
from console.cluster.placement.propose import (
    HeldReplicas,
    PlacementProposal,
    propose_demote,
    propose_drain,
    propose_factor,
    propose_spread,
)
from console.cluster.placement.what_if import PartitionNow
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.groups.interface import TopicPartition
from console.state.clusters.models import Broker, Partition


def planned(targets: Targets, rate: int | None = None) -> MovePlan:
    """Plan moves; `rate` in bytes per second. Raises GatewayError."""
    return plan_moves(targets, world_around(targets), rate)


def drain_proposal(*leaving: int) -> PlacementProposal:
    """Propose moving all replicas off `leaving`. Raises GatewayError."""
    return _as_it_is(lambda held, racks: propose_drain(held, racks, leaving))


def spread_proposal() -> PlacementProposal:
    """Propose an even spread over the registered brokers. Raises GatewayError."""
    return _as_it_is(propose_spread)


def balance_proposal(goals: Collection[Goal], changes_max: int) -> tuple[PlacementProposal, list[Spread]]:
    """Propose a balance by `goals`, with the spread before and after. Raises GatewayError."""
    weighed = _weighed(cluster_gateway().moves.under_way())
    racks = _racks()
    proposal = _sound(
        propose_balance(weighed, racks, goals, changes_max),
        {partition.place: partition.replicas for partition in weighed},
    )
    return proposal, spreads(weighed, racks, proposal.targets)


def seen_now() -> tuple[list[PartitionNow], dict[int, str]]:
    """Return every partition as last seen, and the racks of registered brokers."""
    rows = Partition.objects.select_related("topic").order_by("topic__name", "partition")
    seen = [
        PartitionNow(_weight_of(row), row.leader, tuple(row.isr), row.topic.min_insync_replicas or 1)
        for row in rows.iterator()
    ]
    return seen, dict(Broker.objects.filter(is_registered=True).values_list("broker_id", "rack"))


def factor_proposal(topic: str, factor: int) -> PlacementProposal:
    """Propose `factor` replicas for each partition of the topic. Raises GatewayError."""
    return _as_it_is(lambda held, racks: propose_factor(held, racks, factor, topic))


def demote_proposal(broker_id: int) -> PlacementProposal:
    """Propose an order in which the broker is no partition's preferred leader. Raises GatewayError."""
    return _as_it_is(lambda held, racks: propose_demote(held, racks, broker_id))


def drain_plan(broker_id: int, rate: int | None = None) -> MovePlan:
    """Return the plan that empties a broker before its removal. Raises GatewayError."""
    return planned(drain_proposal(broker_id).targets, rate)


def partitions_on(broker_id: int) -> int:
    """Return partitions that have a replica there, as last seen: 0 when it is drained."""
    return sum(broker_id in partition for partition in Partition.objects.values_list("replicas", flat=True).iterator())


def world_around(places: Collection[TopicPartition]) -> PlacementFacts:
    """Return everything a plan for `places` depends on. Raises GatewayError."""
    gateway = cluster_gateway()
    counts = list(Broker.objects.values_list("broker_id", "replica_count", "preferred_count"))
    held = gateway.moves.bytes_held(places)
    topics = {topic for topic, _ in places}
    return PlacementFacts(
        present=gateway.moves.assignments(topics),
        under_way=gateway.moves.under_way(),
        alive=frozenset(broker.id for broker in gateway.describe_cluster().brokers),
        # The largest: others may be behind.
        sizes={place: max(sizes.values()) for place, sizes in held.items() if sizes},
        replica_counts={broker_id: replicas for broker_id, replicas, _ in counts},
        preferred_counts={broker_id: preferred for broker_id, _, preferred in counts},
        throttled_by=throttled_by(),
        topic_ids=gateway.moves.topic_ids(topics),
    )


def throttled_by() -> str:
    """Return whose throttled move is running or still has its throttle; empty if there is none."""
    throttled = Q(state__in=OPEN, rate__isnull=False) | Q(throttles__isnull=False)
    reassignment = Reassignment.objects.filter(throttled).first()
    return reassignment.object_name if reassignment else ""


def _as_it_is(propose: Callable[[list[HeldReplicas], dict[int, str]], PlacementProposal]) -> PlacementProposal:
    """Return the proposal without partitions whose replicas changed since they were last seen: one seen while it moved
    has too many.

    The next proposal finds them. Raises GatewayError.
    """
    held = _held()
    return _sound(propose(held, _racks()), {partition.place: partition.replicas for partition in held})


def _sound(proposal: PlacementProposal, seen: Targets) -> PlacementProposal:
    """Return the proposal without outdated parts. Raises GatewayError."""
    places = {*proposal.targets, *proposal.stuck}
    present = cluster_gateway().moves.assignments({topic for topic, _ in places})
    sound = {place for place in places if present.get(place) == seen[place]}
    return replace(
        proposal,
        targets={place: target for place, target in proposal.targets.items() if place in sound},
        stuck={place: why for place, why in proposal.stuck.items() if place in sound},
    )


def _held() -> list[HeldReplicas]:
    """Return every partition as last seen, except those in reassignment, whose targets are decided."""
    under_way = cluster_gateway().moves.under_way()
    rows = Partition.objects.values_list("topic__name", "partition", "replicas", "sizes")
    return [
        HeldReplicas((topic, partition), tuple(replicas), max((size for _, size in sizes), default=0))
        for topic, partition, replicas, sizes in rows.order_by("topic__name", "partition").iterator(chunk_size=2_000)
        if (topic, partition) not in under_way
    ]


def _weighed(under_way: Collection[TopicPartition]) -> list[Weighed]:
    """As `_held`, with what comes and goes. Consumers of a topic are taken to read all of its partitions alike."""
    rows = Partition.objects.select_related("topic").order_by("topic__name", "partition")
    return [_weight_of(row) for row in rows.iterator() if (row.topic.name, row.partition) not in under_way]


def _weight_of(row: Partition) -> Weighed:
    size = max((size for _, size in row.sizes), default=0)
    records = (row.next_offset or 0) - (row.first_offset or 0)
    record_bytes = size / records if records > 0 else 0.0
    read = (row.topic.read_per_second or 0.0) / max(1, row.topic.partition_count)
    comes, goes = (rate * record_bytes for rate in (row.records_per_second or 0.0, read))
    return Weighed((row.topic.name, row.partition), tuple(row.replicas), size, comes, goes)


def _racks() -> dict[int, str]:
    return {broker.id: broker.rack for broker in cluster_gateway().describe_cluster().brokers}
