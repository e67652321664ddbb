"""Brokers, and what belongs to one, as rows of a file."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from console.cluster.brokers.drift import SettingRow
from console.cluster.brokers.queries import HeldPartition
from console.state.clusters.models import Broker

TITLES = (
    "broker", "state", "host", "port", "rack", "software", "speaks", "leads", "replicas", "out_of_sync",
    "size_bytes", "records_per_second", "bytes_per_second", "since", "restart",
)  # fmt: skip
PARTITION_TITLES = ("topic", "partition", "role", "leader", "replicas", "in_sync", "size_bytes", "records_per_second")
SETTING_TITLES = ("setting", "value", "source", "default", "read_only", "drift", "meaning")
REQUEST_TITLES = ("api", "per_second", "p50_ms", "p95_ms", "p99_ms", "max_ms", "count", "error_count")


def broker_rows(brokers: Iterable[Broker]) -> Iterator[tuple[object, ...]]:
    """Return the rows of brokers `with_state_names` and `with_restart_safety`."""
    for broker in brokers:
        since = datetime.fromtimestamp(broker.changed_at_ms / 1000, UTC) if broker.changed_at_ms else None
        counts = (broker.leader_count, broker.replica_count, broker.out_of_sync_count)
        flow = (broker.size_bytes, broker.records_per_second, broker.bytes_per_second)
        yield (
            broker.broker_id,
            broker.word,
            broker.host,
            broker.port,
            broker.rack,
            broker.software,
            broker.speaks,
            *counts,
            *flow,
            since,
            broker.restart_word,
        )


def partition_cells(held: HeldPartition) -> tuple[object, ...]:
    partition = held.partition
    rate = partition.records_per_second
    return (
        partition.topic.name,
        partition.partition,
        held.role,
        partition.leader,
        partition.replicas,
        partition.isr,
        held.size,
        rate,
    )


def setting_cells(row: SettingRow) -> tuple[object, ...]:
    setting = row.setting
    value = "(secret)" if setting.is_sensitive else setting.value
    return (
        setting.name,
        value,
        setting.source,
        setting.default,
        setting.is_read_only,
        " ".join(row.drifts),
        setting.meaning,
    )


def request_cells(row: dict[str, object]) -> tuple[object, ...]:
    return tuple(row[title] for title in REQUEST_TITLES)
