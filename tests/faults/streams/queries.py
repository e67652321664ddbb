"""The queries that are killed, and what must come out of each for what went in.

All write with the sink of a stream, from `input` to `output`. What goes in are numbers, under keys 0 to 9.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

WINDOW_MS = 2_000
#: No record is late: how far apart the partitions of the input may be read.
LATENESS_S = 600


class Written(NamedTuple):
    """A record as the judge reads it."""

    partition: int
    key: bytes
    value: bytes
    timestamp_ms: int


class KilledQuery(NamedTuple):
    """`build` is Spark's; `expected` are the (key, value) pairs of the output."""

    build: Callable[["DataFrame"], "DataFrame"]
    expected: Callable[[Iterable[Written]], Counter[tuple[bytes, bytes]]]


def _pass_through(records: "DataFrame") -> "DataFrame":
    return records.select("key", "value")


def _as_they_were(written: Iterable[Written]) -> Counter[tuple[bytes, bytes]]:
    return Counter((record.key, record.value) for record in written)


def _windowed_count(records: "DataFrame") -> "DataFrame":
    from pyspark.sql import functions as f

    window = f.concat_ws("/", f.unix_millis("window.start").cast("string"), f.col("key").cast("string"))
    return (
        records.withWatermark("timestamp", f"{LATENESS_S} seconds")
        .groupBy(f.window("timestamp", f"{WINDOW_MS} milliseconds"), "key")
        .count()
        .select(window.alias("key"), f.col("count").cast("string").alias("value"))
    )


def _closed_windows(written: Iterable[Written]) -> Counter[tuple[bytes, bytes]]:
    written = list(written)
    newest_ms = max(record.timestamp_ms for record in written)
    counts: Counter[bytes] = Counter()
    for record in written:
        start_ms = record.timestamp_ms // WINDOW_MS * WINDOW_MS
        if start_ms + WINDOW_MS <= newest_ms - LATENESS_S * 1_000:
            counts[b"%d/%s" % (start_ms, record.key)] += 1
    return Counter((key, b"%d" % count) for key, count in counts.items())


def _join(records: "DataFrame") -> "DataFrame":
    """Every number with itself if three divides it, as two streams; the others come out alone when time has passed."""
    from pyspark.sql import functions as f

    number = f.col("value").cast("string").try_cast("long")
    # Without a filter, which Spark would move to where the watermark does not see the last record.
    left = _side(records, "left", f.coalesce(number, f.lit(-1)))
    right = _side(records, "right", f.when(number % 3 == 0, number).otherwise(-2))
    near = f"INTERVAL {WINDOW_MS} MILLISECONDS"
    is_pair = f"left = right AND right_time BETWEEN left_time - {near} AND left_time + {near}"
    return left.join(right, f.expr(is_pair), "left_outer").select(
        f.col("left").cast("string").alias("key"),
        f.when(f.col("right").isNull(), "alone").otherwise("pair").alias("value"),
    )


def _side(records: "DataFrame", name: str, number: "Column") -> "DataFrame":
    time = f"{name}_time"
    timed = records.withColumnRenamed("timestamp", time).withWatermark(time, f"{LATENESS_S} seconds")
    return timed.select(number.alias(name), time)


def _pairs_and_singles(written: Iterable[Written]) -> Counter[tuple[bytes, bytes]]:
    numbers = (int(record.value) for record in written if record.value.isdigit())
    return Counter((b"%d" % number, b"pair" if number % 3 == 0 else b"alone") for number in numbers)


QUERIES = {
    "pass-through": KilledQuery(_pass_through, _as_they_were),
    "windowed-count": KilledQuery(_windowed_count, _closed_windows),
    "join": KilledQuery(_join, _pairs_and_singles),
}
