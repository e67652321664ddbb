"""Asking a table that a job keeps in a topic: the newest value of each key."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from broker.client.cluster import ClusterConnections
from broker.client.leaders import Leaders
from broker.client.read_to_end import read_to_end
from broker.client.record_reader import LeftOutBatch
from broker.common.errors import ApiError, ErrorCode


class TableRow(NamedTuple):
    key: str
    value: object


def read_table(cluster: ClusterConnections, topic: str, wants: Callable[[str], bool]) -> dict[str, object]:
    """Return the newest value of each wanted key, JSON where it is; what is written while this reads may be left out.

    Raises ApiError when the topic cannot be asked for or a part of it cannot be read, BrokerUnreachable, and
    TimeoutError when its records do not come.
    """
    table: dict[str, object] = {}
    for run in read_to_end(cluster, Leaders(cluster).partitions(topic), _refuse):
        changes = ((key.decode("utf-8", "replace"), value) for _, _, key, value, _ in run.records if key is not None)
        fold(table, changes, wants)
    return table


def _refuse(batch: LeftOutBatch) -> None:
    """Refuse a batch that cannot be read: without it the table would be wrong."""
    span = f"{batch.partition} from offset {batch.first} to {batch.last}"
    raise ApiError(ErrorCode.CORRUPT_MESSAGE, f"{span} cannot be read: {batch.reason}")


def fold(table: dict[str, object], changes: Iterable[tuple[str, bytes | None]], wants: Callable[[str], bool]) -> None:
    """Put changes into the table in their order; a null value takes the row away."""
    for key, value in changes:
        if not wants(key):
            continue
        if value is None:
            table.pop(key, None)
        else:
            table[key] = _read(value)


def greatest(table: Mapping[str, object], column: str, limit: int) -> list[TableRow]:
    """Return rows by `column` of their value, the greatest first; equal rows by key."""

    def rank(item: tuple[str, object]) -> tuple[float, str]:
        number = item[1].get(column) if isinstance(item[1], dict) else item[1]
        return -float(number) if isinstance(number, int | float) else 0.0, item[0]

    return [TableRow(key, value) for key, value in sorted(table.items(), key=rank)[:limit]]


def _read(value: bytes) -> object:
    try:
        return json.loads(value)
    except ValueError:
        return value.decode("utf-8", "replace")
