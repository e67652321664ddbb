"""A broker is killed while batches are written: each record of each batch is there once."""

from collections import Counter
from threading import Event, Thread

from broker.spark.cluster import connect_admin, create_topic
from broker.spark.sink import BatchSink, KafkaOutputTopic
from broker.spark.sink_state import BATCH_HEADER, OutputRecord, SinkState
from tests.barnabas_cluster import running_cluster
from tests.broker.connect.mock_cluster import all_records

RECORDS = [OutputRecord(b"key-%d" % number, b"x" * 500) for number in range(2_000)]


def test_killed_broker_makes_no_record_of_a_batch_come_twice(tmp_path):
    with running_cluster(tmp_path / "cluster") as cluster:
        client = {"bootstrap.servers": cluster.bootstrap_servers}
        create_topic(connect_admin(client), "out", 2, {})
        sink = BatchSink(KafkaOutputTopic(client, "out"), SinkState(tmp_path / "sink"))
        broker, under_way, batches = cluster.broker(1), Event(), 0

        def interrupt() -> None:
            under_way.wait(30)
            broker.kill()
            broker.start()

        interruption = Thread(target=interrupt)
        interruption.start()
        while batches < 3 or interruption.is_alive():
            if batches == 2:
                under_way.set()
            sink.write(batches, RECORDS)
            batches += 1
        interruption.join()
        sink.write(batches - 1, RECORDS)
        written = Counter(
            (dict(r.headers())[BATCH_HEADER], r.key()) for r in all_records(client["bootstrap.servers"], "out")
        )
    assert len(written) == batches * len(RECORDS)
    assert set(written.values()) == {1}
