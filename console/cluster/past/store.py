"""Writing what has become true: what was true before ends at the same moment."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from console.cluster.past.models import KEPT_MS, ROWS_MAX, Unseen, Was
from console.cluster.past.states import Packed
from console.kit.common.databases import cluster_atomic

_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class News:
    """Changes of one kind: present objects, with the columns that are counted, and removed ones."""

    kind: str
    now: Mapping[str, Packed]
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    gone: Iterable[str] = ()


def load_now(kind: str) -> dict[str, int]:
    """Return the hash of each current packed state, by name."""
    rows = Was.objects.filter(kind=kind, until_ms=None).values_list("name", "state")
    return {name: hash(bytes(state)) for name, state in rows.iterator()}


def write(news: News, at_ms: int) -> None:
    ended = [*news.now, *news.gone]
    with cluster_atomic():
        for at in range(0, len(ended), _AT_ONCE):
            Was.objects.filter(kind=news.kind, name__in=ended[at : at + _AT_ONCE], until_ms=None).update(until_ms=at_ms)
        rows = [
            Was(kind=news.kind, name=name, from_ms=at_ms, state=packed, **news.counts.get(name, {}))
            for name, packed in news.now.items()
        ]
        Was.objects.bulk_create(rows, batch_size=_AT_ONCE)


def note_unobserved(from_ms: int, until_ms: int) -> None:
    """Note a time without observation; of two notes with the same beginning the longer counts."""
    Unseen.objects.update_or_create(from_ms=from_ms, defaults={"until_ms": until_ms})


def forget(at_ms: int) -> None:
    """Delete states that ended KEPT_MS ago, and the oldest beyond ROWS_MAX; current ones stay."""
    over = Was.objects.exclude(until_ms=None)
    since_ms = at_ms - KEPT_MS
    oldest_kept = over.order_by("-until_ms").values_list("until_ms", flat=True)[ROWS_MAX : ROWS_MAX + 1]
    since_ms = max([since_ms, *(end_ms for end_ms in oldest_kept if end_ms is not None)])
    if over.filter(until_ms__lte=since_ms).delete()[0]:
        Unseen.objects.filter(until_ms__lte=since_ms).exclude(from_ms=0).delete()
        before = Unseen.objects.filter(from_ms=0).first()
        if before is None or before.until_ms < since_ms:
            note_unobserved(0, since_ms)
