"""Reading placement: the matrix of a page of topics, the balance of each broker, and what an election would change."""

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet

from console.cluster.brokers.balance import balances
from console.cluster.placement.election import ElectionPlan, plan_election
from console.cluster.placement.models import OngoingMove, Reassignment
from console.kit.access.filters import within
from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.access.roles import Right
from console.state.clusters.access import topics_within
from console.state.clusters.models import Broker, Partition, Topic

TOPICS_PER_PAGE = 25
#: Beyond this many partitions a topic's cells hold counts instead of one square for each.
SQUARES_MAX = 48
#: Partitions on the move that are listed one by one, and moves asked for here.
MOVES_SHOWN = 50
REASSIGNMENTS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Square:
    """One replica in the matrix."""

    partition: int
    #: leader, follower or out
    role: str
    is_preferred: bool


@dataclass(frozen=True, slots=True)
class PlacementCell:
    """What one broker holds of one topic."""

    broker_id: int
    squares: tuple[Square, ...]
    leader_count: int
    follower_count: int
    out_count: int


@dataclass(frozen=True, slots=True)
class MatrixRow:
    topic: Topic
    cells: tuple[PlacementCell, ...]


def chosen_topics(search: str, shows_internal: bool, reach: Reach) -> QuerySet[Topic]:
    topics = topics_within(reach) if shows_internal else topics_within(reach).filter(is_internal=False)
    return topics.filter(name__icontains=search) if search else topics


def chosen_partitions(search: str, shows_internal: bool, reach: Reach) -> QuerySet[Partition]:
    """Return every partition of the topics that the page's filters select."""
    partitions = Partition.objects.filter(topic__in=chosen_topics(search, shows_internal, reach))
    return partitions.select_related("topic").order_by("topic__name", "partition")


def matrix_page(search: str, shows_internal: bool, page: str, reach: Reach) -> "Page[Any]":
    """Return a page of topics whose rows are in `matrix_rows`."""
    return Paginator(chosen_topics(search, shows_internal, reach), TOPICS_PER_PAGE).get_page(page)


def matrix_rows(topics: list[Topic]) -> list[MatrixRow]:
    broker_ids = list(Broker.objects.values_list("broker_id", flat=True))
    by_topic: dict[int, list[Partition]] = {topic.pk: [] for topic in topics}
    for partition in Partition.objects.filter(topic__in=topics).order_by("topic_id", "partition"):
        by_topic[partition.topic_id].append(partition)
    return [
        MatrixRow(topic, tuple(_cell(broker_id, by_topic[topic.pk]) for broker_id in broker_ids)) for topic in topics
    ]


def _cell(broker_id: int, partitions: list[Partition]) -> PlacementCell:
    squares = tuple(_square(broker_id, partition) for partition in partitions if broker_id in partition.replicas)
    counts = {role: sum(square.role == role for square in squares) for role in ("leader", "follower", "out")}
    shown = squares if len(partitions) <= SQUARES_MAX else ()
    return PlacementCell(broker_id, shown, counts["leader"], counts["follower"], counts["out"])


def _square(broker_id: int, partition: Partition) -> Square:
    role = "follower"
    if broker_id not in partition.isr:
        role = "copying" if broker_id in partition.adding else "out"
    elif broker_id == partition.leader:
        role = "leader"
    return Square(partition.partition, role, broker_id == partition.preferred_leader)


def placement_facts(reach: Reach = EVERYTHING) -> dict[str, object]:
    """Return the balance panel, for the page and for the push alike."""
    shown = balances(reach)
    preferred = sum(balance.broker.preferred_count for balance in shown)
    led = sum(balance.broker.preferred_led_count for balance in shown)
    return {"balances": shown, "preferred_count": preferred, "preferred_led_count": led, "movable": preferred - led}


def election_plan(reach: Reach) -> ElectionPlan:
    """Plan an election for the topics that `reach` may operate."""
    registered = frozenset(Broker.objects.filter(is_registered=True).values_list("broker_id", flat=True))
    operable = within(reach, Resource.TOPIC, "topic__name", Right.OPERATE)
    partitions = Partition.objects.filter(operable).select_related("topic").order_by("topic__name", "partition")
    return plan_election(partitions.iterator(chunk_size=2_000), registered)


@dataclass(frozen=True, slots=True)
class MoveProgress:
    """Everything on the move, taken together."""

    partition_count: int
    copied_bytes: int
    total_bytes: int
    bytes_per_second: float

    @property
    def percent(self) -> int:
        return min(99, 100 * self.copied_bytes // self.total_bytes) if self.total_bytes else 0

    @property
    def left_ms(self) -> int | None:
        left = self.total_bytes - self.copied_bytes
        return round(1_000 * left / self.bytes_per_second) if self.bytes_per_second else None


def moves_within(reach: Reach) -> QuerySet[OngoingMove]:
    return OngoingMove.objects.filter(within(reach, Resource.TOPIC, "topic"))


def reassignments_within(reach: Reach) -> list[Reassignment]:
    """Return the reassignments all of whose topics are in reach."""
    return [
        reassignment
        for reassignment in Reassignment.objects.all()
        if all(Right.VIEW in reach.rights_on(Resource.TOPIC, topic) for topic in reassignment.wanted)
    ]


def moves_facts(reach: Reach = EVERYTHING) -> dict[str, object]:
    """Return the panel of moves, for the page and for the push alike."""
    moves = list(moves_within(reach))
    progress = MoveProgress(
        len(moves),
        sum(move.copied_bytes for move in moves),
        sum(move.total_bytes for move in moves),
        sum(move.bytes_per_second or 0 for move in moves),
    )
    return {
        "progress": progress,
        "moves": moves[:MOVES_SHOWN],
        "hidden_move_count": max(0, len(moves) - MOVES_SHOWN),
        "reassignments": reassignments_within(reach)[:REASSIGNMENTS_SHOWN],
    }
