"""Row 3 of the fault matrix: brokers are restarted one by one, cleanly, and no client sees an error."""

import threading

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import Cluster, await_true, running_cluster
from tests.interop.replicas import isr_of, leader_of
from tests.interop.test_restart import stored

ALL = {1, 2, 3}
PARTITIONS = 12


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, zookeeper):
    patient = {"controlled.shutdown.retry.backoff.ms": "60000"}  # who waits for nothing is killed by the test
    with running_cluster(
        tmp_path_factory.mktemp("clean-stop"), brokers=3, overrides=patient, zookeeper=zookeeper
    ) as running:
        admin = AdminClient({"bootstrap.servers": running.bootstrap_servers})
        admin.create_topics([NewTopic("t", PARTITIONS, 3)])["t"].result(20)
        yield running


class Load:
    """Writes without a pause, each record waiting for all in-sync replicas, until told to stop."""

    def __init__(self, cluster: Cluster):
        self.errors: list[str] = []
        self.acknowledged: set[tuple[int, int, bytes]] = set()
        self._producer = Producer(
            {"bootstrap.servers": cluster.bootstrap_servers, "enable.idempotence": True, "linger.ms": 2}
        )
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Load":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_over.set()
        self._thread.join()
        assert self._producer.flush(60) == 0

    def _run(self) -> None:
        number = 0
        while not self._is_over.is_set():
            self._producer.produce("t", b"%d" % number, on_delivery=self._delivered)
            self._producer.poll(0.001)
            number += 1

    def _delivered(self, error, message) -> None:
        if error is None:
            self.acknowledged.add((message.partition(), message.offset(), message.value()))
        else:
            self.errors.append(error.name())


def await_led_without(cluster: Cluster, stopped: int) -> None:
    """Others lead all partitions, as whoever is asked says."""
    await_true(
        lambda: all(leader_of(cluster, "t", index) in ALL - {stopped} for index in range(PARTITIONS)),
        f"{stopped} leads nothing",
    )


def test_clients_see_no_error_while_brokers_are_restarted_one_by_one(cluster):
    with Load(cluster) as load:
        for broker in cluster.brokers:
            await_true(lambda: len(load.acknowledged) > 500, "under load")
            assert broker.stop() == 0
            assert "remaining_partitions=0" in broker.log_path.read_text()
            await_led_without(cluster, broker.broker_id)
            broker.start()
            broker.await_healthy()
            await_true(lambda: all(isr_of(cluster, "t", index) == ALL for index in range(PARTITIONS)), "in sync again")
    assert load.errors == []
    result = stored(cluster, "t", PARTITIONS, len(load.acknowledged))
    assert {(index, offset, value) for (index, offset), value in result.items()} == load.acknowledged


@pytest.mark.long
def test_all_brokers_stop_together_without_waiting_for_each_other(cluster):
    cluster.stop_brokers()
    assert all(broker.process.returncode == 0 for broker in cluster.brokers)
