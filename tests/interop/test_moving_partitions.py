"""Partitions move between real brokers and leaders are elected, asked for by other people's clients."""

import contextlib
import json
import threading

import pytest
from confluent_kafka import ElectionType, Producer
from confluent_kafka import TopicPartition as ConfluentPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kafka import TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.errors import InvalidReplicationAssignmentError, KafkaConnectionError, NoReassignmentInProgressError

from tests.barnabas_cluster import await_true, running_cluster
from tests.interop.test_restart import stored
from tests.interop.test_topic_ids import zookeeper_client


@pytest.fixture(scope="module")
def running(tmp_path_factory, zookeeper):
    # Leaders change where a test asks for it: the controller would give partitions back to preferred ones by itself.
    quick = {
        "replica.lag.time.max.ms": "2000",
        "replica.fetch.wait.max.ms": "200",
        "auto.leader.rebalance.enable": "false",
    }
    with running_cluster(tmp_path_factory.mktemp("moves"), brokers=4, overrides=quick, zookeeper=zookeeper) as cluster:
        yield cluster


@pytest.fixture
def cluster(running):
    """The cluster with all brokers running, before and after."""
    yield running
    for broker in running.brokers:
        if broker.process.poll() is not None:
            broker.start()
        broker.await_healthy()


@pytest.fixture
def admin(cluster):
    client = KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
    yield client
    client.close()


def create(cluster, topic: str, *replicas: list[int]) -> None:
    new = NewTopic(topic, num_partitions=len(replicas), replica_assignment=list(replicas))
    client = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    client.create_topics([new])[topic].result(30)


def described(cluster, topic: str) -> dict[int, tuple[int, list[int], list[int]]]:
    """Leader, replicas and sorted ISR of each partition."""
    metadata = AdminClient({"bootstrap.servers": cluster.bootstrap_servers}).list_topics(topic, 10)
    return {
        index: (one.leader, list(one.replicas), sorted(one.isrs))
        for index, one in metadata.topics[topic].partitions.items()
    }


def await_described(cluster, topic: str, expected) -> None:
    seen = [None]

    def look() -> bool:
        seen[0] = described(cluster, topic)
        return seen[0] == expected

    try:
        await_true(look, f"{topic} is {expected}")
    except AssertionError as error:
        raise AssertionError(f"{error}; it is {seen[0]}") from None


def hosts(cluster, topic: str, index: int) -> list[int]:
    """Brokers that have the partition's directory."""
    return [one.broker_id for one in cluster.brokers if (one.directory / "logs" / f"{topic}-{index}").exists()]


class Writing:
    """A producer that writes with acks=all until told to stop; what was acknowledged, by partition and offset."""

    def __init__(self, cluster, topic: str):
        self.written: dict[tuple[int, int], bytes] = {}
        self.errors: list = []
        self._topic = topic
        self._producer = Producer(
            {"bootstrap.servers": cluster.bootstrap_servers, "acks": "all", "enable.idempotence": True, "linger.ms": 1}
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write)

    def __enter__(self) -> "Writing":
        self._thread.start()
        await_true(lambda: len(self.written) > 100, "the producer writes")
        return self

    def __exit__(self, *_) -> None:
        self._stop.set()
        self._thread.join()

    def go_on(self) -> None:
        """Returns when some more has been acknowledged."""
        before = len(self.written)
        await_true(lambda: len(self.written) > before + 100, "the producer goes on")

    def _write(self) -> None:
        number = 0
        while not self._stop.is_set():
            self._producer.produce(self._topic, f"value-{number}".encode(), on_delivery=self._note)
            self._producer.poll(0.001)
            number += 1
        assert self._producer.flush(60) == 0

    def _note(self, error, message) -> None:
        if error is None:
            self.written[message.partition(), message.offset()] = message.value()
        else:
            self.errors.append(error)


def test_partitions_move_while_a_producer_writes(cluster, admin, name):
    create(cluster, name, [1, 2], [2, 1])
    with Writing(cluster, name) as writing:
        moves = {TopicPartition(name, 0): [3, 4], TopicPartition(name, 1): [2, 3]}
        assert admin.alter_partition_reassignments(moves) == dict.fromkeys(moves)
        await_described(cluster, name, {0: (3, [3, 4], [3, 4]), 1: (2, [2, 3], [2, 3])})
        writing.go_on()
    assert writing.errors == []
    assert stored(cluster, name, 2, len(writing.written)) == writing.written
    await_true(lambda: admin.list_partition_reassignments() == {}, "the moves are over")
    await_true(lambda: (hosts(cluster, name, 0), hosts(cluster, name, 1)) == ([3, 4], [2, 3]), "the old are deleted")


@pytest.mark.long
def test_move_survives_the_death_of_the_controller(cluster, admin, name):
    create(cluster, name, [1, 2])
    controller = cluster.broker(admin.describe_cluster()["controller_id"])
    target = [one.broker_id for one in cluster.brokers if one is not controller][1:]
    partition = TopicPartition(name, 0)
    with Writing(cluster, name) as writing:
        assert admin.alter_partition_reassignments({partition: target}) == {partition: None}
        controller.kill()
        await_true(lambda: described(cluster, name)[0][1:] == (target, sorted(target)), f"{name} is on {target}")
        writing.go_on()
    controller.start()
    controller.await_healthy()
    assert writing.errors == []
    assert stored(cluster, name, 1, len(writing.written)) == writing.written


def test_move_to_a_broker_that_dies_is_called_off(cluster, admin, name):
    create(cluster, name, [1, 2])
    partition = TopicPartition(name, 0)
    dead = next(one for one in (4, 3) if one != admin.describe_cluster()["controller_id"])
    cluster.broker(dead).kill()
    with contextlib.suppress(KafkaConnectionError):  # the client finds out by asking it
        admin.describe_cluster()
    assert admin.alter_partition_reassignments({partition: [1, dead]}) == {partition: None}
    listed = {"replicas": [1, dead, 2], "adding_replicas": [dead], "removing_replicas": [2]}
    assert admin.list_partition_reassignments([partition]) == {partition: listed}
    assert admin.alter_partition_reassignments({partition: None}) == {partition: None}
    await_described(cluster, name, {0: (1, [1, 2], [1, 2])})
    await_true(lambda: admin.list_partition_reassignments() == {}, "nothing moves any more")
    assert admin.alter_partition_reassignments({partition: None}) == {partition: NoReassignmentInProgressError}


def as_cmak_writes(**partitions: list[int]) -> bytes:
    """A topic's znode without id, `adding_replicas` and `removing_replicas`; partitions as `p0=[1, 2]`."""
    return json.dumps({"version": 1, "partitions": {name[1:]: ids for name, ids in partitions.items()}}).encode()


@pytest.mark.long
@pytest.mark.parametrize("had_read", ["before the move", "during the move"])
def test_move_survives_cmak_and_then_the_death_of_the_controller(cluster, admin, name, had_read):
    """CMAK adds a partition by writing the whole znode. Kafka's next controller would forget the move."""
    create(cluster, name, [1, 2])
    controller = admin.describe_cluster()["controller_id"]
    dead = next(one for one in (4, 3) if one != controller)
    target, path = [dead, 2], f"/brokers/topics/{name}"
    with Writing(cluster, name) as writing, zookeeper_client(cluster) as znodes:
        cluster.broker(dead).kill()
        with contextlib.suppress(KafkaConnectionError):  # the client finds out by asking it
            admin.describe_cluster()
        partition = TopicPartition(name, 0)
        assert admin.alter_partition_reassignments({partition: target}) == {partition: None}
        before = json.loads(znodes.get(path)[0])
        replicas = [1, 2] if had_read == "before the move" else before["partitions"]["0"]
        znodes.set(path, as_cmak_writes(p0=replicas, p1=[2, 1]))
        written_back = before | {"partitions": before["partitions"] | {"1": [2, 1]}}
        await_true(lambda: json.loads(znodes.get(path)[0]) == written_back, "the id and the move are written back")
        cluster.broker(controller).kill()
        cluster.broker(dead).start()
        there = (target, sorted(target))
        await_true(lambda: [item[1:] for item in described(cluster, name).values()][:1] == [there], f"{name} is there")
        writing.go_on()
    assert writing.errors == []
    cluster.broker(controller).start()
    cluster.broker(controller).await_healthy()
    assert stored(cluster, name, 2, len(writing.written)) == writing.written


@pytest.mark.long
def test_a_znode_of_before_the_move_written_while_all_brokers_are_down_loses_no_record(cluster, admin, name):
    """Only brokers that it does not name hold the records: they lead until those that it names have copied them."""
    create(cluster, name, [1, 2])
    partition = TopicPartition(name, 0)
    with Writing(cluster, name) as writing:
        assert admin.alter_partition_reassignments({partition: [3, 4]}) == {partition: None}
        await_described(cluster, name, {0: (3, [3, 4], [3, 4])})
        writing.go_on()
    await_true(lambda: hosts(cluster, name, 0) == [3, 4], "the old are deleted")
    cluster.stop_brokers()
    with zookeeper_client(cluster) as znodes:
        znodes.set(f"/brokers/topics/{name}", as_cmak_writes(p0=[1, 2]))
    for broker in cluster.brokers:
        broker.start()
    for broker in cluster.brokers:
        broker.await_healthy()
    await_described(cluster, name, {0: (1, [1, 2], [1, 2])})
    assert writing.errors == []
    assert stored(cluster, name, 1, len(writing.written)) == writing.written


def test_impossible_targets_are_refused(cluster, admin, name):
    create(cluster, name, [1, 2])
    partition = TopicPartition(name, 0)
    for target in ([1, 1], [1, 99]):
        assert admin.alter_partition_reassignments({partition: target}) == {
            partition: InvalidReplicationAssignmentError
        }


@pytest.mark.long
def test_preferred_leader_leads_again_after_an_election(cluster, name):
    create(cluster, name, [3, 2])
    broker = cluster.broker(3)
    broker.kill()
    await_described(cluster, name, {0: (2, [3, 2], [2])})
    broker.start()
    broker.await_healthy()
    await_described(cluster, name, {0: (2, [3, 2], [2, 3])})
    client = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    partition = ConfluentPartition(name, 0)
    assert client.elect_leaders(ElectionType.PREFERRED, [partition]).result(30) == {partition: None}
    assert described(cluster, name) == {0: (3, [3, 2], [2, 3])}
    (again,) = client.elect_leaders(ElectionType.PREFERRED, [partition]).result(30).values()
    assert again.name() == "ELECTION_NOT_NEEDED"
