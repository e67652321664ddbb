"""A batch is in the topic once, whatever happens between the first try and the last acknowledgement."""

import json
from collections import Counter

import pytest
from confluent_kafka import KafkaError, KafkaException
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.common.types import TopicPartition
from broker.spark import sink as sink_module
from broker.spark.sink import BatchSink, KafkaOutputTopic, SinkError
from broker.spark.sink_state import BATCH_FILES_KEPT, OutputRecord, SinkState, is_marked, marked, missing
from tests.broker.connect.mock_cluster import all_records, mock_cluster, produce_all

P0 = TopicPartition("out", 0)


class Killed(Exception):
    """Stands for kill -9: nothing after it runs."""


class FaultyTopic:
    """A one-partition topic in memory. `faults`, one per send: how many records arrive, and what the sender learns."""

    def __init__(self, faults=()):
        self.log: list[tuple[bytes, bytes | None, list]] = []
        self.faults = list(faults)

    def end_offsets(self):
        return {P0: len(self.log)}

    def written_since(self, begin, query, batch):
        since = self.log[begin[P0] :]
        return Counter((key, value) for key, value, headers in since if is_marked(headers, query, batch))

    def send(self, records, query, batch):
        share, outcome = self.faults.pop(0) if self.faults else (1.0, "acknowledged")
        for record in records[: round(len(records) * share)]:
            self.log.append((record.key, record.value, marked(record, query, batch)))
        if outcome == "killed":
            raise Killed
        if outcome == "exception":
            raise KafkaException(KafkaError(KafkaError._ALL_BROKERS_DOWN))
        return None if outcome == "acknowledged" else "Local: Message timed out"


def batch_of(count: int, value: bytes = b"v") -> list[OutputRecord]:
    return [OutputRecord(f"k{number}".encode(), value) for number in range(count)]


def sink_on(topic, tmp_path) -> BatchSink:
    return BatchSink(topic, SinkState(tmp_path / "sink"), settle_s=0)


def keys(topic: FaultyTopic) -> list[bytes]:
    return [key for key, _, _ in topic.log]


def test_batch_is_sent_once_without_reading_back(tmp_path):
    topic = FaultyTopic()
    topic.written_since = None
    assert sink_on(topic, tmp_path).write(0, batch_of(3)) == 3
    assert keys(topic) == [b"k0", b"k1", b"k2"]


def test_repeated_batch_adds_nothing(tmp_path):
    topic = FaultyTopic()
    sink_on(topic, tmp_path).write(7, batch_of(3))
    assert sink_on(topic, tmp_path).write(7, batch_of(3)) == 0
    assert len(topic.log) == 3


def test_next_batch_writes_the_same_keys_again(tmp_path):
    topic = FaultyTopic()
    sink = sink_on(topic, tmp_path)
    assert sink.write(7, batch_of(3)) == 3
    assert sink.write(8, batch_of(3)) == 3


def test_half_written_batch_is_completed_after_a_kill(tmp_path):
    topic = FaultyTopic([(0.5, "killed")])
    with pytest.raises(Killed):
        sink_on(topic, tmp_path).write(3, batch_of(10))
    assert sink_on(topic, tmp_path).write(3, batch_of(10)) == 5
    assert sorted(keys(topic)) == sorted(record.key for record in batch_of(10))


def test_records_of_other_queries_in_between_do_not_count_as_written(tmp_path):
    topic = FaultyTopic([(0.0, "killed")])
    with pytest.raises(Killed):
        sink_on(topic, tmp_path).write(0, batch_of(2))
    BatchSink(topic, SinkState(tmp_path / "other"), settle_s=0).write(0, batch_of(2))
    assert sink_on(topic, tmp_path).write(0, batch_of(2)) == 2
    assert len(topic.log) == 4


@given(
    st.integers(1, 20),
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.sampled_from(["unknown", "exception", "killed"])),
        max_size=8,
    ),
)
@settings(max_examples=60, deadline=None)
def test_any_run_of_failures_ends_with_each_record_once(tmp_path_factory, count, faults):
    directory = tmp_path_factory.mktemp("sink")
    topic = FaultyTopic(faults)
    while True:
        try:
            sink_on(topic, directory).write(5, batch_of(count))
            break
        except Killed:
            continue
    assert sorted(keys(topic)) == sorted(record.key for record in batch_of(count))


def test_topic_that_stays_away_ends_in_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(sink_module, "WRITE_TIMEOUT_S", 0)
    with pytest.raises(SinkError, match="timed out"):
        sink_on(FaultyTopic([(0.0, "unknown")]), tmp_path).write(0, batch_of(1))


def test_records_that_are_the_same_are_written_as_often_as_they_are_there(tmp_path):
    topic, twins = FaultyTopic([(0.5, "killed")]), [OutputRecord(None, b"v")] * 4
    with pytest.raises(Killed):
        sink_on(topic, tmp_path).write(0, twins)
    assert sink_on(topic, tmp_path).write(0, twins) == 2
    assert len(topic.log) == 4


def test_record_with_another_value_is_missing():
    records = batch_of(3)
    assert missing(records, Counter({(b"k0", b"v"): 1, (b"k1", b"older"): 1})) == [records[1], records[2]]


def test_query_keeps_its_name_and_old_batch_files_go(tmp_path):
    state = SinkState(tmp_path)
    for batch in range(20):
        state.begin(batch, {P0: batch})
    again = SinkState(tmp_path)
    assert again.query == state.query
    assert again.begin_offsets(19) == {P0: 19}
    assert again.begin_offsets(1) is None
    assert len(list(tmp_path.glob("batch-*.json"))) == BATCH_FILES_KEPT


def test_on_a_cluster_a_repeated_batch_writes_only_what_is_missing(tmp_path):
    with mock_cluster("out") as cluster:
        client = {"bootstrap.servers": cluster.bootstrap_servers}
        produce_all(cluster.bootstrap_servers, "out", [b"older"] * 50)
        state = SinkState(tmp_path)
        topic = KafkaOutputTopic(client, "out")
        state.begin(4, topic.end_offsets())
        assert topic.send(batch_of(40), state.query, 4) is None
        records = [*batch_of(100)[:-1], OutputRecord(b"k99", None, (("trace", b"1"),))]
        assert BatchSink(KafkaOutputTopic(client, "out"), state).write(4, records) == 60
        assert BatchSink(KafkaOutputTopic(client, "out"), state).write(4, records) == 0
        written = [m for m in all_records(cluster.bootstrap_servers, "out") if m.key() is not None]
    assert sorted(m.key() for m in written) == sorted(record.key for record in records)
    assert all(is_marked(m.headers(), state.query, 4) for m in written)
    last = next(m for m in written if m.key() == b"k99")
    assert last.value() is None
    assert last.headers()[0] == ("trace", b"1")
    assert json.loads((tmp_path / "batch-4.json").read_text())["out"].keys() == {"0", "1", "2", "3"}
