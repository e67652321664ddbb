"""Options as a job for Spark's Kafka connector gives them; what is wrong is said in a sentence that names it."""

import pytest

from broker.common.types import TopicPartition
from broker.spark.offsets import EARLIEST, LATEST
from broker.spark.source_options import StartPosition, Subscription, read_source_options

SERVERS = {"kafka.bootstrap.servers": "127.0.0.1:1, [::1]:2"}
TOPIC = SERVERS | {"subscribe": "a"}
P0, P1 = TopicPartition("a", 0), TopicPartition("a", 1)


def batch(**options: str):
    return read_source_options(TOPIC | options, streaming=False)


def test_defaults_are_those_of_the_kafka_connector():
    stream = read_source_options(TOPIC, streaming=True)
    assert (stream.start, stream.fail_on_data_loss, stream.with_headers) == (StartPosition(LATEST), True, False)
    assert (batch().start, batch().end) == (StartPosition(EARLIEST), StartPosition(LATEST))
    assert stream.client.bootstrap_servers == (("127.0.0.1", 1), ("::1", 2))


def test_names_are_taken_in_any_case():
    read = read_source_options({"KAFKA.Bootstrap.Servers": "x:1", "SUBSCRIBE": "b, a,b"}, streaming=True)
    assert read.subscription == Subscription(topics=("b", "a"))


def test_moments_go_before_offsets():
    by_time, offsets = '{"a": {"0": 1000, "1": 2000}}', '{"a": {"0": 23, "1": -2}}'
    assert batch(startingOffsets=offsets).start == StartPosition(offsets={P0: 23, P1: EARLIEST})
    by_partition = batch(startingOffsets=offsets, startingOffsetsByTimestamp=by_time)
    assert by_partition.start == StartPosition(times={P0: 1000, P1: 2000})
    everywhere = batch(startingOffsetsByTimestamp=by_time, startingTimestamp="5", endingTimestamp="9")
    assert (everywhere.start.time_ms, everywhere.end.time_ms) == (5, 9)


def test_moment_behind_the_last_record_is_the_end_only_where_asked_for():
    assert not batch(startingTimestamp="5").start.late_is_latest
    assert batch(startingTimestamp="5", startingOffsetsByTimestampStrategy="latest").start.late_is_latest
    assert batch(endingTimestamp="5").end.late_is_latest


def test_settings_of_the_client_are_read():
    client = batch(**{"kafka.isolation.level": "read_uncommitted", "kafka.fetch.max.bytes": "1000"}).client
    assert (client.committed_only, client.fetch_bytes) == (False, 1000)
    assert batch().client.committed_only


def test_tuning_of_other_clients_has_no_effect():
    assert batch(**{"kafka.max.poll.records": "7", "kafka.session.timeout.ms": "9"}).client == batch().client


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subscribe": "t"}, "kafka.bootstrap.servers must be specified"),
        ({"kafka.bootstrap.servers": "x", "subscribe": "t"}, "'x' is not host:port"),
        (SERVERS, "One of the options assign, subscribe, subscribePattern"),
        (TOPIC | {"assign": "{}"}, "Only one of the options"),
        (SERVERS | {"subscribe": " , "}, "option subscribe names no topic"),
        (SERVERS | {"assign": '{"t": 5}'}, "option assign"),
        (SERVERS | {"subscribePattern": "("}, "option subscribePattern"),
        (SERVERS | {"subscribePattern": "a**"}, "option subscribePattern"),
        (TOPIC | {"startingOffsets": "soon"}, 'startingOffsets: \'soon\' is not "earliest", "latest"'),
        (TOPIC | {"startingOffsets": '{"a": 5}'}, "startingOffsets"),
        (TOPIC | {"startingTimestamp": "noon"}, "startingTimestamp: 'noon'"),
        (TOPIC | {"startingOffsetsByTimestampStrategy": "x"}, "none of error, latest"),
        (TOPIC | {"maxOffsetsPerTrigger": "0"}, "maxOffsetsPerTrigger must be positive"),
        (TOPIC | {"minPartitions": "few"}, "minPartitions: 'few' is not a whole number"),
        (TOPIC | {"maxTriggerDelay": "soon"}, "maxTriggerDelay"),
        (TOPIC | {"failOnDataLoss": "maybe"}, "failOnDataLoss: 'maybe' is none of true, false"),
        (TOPIC | {"minOffsetsPerTrigger": "9", "maxOffsetsPerTrigger": "3"}, r"\(9\) is above maxOffsetsPerTrigger"),
        (TOPIC | {"kafka.auto.offset.reset": "latest"}, "'auto.offset.reset' is not supported.*startingOffsets"),
        (TOPIC | {"kafka.key.deserializer": "x"}, "'key.deserializer' is not supported"),
        (TOPIC | {"kafka.enable.auto.commit": "true"}, "'enable.auto.commit' is not supported"),
        (TOPIC | {"kafka.isolation.level": "chaos"}, "none of read_committed, read_uncommitted"),
        (TOPIC | {"kafka.security.protocol": "TLS"}, r"security\.protocol=TLS must be one of"),
        (TOPIC | {"kafka.sasl.jaas.config": "x"}, "would be written into the query's plan.*kafka.client.config"),
        (TOPIC | {"kafka.ssl.keystore.password": "x"}, "would be written into the query's plan"),
        (TOPIC | {"kafka.client.config": "/none"}, "kafka.client.config: the properties file /none cannot be read"),
    ],
)
@pytest.mark.parametrize("streaming", [True, False])
def test_wrong_option_is_named(options, message, streaming):
    with pytest.raises(ValueError, match=message):
        read_source_options(options, streaming)


def test_stream_has_no_end():
    with pytest.raises(ValueError, match="option endingOffsets is not valid in a streaming query"):
        read_source_options(TOPIC | {"endingOffsets": "latest"}, streaming=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"startingOffsets": "latest"}, "startingOffsets cannot be latest"),
        ({"startingOffsets": '{"a": {"0": -1}}'}, "startingOffsets cannot be latest"),
        ({"endingOffsets": "earliest"}, "endingOffsets cannot be earliest"),
        ({"startingOffsets": '{"a": {"0": 5}}', "endingOffsets": '{"a": {"0": 3}}'}, "a-0 starts at 5, behind its end"),
        ({"startingOffsets": '{"a": {"0": 5}}', "endingOffsets": '{"a": {"1": 9}}'}, "different partitions: a-0, a-1"),
    ],
)
def test_batch_that_cannot_be_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        batch(**options)
