"""Reading connectors for pages: filtered and paged in the database, each with its consumer group or its rate."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet
from django.http import QueryDict

from console.ecosystem.connectors.access import connectors_within
from console.ecosystem.connectors.models import Connector
from console.ecosystem.connectors.presenters import ShownConnector
from console.ecosystem.connectors.sink_topics import matched_by_pattern, unassigned_topics
from console.ecosystem.connectors.unread import unread_by_failed
from console.kit.access.reach import Reach, Resource
from console.kit.plans.models import KeptInverse
from console.state.clusters.access import topics_within
from console.state.clusters.models import Topic
from console.state.consumers.access import groups_within

TITLES = (
    "connector",
    "kind",
    "class",
    "state",
    "tasks",
    "running",
    "failed",
    "worker",
    "topics",
    "group",
    "lag",
    "rate",
)
KINDS = ("source", "sink")
DELETED = "delete connector"
#: Deleted connectors that can be made again from the list.
DELETED_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ConnectorListQuery:
    search: str = ""
    kind: str = ""
    only_failed: bool = False
    page: str = "1"

    @classmethod
    def parse(cls, parameters: QueryDict) -> "ConnectorListQuery":
        kind = parameters.get("kind", "")
        return cls(
            parameters.get("search", "").strip()[:249],
            kind if kind in KINDS else "",
            parameters.get("failed") == "on",
            parameters.get("page", "1")[:9],
        )


def chosen(query: ConnectorListQuery, reach: Reach) -> QuerySet[Connector]:
    connectors = connectors_within(reach)
    if query.search:
        connectors = connectors.filter(Q(name__icontains=query.search) | Q(class_name__icontains=query.search))
    if query.kind:
        connectors = connectors.filter(kind=query.kind)
    in_trouble = Q(failed_since_ms__isnull=False) | Q(unassigned_since_ms__isnull=False)
    return connectors.filter(in_trouble) if query.only_failed else connectors


def connector_page(query: ConnectorListQuery, reach: Reach, rows: int) -> "Page[Any]":
    page: Page[Any] = Paginator(chosen(query, reach).defer("trace"), rows).get_page(query.page)
    page.object_list = shown(page.object_list, reach)
    return page


def shown(rows: Iterable[Connector], reach: Reach) -> list[ShownConnector]:
    """Return the connectors with the known groups and topics in reach."""
    listed = list(rows)
    if not listed:
        return []
    names = {item.group for item in listed if item.group}
    groups = {group.name: group for group in groups_within(reach).filter(name__in=names).defer("members")}
    written = {topic for item in listed if item.kind == "source" for topic in item.topics}
    rates = dict(topics_within(reach).filter(name__in=written).values_list("name", "records_per_second"))
    matched = matched_by_pattern(listed, reach)
    unread = unread_by_failed(listed, matched, reach)
    silent = [item for item in listed if item.unassigned_since_ms is not None]
    unassigned = unassigned_topics(silent, matched, reach) if silent else {}
    return [
        ShownConnector(
            item,
            reach,
            groups.get(item.group),
            _rate(item, rates),
            (),
            unread.get(item.name),
            matched.get(item.name),
            unassigned.get(item.name, ()),
        )
        for item in listed
    ]


def shown_one(row: Connector, reach: Reach) -> ShownConnector:
    (presented,) = shown([row], reach)
    hidden: tuple[str, ...] = ()
    if reach.is_limited(Resource.TOPIC):
        seen = topics_within(reach).values("pk")
        hidden = tuple(Topic.objects.exclude(pk__in=seen).values_list("name", flat=True))
    return replace(presented, hidden_topics=hidden)


def csv_rows(query: ConnectorListQuery, reach: Reach) -> Iterator[tuple[object, ...]]:
    for connector in shown(chosen(query, reach).defer("trace"), reach):
        row, group = connector.row, connector.group
        of_row = (
            row.name,
            row.kind,
            row.class_name,
            connector.word,
            row.task_count,
            row.running_count,
            row.failed_count,
        )
        yield (
            *of_row,
            row.worker,
            " ".join(connector.topics or connector.matched or ()),
            group and group.name,
            connector.lag,
            connector.rate,
        )


def deleted_lately() -> list[tuple[KeptInverse, str]]:
    """Return the kept inverses of recently deleted connectors, the newest of each, with their classes."""
    there = set(Connector.objects.values_list("name", flat=True))
    inverses: dict[str, KeptInverse] = {}
    for kept in KeptInverse.objects.filter(object_type="connector", action=DELETED)[:200]:
        if kept.object_name not in there:
            inverses.setdefault(kept.object_name, kept)
    return [
        (kept, kept.values["config"].get("connector.class", "")) for kept in list(inverses.values())[:DELETED_SHOWN]
    ]


def _rate(row: Connector, rates: dict[str, float | None]) -> float | None:
    known = [rate for topic in row.topics if (rate := rates.get(topic)) is not None]
    return sum(known) if known and row.kind == "source" else None
