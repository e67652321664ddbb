"""ZooKeeper gone, hung or forgetful: what brokers go on doing, and that they come back."""

import asyncio
import contextlib
import time
from urllib.error import HTTPError

import pytest
from confluent_kafka import Producer
from kazoo.client import KazooClient

from tests.barnabas_cluster import BrokerProcess, await_true, running_cluster
from tests.interop.test_confluent_kafka import create_topic
from tests.severable_proxy import SeverableProxy
from tests.zookeeper_server import free_ports


@pytest.fixture
def cluster(tmp_path):
    with running_cluster(tmp_path, brokers=1) as running:
        yield running


def write(bootstrap_servers: str, topic: str, partition: int = 0) -> str:
    """What became of one record: an empty text or the error."""
    outcome = []
    producer = Producer({"bootstrap.servers": bootstrap_servers, "message.timeout.ms": 20_000})
    producer.produce(topic, b"x", partition=partition, on_delivery=lambda error, _: outcome.append(str(error or "")))
    producer.flush(25)
    return outcome[0]


def stop_took_s(broker: BrokerProcess) -> float:
    began = time.monotonic()
    assert broker.stop() == 0
    return time.monotonic() - began


def was_left_clean(broker: BrokerProcess) -> bool:
    return (broker.directory / "logs" / ".kafka_cleanshutdown").exists()


@pytest.mark.long
def test_a_broker_serves_on_and_stops_cleanly_while_zookeeper_is_gone(cluster):
    create_topic(cluster, "t", partitions=1)
    cluster.zookeeper.stop()
    assert write(cluster.bootstrap_servers, "t") == ""
    assert stop_took_s(cluster.broker(1)) < 5
    assert was_left_clean(cluster.broker(1))


@pytest.mark.long
def test_a_broker_stops_cleanly_while_zookeeper_hangs(cluster):
    cluster.zookeeper.suspend()
    assert stop_took_s(cluster.broker(1)) < 15
    assert was_left_clean(cluster.broker(1))


@contextlib.asynccontextmanager
async def second_broker(cluster):
    """Broker 2, and the cable between it and ZooKeeper."""
    async with SeverableProxy(cluster.zookeeper.port) as proxy:
        port, metrics_port = free_ports(2)
        directory = cluster.broker(1).directory.parent / "broker-2"
        broker = BrokerProcess(2, port, metrics_port, directory, f"127.0.0.1:{proxy.port}")
        broker.start()
        try:
            await asyncio.to_thread(broker.await_healthy)
            yield broker, proxy
        finally:
            await asyncio.to_thread(broker.stop)


async def test_a_broker_whose_session_ran_out_is_registered_again_and_leads_again(cluster):
    observer = KazooClient(cluster.zookeeper.connect)
    observer.start()

    async def await_registered(*names: str) -> None:
        def are_registered() -> bool:
            return sorted(observer.get_children("/brokers/ids")) == list(names)

        await asyncio.to_thread(await_true, are_registered, f"brokers {names} registered")

    async with second_broker(cluster) as (broker, proxy):
        await await_registered("1", "2")
        await asyncio.to_thread(create_topic, cluster, "t", 2)
        proxy.cut()
        await await_registered("1")
        proxy.mend()
        await await_registered("1", "2")
        await asyncio.to_thread(broker.await_healthy)
        for partition in range(2):
            assert await asyncio.to_thread(write, cluster.bootstrap_servers, "t", partition) == ""
    observer.stop()
    observer.close()


@pytest.mark.long
def test_a_broker_told_to_stop_while_it_waits_for_zookeeper_stops(cluster):
    port, metrics_port = free_ports(2)
    directory = cluster.broker(1).directory.parent / "broker-2"
    cluster.zookeeper.suspend()
    broker = BrokerProcess(2, port, metrics_port, directory, cluster.zookeeper.connect)
    broker.start()
    await_true(lambda: health_of(broker).startswith("starting"), "the broker says that it is starting")
    assert stop_took_s(broker) < 15
    assert not was_left_clean(broker)
    cluster.zookeeper.resume()  # for whom the other would wait at its own end


def health_of(broker: BrokerProcess) -> str:
    try:
        return broker.get("/healthz")
    except HTTPError as answer:
        return answer.read().decode()
    except OSError:
        return ""
