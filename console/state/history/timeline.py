"""One time line of what was seen to change and of what people did from the console, newest first.

Changes lie in the cluster's database, the audit in the console's: both are read by time, and merged. What a person did
and the collector saw is one line: the change, with the person's name.
"""

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, overload

from django.db.models import Q, QuerySet

from console.kit.access.reach import Reach
from console.kit.audit.models import AuditEvent
from console.kit.audit.record import cluster_audited
from console.kit.common.clock import now_ms
from console.state.history.attribution import is_by_unknown
from console.state.history.links import address_of
from console.state.history.models import Change
from console.state.history.queries import ACTION, HistoryQuery, chosen_changes, redacted

LINES_PER_PAGE = 50
TITLES = ("time", "kind", "object", "partition", "what", "person")
#: The newest changes by the console whose rows of the audit are left out: a database takes so many values at a time.
ATTRIBUTED_MAX = 10_000
#: What changes nothing: logins, and records that were read.
_NO_CHANGES = ("log in", "log out", "read records")
_TONES = {"refused": "warning", "failed": "critical"}
#: Values of an action named in its line, and letters of each.
_VALUES_MAX, _VALUE_LENGTH_MAX = 5, 60


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """A line. `person` is empty where the console did not do it, or the reader may not know who did.

    `is_by_unknown`: a client of the cluster did it, and no action of the console matches it.
    """

    at_ms: int
    kind: str
    label: str
    tone: str
    object_name: str
    partition: int | None
    sentence: str
    person: str = ""
    is_by_unknown: bool = False

    @property
    def address(self) -> str:
        """Return the address of its object's page; empty: it has none."""
        return address_of(self.kind, self.object_name)

    @property
    def row(self) -> tuple[object, ...]:
        at = datetime.fromtimestamp(self.at_ms / 1000, UTC)
        return (at, self.kind, self.object_name, self.partition, self.sentence, self.person)


class HistoryTimeline:
    """What a paginator and a file need. `sees_audit`: the reader may see who did what."""

    def __init__(self, query: HistoryQuery, reach: Reach, *, sees_audit: bool):
        self._reach, self._sees_audit, self._now_ms = reach, sees_audit, now_ms()
        is_action = query.kind == ACTION
        self._changes = Change.objects.none() if is_action else chosen_changes(query, reach)
        is_audit_asked = sees_audit and (is_action or not query.kind)
        self._events = chosen_actions(query) if is_audit_asked else AuditEvent.objects.none()

    def count(self) -> int:
        return self._changes.count() + self._events.count()

    def __len__(self) -> int:
        return self.count()

    @overload
    def __getitem__(self, places: int) -> TimelineEntry: ...

    @overload
    def __getitem__(self, places: slice) -> list[TimelineEntry]: ...

    def __getitem__(self, places: int | slice) -> TimelineEntry | list[TimelineEntry]:
        """Return the slice's rows; of each source as many keys are read as the slice ends at."""
        if isinstance(places, int):
            return self[places : places + 1][0]
        changes = self._changes.order_by("-at_ms", "-id").values_list("at_ms", "id")[: places.stop]
        events = self._events.order_by("-at", "-id").values_list("at", "id")[: places.stop]
        keys = heapq.merge(
            ((at_ms, 1, number) for at_ms, number in changes),
            ((_ms(at), 0, number) for at, number in events),
            reverse=True,
        )
        chosen = list(islice(keys, places.start, places.stop))
        rows: dict[int, Mapping[int, Any]] = {
            1: Change.objects.in_bulk([number for _, source, number in chosen if source]),
            0: AuditEvent.objects.in_bulk([number for _, source, number in chosen if not source]),
        }
        pairs = ((source, rows[source].get(number)) for _, source, number in chosen)
        return [self._entry(source, row) for source, row in pairs if row is not None]

    def __iter__(self) -> Iterator[TimelineEntry]:
        """Iterate over all of it, for a file; rows that come meanwhile are not in it."""
        changes = self._changes.order_by("-at_ms", "-id").iterator(chunk_size=1_000)
        events = self._events.order_by("-at", "-id").iterator(chunk_size=1_000)
        entries = heapq.merge(
            (self._entry(1, change) for change in changes),
            (self._entry(0, event) for event in events),
            key=lambda entry: entry.at_ms,
            reverse=True,
        )
        yield from entries

    def _entry(self, source: int, row: Any) -> TimelineEntry:
        return self._change(row) if source else action_entry(row)

    def _change(self, change: Change) -> TimelineEntry:
        shown = redacted(change, self._reach)
        return TimelineEntry(
            shown.at_ms,
            shown.kind,
            shown.get_kind_display(),
            shown.tone,
            shown.object_name,
            shown.partition,
            shown.sentence,
            shown.person if self._sees_audit else "",
            is_by_unknown=self._sees_audit and is_by_unknown(shown, self._now_ms),
        )


def chosen_actions(query: HistoryQuery) -> QuerySet[AuditEvent]:
    """Return the actions of people and the console in this cluster, without those also seen as a change."""
    events = AuditEvent.objects.filter(cluster=cluster_audited()).exclude(action__in=_NO_CHANGES)
    seen = Change.objects.exclude(audit_id=None).order_by("-id").values_list("audit_id", flat=True)[:ATTRIBUTED_MAX]
    events = events.exclude(id__in=set(seen))
    if query.topic:
        events = events.filter(object_type="topic", object_name=query.topic)
    if query.search:
        words = Q(action__icontains=query.search) | Q(detail__icontains=query.search)
        events = events.filter(words | Q(object_name__icontains=query.search))
    if query.object_name:
        events = events.filter(object_name__icontains=query.object_name)
    if query.person:
        events = events.filter(actor_name__icontains=query.person)
    if query.range.start:
        events = events.filter(at__gte=query.range.start)
    if query.range.end:
        events = events.filter(at__lte=query.range.end)
    return events


def action_entry(event: AuditEvent) -> TimelineEntry:
    """Return a timeline entry for an audit row."""
    sentence = f"{event.action} {event.object_name}".strip()
    words = _values_text(event.before or {}, event.after or {})
    sentence += f": {words}" if words else ""
    if event.result != "done":
        sentence += f" ({event.result})"
    if event.detail:
        sentence += f". {event.detail}"
    tone = _TONES.get(event.result, "plain")
    return TimelineEntry(
        _ms(event.at), ACTION, "console action", tone, event.object_name, None, sentence, event.actor_name
    )


def _values_text(before: Mapping[str, object], after: Mapping[str, object]) -> str:
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    named = [f"{name} {_short(before.get(name))} → {_short(after.get(name))}" for name in names[:_VALUES_MAX]]
    more = len(names) - len(named)
    return "; ".join(named) + (f"; {more} more" if more else "")


def _short(value: object) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= _VALUE_LENGTH_MAX else f"{text[: _VALUE_LENGTH_MAX - 1]}…"


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
