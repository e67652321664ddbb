"""The console's own requests as rows of a file."""

from collections.abc import Iterable, Iterator

from console.cluster.footprint.rows import BrokerRows

TITLES = (
    "broker",
    "api",
    "client",
    "requests_per_second",
    "errors",
    "sent_bytes_per_second",
    "received_bytes_per_second",
    "p50_ms",
    "p95_ms",
    "p99_ms",
    "share",
    "waited",
    "waited_ms",
)


def rows(brokers: Iterable[BrokerRows]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of each broker, its total first, without an API."""
    for broker in brokers:
        for api in (broker.total, *broker.apis):
            is_total = api is broker.total
            yield (
                broker.name,
                "" if is_total else api.name,
                api.by,
                round(api.requests, 2),
                api.errors,
                api.sent,
                api.received,
                api.p50_ms,
                api.p95_ms,
                api.p99_ms,
                broker.share if is_total else None,
                broker.slots.waited if is_total else None,
                round(broker.slots.waited_ms) if is_total else None,
            )
