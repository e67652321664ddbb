"""Rows go where Spark's own sink and Kafka's clients send them, or the query is refused."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import ArrayType, BinaryType, IntegerType, LongType, StringType, StructType

from broker.common.types import TopicPartition
from broker.spark.output_rows import by_partition, check_columns
from broker.spark.partitioning import partitions_of


def murmur2(key: bytes) -> int:
    """As Kafka's clients compute it, one byte after the other."""
    mask, m = 0xFFFFFFFF, 0x5BD1E995
    hash_ = 0x9747B28C ^ len(key)
    for at in range(0, len(key) // 4 * 4, 4):
        word = int.from_bytes(key[at : at + 4], "little") * m & mask
        hash_ = (hash_ * m & mask) ^ ((word ^ word >> 24) * m & mask)
    if len(key) % 4:
        hash_ = (hash_ ^ int.from_bytes(key[len(key) // 4 * 4 :], "little")) * m & mask
    hash_ = (hash_ ^ hash_ >> 13) * m & mask
    return hash_ ^ hash_ >> 15


@given(st.lists(st.none() | st.binary(max_size=23), min_size=1, max_size=40), st.integers(1, 50), st.integers(0, 3))
def test_keyed_rows_go_where_kafkas_clients_send_them(keys, count, skipped):
    column = pa.array([b"skipped"] * skipped + keys, pa.binary()).slice(skipped)
    expected = [0 if key is None else (murmur2(key) & 0x7FFFFFFF) % count for key in keys]
    assert partitions_of(column, None, count, 0).tolist() == expected


def test_known_hashes_of_java_clients_are_met():
    """From the tests of Kafka's own clients."""
    assert murmur2(b"21") == 0xFFFFFFFF & -973932308
    assert murmur2(b"a-little-bit-long-string") == 0xFFFFFFFF & -985981536


def test_named_partition_goes_before_the_key():
    keys = pa.array([b"a", b"a", None], pa.binary())
    assert partitions_of(keys, np.array([4, -1, 2]), 5, 0).tolist() == [4, (murmur2(b"a") & 0x7FFFFFFF) % 5, 2]
    with pytest.raises(ValueError, match="names partition 5, the topic has 5"):
        partitions_of(keys, np.array([5, -1, -1]), 5, 0)


def batch(**columns) -> pa.RecordBatch:
    types = {"key": pa.string(), "value": pa.string(), "topic": pa.string(), "partition": pa.int32()}
    return pa.record_batch({name: pa.array(values, types[name]) for name, values in columns.items()})


def test_rows_are_sorted_by_topic_and_partition_in_order():
    rows = batch(value=["1", "2", "3", "4"], topic=["a", "b", "a", "a"], partition=[1, 0, 1, 0], key=["k"] * 4)
    encoded_rows = by_partition(rows, None, {"a": 2, "b": 1}.get, 0)
    assert {partition: item.value.to_pylist() for partition, item in encoded_rows.items()} == {
        TopicPartition("a", 0): [b"4"],
        TopicPartition("a", 1): [b"1", b"3"],
        TopicPartition("b", 0): [b"2"],
    }


def test_option_goes_before_the_column_and_rows_without_key_take_turns():
    rows = batch(value=["1", "2"], topic=["a", "b"])
    assert list(by_partition(rows, "c", {"c": 3}.get, 5)) == [TopicPartition("c", 2)]


def test_row_without_topic_is_refused():
    with pytest.raises(ValueError, match="a row has no topic"):
        by_partition(batch(value=["1"], topic=[None]), None, {}.get, 0)


VALUE = StructType().add("value", StringType())


@pytest.mark.parametrize(
    ("schema", "topic", "message"),
    [
        (StructType().add("key", StringType()), "t", "the column 'value' is required"),
        (VALUE, None, "set the option topic, or have a column 'topic'"),
        (StructType().add("value", LongType()), "t", "the column 'value' is bigint, and must be string or binary"),
        (StructType([*VALUE.fields]).add("partition", LongType()), "t", "the column 'partition' is bigint"),
        (StructType([*VALUE.fields]).add("headers", ArrayType(StringType())), "t", "the column 'headers'"),
    ],
)
def test_columns_that_cannot_be_records_are_named(schema, topic, message):
    with pytest.raises(ValueError, match=message):
        check_columns(schema, topic)


def test_columns_of_a_record_are_taken_and_others_passed_over():
    header = StructType().add("key", StringType()).add("value", BinaryType())
    columns = StructType([*VALUE.fields]).add("headers", ArrayType(header)).add("partition", IntegerType())
    check_columns(columns.add("more", LongType()), "t")
