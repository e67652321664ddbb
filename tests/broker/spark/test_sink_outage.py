"""A broker is killed while a batch is on its way: each record of each batch is there once."""

from collections import Counter
from threading import Thread

from broker.spark.cluster import connect_admin, create_topic
from broker.spark.sink import BatchSink, KafkaOutputTopic
from broker.spark.sink_state import BATCH_HEADER, OutputRecord, SinkState
from tests.barnabas_cluster import BrokerProcess, await_true, running_cluster
from tests.broker.connect.mock_cluster import all_records

RECORDS = [OutputRecord(b"key-%d" % number, b"x" * 500) for number in range(15_000)]


class WatchedTopic(KafkaOutputTopic):
    """Remembers which batches were read back."""

    def __init__(self, client: dict[str, str], topic: str):
        super().__init__(client, topic)
        self.read_back: list[int] = []

    def written_since(self, begin, query, batch):
        self.read_back.append(batch)
        return super().written_since(begin, query, batch)


def kill_and_start_when_records_arrive(broker: BrokerProcess, topic: KafkaOutputTopic, more_than: int) -> None:
    await_true(lambda: sum(topic.end_offsets().values()) > more_than, "the batch on its way")
    broker.kill()
    broker.start()


def test_killed_broker_makes_no_record_of_a_batch_come_twice(tmp_path):
    with running_cluster(tmp_path / "cluster") as cluster:
        client = {"bootstrap.servers": cluster.bootstrap_servers}
        create_topic(connect_admin(client), "out", 2, {})
        topic = WatchedTopic(client, "out")
        sink = BatchSink(topic, SinkState(tmp_path / "sink"))
        sink.write(0, RECORDS)
        interruption = Thread(
            target=kill_and_start_when_records_arrive,
            args=(cluster.broker(1), KafkaOutputTopic(client, "out"), len(RECORDS)),
        )
        interruption.start()
        sink.write(1, RECORDS)
        interruption.join()
        assert 1 in topic.read_back, "the kill hit the batch on its way"
        assert sink.write(1, RECORDS) == 0
        records = all_records(cluster.bootstrap_servers, "out")
    written = Counter((dict(record.headers())[BATCH_HEADER], record.key()) for record in records)
    assert len(written) == 2 * len(RECORDS)
    assert set(written.values()) == {1}
