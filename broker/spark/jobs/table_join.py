"""A stream enriched from a table: each record with the newest row of its key in a compacted topic.

As Kafka Streams' KStream–KTable join: a change of the table writes nothing, a record of the stream is joined with what
the table said when it happened, as far as that has been read. The table is read whole in the first batch; a record with
a null value takes its row away. The state is the table: one value for each key.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from broker.config.definition import Key
from broker.spark.definition import Inputs, Job, Settings
from broker.spark.fields import as_json, text_of
from broker.spark.parameters import OUTPUT_TOPIC, field_key, topic_key

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.state import GroupState

DROP, KEEP = "drop", "keep"
_CHANGES = "key STRING, record STRING, row STRING"


class JoinInput(NamedTuple):
    """A record of either topic; of two at the same moment the table's goes first."""

    time: object
    is_record: bool
    partition: int
    offset: int
    value: str | None


class JoinedRecord(NamedTuple):
    """A record of the stream with its row; None: the table has none."""

    record: str | None
    row: str | None


def join_in_order(row: str | None, changes: Iterable[JoinInput]) -> tuple[str | None, list[JoinedRecord]]:
    """Apply one key's changes to the table's row, and return it with the joined records. Pure."""
    joined = []
    for change in sorted(changes, key=lambda change: change[:4]):
        if change.is_record:
            joined.append(JoinedRecord(change.value, row))
        else:
            row = change.value
    return row, joined


def build(inputs: Inputs, settings: Settings) -> "DataFrame":
    from pyspark.sql import functions as f

    table = _changes(inputs.whole_topic(settings["table.topic"]), f.col("key").cast("string"), is_record=False)
    stream = _changes(inputs.topic(settings["input.topic"]), text_of(settings["key.field"]), is_record=True)
    joined = (
        table.where("key IS NOT NULL")
        .unionByName(stream)
        .groupBy("key")
        .applyInPandasWithState(_join_group, _CHANGES, "row STRING", "append", "NoTimeout")
    )
    if settings["unmatched"] == DROP:
        joined = joined.where("row IS NOT NULL")
    value = f.struct("key", as_json(f.col("record")).alias("record"), as_json(f.col("row")).alias("row"))
    return joined.select("key", f.to_json(value).alias("value"))


def _changes(records: "DataFrame", key: "Column", is_record: bool) -> "DataFrame":
    from pyspark.sql import functions as f

    value = f.col("value").cast("string").alias("value")
    time = f.unix_millis("timestamp").alias("time")
    return records.select(key.alias("key"), f.lit(is_record).alias("is_record"), "partition", "offset", time, value)


def _join_group(key: tuple[str], frames: "Iterator[pd.DataFrame]", state: "GroupState") -> "Iterator[pd.DataFrame]":
    import pandas as pd

    changes = [
        JoinInput(partition.time, partition.is_record, partition.partition, partition.offset, _text(partition.value))
        for frame in frames
        for partition in frame.itertuples(index=False)
    ]
    row, joined = join_in_order(state.get[0] if state.exists else None, changes)
    if row is not None:
        state.update((row,))
    elif state.exists:
        state.remove()
    yield pd.DataFrame({"key": key[0], "record": [j.record for j in joined], "row": [j.row for j in joined]})


def _text(value: object) -> str | None:
    """Return the text; pandas may have made a null a NaN."""
    return value if isinstance(value, str) else None


JOB = Job(
    name="table_join",
    meaning="Joins a topic with a compacted topic: each record with the row of its key.",
    keys=(
        topic_key("input.topic", "The topic whose records are joined."),
        topic_key("table.topic", "The compacted topic that is the table."),
        OUTPUT_TOPIC,
        field_key("key.field", "key", "The field of a record that names its row."),
        Key("unmatched", str, DROP, "What becomes of a record without a row.", choices=(DROP, KEEP)),
    ),
    build=build,
    reads=("input.topic", "table.topic"),
)
