"""`spark.readStream.format("barnabas")`: topics as a streaming (and batch) source, in Arrow record batches.

Options have the names of Spark's Kafka connector: `kafka.bootstrap.servers` and further `kafka.*` client settings,
`subscribe`, `startingOffsets`, `endingOffsets` (batch), `maxOffsetsPerTrigger`, `failOnDataLoss`, `includeHeaders`.
Records are read between exact offsets, so a repeated batch reads the same records.
"""

import time
from collections.abc import Iterator, MutableMapping
from typing import Any

import pyarrow as pa
from confluent_kafka import KafkaException, Message
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

from broker.spark import offsets as stream
from broker.spark.cluster import connect_admin, earliest_offsets, latest_offsets, partitions_of, read_range

#: How long the first offsets are asked for before a query fails to start.
START_TIMEOUT_S = 60.0

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

#: The same columns as Arrow has them; Spark refuses a batch whose schema is another.
_ARROW_FIELDS = [
    pa.field("key", pa.binary()),
    pa.field("value", pa.binary()),
    pa.field("topic", pa.string()),
    pa.field("partition", pa.int32()),
    pa.field("offset", pa.int64()),
    pa.field("timestamp", pa.timestamp("us", tz="UTC")),
    pa.field("timestampType", pa.int32()),
]
_ARROW_HEADERS = pa.field(
    "headers", pa.list_(pa.field("element", pa.struct([("key", pa.string()), ("value", pa.binary())])))
)


class _Options:
    """The source's options, read and checked once; ValueError names the option that is wrong."""

    def __init__(self, options: MutableMapping[str, str], default_start: str):
        client = {key[6:].lower(): value for key, value in options.items() if key.lower().startswith("kafka.")}
        if "bootstrap.servers" not in client:
            raise ValueError("option kafka.bootstrap.servers must be set")
        self.client = client
        self.topics = [topic.strip() for topic in options.get("subscribe", "").split(",") if topic.strip()]
        if not self.topics:
            raise ValueError("option subscribe must name at least one topic")
        self.start = stream.parse_position(options.get("startingOffsets", default_start))
        self.end = stream.parse_position(options.get("endingOffsets", "latest"))
        self.max_offsets = int(options["maxOffsetsPerTrigger"]) if "maxOffsetsPerTrigger" in options else None
        if self.max_offsets is not None and self.max_offsets < 1:
            raise ValueError("option maxOffsetsPerTrigger must be at least 1")
        self.fail_on_data_loss = options.get("failOnDataLoss", "true").lower() != "false"
        self.with_headers = options.get("includeHeaders", "false").lower() == "true"
        self.committed_only = client.get("isolation.level", "read_committed") == "read_committed"


class BarnabasDataSource(DataSource):
    """Register with `spark.dataSource.register(BarnabasDataSource)`."""

    @classmethod
    def name(cls) -> str:
        return "barnabas"

    def schema(self) -> StructType:
        columns = StructType(list(_COLUMNS.fields))
        return columns.add("headers", _HEADERS) if _Options(self.options, "latest").with_headers else columns

    def streamReader(self, schema: StructType) -> "BarnabasStreamReader":
        return BarnabasStreamReader(_Options(self.options, "latest"))

    def reader(self, schema: StructType) -> "BarnabasReader":
        return BarnabasReader(_Options(self.options, "earliest"))


class _RangePartition(InputPartition):
    def __init__(self, wanted: stream.OffsetRange):
        super().__init__(tuple(wanted))
        self.wanted = wanted


class _RangeSource:
    """What both readers share. Travels to Spark's workers by pickle, so the connection is made when first needed."""

    def __init__(self, options: _Options):
        self._options = options
        self._connection: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_connection": None}

    def read(self, partition: _RangePartition) -> Iterator[pa.RecordBatch]:
        options = self._options
        for messages in read_range(options.client, partition.wanted, options.fail_on_data_loss):
            yield to_arrow(messages, options.with_headers)

    def _admin(self) -> Any:
        if self._connection is None:
            self._connection = connect_admin(self._options.client)
        return self._connection

    def _latest(self) -> stream.Offsets:
        admin = self._admin()
        return latest_offsets(admin, partitions_of(admin, self._options.topics), self._options.committed_only)

    def _resolve(self, position: int | stream.Offsets) -> stream.Offsets:
        """Waits for brokers and topics until START_TIMEOUT_S."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                latest = self._latest()
                return stream.resolve(position, earliest_offsets(self._admin(), latest), latest)
            except KafkaException as error:
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{', '.join(self._options.topics)}: {error.args[0].str()}") from error
                time.sleep(1)


class BarnabasReader(_RangeSource, DataSourceReader):
    """One batch between `startingOffsets` and `endingOffsets`."""

    def partitions(self) -> list[_RangePartition]:
        start = self._resolve(self._options.start)
        return [_RangePartition(wanted) for wanted in stream.ranges(start, self._resolve(self._options.end))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Spark asks for one partition without content when there is nothing to read."""
        return super().read(partition) if isinstance(partition, _RangePartition) else iter(())


class BarnabasStreamReader(_RangeSource, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A stream that moves by offsets per partition, and takes in partitions that are added while it runs."""

    def __init__(self, options: _Options):
        super().__init__(options)
        self._available_now: stream.Offsets | None = None
        self._seen: stream.Offsets = {}

    def initialOffset(self) -> stream.OffsetJson:
        return stream.to_json(self._resolve(self._options.start))

    def latestOffset(self, start: stream.OffsetJson, limit: ReadLimit) -> stream.OffsetJson:
        """Brokers that do not answer have nothing new: the stream stays where it is and asks at the next trigger."""
        begin = stream.from_json(start)
        end = self._available_now
        if end is None:
            try:
                end = self._seen = self._latest()
            except KafkaException:
                return start
        end = stream.advance(begin, end, self._options.fail_on_data_loss)
        return stream.to_json(stream.limit(begin, end, limit.max_rows) if isinstance(limit, ReadMaxRows) else end)

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._options.max_offsets) if self._options.max_offsets else ReadAllAvailable()

    def reportLatestOffset(self) -> stream.OffsetJson | None:
        return stream.to_json(self._seen) if self._seen else None

    def prepareForTriggerAvailableNow(self) -> None:
        self._available_now = self._seen = self._resolve(stream.LATEST)

    def partitions(self, start: stream.OffsetJson, end: stream.OffsetJson) -> list[_RangePartition]:
        return [_RangePartition(wanted) for wanted in stream.ranges(stream.from_json(start), stream.from_json(end))]


def to_arrow(messages: list[Message], with_headers: bool) -> pa.RecordBatch:
    """Records as one Arrow batch of the source's columns; a record without timestamp has null and type -1."""
    stamps = [message.timestamp() for message in messages]
    columns = [
        [message.key() for message in messages],
        [message.value() for message in messages],
        [message.topic() for message in messages],
        [message.partition() for message in messages],
        [message.offset() for message in messages],
        [at_ms * 1000 if kind else None for kind, at_ms in stamps],
        [kind - 1 for kind, _ in stamps],
    ]
    fields = list(_ARROW_FIELDS)
    if with_headers:
        fields.append(_ARROW_HEADERS)
        columns.append([[{"key": k, "value": v} for k, v in message.headers() or ()] for message in messages])
    schema = pa.schema(fields)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )
