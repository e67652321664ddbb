"""Reading changes: by time, object and kind."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import QueryDict

from console.history.models import Change, Kind
from console.live.clock import moment_of

CHANGES_PER_PAGE = 50
RECENT_CHANGES = 8
#: "What happened at 03:12?" is answered with this much before and after it.
AROUND = timedelta(minutes=10)
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


def chosen_changes(query: HistoryQuery) -> QuerySet[Change]:
    """Newest first."""
    changes = Change.objects.all()
    since, until = query.span
    if query.topic:
        changes = changes.filter(object_name=query.topic, kind__in=("leader", "isr", "replicas", "topic"))
    if query.search:
        changes = changes.filter(sentence__icontains=query.search)
    if query.kind:
        changes = changes.filter(kind=query.kind)
    if since:
        changes = changes.filter(at_ms__gte=_ms(since))
    if until:
        changes = changes.filter(at_ms__lte=_ms(until))
    return changes


def change_page(query: HistoryQuery, page: str) -> Page:
    return Paginator(chosen_changes(query), CHANGES_PER_PAGE).get_page(page)


def recent_changes() -> list[Change]:
    return list(Change.objects.all()[:RECENT_CHANGES])


def change_rows(changes: Iterable[Change]) -> Iterator[tuple]:
    for each in changes:
        at = datetime.fromtimestamp(each.at_ms / 1000, UTC)
        yield (at, each.kind, each.object_name, each.partition, each.sentence)


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
