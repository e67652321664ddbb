"""Rows of a DataFrame as records for partitions: columns key, value, topic, headers, partition, as in Spark's sink."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from broker.common.types import TopicPartition
from broker.spark.partitioning import partitions_of
from broker.spark.record_encoding import EncodedRows, encode_headers

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_TYPES = {
    "key": ("string", "binary"),
    "value": ("string", "binary"),
    "topic": ("string",),
    "headers": ("array<struct<key:string,value:binary>>",),
    "partition": ("int",),
}


def check_columns(schema: "StructType", topic: str | None) -> None:
    """ValueError, when the query is made, for columns that cannot be records. Others than _TYPES are passed over."""
    types = {field.name: field.dataType.simpleString() for field in schema.fields}
    if "value" not in types:
        raise ValueError("the column 'value' is required")
    if topic is None and "topic" not in types:
        raise ValueError("no topic: set the option topic, or have a column 'topic'")
    for name, accepted in _TYPES.items():
        if name in types and types[name] not in accepted:
            raise ValueError(f"the column '{name}' is {types[name]}, and must be {' or '.join(accepted)}")


def by_partition(
    batch: pa.RecordBatch, topic: str | None, count_of: Callable[[str], int], keyless: int
) -> dict[TopicPartition, EncodedRows]:
    """Group the batch's rows by partition, in order. `topic` goes before the column.

    `count_of` says how many partitions a topic has; rows without key and partition go to `keyless` of them, modulo.
    ValueError for a row without topic, or whose partition does not exist.
    """
    columns = {name: batch.column(name) for name in _TYPES if name in batch.schema.names}
    encoded: dict[TopicPartition, EncodedRows] = {}
    for name, rows in _by_topic(columns.get("topic"), topic, batch.num_rows):
        count = count_of(name)
        chosen = {item: column if rows is None else column.take(rows) for item, column in columns.items()}
        records = _records(chosen)
        named = chosen.get("partition")
        named = None if named is None else pc.fill_null(named, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        partitions = partitions_of(records.key, named, count, keyless % count)
        for partition in np.unique(partitions).tolist():
            encoded[TopicPartition(name, partition)] = _only(records, partitions == partition)
    return encoded


def _by_topic(column: pa.Array | None, topic: str | None, count: int) -> Iterable[tuple[str, pa.Array | None]]:
    """Yield each topic with the places of its rows; None for all."""
    if topic is not None:
        return [(topic, None)] if count else []
    assert column is not None, "check_columns lets no other rows pass"
    if column.null_count:
        raise ValueError("a row has no topic; fill the column, or set the option topic for all")
    names = pc.unique(column).to_pylist()
    if len(names) == 1:
        return [(names[0], None)]
    return [(name, pc.indices_nonzero(pc.equal(column, name))) for name in names]


def _records(columns: dict[str, pa.Array]) -> EncodedRows:
    value = columns["value"].cast(pa.binary())
    key = columns["key"].cast(pa.binary()) if "key" in columns else pa.nulls(len(value), pa.binary())
    headers = columns.get("headers")
    if headers is None or headers.null_count == len(headers):
        return EncodedRows(key, value, None)
    pairs = [header and [(pair["key"], pair["value"]) for pair in header] for header in headers.to_pylist()]
    return EncodedRows(key, value, encode_headers(pairs))


def _only(rows: EncodedRows, wanted: np.ndarray) -> EncodedRows:
    if wanted.all():
        return rows
    mask = pa.array(wanted)
    return EncodedRows(*(column if column is None else column.filter(mask) for column in rows))
