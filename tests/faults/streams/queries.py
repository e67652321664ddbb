"""The queries that are killed, and what must come out of each for what went in.

All write with the sink of a stream, from `input` to `output`. What goes in are numbers, under keys 0 to 9.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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


QUERIES = {
    "pass-through": KilledQuery(_pass_through, _as_they_were),
    "windowed-count": KilledQuery(_windowed_count, _closed_windows),
}
