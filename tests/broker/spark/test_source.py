"""Exact ranges of partitions become Arrow batches of the schema Spark was told; what is gone is said."""

import pickle

import pyarrow as pa
import pytest
from confluent_kafka import TopicPartition as ConsumerPosition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from broker.common.types import TopicPartition
from broker.spark import range_reader, source, stream_offsets
from broker.spark.client_settings import read_source_settings
from broker.spark.offsets import DataLossError, OffsetRange
from broker.spark.range_reader import read_range
from broker.spark.source import BarnabasDataSource
from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.connect.mock_cluster import produce_all

#: `(a+)+` has more ways to match it than there are years.
HOSTILE = "a" * 60 + "-"


@pytest.fixture(scope="module")
def bootstrap_servers(tmp_path_factory, zookeeper):
    """Topic t: 2,500 records in partition 0, 10 in partition 1; empty, pattern-x and HOSTILE have none."""
    with running_cluster(tmp_path_factory.mktemp("cluster"), zookeeper=zookeeper) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        for topic in ("t", "empty", "pattern-x", HOSTILE):
            admin.create_topics([NewTopic(topic, 4)])[topic].result(20)
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
    client = read_source_settings({"kafka.bootstrap.servers": bootstrap_servers})
    return [int(value) for batch in read_range(client, wanted, **more) for value in batch["value"].to_pylist()]


def test_range_is_read_exactly(bootstrap_servers):
    wanted = OffsetRange(TopicPartition("t", 0), 1_200, 2_450)
    assert values(bootstrap_servers, wanted) == list(range(1_200, 2_450))


def test_range_that_begins_beyond_the_end_is_data_loss(bootstrap_servers, monkeypatch):
    monkeypatch.setattr(range_reader, "CATCH_UP_TIMEOUT_S", 0.3)
    wanted = OffsetRange(TopicPartition("t", 1), 50, 60)
    with pytest.raises(DataLossError, match=r"t-1 from 50 to 60 is gone at 50: it ends before 60 .*ends at 10"):
        values(bootstrap_servers, wanted)
    assert values(bootstrap_servers, wanted, fail_on_data_loss=False) == []


def test_partition_that_ends_before_the_range_is_data_loss(bootstrap_servers, monkeypatch):
    monkeypatch.setattr(range_reader, "CATCH_UP_TIMEOUT_S", 0.3)
    wanted = OffsetRange(TopicPartition("t", 1), 5, 12)
    with pytest.raises(DataLossError, match="it ends before 12"):
        values(bootstrap_servers, wanted)
    assert values(bootstrap_servers, wanted, fail_on_data_loss=False) == [5, 6, 7, 8, 9]


def test_brokers_that_bring_nothing_end_in_a_timeout(monkeypatch):
    monkeypatch.setattr(range_reader, "NO_PROGRESS_TIMEOUT_S", 0.3)
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
    monkeypatch.setattr(stream_offsets, "ANSWER_TIMEOUT_S", 0.2)
    reader = stream_reader("127.0.0.1:1")
    assert reader.latestOffset({"t": {"0": 7}}, ReadAllAvailable()) == {"t": {"0": 7}}


def test_partition_that_is_gone_is_looked_for_before_it_is_lost(bootstrap_servers, monkeypatch):
    monkeypatch.setattr(source, "LOSS_PAUSE_S", 0.01)
    with pytest.raises(DataLossError, match="t-7 was read up to 3 and now ends at no partition"):
        stream_reader(bootstrap_servers).latestOffset({"t": {"0": 9, "7": 3}}, ReadAllAvailable())
    patient = stream_reader(bootstrap_servers, failOnDataLoss="false")
    assert "7" not in patient.latestOffset({"t": {"0": 9, "7": 3}}, ReadAllAvailable())["t"]


def test_batch_waits_for_its_fewest_records_but_not_for_ever(bootstrap_servers):
    start = {"t": {"0": 2_495, "1": 10, "2": 0, "3": 0}}
    waiting = stream_reader(bootstrap_servers, minOffsetsPerTrigger="6")
    assert waiting.latestOffset(start, ReadAllAvailable()) == start
    hurried = stream_reader(bootstrap_servers, minOffsetsPerTrigger="6", maxTriggerDelay="0s")
    assert hurried.latestOffset(start, ReadAllAvailable())["t"]["0"] == 2_500
    assert stream_reader(bootstrap_servers, minOffsetsPerTrigger="5").latestOffset(start, ReadAllAvailable()) != start


def test_pattern_takes_whole_names(bootstrap_servers):
    reader = BarnabasDataSource(
        {"kafka.bootstrap.servers": bootstrap_servers, "subscribePattern": r"t|emp|\p{Alpha}{7}-."}
    )
    assert set(reader.streamReader(None).initialOffset()) == {"t", "pattern-x"}


def test_a_topic_named_to_be_matched_for_years_keeps_no_query_from_the_others(bootstrap_servers):
    reader = BarnabasDataSource({"kafka.bootstrap.servers": bootstrap_servers, "subscribePattern": "(a+)+|t"})
    assert set(reader.streamReader(None).initialOffset()) == {"t"}


def test_assigned_partitions_alone_are_read(bootstrap_servers):
    options = {"kafka.bootstrap.servers": bootstrap_servers, "assign": '{"t": [1]}'}
    reader = BarnabasDataSource(options).reader(None)
    assert [partition.wanted for partition in reader.partitions()] == [OffsetRange(TopicPartition("t", 1), 0, 10)]


def test_large_partition_is_shared_by_tasks(bootstrap_servers):
    reader = data_source(bootstrap_servers, assign='{"t": [0]}', minPartitions="4")
    del reader.options["subscribe"]
    pieces = [partition.wanted for partition in reader.reader(None).partitions()]
    assert [(piece.start, piece.end) for piece in pieces] == [(0, 625), (625, 1250), (1250, 1875), (1875, 2500)]


def made(bootstrap_servers: str, topic: str, values=(), **timestamp) -> AdminClient:
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    admin.create_topics([NewTopic(topic, 1)])[topic].result(20)
    produce_all(bootstrap_servers, topic, values, partition=0, **timestamp)
    return admin


def test_partition_that_is_added_is_read_from_its_first_record(bootstrap_servers):
    admin = made(bootstrap_servers, "growing", [b"1"])
    reader = stream_reader(bootstrap_servers, subscribe="growing", startingOffsets="latest")
    start = reader.initialOffset()
    admin.create_partitions([NewPartitions("growing", 2)])["growing"].result(20)
    await_true(lambda: len(admin.list_topics("growing", 5).topics["growing"].partitions) == 2, "two partitions")
    produce_all(bootstrap_servers, "growing", [b"2", b"3"], partition=1)
    end = reader.latestOffset(start, ReadAllAvailable())
    assert [partition.wanted for partition in reader.partitions(start, end)] == [
        OffsetRange(TopicPartition("growing", 1), 0, 2)
    ]


def test_topic_that_begins_to_match_is_taken_in(bootstrap_servers):
    options = {"kafka.bootstrap.servers": bootstrap_servers, "subscribePattern": "match-.*"}
    reader = BarnabasDataSource(options).streamReader(None)
    assert reader.initialOffset() == {}
    made(bootstrap_servers, "match-1", [b"1"])
    assert reader.latestOffset({}, ReadAllAvailable()) == {"match-1": {"0": 1}}


def test_records_that_were_deleted_are_data_loss(bootstrap_servers):
    admin = made(bootstrap_servers, "cut", [b"%d" % n for n in range(10)])
    admin.delete_records([ConsumerPosition("cut", 0, 4)])[ConsumerPosition("cut", 0)].result(20)
    wanted = OffsetRange(TopicPartition("cut", 0), 2, 8)
    with pytest.raises(DataLossError, match="cut-0 from 2 to 8 is gone at 2: it begins at 4"):
        values(bootstrap_servers, wanted)
    assert values(bootstrap_servers, wanted, fail_on_data_loss=False) == [4, 5, 6, 7]


def test_topic_that_is_deleted_is_data_loss(bootstrap_servers, monkeypatch):
    monkeypatch.setattr(source, "LOSS_PAUSE_S", 0.05)
    admin = made(bootstrap_servers, "doomed", [b"1"])
    reader = stream_reader(bootstrap_servers, subscribe="doomed", startingOffsets="earliest")
    start = reader.initialOffset()
    admin.delete_topics(["doomed"])["doomed"].result(20)
    await_true(lambda: "doomed" not in admin.list_topics(timeout=5).topics, "the topic is gone")
    with pytest.raises(DataLossError, match="doomed-0 was read up to 0 and now ends at no partition"):
        reader.latestOffset(start, ReadAllAvailable())
    patient = stream_reader(bootstrap_servers, subscribe="doomed", failOnDataLoss="false")
    assert patient.latestOffset(start, ReadAllAvailable()) == {}


def test_moment_is_the_first_record_not_before_it(bootstrap_servers):
    made(bootstrap_servers, "timed", [b"1", b"2"], timestamp=1_000_000_000_000)
    produce_all(bootstrap_servers, "timed", [b"3"], partition=0, timestamp=1_000_000_005_000)

    def start_of(**options: str) -> int:
        return stream_reader(bootstrap_servers, subscribe="timed", **options).initialOffset()["timed"]["0"]

    assert start_of(startingTimestamp="1000000000001") == 2
    assert start_of(startingOffsetsByTimestamp='{"timed": {"0": 1000000000000}}') == 0
    with pytest.raises(ValueError, match="timed-0 has no record at or after 1000000009000"):
        start_of(startingTimestamp="1000000009000")
    assert start_of(startingTimestamp="1000000009000", startingOffsetsByTimestampStrategy="latest") == 3
    batch = data_source(bootstrap_servers, subscribe="timed", endingTimestamp="1000000005000").reader(None)
    assert [partition.wanted for partition in batch.partitions()] == [OffsetRange(TopicPartition("timed", 0), 0, 2)]


def test_offsets_of_a_partition_that_is_not_there_are_refused(bootstrap_servers):
    with pytest.raises(ValueError, match="must name every partition"):
        stream_reader(bootstrap_servers, startingOffsets='{"t": {"0": 5}}').initialOffset()
