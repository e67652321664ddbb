"""Writing changes, and telling the pages that show them."""

from collections.abc import Sequence

from console.kit.common.databases import cluster_atomic
from console.kit.live import groups
from console.kit.live.push import push_partial
from console.state.history.differences import Event
from console.state.history.feature import LIVE_GROUP
from console.state.history.models import ROWS_MAX, Change

_SENTENCE_LENGTH_MAX = Change._meta.get_field("sentence").max_length


def write_events(events: Sequence[Event], at_ms: int) -> None:
    """Write `events` in their order, drop the oldest rows beyond ROWS_MAX, and push to who is looking."""
    if not events:
        return
    with cluster_atomic():
        changes = [
            Change(
                at_ms=at_ms,
                kind=each.kind,
                object_name=each.object_name,
                partition=each.partition,
                sentence=each.sentence[:_SENTENCE_LENGTH_MAX],
                tone=each.tone,
            )
            for each in events
        ]
        Change.objects.bulk_create(changes, batch_size=100)
        newest = Change.objects.order_by("-id").values_list("id", flat=True)[0]
        Change.objects.filter(id__lte=newest - ROWS_MAX).delete()
        for group in _groups(events):
            push_partial(group, "history/partials/version.html", {"version": f"{at_ms}-{newest}"})


def _groups(events: Sequence[Event]) -> list[str]:
    names = {each.object_name for each in events if each.kind not in ("broker", "controller", "process")}
    return [LIVE_GROUP, *(groups.topic(name) for name in sorted(names))]
