"""A broker stands still while a batch is on its way: each record of the batch is there once."""

import signal
from collections import Counter
from collections.abc import Callable

from broker.spark import sink as sink_module
from broker.spark.cluster import connect_admin, create_topic
from broker.spark.sink import BatchSink, KafkaOutputTopic
from broker.spark.sink_state import BATCH_HEADER, OutputRecord, SinkState
from tests.barnabas_cluster import BrokerProcess, running_cluster
from tests.broker.connect.mock_cluster import all_records

RECORDS = [OutputRecord(b"key-%d" % number, b"x" * 500) for number in range(5_000)]


class WatchedTopic(KafkaOutputTopic):
    """Lets the test act when a batch is about to be sent, and when it is about to be read back."""

    def __init__(self, client: dict[str, str], topic: str):
        super().__init__(client, topic)
        self.before_send: Callable[[], None] = lambda: None
        self.before_read_back: Callable[[], None] = lambda: None
        self.read_back = 0

    def send(self, records, query, batch):
        self.before_send()
        return super().send(records, query, batch)

    def written_since(self, begin, query, batch):
        self.read_back += 1
        self.before_read_back()
        return super().written_since(begin, query, batch)


def stand_still(broker: BrokerProcess) -> None:
    broker.process.send_signal(signal.SIGSTOP)


def go_on(broker: BrokerProcess) -> None:
    broker.process.send_signal(signal.SIGCONT)


def test_batch_without_answer_is_not_doubled_when_the_broker_goes_on(tmp_path, monkeypatch):
    """The requests of the first try lie in the broker's sockets when it wakes up, and so does the read-back."""
    monkeypatch.setattr(sink_module, "DELIVERY_TIMEOUT_MS", 1_000)
    with running_cluster(tmp_path / "cluster") as cluster:
        client, broker = {"bootstrap.servers": cluster.bootstrap_servers}, cluster.broker(1)
        create_topic(connect_admin(client), "out", 2, {})
        topic = WatchedTopic(client, "out")
        sink = BatchSink(topic, SinkState(tmp_path / "sink"), settle_s=0)
        sink.write(0, RECORDS)

        def once(act: Callable[[BrokerProcess], None]) -> Callable[[], None]:
            acts = [act]
            return lambda: acts.pop()(broker) if acts else None

        topic.before_send, topic.before_read_back = once(stand_still), once(go_on)
        sink.write(1, RECORDS)
        assert topic.read_back >= 1
        assert sink.write(1, RECORDS) == 0
        records = all_records(cluster.bootstrap_servers, "out")
    written = Counter((dict(record.headers())[BATCH_HEADER], record.key()) for record in records)
    assert len(written) == 2 * len(RECORDS)
    assert set(written.values()) == {1}
