"""Requests per path and status in windows of the time they happened, from `console.access`, counted live.

Each record of the output is the count so far of one window, path and status, under the key `window_start|path|status`:
the newest record of a key is the count.
"""

from typing import TYPE_CHECKING

from broker.spark.config import StreamConfig
from broker.spark.sink_state import OutputRecord

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

#: The path lines are counted under that are not a JSON object with a path and a status; their status is 0.
MALFORMED = "(malformed)"

#: A line cannot say it comes from later than its record by more than this: one wrong clock must not end all windows.
FUTURE_MAX_MS = 60_000

#: Longer paths are cut: each is a key of the output and of the state.
PATH_LENGTH_MAX = 256

OUTPUT_CONFIGS = {"cleanup.policy": "compact"}

_LINE = "time_ms BIGINT, path STRING, status INT"


def build(records: "DataFrame", config: StreamConfig) -> "DataFrame":
    """Columns key and value (text) of the counts that changed; for output mode update."""
    from pyspark.sql import functions as f

    line = f.from_json(f.col("value").cast("string"), _LINE)
    parsed = records.select(line.alias("line"), f.unix_millis("timestamp").alias("record_ms"))
    is_request = f.col("line.path").isNotNull() & f.col("line.status").isNotNull()
    events = parsed.select(
        f.timestamp_millis(_event_ms()).alias("time"),
        f.when(is_request, f.substring("line.path", 1, PATH_LENGTH_MAX)).otherwise(MALFORMED).alias("path"),
        f.when(is_request, f.col("line.status")).otherwise(0).alias("status"),
    )
    counts = (
        events.withWatermark("time", f"{config.watermark_ms} milliseconds")
        .groupBy(f.window("time", f"{config.window_ms} milliseconds"), "path", "status")
        .count()
    )
    return counts.select(
        f.concat_ws("|", _instant("window.start"), "path", "status").alias("key"),
        f.to_json(
            f.struct(
                _instant("window.start").alias("window_start"),
                _instant("window.end").alias("window_end"),
                *("path", "status", "count"),
            )
        ).alias("value"),
    )


def output_records(counts: "pa.Table") -> list[OutputRecord]:
    return [
        OutputRecord(key.encode(), value.encode())
        for key, value in zip(counts["key"].to_pylist(), counts["value"].to_pylist(), strict=True)
    ]


def _event_ms() -> "Column":
    from pyspark.sql import functions as f

    said, recorded = f.col("line.time_ms"), f.col("record_ms")
    return f.when(said.between(0, recorded + FUTURE_MAX_MS), said).otherwise(recorded)


def _instant(column: str) -> "Column":
    from pyspark.sql import functions as f

    return f.date_format(column, "yyyy-MM-dd'T'HH:mm:ss'Z'")
