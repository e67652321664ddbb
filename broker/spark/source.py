"""`format("barnabas")` for Spark, and its source: topics in Arrow batches. Its sink is in transactional_sink.py.

Rows and options are those of Spark's Kafka connector, so that a job runs on either by the format's name; what an option
means is said in source_options.py. One default differs: `kafka.isolation.level` is read_committed. Two things are of
Spark's connectors in Java alone: `df.write` without `.mode("append")`, and the triggers continuous and real time.

Records are read between exact offsets, so a repeated batch reads the same records. Partitions that are added, and
topics that begin to match a pattern, are taken in from their first record. A partition that ends before the stream's
position, or is gone, is asked for again before it counts as lost: a new leader may be behind for a moment.
"""

import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructType,
    TimestampType,
)

from broker.client.errors import BrokerUnreachable
from broker.common.errors import ApiError
from broker.common.logs import logger
from broker.spark import offsets as stream
from broker.spark.range_reader import read_range
from broker.spark.source_options import SourceOptions, boolean, read_source_options
from broker.spark.stream_offsets import StreamOffsets, patiently
from broker.spark.transactional_sink import BatchWriter, StreamWriter, read_sink_options

#: Looks at a partition that seems to have lost records, and the pause between them.
LOSS_LOOKS, LOSS_PAUSE_S = 10, 1.0

_log = logger("broker.spark.source")

_COLUMNS = (
    StructType()
    .add("key", BinaryType())
    .add("value", BinaryType())
    .add("topic", StringType())
    .add("partition", IntegerType())
    .add("offset", LongType())
    .add("timestamp", TimestampType())
    .add("timestampType", IntegerType())
)
_HEADERS = ArrayType(StructType().add("key", StringType()).add("value", BinaryType()))


class BarnabasDataSource(DataSource):
    """Spark's data source. Register it with `spark.dataSource.register(BarnabasDataSource)`."""

    @classmethod
    def name(cls) -> str:
        return "barnabas"

    def schema(self) -> StructType:
        columns = StructType(list(_COLUMNS.fields))
        given = {name.lower(): text for name, text in self.options.items()}
        return columns.add("headers", _HEADERS) if boolean(given, "includeHeaders", False) else columns

    def streamReader(self, schema: StructType) -> "BarnabasStreamReader":
        return BarnabasStreamReader(read_source_options(self.options, streaming=True))

    def reader(self, schema: StructType) -> "BarnabasReader":
        return BarnabasReader(read_source_options(self.options, streaming=False))

    def streamWriter(self, schema: StructType, overwrite: bool) -> StreamWriter:
        return StreamWriter(read_sink_options(self.options, schema, overwrite=overwrite))

    def writer(self, schema: StructType, overwrite: bool) -> BatchWriter:
        return BatchWriter(read_sink_options(self.options, schema, overwrite=overwrite))


class RangePartition(InputPartition):
    """What one Spark task reads."""

    def __init__(self, wanted: stream.OffsetRange):
        super().__init__(tuple(wanted))
        self.wanted = wanted


class _RangeSource:
    """What both readers share. Travels to Spark's workers by pickle."""

    def __init__(self, options: SourceOptions):
        self._options = options

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read a partition. Spark asks for one partition without content when there is nothing to read."""
        if not isinstance(partition, RangePartition):
            return iter(())
        options = self._options
        return read_range(
            options.client,
            partition.wanted,
            fail_on_data_loss=options.fail_on_data_loss,
            with_headers=options.with_headers,
        )

    def _partitions(self, start: stream.Offsets, end: stream.Offsets) -> list[RangePartition]:
        options = self._options
        pieces = stream.split(stream.ranges(start, end), options.min_partitions, options.max_records_per_partition)
        return [RangePartition(piece) for piece in pieces]

    def _resolve(self, position: Any) -> stream.Offsets:
        return patiently(lambda: StreamOffsets(self._options).of(position), self._options.subscription)


class BarnabasReader(_RangeSource, DataSourceReader):
    """One batch between the starting and the ending position."""

    def partitions(self) -> list[RangePartition]:
        return self._partitions(self._resolve(self._options.start), self._resolve(self._options.end))


class BarnabasStreamReader(_RangeSource, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A stream that moves by offsets per partition."""

    def __init__(self, options: SourceOptions):
        super().__init__(options)
        self._available_now: stream.Offsets | None = None
        self._seen: stream.Offsets = {}
        self._moved_at = time.monotonic()

    def initialOffset(self) -> stream.OffsetJson:
        return stream.to_json(self._resolve(self._options.start))

    def latestOffset(self, start: stream.OffsetJson, limit: ReadLimit) -> stream.OffsetJson:
        """Return the latest offset; unreachable brokers have nothing new: the stream stays and asks at the next
        trigger.
        """
        begin = stream.from_json(start)
        try:
            end = self._end(begin)
        except (ApiError, BrokerUnreachable) as error:
            if isinstance(error, ApiError) and not error.code.retriable:
                raise
            return start
        if not self._is_enough(stream.backlog(begin, end)):
            return start
        self._moved_at = time.monotonic()
        return stream.to_json(stream.limit(begin, end, limit.max_rows) if isinstance(limit, ReadMaxRows) else end)

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._options.max_offsets) if self._options.max_offsets else ReadAllAvailable()

    def reportLatestOffset(self) -> stream.OffsetJson | None:
        """Return the partitions' ends regardless of the limit: Spark shows them as the source's `latestOffset`."""
        return stream.to_json(self._seen) if self._seen else None

    def prepareForTriggerAvailableNow(self) -> None:
        self._available_now = self._seen = patiently(StreamOffsets(self._options).latest, self._options.subscription)

    def partitions(self, start: stream.OffsetJson, end: stream.OffsetJson) -> list[RangePartition]:
        return self._partitions(stream.from_json(start), stream.from_json(end))

    def _end(self, begin: stream.Offsets) -> stream.Offsets:
        """Return how far the stream may read: never back, unless records may be lost."""
        end = self._available_now or self._look()
        looks = 1
        while stream.lost(begin, end) and self._available_now is None and looks < LOSS_LOOKS:
            time.sleep(LOSS_PAUSE_S)
            end = self._look()
            looks += 1
        try:
            stream.check_nothing_lost(begin, end)
        except stream.DataLossError as error:
            if self._options.fail_on_data_loss:
                raise
            _log.warning("the stream goes on without what is gone", reason=str(error))
        return end

    def _look(self) -> stream.Offsets:
        self._seen = StreamOffsets(self._options).latest(leave_out_missing=True)
        return self._seen

    def _is_enough(self, waiting: int) -> bool:
        """Return whether minOffsetsPerTrigger records wait, or maxTriggerDelay is over."""
        fewest = self._options.min_offsets
        if fewest is None or self._available_now is not None or waiting >= fewest:
            return True
        return (time.monotonic() - self._moved_at) * 1000 >= self._options.max_trigger_delay_ms
