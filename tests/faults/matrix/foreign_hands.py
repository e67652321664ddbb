"""What rows of foreign hands share: topics whose records must stay, and a session with ZooKeeper as tools have one."""

import contextlib
import json
from collections.abc import Iterator
from uuid import UUID

from confluent_kafka import KafkaException, Producer
from kazoo.client import KazooClient

from broker.zookeeper.znodes import TOPICS, decode_topic, topic_path
from tests.barnabas_cluster import await_true
from tests.faults.copy.readings import read_committed
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage

ALL_REPLICAS = (1, 2, 3)
_TRANSACTIONS = 6
_RECORDS = 10


@contextlib.contextmanager
def zookeeper_of(stage: Stage) -> Iterator[KazooClient]:
    """A session without any right that an old tool or an operator would not have."""
    client = KazooClient(hosts=stage.cluster.zookeeper.connect, timeout=10)
    client.start(timeout=20)
    try:
        yield client
    finally:
        client.stop()
        client.close()


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


def topic_id_of(client: KazooClient, topic: str) -> UUID:
    """The id that stands in the topic's znode, zero if none does."""
    return decode_topic(topic, client.get(topic_path(topic))[0]).topic_id


def assignment_without_id(partitions: int, replicas: tuple[int, ...] = ALL_REPLICAS) -> bytes:
    """A topic's znode as CMAK and Kafka's tools up to 2.7 write it, whatever stood there before."""
    return as_json({"version": 1, "partitions": {str(number): list(replicas) for number in range(partitions)}})


class KeptTopic:
    """One partition on all brokers, written to in transactions of which every other one is aborted.

    Read with read_committed, it holds the records of the committed ones, each once, whatever is done to the cluster.
    """

    def __init__(self, stage: Stage, name: str, **config: str):
        self._stage = stage
        self.name = name
        self._values: list[bytes] = []
        self._rounds = 0
        if config.pop("exists", ""):
            stage.follow(name, [ALL_REPLICAS])
        else:
            stage.create(name, [ALL_REPLICAS], **config)
        self.write()

    def write(self) -> None:
        """Another few transactions, all of them answered."""
        self._rounds += 1
        servers, label = self._stage.cluster.bootstrap_servers, f"{self.name}-{self._rounds}"
        producer = Producer({"bootstrap.servers": servers, "transactional.id": label, "log_level": 0})
        producer.init_transactions(WHOLE_WITHIN_S)
        for number in range(_TRANSACTIONS):
            values = [b"%s %d/%d " % (label.encode(), number, index) * 10 for index in range(_RECORDS)]
            producer.begin_transaction()
            for value in values:
                producer.produce(self.name, value, partition=0)
            producer.flush(WHOLE_WITHIN_S)
            if number % 2:
                producer.abort_transaction(WHOLE_WITHIN_S)
            else:
                producer.commit_transaction(WHOLE_WITHIN_S)
                self._values += values

    def expect_kept(self, after: str) -> None:
        """What is read is what was committed: as soon as the partition is led again, and not only at some time."""
        values = read_committed(self._stage.cluster.bootstrap_servers, self.name, 1).values[0]
        if values != self._values:
            self._stage.violations.append(
                f"I1: after {after} {len(values)} records of {self.name} are read, {len(self._values)} were committed"
                + (", and they are others" if len(values) == len(self._values) else "")
            )

    def expect_usable(self, after: str) -> None:
        """It takes more records, and keeps these as well."""
        try:
            self.write()
        except KafkaException as error:
            self._stage.violations.append(f"after {after} {self.name} takes no records: {error}")
            return
        self.expect_kept(after)


def await_topic_with_id(stage: Stage, client: KazooClient, topic: str, wanted: UUID | None = None) -> None:
    """The controller has written an id into the topic's znode: that one, or any."""

    def has_id() -> bool:
        there = topic_id_of(client, topic)
        return there == wanted if wanted is not None else there.int != 0

    try:
        await_true(has_id, f"{topic} has its topic id", WHOLE_WITHIN_S)
    except AssertionError as error:
        stage.violations.append(str(error))


def create_without_id(client: KazooClient, topic: str) -> None:
    """As CMAK and Kafka's tools up to 2.7 create a topic: its configuration first, then its assignment."""
    client.create(f"/config/topics/{topic}", as_json({"version": 1, "config": {}}))
    client.create(f"{TOPICS}/{topic}", assignment_without_id(1))
