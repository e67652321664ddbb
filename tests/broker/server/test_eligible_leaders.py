"""Eligible leader replicas of real brokers (KIP-966): who is one, what is refused, and the end of the feature."""

import asyncio

import pytest

from broker.common.errors import ErrorCode
from broker.common.features import ELIGIBLE_LEADER_REPLICAS_VERSION
from broker.config.broker import read_broker_config
from broker.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from broker.protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from broker.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
)
from broker.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest, UpgradeType
from broker.server.broker import Broker
from tests.broker.server.conftest import Client
from tests.eventually import eventually

MIN_ISR = "min.insync.replicas"
BROKER = 4


@pytest.fixture
async def start(tmp_path, zookeeper, request):
    """Starts brokers of one cluster: `await start(broker_id)`."""
    started = []

    async def start_broker(broker_id: int) -> Broker:
        lines = {
            "broker.id": str(broker_id),
            "listeners": "PLAINTEXT://127.0.0.1:0",
            "log.dirs": str(tmp_path / f"logs-{broker_id}"),
            "zookeeper.connect": f"127.0.0.1:{zookeeper.port}/{request.node.name[:40]}",
            MIN_ISR: "2",
        }
        broker = Broker(read_broker_config("".join(f"{key}={text}\n" for key, text in lines.items())))
        started.append(broker)
        await broker.start()
        return broker

    yield start_broker
    for broker in reversed(started):
        await broker.stop()


async def ask(broker: Broker, request, version: int):
    client = Client(*await asyncio.open_connection("127.0.0.1", broker._parts.addresses.advertised[0].port))
    return await client.ask(request, version)


async def set_level(broker: Broker, level: int) -> None:
    upgrade_type = UpgradeType.UPGRADE if level else UpgradeType.SAFE_DOWNGRADE
    key = FeatureUpdateKey(feature=ELIGIBLE_LEADER_REPLICAS_VERSION, max_version_level=level, upgrade_type=upgrade_type)
    response = await ask(broker, UpdateFeaturesRequest(feature_updates=[key], timeout_ms=10_000), 2)
    assert response.error_code == ErrorCode.NONE, response.error_message


async def alter(broker: Broker, name: str, value: str | None):
    operation = ConfigOperation.SET if value else ConfigOperation.DELETE
    config = AlterableConfig(name=MIN_ISR, config_operation=operation, value=value)
    resource = AlterConfigsResource(resource_type=BROKER, resource_name=name, configs=[config])
    response = await ask(broker, IncrementalAlterConfigsRequest(resources=[resource]), 1)
    return response.responses[0]


async def partition_of(broker: Broker):
    response = await ask(broker, DescribeTopicPartitionsRequest(topics=[TopicRequest(name="t")]), 0)
    return response.topics[0].partitions[0]


async def test_a_new_cluster_has_one_min_insync_replicas_for_all_brokers_as_kafkas_rules_ask(start):
    broker = await start(1)
    await eventually(lambda: 1 in broker.services.metadata.brokers, "the controller has begun")
    store = broker._store
    assert await store.config("brokers", "<default>") == {MIN_ISR: "2"}
    for name, value, sentence in (
        ("1", "3", f"Broker-level {MIN_ISR} cannot be altered while ELR is enabled."),
        ("", None, f"Cluster-level {MIN_ISR} cannot be removed while ELR is enabled."),
    ):
        refused = await alter(broker, name, value)
        assert (refused.error_code, refused.error_message) == (ErrorCode.INVALID_CONFIG, sentence)
    assert (await alter(broker, "", "1")).error_code == ErrorCode.NONE
    await set_level(broker, 0)
    assert (await alter(broker, "1", "3")).error_code == ErrorCode.NONE
    await set_level(broker, 1)
    assert await store.config("brokers", "1") == {}


async def test_a_follower_that_goes_is_eligible_until_the_feature_ends_or_less_is_asked_for(start):
    first, second = await start(1), await start(2)
    await eventually(lambda: len(first.services.metadata.brokers) == 2, "both are known")
    topic = CreatableTopic(name="t", num_partitions=1, replication_factor=2, configs=[])
    assert (await ask(first, CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 7)).topics[0].error_code == 0
    await second.stop()

    async def elr_is(elr: list[int]) -> None:
        async with asyncio.timeout(15):
            while (await partition_of(first)).eligible_leader_replicas != elr:
                await asyncio.sleep(0.05)

    await elr_is([2])
    assert (await partition_of(first)).isr_nodes == [1]
    await set_level(first, 0)
    await elr_is([])
    assert (await partition_of(first)).isr_nodes == [1]
    await set_level(first, 1)
    second = await start(2)
    await eventually(lambda: len(first.services.metadata.partition_of("t", 0).isr) == 2, "both are in sync")
    await second.stop()
    await elr_is([2])
    assert (await alter(first, "", "1")).error_code == ErrorCode.NONE
    await elr_is([])
