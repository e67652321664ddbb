"""Brokers as rows of a file."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from console.brokers.models import Broker

TITLES = ("broker", "state", "host", "port", "rack", "leads", "replicas", "out_of_sync", "since")


def broker_rows(brokers: Iterable[Broker]) -> Iterator[tuple]:
    for each in brokers:
        state = "registered" if each.is_registered else "missing"
        since = datetime.fromtimestamp(each.changed_at_ms / 1000, UTC) if each.changed_at_ms else None
        counts = (each.leader_count, each.replica_count, each.out_of_sync_count)
        yield (each.broker_id, state, each.host, each.port, each.rack, *counts, since)
