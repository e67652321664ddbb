"""A whole broker on a real ZooKeeper: what strangers, and members that lie, do to it; and what znodes do."""

import asyncio
import contextlib
import json

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError

from broker.common.errors import ErrorCode
from broker.config.broker import read_broker_config
from broker.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from broker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from broker.protocol.messages.stop_replica import StopReplicaRequest
from broker.protocol.messages.update_metadata import UpdateMetadataRequest
from broker.security.membership import SECRET_BYTES, ClusterMembership
from broker.server.broker import Broker
from broker.zookeeper.znodes import SECRET, encode_secret
from tests.broker.server.conftest import Client
from tests.broker.server.test_hostile_members import deleting, leading
from tests.eventually import eventually
from tests.members import new_nonce

HUGE = "a" * 300


@pytest.fixture
def writer(zookeeper):
    """Somebody who may write to ZooKeeper."""
    client = KazooClient(f"127.0.0.1:{zookeeper.port}")
    client.start()
    client.ensure_path("/hostile")
    client.chroot = "/hostile"
    yield client
    client.chroot = ""
    client.delete("/hostile", recursive=True)
    client.stop()
    client.close()


@pytest.fixture
def start(zookeeper, tmp_path, writer):
    """A broker that serves, as often as it is called."""

    @contextlib.asynccontextmanager
    async def running():
        config = read_broker_config(
            f"broker.id=1\nlisteners=PLAINTEXT://127.0.0.1:0\nlog.dirs={tmp_path}/logs\n"
            f"zookeeper.connect=127.0.0.1:{zookeeper.port}/hostile\noffsets.topic.replication.factor=1\n"
            "auto.create.topics.enable=false\n"
            # What the broker writes by itself now and then would be taken for a stranger's work.
            "replica.high.watermark.checkpoint.interval.ms=3600000\n"
        )
        broker = Broker(config)
        try:
            await broker.start()
            await eventually(lambda: broker.services.controller.is_controller, "controller")
            await eventually(lambda: broker.services.metadata.is_known, "the controller has spoken")
            yield broker
        finally:
            await broker.stop()

    return running


def port_of(broker: Broker) -> int:
    return broker._parts.addresses.advertised[0].port


async def client_of(broker: Broker) -> Client:
    return Client(*await asyncio.open_connection("127.0.0.1", port_of(broker)))


async def member_of(broker: Broker, writer: KazooClient) -> Client:
    """Who can read ZooKeeper is a member."""
    secret = await broker._store.cluster_secret()
    client = await client_of(broker)
    await client.log_in(ClusterMembership(secret, new_nonce).dial("127.0.0.1", port_of(broker)))
    return client


async def make_topic(broker: Broker, name: str) -> None:
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    answer = await (await client_of(broker)).ask(CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 5)
    assert answer.topics[0].error_code == ErrorCode.NONE


def topic_znode(**fields) -> bytes:
    return json.dumps({"version": 3, "topic_id": "AAAAAAAAAAAAAAAAAAAABw", "partitions": {"0": [1]}} | fields).encode()


async def test_a_stranger_makes_deletes_and_ends_nothing(start, tmp_path, writer):
    (tmp_path / "victim-0").mkdir()
    (tmp_path / "victim-0" / "notes.txt").write_text("not the broker's")
    async with start() as broker:
        epoch = broker.services.replicas.broker_epoch
        before = sorted(tmp_path.rglob("*"))
        for name in (HUGE, f"{tmp_path}/evil", f"{tmp_path}/victim", "../evil", "t"):
            for request, version in ((leading(name), 7), (deleting(name), 4)):
                request.broker_epoch = epoch
                answer = await (await client_of(broker)).ask(request, version)
                assert answer.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        assert sorted(tmp_path.rglob("*")) == before
        await make_topic(broker, "served-still")


async def test_a_member_that_lies_about_epochs_changes_nothing(start, writer):
    async with start() as broker:
        replicas = broker.services.replicas
        member = await member_of(broker, writer)
        known = replicas.controller_epoch
        poison = StopReplicaRequest(
            controller_id=9, controller_epoch=2**31 - 1, broker_epoch=replicas.broker_epoch, topic_states=[]
        )
        assert (await member.ask(poison, 4)).error_code == ErrorCode.STALE_CONTROLLER_EPOCH
        later = UpdateMetadataRequest(controller_id=1, controller_epoch=known, broker_epoch=2**62)
        assert (await member.ask(later, 8)).error_code == ErrorCode.STALE_BROKER_EPOCH
        assert replicas.controller_epoch == known
        await make_topic(broker, "obeyed-still")


async def test_a_member_that_lies_about_names_ends_nobody(start, writer):
    async with start() as broker:
        replicas = broker.services.replicas
        member = await member_of(broker, writer)
        for name in (HUGE, "../x", "/tmp/x", "", ".", "a\0b"):
            request = leading(name)
            request.broker_epoch, request.controller_epoch = replicas.broker_epoch, replicas.controller_epoch
            answer = await member.ask(request, 7)
            assert answer.topics[0].partition_errors[0].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
        assert not broker.failed.is_set()
        await make_topic(broker, "alive-still")


BAD_ZNODES = {
    f"/brokers/topics/{HUGE}": topic_znode(),
    "/brokers/topics/with space": topic_znode(),
    "/brokers/topics/none": topic_znode(partitions={"0": []}),
    "/brokers/topics/twice": topic_znode(partitions={"0": [1, 1]}),
    "/brokers/topics/negative": topic_znode(partitions={"-1": [1]}),
    "/brokers/topics/beyond": topic_znode(partitions={"0": [2**40]}),
    "/brokers/topics/infinite": b'{"version":3,"topic_id":"AAAAAAAAAAAAAAAAAAAABw","partitions":{"0":[1e999]}}',
    "/brokers/topics/deep": b"[" * 100_000,
    "/brokers/topics/nonsense": b"\xff",
    "/brokers/topics/stated": topic_znode(topic_id="AAAAAAAAAAAAAAAAAAAACQ"),
    "/brokers/topics/stated/partitions/0/state": b'{"leader":1e999,"leader_epoch":99999999999}',
    "/config/topics/stated": b"[]",
    "/config/topics/configured": b"nonsense",
    "/config/brokers/1": b"nonsense",
    "/config/brokers/<default>": b'{"config":7}',
    f"/admin/delete_topics/{HUGE}": b"",
    "/admin/reassign_partitions": b'{"partitions":[{"topic":"../../x","partition":0,"replicas":[1]}]}',
    "/admin/preferred_replica_election": b'{"partitions":[{"topic":"","partition":-7}]}',
    "/isr_change_notification/isr_change_0000000001": b'{"partitions":[{"topic":"../x","partition":1e999}]}',
    "/log_dir_event_notification/log_dir_event_0000000001": b'{"broker":1e999}',
    f"/brokers/ids/{'9' * 40}": b"{}",
    "/brokers/ids/7": b'{"endpoints":["PLAINTEXT://h:99999999999"]}',
}


def write_all(writer: KazooClient) -> None:
    for path, data in BAD_ZNODES.items():
        writer.ensure_path(path.rpartition("/")[0])
        try:
            writer.create(path, data)
        except NodeExistsError:
            writer.set(path, data)  # a broker that runs was first


async def names_of(broker: Broker) -> set[str]:
    answer = await (await client_of(broker)).ask(MetadataRequest(topics=None), 9)
    return {topic.name for topic in answer.topics}


async def test_znodes_that_say_nonsense_end_no_broker_that_runs(start, writer):
    async with start() as broker:
        await asyncio.to_thread(write_all, writer)
        await make_topic(broker, "after")
        writer.create("/config/changes/config_change_", b'{"entity_path":"topics/../../x"}', sequence=True)
        writer.create("/config/changes/config_change_", b'{"entity_path":"brokers/1"}', sequence=True)
        await make_topic(broker, "later")
        assert {"after", "later"} <= await names_of(broker)
        assert not broker.failed.is_set()
        await eventually(lambda: not writer.exists("/admin/reassign_partitions"), "request is removed")


async def test_a_broker_that_finds_such_znodes_starts_and_controls_the_rest(start, writer, capsys):
    # Without the secret it would be the cluster of another Kafka, and no broker of ours would start there.
    await asyncio.to_thread(writer.create, SECRET, encode_secret(bytes(SECRET_BYTES)), makepath=True)
    await asyncio.to_thread(write_all, writer)
    async with start() as broker:
        await make_topic(broker, "after")
        assert await names_of(broker) >= {"after"}
        assert HUGE not in await names_of(broker)
        one = await (await client_of(broker)).ask(MetadataRequest(topics=[MetadataRequestTopic(name="after")]), 9)
        assert one.topics[0].partitions[0].leader_id == 1
    assert "controller starts over" not in capsys.readouterr().out
    async with start() as broker:
        assert "after" in await names_of(broker)
