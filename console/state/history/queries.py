"""Reading changes: by time, object and kind."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet
from django.http import QueryDict

from console.kit.access.filters import within
from console.kit.access.last_line import marks_kept_from, sentence_within
from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.common.clock import moment_of
from console.kit.common.kept_statements import AT_MS, kept_rows
from console.state.clusters.models import Topic
from console.state.history.models import Change, Kind

CHANGES_PER_PAGE = 50
RECENT_CHANGES = 8
#: Unclean elections that health speaks of at a time.
UNCLEAN_MAX = 100
#: "What happened at 03:12?" is answered with this much before and after it.
AROUND = timedelta(minutes=10)
#: Whose object is a topic.
TOPIC_KINDS = (Kind.LEADER, Kind.ISR, Kind.REPLICAS, Kind.UNCLEAN, Kind.TOPIC)
TITLES = ("time", "kind", "object", "partition", "what")


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """What the page was asked for. Nonsense in the address counts as not asked."""

    search: str = ""
    kind: str = ""
    since: datetime | None = None
    until: datetime | None = None
    around: datetime | None = None
    #: Only this topic: the tab of a topic.
    topic: str = ""

    @classmethod
    def parse(cls, parameters: QueryDict, topic: str = "") -> "HistoryQuery":
        kind = parameters.get("kind", "")
        return cls(
            search=parameters.get("search", "").strip()[:249],
            kind=kind if kind in Kind.values else "",
            since=moment_of(parameters.get("since", "")),
            until=moment_of(parameters.get("until", "")),
            around=moment_of(parameters.get("around", "")),
            topic=topic,
        )

    @property
    def is_narrow(self) -> bool:
        return self != HistoryQuery(topic=self.topic)

    @property
    def span(self) -> tuple[datetime | None, datetime | None]:
        return (self.since, self.until) if self.around is None else (self.around - AROUND, self.around + AROUND)


def changes_within(reach: Reach) -> QuerySet[Change]:
    """Those of the topics and processes in reach, and of brokers and controllers."""
    if reach.is_unbound:
        return Change.objects.all()
    topics, processes = Q(kind__in=TOPIC_KINDS), Q(kind=Kind.PROCESS)
    seen = ~(topics | processes)
    seen |= topics & within(reach, Resource.TOPIC, "object_name")
    return Change.objects.filter(seen | processes & within(reach, Resource.PROCESS, "object_name"))


def chosen_changes(query: HistoryQuery, reach: Reach) -> QuerySet[Change]:
    """Newest first."""
    changes = changes_within(reach)
    since, until = query.span
    if query.topic:
        changes = changes.filter(object_name=query.topic, kind__in=TOPIC_KINDS)
    if query.search:
        changes = changes.filter(sentence__icontains=query.search)
        for mark in marks_kept_from(reach):  # what is not told is not to be found by searching either
            changes = changes.exclude(kind=Kind.PROCESS, sentence__contains=mark)
    if query.kind:
        changes = changes.filter(kind=query.kind)
    if since:
        changes = changes.filter(at_ms__gte=_ms(since))
    if until:
        changes = changes.filter(at_ms__lte=_ms(until))
    return changes


def change_page(query: HistoryQuery, page: str, reach: Reach) -> "Page[Any]":
    found = Paginator(chosen_changes(query, reach), CHANGES_PER_PAGE).get_page(page)
    found.object_list = [told(each, reach) for each in found.object_list]
    return found


def recent_changes(reach: Reach = EVERYTHING) -> list[Change]:
    return [told(each, reach) for each in kept_rows(_recent, reach)]


def _recent(reach: Reach) -> QuerySet[Change]:
    return changes_within(reach)[:RECENT_CHANGES]


def unclean_elections_since(at_ms: int, reach: Reach = EVERYTHING) -> list[Change]:
    """Of topics there still are, newest first, at most UNCLEAN_MAX."""
    return kept_rows(_unclean_elections, reach, at_ms=at_ms)


def _unclean_elections(reach: Reach) -> QuerySet[Change]:
    found = Change.objects.filter(within(reach, Resource.TOPIC, "object_name"), kind=Kind.UNCLEAN, at_ms__gte=AT_MS)
    return found.filter(object_name__in=Topic.objects.values("name"))[:UNCLEAN_MAX]


def change_rows(changes: Iterable[Change], reach: Reach) -> Iterator[tuple[object, ...]]:
    for each in (told(change, reach) for change in changes):
        at = datetime.fromtimestamp(each.at_ms / 1000, UTC)
        yield (at, each.kind, each.object_name, each.partition, each.sentence)


def told(change: Change, reach: Reach) -> Change:
    """Without what is not for who has this reach."""
    if change.kind == Kind.PROCESS:
        change.sentence = sentence_within(reach, change.sentence)
    return change


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
