"""The cluster's recent past: a row every few seconds, kept for hours."""

from typing import Any

from django.db.models import QuerySet, Sum

from console.kit.common.kept_statements import kept_values
from console.state.clusters.models import ClusterSample
from console.state.consumers.models import ConsumerGroup

INTERVAL_MS = 15_000
KEPT_MS = 6 * 3_600_000


class ClusterSampler:
    """Not thread-safe: one thread uses it."""

    def __init__(self) -> None:
        self._sampled_at_ms = 0

    def observe(self, records_per_second: float | None, bytes_per_second: float | None, at_ms: int) -> None:
        """Write a row when one is due, and delete the oldest."""
        if 0 <= at_ms - self._sampled_at_ms < INTERVAL_MS:
            return
        self._sampled_at_ms = at_ms
        ClusterSample.objects.create(
            at_ms=at_ms, records_per_second=records_per_second, bytes_per_second=bytes_per_second, lag=_total_lag()
        )
        ClusterSample.objects.filter(at_ms__lt=at_ms - KEPT_MS).delete()


def newest_sample_ms() -> int:
    """Return the newest sample's time; 0: there is none."""
    return next((at_ms for (at_ms,) in kept_values(_newest)), 0)


def _newest() -> QuerySet[Any]:
    return ClusterSample.objects.order_by("-at_ms").values_list("at_ms")[:1]


def _total_lag() -> int | None:
    """Return the lag of all groups whose lag is known."""
    return ConsumerGroup.objects.aggregate(lag=Sum("lag"))["lag"]
