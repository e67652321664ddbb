"""Asking a table that a job keeps in a topic: the newest value of each key."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from broker.spark.cluster import (
    ClientConfig,
    connect_admin,
    earliest_offsets,
    latest_offsets,
    partitions_of,
    read_range,
)
from broker.spark.offsets import ranges


class Row(NamedTuple):
    key: str
    value: object


def read_table(client: ClientConfig, topic: str, wants: Callable[[str], bool]) -> dict[str, object]:
    """The newest value of each wanted key, JSON where it is; what is written while this reads may be left out.

    KafkaException when the topic cannot be asked for, TimeoutError when its records do not come.
    """
    admin = connect_admin(client)
    partitions = partitions_of(admin, [topic])
    ends = latest_offsets(admin, partitions, committed_only=True)
    table: dict[str, object] = {}
    for wanted in ranges(earliest_offsets(admin, partitions), ends):
        for messages in read_range(client, wanted, fail_on_data_loss=False):
            changes = ((message.key(), message.value()) for message in messages)
            fold(table, ((key.decode("utf-8", "replace"), value) for key, value in changes if key is not None), wants)
    return table


def fold(table: dict[str, object], changes: Iterable[tuple[str, bytes | None]], wants: Callable[[str], bool]) -> None:
    """Put changes into the table in their order; a null value takes the row away."""
    for key, value in changes:
        if not wants(key):
            continue
        if value is None:
            table.pop(key, None)
        else:
            table[key] = _read(value)


def greatest(table: Mapping[str, object], column: str, limit: int) -> list[Row]:
    """Rows by `column` of their value, the greatest first; rows of the same by key."""

    def rank(item: tuple[str, object]) -> tuple[float, str]:
        number = item[1].get(column) if isinstance(item[1], dict) else item[1]
        return -float(number) if isinstance(number, int | float) else 0.0, item[0]

    return [Row(key, value) for key, value in sorted(table.items(), key=rank)[:limit]]


def _read(value: bytes) -> object:
    try:
        return json.loads(value)
    except ValueError:
        return value.decode("utf-8", "replace")
