"""Reading what is known of one broker. Nothing here asks it."""

from dataclasses import dataclass

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.http import QueryDict
from django.utils import timezone

from console.cluster.brokers.balance import Balance, balances
from console.cluster.brokers.models import BrokerReport
from console.cluster.brokers.state_names import with_state_names
from console.kit.access.filters import within
from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.processes.models import ManagedProcess
from console.processes.presenters import ManagedProcessRow
from console.state.clusters.access import topics_within
from console.state.clusters.models import Broker, Partition
from console.state.clusters.queries import cluster_state

PARTITIONS_PER_PAGE = 50
BIGGEST = 10
#: Value in the address → the word on the page.
ROLES = {"leads": "leads", "follows": "follows", "out": "out of sync"}


@dataclass(frozen=True, slots=True)
class HeldPartition:
    """A partition with this broker's replica of it."""

    partition: Partition
    broker_id: int

    @property
    def role(self) -> str:
        """A word, and the tone beside it in `tone`."""
        if self.broker_id not in self.partition.isr:
            return "copying" if self.broker_id in self.partition.adding else "out of sync"
        return "leads" if self.partition.leader == self.broker_id else "follows"

    @property
    def tone(self) -> str:
        return {"out of sync": "critical", "leads": "ok"}.get(self.role, "plain")

    @property
    def size(self) -> int | None:
        return dict(self.partition.sizes).get(self.broker_id)


@dataclass(frozen=True, slots=True)
class PartitionQuery:
    """What the tab was asked for. Nonsense in the address counts as not asked."""

    search: str = ""
    role: str = ""

    @classmethod
    def parse(cls, parameters: QueryDict) -> "PartitionQuery":
        role = parameters.get("role", "")
        return cls(parameters.get("search", "").strip()[:249], role if role in ROLES else "")


def find_broker(broker_id: int) -> Broker | None:
    return Broker.objects.filter(broker_id=broker_id).first()


def report_of(broker_id: int) -> BrokerReport:
    """Return the broker's report, an empty unsaved one before it has sent any."""
    return BrokerReport.objects.filter(broker_id=broker_id).first() or BrokerReport(broker_id=broker_id)


def process_of(broker_id: int, reach: Reach = EVERYTHING) -> ManagedProcess | None:
    """Return the process the console runs this broker as, None if it does not."""
    seen = ManagedProcess.objects.filter(within(reach, Resource.PROCESS, "name"))
    return seen.filter(kind=ManagedProcess.Kind.BROKER, name=f"broker-{broker_id}").first()


def broker_facts(broker: Broker, reach: Reach = EVERYTHING) -> dict[str, object]:
    """Return everything the broker's page shows, with topics and processes in reach."""
    process = process_of(broker.broker_id, reach)
    with_state_names([broker], reach)
    return {
        "broker": broker,
        "cluster": cluster_state(),
        "balance": _balance_of(broker.broker_id),
        "report": report_of(broker.broker_id),
        "shown": None if process is None else ManagedProcessRow(process, timezone.now(), reach),
        "biggest": biggest_partitions(broker.broker_id, reach),
    }


def biggest_partitions(broker_id: int, reach: Reach) -> list[HeldPartition]:
    """Return the largest partitions, among those of the largest topics: sizes by broker stand in one column, which no
    database sorts by.
    """
    topics = list(topics_within(reach).order_by("-size_bytes")[: 5 * BIGGEST])
    candidates = Partition.objects.filter(topic__in=topics).select_related("topic")
    held = [HeldPartition(candidate, broker_id) for candidate in candidates if broker_id in candidate.replicas]
    return sorted(held, key=lambda partition: -(partition.size or 0))[:BIGGEST]


def held_partitions(broker_id: int, query: PartitionQuery, reach: Reach) -> QuerySet[Partition]:
    """Return every partition in reach with a replica on the broker, by the tab's filters."""
    named = rf"(^|[^0-9]){broker_id}([^0-9]|$)"
    partitions = Partition.objects.alias(
        replicas_text=Cast("replicas", TextField()), isr_text=Cast("isr", TextField())
    ).filter(within(reach, Resource.TOPIC, "topic__name"), replicas_text__regex=named)
    if query.search:
        partitions = partitions.filter(topic__name__icontains=query.search)
    if query.role == "out":
        partitions = partitions.exclude(isr_text__regex=named)
    elif query.role:
        partitions = partitions.filter(isr_text__regex=named)
        leads = Q(leader=broker_id)
        partitions = partitions.filter(leads) if query.role == "leads" else partitions.exclude(leads)
    return partitions.select_related("topic").order_by("topic__name", "partition")


def partition_page(
    partitions: QuerySet[Partition], broker_id: int, page: str
) -> tuple["Page[Partition]", list[HeldPartition]]:
    partitions_page = Paginator(partitions, PARTITIONS_PER_PAGE).get_page(page)
    return partitions_page, [HeldPartition(item, broker_id) for item in partitions_page]


def _balance_of(broker_id: int) -> Balance | None:
    return next((balance for balance in balances() if balance.broker.broker_id == broker_id), None)
