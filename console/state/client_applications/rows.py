"""What each broker tells of its clients, as rows of all brokers together. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from console.kit.gateway.clients.interface import ClientView, TrafficView

#: Rows that are kept: those with the most traffic.
ROWS_MAX = 2_000

Told = Mapping[int, tuple[TrafficView, ...] | None]


@dataclass(slots=True)
class TrafficRow:
    """One client in one topic and direction; rates of all brokers together."""

    client: ClientView
    topic: str
    is_produce: bool
    records_per_second: float = 0.0
    bytes_per_second: float = 0.0
    used_at_ms: int = 0
    brokers: list[int] = field(default_factory=list)


def traffic_rows(traffic: Told, at_ms: int) -> list[TrafficRow]:
    """Return a row for each client, topic and direction; those with the most bytes a second first."""
    rows: dict[tuple[ClientView, str, bool], TrafficRow] = {}
    for broker_id, views in traffic.items():
        for view in views or ():
            key = view.client, view.topic, view.is_produce
            row = rows.setdefault(key, TrafficRow(*key))
            row.records_per_second = round(row.records_per_second + view.records_per_second, 2)
            row.bytes_per_second = round(row.bytes_per_second + view.bytes_per_second, 1)
            row.used_at_ms = max(row.used_at_ms, at_ms - view.idle_ms)
            row.brokers = sorted({*row.brokers, broker_id})
    return sorted(rows.values(), key=lambda row: (-row.bytes_per_second, -row.used_at_ms))


def silent_brokers(traffic: Told) -> list[int]:
    """Return the brokers that answer and do not tell, while others do; empty where none tells."""
    silent = sorted(broker_id for broker_id, views in traffic.items() if views is None)
    return [] if len(silent) == len(traffic) else silent
