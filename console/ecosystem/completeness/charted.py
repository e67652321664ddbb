"""What is charted of a reader of a topic: how much of what was expected came in the last hour, and how late."""

from collections.abc import Iterator
from hashlib import sha256

from django.db.models import Max

from console.cluster.charts.measures import DELIVERY, NAME_LENGTH_MAX, Reading
from console.ecosystem.completeness.delivery_queries import SILENT_AFTER_MS
from console.ecosystem.completeness.models import DeliverySeries
from console.ecosystem.completeness.summaries import READERS
from console.kit.common.clock import now_ms
from console.state.clusters.models import ClusterState

_COLUMNS = ("delivered", "again", "p50_ms", "p95_ms", "p99_ms")


def readings(_state: ClusterState) -> tuple[int, Iterator[Reading]]:
    """Return readings, each with its own time."""
    at_ms = now_ms()
    return at_ms, _readings(at_ms)


def series_name(topic: str, tier: str, reader: str) -> str:
    name = f"{topic}/{tier} {reader}"
    if len(name) <= NAME_LENGTH_MAX:
        return name
    mark = f"#{sha256(name.encode()).hexdigest()[:16]}"
    return name[: NAME_LENGTH_MAX - len(mark)] + mark


def _readings(at_ms: int) -> Iterator[Reading]:
    """Yield readings; silent readers fall behind too, as long as another one reports the topic."""
    heard = dict(DeliverySeries.objects.order_by().values_list("topic").annotate(Max("at_ms")))
    rows = DeliverySeries.objects.filter(tier__in=READERS)
    for topic, tier, reader, heard_ms, *values in rows.values_list("topic", "tier", "reader", "at_ms", *_COLUMNS):
        delivered, again, *latencies = values
        is_silent, nobody = (at_ms - value > SILENT_AFTER_MS for value in (heard_ms, heard[topic]))
        known = (*((None, None) if nobody else (delivered, again)), *((None,) * 3 if is_silent else latencies))
        yield Reading(DELIVERY, series_name(topic, tier, reader), known)
