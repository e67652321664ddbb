"""Brokers, and what belongs to one, as rows of a file."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from console.cluster.brokers.drift import SettingRow
from console.cluster.brokers.queries import HeldPartition
from console.state.clusters.models import Broker

TITLES = (
    "broker", "state", "host", "port", "rack", "software", "speaks", "leads", "replicas", "out_of_sync",
    "size_bytes", "records_per_second", "bytes_per_second", "since",
)  # fmt: skip
PARTITION_TITLES = ("topic", "partition", "role", "leader", "replicas", "in_sync", "size_bytes", "records_per_second")
SETTING_TITLES = ("setting", "value", "source", "default", "read_only", "drift", "meaning")
REQUEST_TITLES = ("api", "per_second", "p50_ms", "p95_ms", "p99_ms", "max_ms", "count", "error_count")


def broker_rows(brokers: Iterable[Broker]) -> Iterator[tuple[object, ...]]:
    """Of brokers `with_words`."""
    for each in brokers:
        since = datetime.fromtimestamp(each.changed_at_ms / 1000, UTC) if each.changed_at_ms else None
        counts = (each.leader_count, each.replica_count, each.out_of_sync_count)
        flow = (each.size_bytes, each.records_per_second, each.bytes_per_second)
        yield (
            each.broker_id,
            each.word,
            each.host,
            each.port,
            each.rack,
            each.software,
            each.speaks,
            *counts,
            *flow,
            since,
        )


def partition_cells(held: HeldPartition) -> tuple[object, ...]:
    each = held.partition
    rate = each.records_per_second
    return (each.topic.name, each.partition, held.role, each.leader, each.replicas, each.isr, held.size, rate)


def setting_cells(row: SettingRow) -> tuple[object, ...]:
    each = row.setting
    value = "(secret)" if each.is_sensitive else each.value
    return (each.name, value, each.source, each.default, each.is_read_only, " ".join(row.drifts), each.meaning)


def request_cells(row: dict[str, object]) -> tuple[object, ...]:
    return tuple(row[title] for title in REQUEST_TITLES)
