"""Writing changes, and telling the pages that show them."""

from collections.abc import Iterable, Sequence

from console.kit.common.databases import cluster_atomic
from console.kit.live import groups
from console.kit.live.push import push_partial
from console.state.history.differences import HistoryEvent
from console.state.history.feature import LIVE_GROUP
from console.state.history.flood import MANY
from console.state.history.models import ROWS_MAX, TOPIC_KINDS, Change

_NAME_LENGTH_MAX = Change._meta.get_field("object_name").max_length
_SENTENCE_LENGTH_MAX = Change._meta.get_field("sentence").max_length


def write_events(events: Sequence[HistoryEvent], at_ms: int) -> None:
    """Write `events` in their order, drop the oldest rows beyond ROWS_MAX, and push to who is looking."""
    if not events:
        return
    with cluster_atomic():
        Change.objects.bulk_create([_change(event, at_ms) for event in events], batch_size=100)
        newest = Change.objects.order_by("-id").values_list("id", flat=True)[0]
        Change.objects.filter(id__lte=newest - ROWS_MAX).delete()
        refresh_pages(events, f"{at_ms}-{newest}")


def write_flood(admitted: tuple[list[HistoryEvent], HistoryEvent | None, int], at_ms: int) -> None:
    """Write what a `FloodGate` admits; the line of the others takes the place of that of the same flood."""
    lines, summary, since_ms = admitted
    if not lines and summary is None:
        return
    with cluster_atomic():
        if summary is not None:
            Change.objects.filter(kind=summary.kind, object_name=MANY, at_ms__gte=since_ms).delete()
        write_events([*lines, *([] if summary is None else [summary])], at_ms)


def refresh_pages(events: Iterable[HistoryEvent | Change], version: str) -> None:
    """Push to the pages of the history, and of the topics that the events are about, that there is news."""
    for group in _groups(events):
        push_partial(group, "history/partials/version.html", {"version": version})


def _change(event: HistoryEvent, at_ms: int) -> Change:
    return Change(
        at_ms=at_ms,
        kind=event.kind,
        object_name=event.object_name[:_NAME_LENGTH_MAX],
        partition=event.partition,
        sentence=event.sentence[:_SENTENCE_LENGTH_MAX],
        tone=event.tone,
        topic=event.topic,
        values=None if event.values is None else {name: list(pair) for name, pair in event.values.items()},
    )


def _groups(events: Iterable[HistoryEvent | Change]) -> list[str]:
    names = {event.object_name for event in events if event.kind in TOPIC_KINDS}
    names |= {event.topic for event in events if event.topic}
    return [LIVE_GROUP, *(groups.topic(name) for name in sorted(names - {MANY, "many topics"}))]
