"""What the collector keeps of brokers: the registered ones, and those that are missed. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from console.kit.gateway.interface import BrokerView

#: A broker that is gone and holds no replica is forgotten after this long.
FORGET_AFTER_MS = 24 * 3600 * 1000
#: How often it left, as remembered of a broker: enough to call it flapping.
LEFT_TIMES_MAX = 20


@dataclass(frozen=True, slots=True)
class BrokerRow:
    broker_id: int
    host: str = ""
    port: int | None = None
    rack: str = ""
    is_registered: bool = False
    changed_at_ms: int = 0
    #: When it left, oldest first.
    left_at_ms: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplicaCounts:
    leader_count: int = 0
    replica_count: int = 0
    out_of_sync_count: int = 0
    #: Of those that a move brings, the ones that are not complete yet.
    copying_count: int = 0
    #: Partitions whose first replica it holds, and those of them it leads.
    preferred_count: int = 0
    preferred_led_count: int = 0
    #: Appended to the partitions it leads; None: none of their rates is known yet.
    records_per_second: float | None = None


def broker_rows(
    views: Iterable[BrokerView],
    before: Mapping[int, BrokerRow],
    holding_replicas: set[int],
    at_ms: int,
    removed: Collection[int] = (),
) -> dict[int, BrokerRow]:
    """Return registered brokers as they are; missing ones as last seen; those only named in a replica list with no
    address.

    Who was `removed` here and holds nothing is not missed.
    """
    rows = {}
    for view in views:
        previous = before.get(view.id)
        left_at_ms = previous.left_at_ms if previous is not None else ()
        row = BrokerRow(view.id, view.host, view.port, view.rack, True, at_ms, left_at_ms)
        if previous is not None and replace(previous, changed_at_ms=at_ms) == row:
            row = previous
        rows[view.id] = row
    for broker_id in (before.keys() | holding_replicas) - rows.keys():
        previous = before.get(broker_id, BrokerRow(broker_id, changed_at_ms=at_ms))
        if previous.is_registered:
            left_at_ms = (*previous.left_at_ms, at_ms)[-LEFT_TIMES_MAX:]
            previous = replace(previous, is_registered=False, changed_at_ms=at_ms, left_at_ms=left_at_ms)
        is_missed = broker_id not in removed and at_ms - previous.changed_at_ms < FORGET_AFTER_MS
        if broker_id in holding_replicas or is_missed:
            rows[broker_id] = previous
    return rows
