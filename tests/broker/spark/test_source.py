"""Exact ranges of partitions become Arrow batches of the schema Spark was told; what is gone is said."""

import pickle

import pyarrow as pa
import pytest
from confluent_kafka import KafkaError
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from broker.common.types import TopicPartition
from broker.spark import cluster as cluster_module
from broker.spark.cluster import read_range
from broker.spark.offsets import DataLossError, OffsetRange
from broker.spark.source import BarnabasDataSource
from tests.broker.connect.mock_cluster import mock_cluster, produce_all


@pytest.fixture(scope="module")
def bootstrap_servers():
    """Topic t: 2,500 records in partition 0, 10 in partition 1."""
    with mock_cluster("t", "empty") as cluster:
        produce_all(cluster.bootstrap_servers, "t", (b"%d" % n for n in range(2_500)), partition=0, key=b"key")
        produce_all(
            cluster.bootstrap_servers,
            "t",
            (b"%d" % n for n in range(10)),
            partition=1,
            headers=[("h", b"1"), ("n", None)],
        )
        yield cluster.bootstrap_servers


def data_source(bootstrap_servers: str, **options: str) -> BarnabasDataSource:
    return BarnabasDataSource({"kafka.bootstrap.servers": bootstrap_servers, "subscribe": "t", **options})


def stream_reader(bootstrap_servers: str, **options: str):
    return data_source(bootstrap_servers, **options).streamReader(None)


def values(bootstrap_servers: str, wanted: OffsetRange, **more) -> list[int]:
    client = {"bootstrap.servers": bootstrap_servers}
    return [int(m.value()) for messages in read_range(client, wanted, **more) for m in messages]


def test_range_is_read_exactly(bootstrap_servers):
    wanted = OffsetRange(TopicPartition("t", 0), 1_200, 2_450)
    assert values(bootstrap_servers, wanted) == list(range(1_200, 2_450))


def test_range_that_begins_beyond_the_end_is_data_loss(bootstrap_servers):
    wanted = OffsetRange(TopicPartition("t", 1), 50, 60)
    with pytest.raises(DataLossError, match="t-1 from 50 to 60 is gone at 50: it begins at 0 and ends at 10"):
        values(bootstrap_servers, wanted)
    assert values(bootstrap_servers, wanted, fail_on_data_loss=False) == []


def test_partition_that_ends_before_the_range_is_data_loss(bootstrap_servers, monkeypatch):
    monkeypatch.setattr(cluster_module, "CATCH_UP_TIMEOUT_S", 0.3)
    wanted = OffsetRange(TopicPartition("t", 1), 5, 12)
    with pytest.raises(DataLossError, match="it ends at 10"):
        values(bootstrap_servers, wanted)
    assert values(bootstrap_servers, wanted, fail_on_data_loss=False) == [5, 6, 7, 8, 9]


def test_brokers_that_bring_nothing_end_in_a_timeout(monkeypatch):
    monkeypatch.setattr(cluster_module, "NO_PROGRESS_TIMEOUT_S", 0.3)
    with pytest.raises(TimeoutError, match="t-0 from 0 to 5"):
        values("127.0.0.1:1", OffsetRange(TopicPartition("t", 0), 0, 5))


@pytest.mark.parametrize("headers", ["false", "true"])
def test_batches_have_the_schema_that_spark_was_told(bootstrap_servers, headers):
    source = data_source(bootstrap_servers, startingOffsets="earliest", includeHeaders=headers)
    promised = to_arrow_schema(source.schema(), timezone="UTC")
    reader = source.reader(None)
    tables = [pa.Table.from_batches(reader.read(partition)) for partition in reader.partitions()]
    assert [table.num_rows for table in tables] == [2_500, 10]
    assert all(table.schema.equals(promised) for table in tables)
    row = tables[1].to_pylist()[3]
    assert (row["key"], row["value"], row["topic"], row["partition"], row["offset"]) == (None, b"3", "t", 1, 3)
    assert row["timestampType"] == 0
    assert row["timestamp"].year >= 2024
    assert row.get("headers") == (
        [{"key": "h", "value": b"1"}, {"key": "n", "value": None}] if headers == "true" else None
    )


def test_stream_reads_batch_by_batch_to_the_end(bootstrap_servers):
    reader = stream_reader(bootstrap_servers, startingOffsets="earliest", maxOffsetsPerTrigger="1000")
    assert reader.getDefaultReadLimit() == ReadMaxRows(1_000)
    start, rows, batches = reader.initialOffset(), [], 0
    while (end := reader.latestOffset(start, reader.getDefaultReadLimit())) != start:
        for partition in reader.partitions(start, end):
            for batch in pickle.loads(pickle.dumps(reader)).read(pickle.loads(pickle.dumps(partition))):
                rows += [(row["partition"], row["offset"]) for row in batch.to_pylist()]
        start, batches = end, batches + 1
    assert batches == 3
    assert sorted(rows) == [(0, n) for n in range(2_500)] + [(1, n) for n in range(10)]
    assert reader.reportLatestOffset()["t"]["0"] == 2_500
    assert reader.partitions(start, start) == []


def test_stream_from_latest_sees_only_what_comes_later(bootstrap_servers):
    reader = stream_reader(bootstrap_servers)
    assert reader.initialOffset()["t"] == {"0": 2_500, "1": 10, "2": 0, "3": 0}


def test_available_now_stops_at_what_was_there(bootstrap_servers):
    reader = stream_reader(bootstrap_servers, subscribe="empty", startingOffsets="earliest")
    reader.prepareForTriggerAvailableNow()
    produce_all(bootstrap_servers, "empty", [b"later"], partition=0)
    assert reader.latestOffset(reader.initialOffset(), ReadAllAvailable())["empty"]["0"] == 0


def test_brokers_that_do_not_answer_have_nothing_new(monkeypatch):
    monkeypatch.setattr(cluster_module, "ANSWER_TIMEOUT_S", 0.2)
    reader = stream_reader("127.0.0.1:1")
    assert reader.latestOffset({"t": {"0": 7}}, ReadAllAvailable()) == {"t": {"0": 7}}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "kafka.bootstrap.servers"),
        ({"kafka.bootstrap.servers": "x:1"}, "subscribe"),
        ({"kafka.bootstrap.servers": "x:1", "subscribe": "t", "startingOffsets": "soon"}, "soon"),
        ({"kafka.bootstrap.servers": "x:1", "subscribe": "t", "maxOffsetsPerTrigger": "0"}, "maxOffsetsPerTrigger"),
    ],
)
def test_wrong_option_is_named(options, said):
    with pytest.raises(ValueError, match=said):
        BarnabasDataSource(options).streamReader(None)


class ScriptedConsumer:
    """Stands for librdkafka where the mock cluster cannot: offsets without records, as compaction and markers leave."""

    def __init__(self, answers):
        self._answers = list(answers)

    def __call__(self, _config):
        return self

    def assign(self, _partitions):
        pass

    def consume(self, _count, _timeout):
        return self._answers.pop(0)

    def close(self):
        self._answers = None


class Arrived:
    def __init__(self, offset: int, error: KafkaError | None = None):
        self.offset, self.error = lambda: offset, lambda: error


END = KafkaError(KafkaError._PARTITION_EOF)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([[Arrived(3), Arrived(7)], [Arrived(9), Arrived(12)]], [3, 7, 9]),
        ([[Arrived(3)], [], [Arrived(10, END)]], [3]),
        ([[Arrived(10, END)]], []),
        ([[Arrived(7), Arrived(8, END)], [], [Arrived(9)]], [7, 9]),
    ],
    ids=["record behind the range", "end of partition", "nothing but gaps", "end moves on"],
)
def test_offsets_without_records_are_passed_over(monkeypatch, answers, expected):
    monkeypatch.setattr(cluster_module, "Consumer", ScriptedConsumer(answers))
    found = read_range({}, OffsetRange(TopicPartition("t", 0), 2, 10))
    assert [message.offset() for messages in found for message in messages] == expected
